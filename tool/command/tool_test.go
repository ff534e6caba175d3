//go:build unix

package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/porttest"
)

// self returns a tool that runs the test's program with the given arguments.
func self(t testing.TB, change func(*Program), args ...string) *Tool {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(childEnv, "1")
	t.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise the race detector delays the exit of a child
	p := Program{Name: "child", Command: program, Args: args, Env: []string{childEnv, "GORACE"}}
	if change != nil {
		change(&p)
	}
	tool, err := New(Options{Programs: []Program{p}, Grace: 300 * time.Millisecond, Pace: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// called returns a call's result and its progress.
func called(t testing.TB, tool *Tool, arguments string) (output string, heard []string, f *port.Failure) {
	t.Helper()
	output, err := tool.Call(t.Context(), port.ToolCall{ID: "conv_1/a.1", Name: "child", Arguments: arguments},
		func(text string) { heard = append(heard, text) })
	f, ok := errors.AsType[*port.Failure](err)
	if err != nil && !ok {
		t.Fatal(err)
	}
	return output, heard, f
}

func TestPort(t *testing.T) {
	porttest.TestTool(t, func(t *testing.T) port.Tool { return self(t, nil, "say", `{"type":"result","output":"x"}`) },
		port.ToolCall{ID: "1", Name: "child", Arguments: "{}"})
}

// TestLines checks the line protocol.
func TestLines(t *testing.T) {
	for name, c := range map[string]struct {
		lines  []string
		output string
		heard  []string
		want   *port.Failure
	}{
		"a result": {
			[]string{`{"type":"progress","text":"reading\nthe file"}`, `{"type":"progress","text":"writing"}`, `{"type":"result","output":"done"}`},
			"done",
			[]string{"reading the file", "writing"},
			nil,
		},
		"an object":       {[]string{`{"type":"result","output":{"a": [1, 2]}}`}, `{"a":[1,2]}`, nil, nil},
		"nothing":         {[]string{`{"type":"result"}`}, "", nil, nil},
		"behind a result": {[]string{`{"type":"result","output":"a"}`, `{"type":"result","output":"b"}`, `{"type":"error"}`}, "a", nil, nil},
		"signs of life":   {[]string{`{"type":"beat"}`, `{"type":"result","output":"a"}`}, "a", []string{""}, nil},
		"odd fields": {
			[]string{`{"type":"progress","text":"x","code":7}`, `{"type":"result","output":"a","message":{"for":"others"}}`}, "a", []string{"x"}, nil,
		},
		"noise": {[]string{`I am starting`, `{"type":"result","output":"a"}`}, "a", []string{""}, nil},
		"an error": {
			[]string{`{"type":"partial","output":"a"}`, `{"type":"partial","output":{"b":2}}`, `{"type":"error","code":"RATE_LIMIT","message":"too many"}`},
			"", nil, &port.Failure{Code: "RATE_LIMIT", Message: "child: too many", Partial: `{"b":2}`},
		},
		"an odd code":     {[]string{`{"type":"error","code":"oh no","message":"x"}`}, "", nil, &port.Failure{Code: "TOOL_ERROR", Message: "child: x"}},
		"a code too high": {[]string{`{"type":"error","code":"AUTH_FAILURE","message":"x"}`}, "", nil, &port.Failure{Code: "TOOL_ERROR", Message: "child: x"}},
		"no result":       {[]string{`{"type":"progress","text":"x"}`}, "", []string{"x"}, &port.Failure{Code: "TOOL_ERROR", Message: "child: it ended without a result"}},
	} {
		t.Run(name, func(t *testing.T) {
			output, heard, f := called(t, self(t, nil, append([]string{"say"}, c.lines...)...), "{}")
			if c.heard != nil && !slices.Equal(heard, c.heard) {
				t.Errorf("heard %q, expected %q", heard, c.heard)
			}
			if output != c.output || (f == nil) != (c.want == nil) || f != nil && *f != *c.want {
				t.Errorf("%q, failure %+v", output, f)
			}
		})
	}
}

// TestInput checks where a program receives its arguments.
func TestInput(t *testing.T) {
	schema := []byte(`{"type":"object","properties":{"topic":{"type":"string"},"n":{"type":"integer"},"deep":{"type":"object"}}}`)
	for name, c := range map[string]struct {
		args            []string
		stdin           string
		arguments, want string
	}{
		"a line":          {nil, "", `{"topic": "a b", "n": 10000000000000001}`, ` < {"n":10000000000000001,"topic":"a b"}` + "\n"},
		"no argument":     {nil, "", ``, " < {}\n"},
		"nothing":         {nil, "none", `{"topic":"x"}`, " < "},
		"its words":       {nil, "{topic}", `{"topic":"what is\nnew? $(id) {n}"}`, " < what is\nnew? $(id) {n}"},
		"places":          {[]string{"--n={n}", "{topic}", "{deep}"}, "none", `{"topic":"$HOME; ls","n":3,"deep":{"a":1}}`, `--n=3|$HOME; ls|{"a":1} < `},
		"what is missing": {[]string{"--n={n}", "{topic}", "x"}, "none", `{}`, "x < "},
		"what is there":   {[]string{"n={n},{topic}"}, "none", `{"topic":"x"}`, "n=,x < "},
		"a number":        {[]string{"{n}"}, "none", `{"n":-3}`, "-3 < "},
		"behind dashes":   {[]string{"--", "{topic}"}, "none", `{"topic":"--force"}`, "--|--force < "},
	} {
		t.Run(name, func(t *testing.T) {
			output, _, f := called(t, self(t, func(p *Program) { p.Schema, p.Stdin = schema, c.stdin }, append([]string{"input"}, c.args...)...), c.arguments)
			if output != c.want || f != nil {
				t.Errorf("%q, failure %v, expected %q", output, f, c.want)
			}
		})
	}
	for arguments, want := range map[string]string{
		`{"topic":"--dangerous"}`: "child: the value of {topic} must not begin with -",
		`{"topic":"a\u0000b"}`:    "zero byte",
		`[]`:                      "not a JSON object",
	} {
		_, _, f := called(t, self(t, func(p *Program) { p.Schema = schema }, "input", "{topic}"), arguments)
		if f == nil || f.Code != errclass.InvalidArgs || !strings.Contains(f.Message, want) {
			t.Errorf("%s: %+v", arguments, f)
		}
	}
}

// TestEnvironment checks the environment of a program.
func TestEnvironment(t *testing.T) {
	t.Setenv("TEST_KEY", "hush-hush")
	t.Setenv("TEST_OTHER", "not for you")
	output, _, _ := called(t, self(t, func(p *Program) { p.Env = append(p.Env, "TEST_KEY") }, "environment"), "{}")
	for _, part := range []string{"TEST_KEY=hush-hush", "PATH=", "HOCKET_IDEMPOTENCY_KEY=conv_1/a.1"} {
		if !strings.Contains(output, part) {
			t.Errorf("no %s in %q", part, output)
		}
	}
	if strings.Contains(output, "TEST_OTHER") {
		t.Errorf("%q", output)
	}
}

// TestStatus checks that a failure contains the exit status and the last output
// without secrets.
func TestStatus(t *testing.T) {
	t.Setenv("TEST_KEY", "hush-hush")
	_, _, f := called(t, self(t, func(p *Program) { p.Env = append(p.Env, "TEST_KEY") }, "exit"), "{}")
	if want := (port.Failure{Code: "TOOL_ERROR", Message: "child: it ended with exit status 3 (it says: no disk, [secret])", Partial: "half"}); f == nil || *f != want {
		t.Errorf("%+v", f)
	}
	text := func(p *Program) { p.Output = "text" }
	if output, _, f := called(t, self(t, text, "plain", "0"), "{}"); output != "one\ntwo" || f != nil {
		t.Errorf("%q, failure %v", output, f)
	}
	file := filepath.Join(t.TempDir(), "paragraphs")
	if err := os.WriteFile(file, []byte("one\n\ntwo\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, _, f := called(t, self(t, text, "cat", file), "{}"); output != "one\n\ntwo" || f != nil {
		t.Errorf("%q, failure %v", output, f)
	}
	if _, _, f := called(t, self(t, text, "plain", "7"), "{}"); f == nil || f.Partial != "one\ntwo" || !strings.Contains(f.Message, "exit status 7") {
		t.Errorf("%+v", f)
	}
}

// TestDeaf checks that a program need not read its input.
func TestDeaf(t *testing.T) {
	arguments := `{"text":"` + strings.Repeat("x", 300_000) + `"}`
	if output, _, f := called(t, self(t, nil, "deaf"), arguments); output != "I did not listen" || f != nil {
		t.Errorf("%q, failure %v", output, f)
	}
	tool := self(t, func(p *Program) { p.Timeout = 200 * time.Millisecond }, "stubborn")
	if _, _, f := called(t, tool, arguments); f == nil || f.Code != "TASK_TIMEOUT" {
		t.Errorf("failure %v", f)
	}
}

// TestTooMuch checks that a program with endless output is ended.
func TestTooMuch(t *testing.T) {
	_, heard, f := called(t, self(t, nil, "flood"), "{}")
	if f == nil || !strings.Contains(f.Message, "more than 16777216 bytes") {
		t.Errorf("failure %v", f)
	}
	for _, text := range heard {
		if len(text) > maxProgress+3 {
			t.Fatalf("%d bytes of progress", len(text))
		}
	}
	if _, _, f := called(t, self(t, nil, "longline"), "{}"); f == nil || !strings.Contains(f.Message, "a line of more than 1048576 bytes") {
		t.Errorf("failure %v", f)
	}
	big := `{"type":"result","output":"` + strings.Repeat("x", maxResult-100) + `"}`
	file := filepath.Join(t.TempDir(), "big")
	for _, c := range []struct {
		text string
		fits bool
	}{{big, true}, {strings.Repeat(" ", 10) + strings.Replace(big, "xx", "xx"+strings.Repeat("y", 200), 1), false}} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if output, _, f := called(t, self(t, nil, "cat", file), "{}"); (f == nil) != c.fits || c.fits && len(output) != maxResult-100 {
			t.Errorf("%d bytes: %d, failure %v", len(c.text), len(output), f)
		}
	}
}

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	waittest.Until(t, "the end of a process", nil, func() bool {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return true
		}
		// An orphaned process waits for the init process to reap it.
		out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
		return err != nil || strings.HasPrefix(string(out), "Z")
	})
}

// noZombie checks that all children of this process were waited for.
func noZombie(t *testing.T) {
	t.Helper()
	var status syscall.WaitStatus
	if pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); pid > 0 || err == nil && pid == 0 {
		t.Errorf("there is a child left: %d, error %v", pid, err)
	}
}

