package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
)

// TestStepScenarios compares the output for each file of events in testdata/step.
func TestStepScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/step/*.events")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d scenarios, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".events")
		t.Run(name, func(t *testing.T) {
			events, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "step/"+name+".jsonl", output(t, string(events), "step"))
		})
	}
}

// step runs events and parses the output.
func step(t *testing.T, events string, args ...string) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for line := range strings.Lines(output(t, events, append([]string{"step"}, args...)...)) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, m)
	}
	return lines
}

// brief shortens a line of the output.
func brief(m map[string]any) string { return fmt.Sprintf("%v %v %v", m["at"], m["event"], m["state"]) }

func wantBrief(t *testing.T, lines []map[string]any, want ...string) {
	t.Helper()
	var got []string
	for _, m := range lines {
		got = append(got, brief(m))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const listening = `{"at": 0, "type": "user.start"}
{"type": "session.ready"}
{"type": "audio.ready"}
`

// TestStepTime checks that deadlines before an event fire first, with a line each, that
// a deadline in the input has one line, whatever is due, and that no deadline fires at
// the end of the input.
func TestStepTime(t *testing.T) {
	lines := step(t, listening+`
		{"at": 100, "type": "stt.final", "text": "hello"}
		{"type": "reply.requested"}
		{"at": 8000, "type": "deadline"}
		# The first try is over at 8100, the next begins at 9100.
		{"at": 8100, "type": "deadline"}
		{"at": 9500, "type": "reply.delta", "text": "Hi."}`)
	wantBrief(
		t, lines[3:],
		"100 stt.final processing.understanding",
		"100 reply.requested processing.waiting",
		"8000 deadline processing.waiting",
		"8100 deadline processing.waiting",
		"9100 deadline processing.waiting",
		"9500 reply.delta processing.generating",
	)
	if got := lines[6]["effects"].([]any); len(got) != 1 || got[0].(map[string]any)["type"] != "notify" {
		t.Errorf("the line at the deadline has the effects %v", got)
	}
	if got := lines[5]["effects"].([]any); len(got) != 0 {
		t.Errorf("a line before the deadline has the effects %v", got)
	}
}

// TestStepPolicy checks that the default policy is recognizer and that a config changes
// it.
func TestStepPolicy(t *testing.T) {
	events := listening + `{"at": 100, "type": "speech.started"}
		{"at": 900, "type": "stt.final", "text": "hello"}`
	lines := step(t, events)
	if got := brief(lines[4]); got != "900 stt.final processing.understanding" {
		t.Errorf("by default a final gives %s", got)
	}
	lines = step(t, events, "--config", write(t, "c.yaml", "settings:\n  turn: {policy: easyturn}\n"))
	if got := brief(lines[4]); got != "900 stt.final listening.capturing" {
		t.Errorf("with easyturn a final gives %s", got)
	}
	lines = step(t, listening+`{"at": 5000, "type": "deadline"}`, "--config", write(t, "c.yaml", "greeting: Hello.\nlimits: {processing: 2s}\n"))
	if got := brief(lines[3]); got != "2000 deadline listening.ready" {
		t.Errorf("with a limit of 2 s a greeting without a voice gives %s", got)
	}
}

// TestStepKeys checks that each line contains all documented keys.
func TestStepKeys(t *testing.T) {
	for _, m := range step(t, listening) {
		for _, key := range []string{"at", "event", "state", "views", "transitions", "effects", "late"} {
			if m[key] == nil {
				t.Errorf("a line has no %s: %v", key, m)
			}
		}
		if n := len(m["views"].(map[string]any)); n != len(view.Names()) {
			t.Errorf("a line has %d views", n)
		}
	}
	late := step(t, listening+`{"type": "reply.delta", "turn": 7, "text": "x"}`)[3]
	if late["late"] != true {
		t.Errorf("a late fact gives %v", late)
	}
}

func TestStepBadLines(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{`xx`, `not valid JSON: invalid character 'x' looking for beginning of value: expected an object such as {"type": "user.start"}`},
		{`{"type":`, `not valid JSON: unexpected end of JSON input: expected an object such as {"type": "user.start"}`},
		{`[1]`, `expected a JSON object such as {"type": "user.start"}`},
		{`null`, `expected a JSON object such as {"type": "user.start"}`},
		{`{}`, `no type: expected an event such as {"type": "user.start"}`},
		{`{"type": "stt.finl"}`, `field type is "stt.finl"; did you mean stt.final?`},
		{`{"type": 5}`, `field type is a JSON number: expected a text`},
		{`{"type": "stt.final", "txet": "x"}`, `unknown field "txet"; did you mean text?`},
		{`{"type": "stt.final", "text": 5}`, `field text is a JSON number: expected a text`},
		{`{"type": "stt.final", "confidence": "x"}`, `field confidence is a JSON string: expected a number`},
		{`{"type": "stt.final", "confidence": 2}`, `event "stt.final": field confidence is 2: expected 0 to 1`},
		{`{"type": "stt.final", "turn": 1.5}`, `field turn is a JSON number 1.5: expected a whole number`},
		{`{"type": "stt.final", "endpoint": 1}`, `field endpoint is a JSON number: expected true or false`},
		{`{"type": "user.start", "at": "x"}`, `field at is "x": expected milliseconds since the start`},
		{`{"type": "user.start", "at": -1}`, `field at is -1: expected milliseconds since the start, 0 or more`},
		{`{"type": "user.start", "at": 1e300}`, `field at is 1e+300: expected milliseconds since the start, 0 or more`},
		{`{"type": "user.start", "at": 9.5}`, `field at is 9.5: expected 10 or more, the time of the line before`},
	} {
		stdout, stderr, status := run(t, `{"at": 10, "type": "user.start"}`+"\n\n"+tc.line+"\n"+eventExample, "step")
		if want := "hocket step: line 3: " + tc.want + "\n"; status != statusInput || stderr != want {
			t.Errorf("%s: status %d\ngot  %swant %s", tc.line, status, stderr, want)
		}
		if strings.Count(stdout, "\n") != 1 || !strings.HasSuffix(stdout, "}\n") {
			t.Errorf("%s: the output before the mistake is %q", tc.line, stdout)
		}
	}
	_, stderr, status := run(t, `{"type": "zzz"}`, "step")
	if status != statusInput || !strings.HasPrefix(stderr, `hocket step: line 1: field type is "zzz": expected one of user.start, `) {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func TestStepBadConfig(t *testing.T) {
	path := write(t, "c.yaml", "turn: {polcy: x}\nlimits: {session: 1s}\n")
	stdout, stderr, status := run(t, eventExample, "step", "--config", path)
	want := path + ":1:8: turn.polcy: unknown key; did you mean policy?\n" +
		path + ":2:10: limits.session_warning: is 30s: expected less than session, 1s\n"
	if status != statusInput || stdout != "" || stderr != want {
		t.Errorf("status %d\ngot  %s%s\nwant %s", status, stdout, stderr, want)
	}
}

// TestStepStreams checks that each line is answered before the next is read.
func TestStepStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, in := io.Pipe()
		out, lines := io.Pipe()
		ended := make(chan int, 1)
		go func() {
			ended <- Run([]string{"step"}, events, lines, io.Discard)
			lines.Close()
		}()
		answers := bufio.NewScanner(out)
		for _, line := range strings.Split(strings.TrimSpace(listening), "\n") {
			if _, err := io.WriteString(in, line+"\n"); err != nil {
				t.Fatal(err)
			}
			if !answers.Scan() {
				t.Fatalf("no answer to %s", line)
			}
		}
		in.Close()
		if answers.Scan() {
			t.Errorf("one answer too many: %s", answers.Text())
		}
		if status := <-ended; status != 0 {
			t.Errorf("exit status %d", status)
		}
	})
}

// TestEventFields checks that eventFields are the fields of the events.
func TestEventFields(t *testing.T) {
	for _, name := range eventFields {
		if name == "at" || name == "type" {
			continue
		}
		if _, err := conv.UnmarshalEvent([]byte(`{"type": "user.start", "` + name + `": null}`)); err != nil {
			t.Errorf("field %s: %v", name, err)
		}
	}
	for _, ev := range []conv.Event{
		conv.PlayoutFinished{Turn: 1, Part: 1, Heard: 1, Text: "x"},
		conv.ContextSet{ID: "1", Data: `{"preferences":{"speed":1}}`},
		conv.SessionConfigured{BargeIn: "none", ListenOnly: true},
	} {
		b, err := conv.MarshalEvent(ev)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(b, &fields); err != nil {
			t.Fatal(err)
		}
		for name := range fields {
			if !slices.Contains(eventFields, name) {
				t.Errorf("%T: field %s is missing", ev, name)
			}
		}
	}
}

// TestStepHelp checks that the help of step and turn names every key of their input.
func TestStepHelp(t *testing.T) {
	for help, names := range map[string][]string{stepCmd{}.Help(): eventFields, turnCmd{}.Help(): frameFields} {
		_, keys, _ := strings.Cut(help, "\n\nKeys of a")
		words := strings.FieldsFunc(keys, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' })
		for _, name := range names {
			if name != "at" && name != "type" && !slices.Contains(words, name) {
				t.Errorf("the help does not say what %s is", name)
			}
		}
	}
}

// FuzzStep checks that any input yields complete lines and an exit status, and that an
// error is one line.
func FuzzStep(f *testing.F) {
	f.Add([]byte(listening))
	f.Add([]byte(`{"at": 1e3, "type": "deadline"}` + "\n" + `{"type": "user.text", "text": "x"}`))
	f.Add([]byte(`{"type": "tool.called", "arguments": {"a": [1]}, "at": null}`))
	f.Add([]byte("{\"at\": 0.1}\n#\n\xff"))
	f.Fuzz(func(t *testing.T, input []byte) {
		var out, err bytes.Buffer
		status := Run([]string{"step"}, bytes.NewReader(input), &out, &err)
		if status != statusOK && (status != statusInput || strings.Count(strings.TrimSpace(err.String()), "\n") > 0) {
			t.Errorf("status %d: %s", status, err.String())
		}
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("no JSON: %s", line)
			}
		}
	})
}
