//go:build unix

package command

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/port"
)

// TestFormats reads the output of other agents, as documented by them, through a
// real process.
func TestFormats(t *testing.T) {
	const answer = "There is one test, and it passes."
	failed := func(message, partial string) *port.Failure {
		return &port.Failure{Code: "TOOL_ERROR", Message: "child: " + message, Partial: partial}
	}
	for file, c := range map[string]struct {
		heard []string
		want  *port.Failure
	}{
		"claude.jsonl":         {[]string{"I look at the tests first."}, nil},
		"claude-error.jsonl":   {[]string{"I look at the tests first."}, failed("error_max_turns: 2 turns are the limit", answer)},
		"codex.jsonl":          {[]string{"I look at the tests first."}, nil},
		"codex-error.jsonl":    {[]string{"I look at the tests first."}, failed("the model is overloaded", answer)},
		"amplifier.json":       {nil, nil},
		"amplifier-error.json": {nil, failed("no provider is configured", "")},
	} {
		t.Run(file, func(t *testing.T) {
			name, _, _ := strings.Cut(strings.TrimSuffix(file, filepath.Ext(file)), "-")
			output, heard, f := called(t, self(t, func(p *Program) { p.Output = name }, "cat", filepath.Join("testdata", file)), "{}")
			heard = slices.DeleteFunc(heard, func(text string) bool { return text == "" })
			if c.want == nil && (output != answer || f != nil) || c.want != nil && (f == nil || *f != *c.want) {
				t.Errorf("%q, failure %+v", output, f)
			}
			if !slices.Equal(heard, c.heard) {
				t.Errorf("heard %q", heard)
			}
		})
	}
	for name, c := range map[string]struct{ output, text, want string }{
		"claude ends":        {"claude", `{"type":"system"}`, "ended without a result"},
		"codex says nothing": {"codex", `{"type":"turn.completed"}`, "the turn is complete, but there is no answer"},
		"codex ends":         {"codex", `{"type":"error","message":"no key"}`, "child: no key"},
		"amplifier ends":     {"amplifier", `{"status":`, "ended without a result"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, f := called(t, self(t, func(p *Program) { p.Output = c.output }, "say", c.text), "{}")
			if f == nil || !strings.Contains(f.Message, c.want) {
				t.Errorf("%+v", f)
			}
		})
	}
}

// FuzzFormats checks that any output is read within the limits, in each format.
func FuzzFormats(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json*")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"type":"partial","output":{"a":"\ud800"}}` + "\n" + `{"type":"progress","text":"\u001b[31m"}` + "\n" + `{"type":"result","output":[null]}`))
	f.Add([]byte("a\n\n\xff\n" + strings.Repeat("y", 70_000)))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, name := range outputs() {
			r := &report{tell: func(text string) {
				if len(text) > maxProgress+3 || !utf8.ValidString(text) || strings.ContainsAny(text, "\n\r\x1b") {
					t.Fatalf("%s: told %q", name, text)
				}
			}}
			scan(bytes.NewReader(b), newFormat(name, r), r)
			if len(r.output) > maxResult || len(r.partial) > maxResult || !utf8.ValidString(r.output) || !utf8.ValidString(r.partial) {
				t.Fatalf("%s: a result of %d bytes, a part of %d", name, len(r.output), len(r.partial))
			}
			if r.failure != nil && (r.done || len(r.failure.Message) > maxFailure+3 || r.failure.Code == "") {
				t.Fatalf("%s: %+v, a result %v", name, r.failure, r.done)
			}
		}
	})
}

// BenchmarkLine measures one line of progress. Goal: less than 5 us.
func BenchmarkLine(b *testing.B) {
	r := &report{tell: func(string) {}}
	f := newFormat("lines", r)
	line := []byte(`{"type":"progress","text":"reading the file"}`)
	for b.Loop() {
		f.line(line)
	}
}

// BenchmarkCall measures a whole call of a small program. Goal: less than 10 ms.
func BenchmarkCall(b *testing.B) {
	tool, err := New(Options{Programs: []Program{{Name: "child", Command: "sh", Args: []string{"-c", `echo '{"type":"result","output":"x"}'`}}}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if out, err := tool.Call(b.Context(), port.ToolCall{Name: "child"}, nil); err != nil || out != "x" {
			b.Fatal(out, err)
		}
	}
}