// TestCancelled checks that the end of a call ends the program, even if it ignores
// signals, and its children, and that the partial result is kept.
func TestCancelled(t *testing.T) {
	for name, c := range map[string]struct {
		args    []string
		partial string
	}{
		"polite":   {[]string{"polite"}, "nearly"},
		"stubborn": {[]string{"stubborn"}, "half"},
		"children": {[]string{"family", "waits"}, "half"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			pid := 0
			tool := self(t, nil, c.args...)
			if name == "polite" {
				tool.o.Grace = time.Minute // it needs none of it
			}
			out, err := tool.Call(ctx, port.ToolCall{Name: "child"}, func(text string) {
				if n, err := strconv.Atoi(text); err == nil {
					pid = n
					cancel()
				}
			})
			f, ok := errors.AsType[*port.Failure](err)
			if !ok || !errors.Is(err, context.Canceled) || f.Code != "CANCELLED" || f.Partial != c.partial {
				t.Errorf("%q, error %v, failure %+v", out, err, f)
			}
			if pid == 0 {
				t.Fatal("no process has reported its number")
			}
			gone(t, pid)
			noZombie(t)
		})
	}
}

// TestResultAtTheEnd checks that a result written while the program is being ended
// counts.
func TestResultAtTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tool := self(t, nil, "finishes")
	tool.o.Grace = time.Minute // it needs none of it
	if out, err := tool.Call(ctx, port.ToolCall{Name: "child"}, func(string) { cancel() }); out != "just in time" || err != nil {
		t.Errorf("%q, error %v", out, err)
	}
}

