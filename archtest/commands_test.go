package archtest

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A program takes arguments, input, output and error output, and returns its
// exit status.
type program func(args []string, stdin io.Reader, stdout, stderr io.Writer) int

var (
	setting  = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*=`)
	and      = regexp.MustCompile(`\s*(?:&&|;)\s*`)
	makeRule = regexp.MustCompile(`(?m)^([a-z][a-z0-9 -]*):(?:[^=]|$)`)
	helpLine = regexp.MustCompile(`(?m)^\s+(?:-\w, )?(--[a-z][a-z0-9-]*)`)
	flagName = regexp.MustCompile(`--[a-z][a-z0-9-]*`)
)

// commands returns the shell commands in a line of code as words, without prompts
// and environment settings.
func commands(line string) (list [][]string) {
	for _, part := range and.Split(strings.TrimPrefix(line, "$ "), -1) {
		words := strings.Fields(part)
		for len(words) > 0 && setting.MatchString(words[0]) {
			words = words[1:]
		}
		if len(words) > 0 {
			list = append(list, words)
		}
	}
	return list
}

// targetsExist checks that every `make target` in a document is in the Makefile.
func targetsExist(m *module) (found []string) {
	targets := make(map[string]bool)
	for _, match := range makeRule.FindAllStringSubmatch(m.texts["Makefile"], -1) {
		for _, name := range strings.Fields(match[1]) {
			targets[name] = true
		}
	}
	for _, d := range m.documents() {
		for _, c := range d.code {
			for _, words := range commands(c.text) {
				if words[0] != "make" {
					continue
				}
				for _, w := range words[1:] {
					if w == "#" {
						break
					}
					if !strings.HasPrefix(w, "-") && !setting.MatchString(w) && !targets[w] {
						found = append(found, fmt.Sprintf("%s:%d: the Makefile has no target %s", d.path, c.line, w))
					}
				}
			}
		}
	}
	return found
}

// use is a hocket command with flags in a document.
type use struct {
	at      string
	command string
	flags   []string
}

// uses returns the hocket commands in the documents.
func (m *module) uses() (list []use) {
	for _, d := range m.documents() {
		for _, c := range d.code {
			for _, words := range commands(c.text) {
				if !slices.Contains([]string{"hocket", "bin/hocket", "./bin/hocket"}, words[0]) {
					continue
				}
				u := use{at: fmt.Sprintf("%s:%d", d.path, c.line)}
				for _, w := range words[1:min(len(words), 3)] { // a subcommand: conversations list
					if !regexp.MustCompile(`^[a-z]+$`).MatchString(w) {
						break
					}
					u.command = strings.TrimSpace(u.command + " " + w)
				}
				u.flags = flagName.FindAllString(strings.Join(words, " "), -1)
				list = append(list, u)
			}
		}
	}
	return list
}

// commandsExist returns a rule: every command and flag in a document is in the
// program's help.
func commandsExist(run program) rule {
	return func(m *module) (found []string) {
		helps := make(map[string]map[string]bool) // flags by command; nil for an unknown command
		for _, u := range m.uses() {
			flags, ok := helps[u.command]
			if !ok {
				flags = help(run, u.command)
				if first, _, two := strings.Cut(u.command, " "); flags == nil && two {
					flags = help(run, first)
				}
				helps[u.command] = flags
			}
			if flags == nil {
				found = append(found, fmt.Sprintf("%s: there is no command hocket %s", u.at, u.command))
				continue
			}
			for _, f := range u.flags {
				if !flags[f] {
					found = append(found, fmt.Sprintf("%s: hocket %s has no flag %s, it has %v", u.at, u.command, f, slices.Sorted(maps.Keys(flags))))
				}
			}
		}
		return found
	}
}

// help returns the flags of a command according to the program, or nil if the
// command is unknown.
func help(run program, command string) map[string]bool {
	args := append(strings.Fields(command), "--help")
	var stdout, stderr bytes.Buffer
	if run(args, strings.NewReader(""), &stdout, &stderr) != 0 {
		return nil
	}
	flags := make(map[string]bool)
	for _, match := range helpLine.FindAllStringSubmatch(stdout.String(), -1) {
		flags[match[1]] = true
	}
	return flags
}

// TestDocuments checks the documents against the files, the Makefile and the
// program.
func TestDocuments(t *testing.T) {
	m, err := here()
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, r rule) {
		t.Run(name, func(t *testing.T) {
			for _, f := range r(m) {
				t.Error(f)
			}
		})
	}
	check("links", linksLead)
	check("make", targetsExist)
	check("hocket", commandsExist(hocket))
}

func TestCommands(t *testing.T) {
	t.Run("make", func(t *testing.T) {
		const makefile = ".PHONY: build\nX = 1\nY := 2\nbuild test: x\n\tcc\nall:\n"
		examples(t, targetsExist, []example{
			{"there", map[string]string{"Makefile": makefile, "README.md": "`make test` and\n```sh\n$ PURE=1 make -k build X=2 && make all  # all of it\nmakes sure\n```\nmake love"}, nil},
			{"not there", map[string]string{"Makefile": makefile, "docs/x.md": "`make X`\n```\nA=b make build tests\ncd x && make run\n```"}, []string{
				"docs/x.md:1: the Makefile has no target X", "docs/x.md:3: the Makefile has no target tests", "docs/x.md:4: the Makefile has no target run",
			}},
		})
	})
	t.Run("hocket", func(t *testing.T) {
		fake := func(args []string, _ io.Reader, stdout, _ io.Writer) int {
			switch strings.Join(args, " ") {
			case "--help":
				fmt.Fprintln(stdout, "  --version\n  see --agent")
			case "call --help":
				fmt.Fprintln(stdout, "      --agent=PATH   the agent\n  -h, --help\n --mix-down")
			default:
				return 2
			}
			return 0
		}
		examples(t, commandsExist(fake), []example{
			{"there", map[string]string{"README.md": "`hocket --version`, `bin/hocket call --agent x --help`\n```\nhocket call \\\n  --agent=x \\\n --mix-down\n```\n`hocket call [--agent PATH] (--mix-down \\| x)...` `the hocket --x`"}, nil},
			{"not there", map[string]string{"README.md": "`hocket dance`\n`hocket call --agents x`\n```\nX=1 ./bin/hocket call --agent x \\\n  --mix y\n```"}, []string{
				"README.md:1: there is no command hocket dance", "README.md:2: hocket call has no flag --agents", "README.md:4: hocket call has no flag --mix",
			}},
		})
	})
}
