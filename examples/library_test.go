package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// goBlock matches a program in a document; those of docs/library.md have names.
var goBlock = regexp.MustCompile("(?s)```go ?([a-z]*)\\n(.*?)```")

// TestDocuments checks that each Go program in the documents compiles, that those
// that also exist in examples are equal, and that the one by text has the
// documented output.
func TestDocuments(t *testing.T) {
	blocks := make(map[string]string)
	text := ""
	for _, path := range []string{"../README.md", "../docs/library.md"} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = string(b)
		for _, m := range goBlock.FindAllStringSubmatch(text, -1) {
			blocks[m[1]] = m[2]
		}
	}
	for _, name := range []string{"", "chat", "call", "browsers", "tool", "model", "machine"} {
		code, ok := blocks[name]
		if !ok {
			t.Errorf("the documents have no program %q", name)
			continue
		}
		example, err := os.ReadFile(filepath.Join(name, "main.go"))
		if name != "" && err == nil && !strings.HasSuffix(string(example), "\n"+code) {
			t.Errorf("docs/library.md has another program %s than examples/%s", name, name)
		}
		if name == "" || err != nil { // else TestPrograms compiles it
			source := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(source, []byte(code), 0o600); err != nil {
				t.Fatal(err)
			}
			run(t, ".", nil, "go", "vet", source)
			if name == "chat" {
				chats(t, source, text)
			}
		}
	}
}

// chats holds the document's conversation: the output is the agent's, the lines
// between are the person's.
func chats(t *testing.T, source, text string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	run(t, ".", nil, "go", "build", "-o", program, source)
	yaml := regexp.MustCompile("(?s)```yaml desk.yaml\\n(.*?)```").FindStringSubmatch(text)
	shown := regexp.MustCompile("(?s)\\$ go run \\.\\n(.*?)```").FindStringSubmatch(text)
	if yaml == nil || shown == nil {
		t.Fatal("docs/library.md shows no conversation")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "desk.yaml"), []byte(yaml[1]), 0o600); err != nil {
		t.Fatal(err)
	}
	var said, typed []string
	for i, line := range strings.Split(strings.TrimSpace(shown[1]), "\n") {
		if i%2 == 0 {
			said = append(said, line)
		} else {
			typed = append(typed, line)
		}
	}
	c := exec.CommandContext(t.Context(), program)
	c.Dir, c.Stdin = dir, strings.NewReader(strings.Join(typed, "\n")+"\n")
	out, err := c.CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != strings.Join(said, "\n") {
		t.Errorf("%v, it printed\n%s\nexpected\n%s", err, got, strings.Join(said, "\n"))
	}
}