// TestLeftBehind checks that processes left behind by a program are ended and delay
// nothing.
func TestLeftBehind(t *testing.T) {
	output, _, f := called(t, self(t, nil, "family", "result"), "{}")
	pid, err := strconv.Atoi(output)
	if err != nil || f != nil {
		t.Fatalf("%q, failure %v", output, f)
	}
	gone(t, pid)
	_, heard, f := called(t, self(t, nil, "family", "leaves"), "{}")
	if f == nil || !strings.Contains(f.Message, "ended without a result") {
		t.Errorf("failure %v", f)
	}
	for _, text := range heard {
		if n, err := strconv.Atoi(text); err == nil {
			gone(t, n)
		}
	}
	_, heard, f = called(t, self(t, nil, "deserter"), "{}")
	if f == nil || f.Partial != "half" {
		t.Errorf("failure %+v", f)
	}
	heard = slices.DeleteFunc(heard, func(text string) bool { return text == "" })
	if len(heard) == 0 {
		t.Fatal("the program has reported no process")
	}
	if pid, err = strconv.Atoi(heard[0]); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil { // nothing else ends it
		t.Error(err)
	}
	if output, _, f := called(t, self(t, nil, "lingers"), "{}"); output != "early" || f != nil {
		t.Errorf("%q, failure %v", output, f)
	}
	noZombie(t)
}

