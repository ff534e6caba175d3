package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const cliDocument = "../../docs/cli.md"

// documents are the documents whose examples are run, relative to the module's root.
// Their examples share files.
var documents = []string{"README.md", "docs/cli.md", "docs/architecture.md"}

// The blocks of a document: a file used by the examples, with its name after the
// language; a terminal session; and the output of one command, which a comment above
// the block names.
var (
	fileBlock    = regexp.MustCompile("(?s)```(?:yaml|json|text) ([a-z.]+)\n(.*?)```")
	consoleBlock = regexp.MustCompile("(?s)```console\n(.*?)```")
	outputBlock  = regexp.MustCompile("(?s)<!-- (hocket [^\n]*) -->\n```([a-z]*)\n(.*?)```")
)

// example is one command of a session and its output.
type example struct {
	head   string // the typed lines
	args   []string
	stdin  string
	first  int // number of lines kept by `| head`; 0 means all
	status int
	output string
}

var (
	statusLine = regexp.MustCompile(`(?m)^\[exit status (\d+)\]\n`)
	shellWord  = regexp.MustCompile(`"([^"]*)"|\S+`)
)

// examples parses a session: lines that begin with "$ hocket", each with its
// continuation lines, an input between <<'EOF' and EOF, and the output up to the next
// command.
func examples(t *testing.T, block string) []example {
	t.Helper()
	var list []example
	for _, part := range regexp.MustCompile(`(?m)^\$ `).Split(block, -1)[1:] {
		command, rest, _ := strings.Cut(part, "\n")
		e := example{head: "$ " + command + "\n"}
		for strings.HasSuffix(command, `\`) {
			var more string
			more, rest, _ = strings.Cut(rest, "\n")
			command = strings.TrimSuffix(command, `\`) + more
			e.head += more + "\n"
		}
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
		words := shellWord.FindAllString(command, -1)
		for i := range words {
			words[i] = strings.Trim(words[i], `"`)
		}
		if words[0] != "hocket" {
			t.Fatalf("the example %q is not a command of hocket", command)
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

// documented returns the output that the document shows for a command line.
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

// TestDocumentedExamples runs the examples of the documents and compares their output.
// With -rewrite, it updates the documents.
func TestDocumentedExamples(t *testing.T) {
	trace := recorded(t, "testdata/call.events")
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string]string)
	files := map[string]string{"call.jsonl": string(trace)}
	for _, name := range documents {
		b, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(b)
		for _, m := range fileBlock.FindAllStringSubmatch(texts[name], -1) {
			files[m[1]] = m[2]
		}
	}
	t.Chdir(t.TempDir())
	for name, content := range files {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shown := make(map[string]bool)
	for _, name := range documents {
		text := texts[name]
		now := consoleBlock.ReplaceAllStringFunc(text, func(block string) string {
			list := examples(t, consoleBlock.FindStringSubmatch(block)[1])
			for _, e := range list {
				shown[e.args[0]] = true
			}
			return "```console\n" + printedBy(t, list) + "```"
		})
		now = outputBlock.ReplaceAllStringFunc(now, func(block string) string {
			m := outputBlock.FindStringSubmatch(block)
			e := examples(t, "$ "+m[1]+"\n")[0]
			return "<!-- " + m[1] + " -->\n```" + m[2] + "\n" + e.run(t) + "```"
		})
		if now == text {
			continue
		}
		if !*rewrite {
			differ(t, name, text, now)
		} else if err := os.WriteFile(filepath.Join(home, "../..", name), []byte(now), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range []string{"call", "chat", "step", "turn", "machine", "explore", "replay", "check"} {
		if !shown[command] {
			t.Errorf("the documents have no example of hocket %s", command)
		}
	}
}

// printedBy runs the commands of a block in order and returns the block with their
// output.
func printedBy(t *testing.T, list []example) string {
	t.Helper()
	out, heard := "", true
	for _, e := range list {
		out += e.head
		printed := e.output
		switch {
		case e.args[0] == "explore":
			// Only the shape is compared, where the exploration is run.
		case !heard:
			// It may need files of the call that was skipped.
		case e.args[0] == "replay" && list[0].args[0] != "replay":
			// The number of steps depends on the engines used by the call.
			if printed = e.run(t); shape(printed) == shape(e.output) {
				printed = e.output
			}
		case e.args[0] == "call":
			printed = e.run(t)
			if heard = !slices.ContainsFunc(lacking, func(s string) bool { return strings.Contains(printed, s) }); !heard {
				t.Logf("not compared: hocket %s: %s", strings.Join(e.args, " "), printed)
			}
			if !heard || untimed(printed) == untimed(e.output) {
				printed = e.output
			}
		default:
			printed = e.run(t)
		}
		out += printed
	}
	return out
}

// lacking contains the errors of calls in a build without the engines that the
// documents were written with.
var lacking = []string{"this binary was built without", "no Silero weights in this build"}

// uninstalled is what a program says that does not lie in bin, from where it would find the
// networks, as that of the tests.
var uninstalled = regexp.MustCompile(`(?m)^note: end of turn: .*\n`)

var callTimes = regexp.MustCompile(`(?m)^ +[0-9.]+ s|after [0-9.]+ s|^call of .*|"[a-z]+_ms":[0-9.]+|"confidence":[0-9.]+`)

// untimed removes times and confidences from the output of a call, since they depend on
// the versions of the engines.
func untimed(printed string) string { return callTimes.ReplaceAllString(printed, "") }

// differ reports the first line of a document that differs from the output.
func differ(t *testing.T, name, text, now string) {
	t.Helper()
	was, is := strings.Split(text, "\n"), strings.Split(now, "\n")
	for i := range min(len(was), len(is)) {
		if was[i] != is[i] {
			t.Errorf("%s:%d (-rewrite writes it anew):\nshown   %s\nprinted %s", name, i+1, was[i], is[i])
			return
		}
	}
	t.Errorf("%s has %d lines, what the commands print makes %d", name, len(was), len(is))
}

// run runs the example and returns both output streams, as in a terminal, and the exit
// status.
func (e example) run(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	status := Run(e.args, strings.NewReader(e.stdin), &out, &out)
	text := uninstalled.ReplaceAllString(out.String(), "")
	if e.first > 0 {
		lines := strings.SplitAfter(text, "\n")
		text = strings.Join(lines[:min(e.first, len(lines))], "")
	}
	if status != 0 {
		text += "[exit status " + strconv.Itoa(status) + "]\n"
	}
	return text
}
