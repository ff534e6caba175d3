package cli

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const cliDocument = "../../docs/cli.md"

// The blocks of the document: a file that the examples use, named behind the
// language, or a session at the terminal.
var (
	fileBlock    = regexp.MustCompile("(?s)```(?:yaml|json) ([a-z.]+)\n(.*?)```")
	consoleBlock = regexp.MustCompile("(?s)```console\n(.*?)```")
)

// example is one command of a session, and what it prints.
type example struct {
	head   string // the lines that are typed
	args   []string
	stdin  string
	first  int // lines that `| head` lets through, 0: all
	status int
	output string
}

var statusLine = regexp.MustCompile(`(?m)^\[exit status (\d+)\]\n`)

// examples reads a session: lines that begin with "$ hocket", an input between
// <<'EOF' and EOF, and what follows up to the next command.
func examples(t *testing.T, block string) []example {
	t.Helper()
	var list []example
	for _, part := range regexp.MustCompile(`(?m)^\$ `).Split(block, -1)[1:] {
		command, rest, _ := strings.Cut(part, "\n")
		e := example{head: "$ " + command + "\n"}
		if line, n, ok := strings.Cut(command, " | head -"); ok {
			command = line
			var err error
			if e.first, err = strconv.Atoi(n); err != nil {
				t.Fatalf("%s: %v", part, err)
			}
		}
		if line, ok := strings.CutSuffix(command, " <<'EOF'"); ok {
			var found bool
			if e.stdin, rest, found = strings.Cut(rest, "EOF\n"); !found {
				t.Fatalf("the input of %s does not end", command)
			}
			command = line
			e.head += e.stdin + "EOF\n"
		}
		words := strings.Fields(command)
		if words[0] != "hocket" {
			t.Fatalf("the example %q is no command of hocket", command)
		}
		e.args = words[1:]
		if m := statusLine.FindStringSubmatch(rest); m != nil {
			e.status, _ = strconv.Atoi(m[1])
			rest = statusLine.ReplaceAllString(rest, "")
		}
		e.output = rest
		list = append(list, e)
	}
	return list
}

// documented is the output that the document shows for a command line.
func documented(t *testing.T, line string) string {
	t.Helper()
	text, err := os.ReadFile(cliDocument)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range consoleBlock.FindAllStringSubmatch(string(text), -1) {
		for _, e := range examples(t, block[1]) {
			if "hocket "+strings.Join(e.args, " ") == line {
				return e.output
			}
		}
	}
	t.Fatalf("docs/cli.md has no example of %s", line)
	return ""
}

// rewriteDocument replaces a part of the document.
func rewriteDocument(t *testing.T, old, now string) {
	t.Helper()
	text, err := os.ReadFile(cliDocument)
	if err == nil {
		err = os.WriteFile(cliDocument, bytes.Replace(text, []byte(old), []byte(now), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestDocumentedExamples runs every example of docs/cli.md and compares what it
// prints. -rewrite writes what they print now.
func TestDocumentedExamples(t *testing.T) {
	b, err := os.ReadFile(cliDocument)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	trace := recorded(t, "testdata/call.events")
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	files := map[string]string{"call.jsonl": string(trace)}
	for _, m := range fileBlock.FindAllStringSubmatch(text, -1) {
		files[m[1]] = m[2]
	}
	for name, content := range files {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shown := make(map[string]bool)
	now := consoleBlock.ReplaceAllStringFunc(text, func(block string) string {
		session := consoleBlock.FindStringSubmatch(block)[1]
		out := "```console\n"
		for _, e := range examples(t, session) {
			shown[e.args[0]] = true
			out += e.head
			switch e.args[0] {
			case "explore":
				// Compared by shape, where the exploration runs.
				out += e.output
			default:
				out += e.run(t)
			}
		}
		return out + "```"
	})
	for _, command := range []string{"step", "turn", "machine", "explore", "replay", "check"} {
		if !shown[command] {
			t.Errorf("docs/cli.md has no example of hocket %s", command)
		}
	}
	if now == text {
		return
	}
	t.Chdir(home)
	if *rewrite {
		if err := os.WriteFile(cliDocument, []byte(now), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	was, is := strings.Split(text, "\n"), strings.Split(now, "\n")
	for i := range min(len(was), len(is)) {
		if was[i] != is[i] {
			t.Fatalf("docs/cli.md:%d (-rewrite writes it anew):\nshown   %s\nprinted %s", i+1, was[i], is[i])
		}
	}
	t.Errorf("docs/cli.md has %d lines, what the commands print makes %d", len(was), len(is))
}

// run runs the example: both streams as a terminal shows them, and the status.
func (e example) run(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	status := Run(e.args, strings.NewReader(e.stdin), &out, &out)
	text := out.String()
	if e.first > 0 {
		lines := strings.SplitAfter(text, "\n")
		text = strings.Join(lines[:min(e.first, len(lines))], "")
	}
	if status != 0 {
		text += "[exit status " + strconv.Itoa(status) + "]\n"
	}
	return text
}