// TestTimeout checks that a program is ended at its timeout and that its partial
// result is kept.
func TestTimeout(t *testing.T) {
	tool := self(t, func(p *Program) { p.Timeout = 2 * time.Second }, "stubborn")
	_, heard, f := called(t, tool, "{}")
	if want := (port.Failure{Code: "TASK_TIMEOUT", Message: "child took too long", Partial: "half"}); f == nil || *f != want {
		t.Errorf("%+v", f)
	}
	if len(heard) == 0 {
		t.Error("nothing was heard")
	}
}

// TestPace checks that progress is reported in order and at a limited rate.
func TestPace(t *testing.T) {
	lines := []string{"say"}
	for i := range 200 {
		lines = append(lines, fmt.Sprintf(`{"type":"progress","text":"%03d"}`, i))
	}
	tool := self(t, nil, append(lines, `{"type":"result"}`)...)
	tool.o.Pace = time.Hour
	_, heard, f := called(t, tool, "{}")
	if f != nil || len(heard) > maxNews+1 || !slices.IsSorted(heard) || heard[len(heard)-1] != "199" {
		t.Errorf("heard %q, failure %v", heard, f)
	}
}

// TestMissing checks that requirements of a program are checked at the start.
func TestMissing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	one := func(p Program) Options { return Options{Programs: []Program{p}} }
	for want, o := range map[string]Options{
		"command: a: the program no-such-program does not exist":       one(Program{Name: "a", Command: "no-such-program"}),
		"command: a: the program ./sh does not exist":                  one(Program{Name: "a", Command: "./sh", Dir: t.TempDir()}),
		"command: a: the environment variable TEST_NOT_SET is not set": one(Program{Name: "a", Command: "sh", Env: []string{"TEST_NOT_SET"}}),
		"command: a: folder: stat /no/such":                            one(Program{Name: "a", Command: "sh", Dir: "/no/such"}),
		"a: the program " + file + " is not executable":                one(Program{Name: "a", Command: file}),
		"is a file":                                                              one(Program{Name: "a", Command: "sh", Dir: file}),
		"command: a: the command must be set":                                    one(Program{Name: "a"}),
		"the program must not depend on the call's values":                       one(Program{Name: "a", Command: "{x}"}),
		`command: tool 1 has the name "a b"`:                                     one(Program{Name: "a b", Command: "sh"}),
		`the output is "xml": expected one of lines, text`:                       one(Program{Name: "a", Command: "sh", Output: "xml"}),
		"{topic} in \"--x={topic}\" is not an argument: expected one of [about]": one(Program{Name: "a", Command: "sh", Args: []string{"--x={topic}"}, Schema: []byte(`{"properties":{"about":{}}}`)}),
		"command: a: the schema is not valid JSON":                               one(Program{Name: "a", Command: "sh", Schema: []byte(`{`)}),
		"the timeout is -1ns":                                                    one(Program{Name: "a", Command: "sh", Timeout: -1}),
		"two tools have the name a":                                              {Programs: []Program{{Name: "a", Command: "sh"}, {Name: "a", Command: "sh"}}},
		"Grace is -1ns":                                                          {Grace: -1},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	tool, err := New(Options{Programs: []Program{
		{Name: "a", Command: "sh"}, {Name: "b", Command: "sh", Quick: true, Repeatable: true, Confirm: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if s := tool.Specs(); !s[0].Long || !s[0].Irreversible || s[0].Confirm || s[1].Long || s[1].Irreversible || !s[1].Confirm {
		t.Errorf("%+v", s)
	}
}
