package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
)

var started = time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)

// record steps a short call and returns its trace.
func record(t testing.TB, o conv.Options, events []conv.Event) []byte {
	t.Helper()
	h, err := journal.NewHeader(started, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := h.Conversation()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := journal.NewWriter(&b, h)
	if err != nil {
		t.Fatal(err)
	}
	for i, ev := range events {
		now := started.Add(time.Duration(i) * 333333333 * time.Nanosecond)
		c.Step(now, ev)
		if err := w.Step(now, c, ev); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// call is a call with a barge-in and a tool.
func call() []conv.Event {
	return []conv.Event{
		conv.UserStart{},
		conv.SessionReady{ID: "s1"},
		conv.AudioReady{},
		conv.SpeechStarted{Utterance: 1},
		conv.STTFinal{Utterance: 1, Text: "book a <flight> & \"more\"", Confidence: 0.9},
		conv.ReplyRequested{},
		conv.ReplyDelta{Text: "Where to? I can\u2028book. "},
		conv.PlayoutStarted{},
		conv.PlayoutProgress{Heard: 1234567 * time.Nanosecond},
		conv.SpeechStarted{Utterance: 2},
		conv.DeadlinePassed{},
		conv.STTFinal{Utterance: 2, Text: "to Zürich 日本", Confidence: 1. / 3},
		conv.ReplyRequested{},
		conv.ToolCalled{ID: "a", Name: "search", Arguments: `{"to":"ZRH"}`},
		conv.ToolDone{ID: "a", Output: `{"n":3}`},
		conv.PlayoutFlushed{Turn: 2, Heard: time.Second},
		conv.UserStop{},
		conv.SessionEnded{},
	}
}

func options() conv.Options {
	o := conv.Options{Endpoint: "recognizer", Language: "de"}
	o.BargeIn.Reply.Policy = "energy"
	o.Limits.Waiting = 7 * time.Second
	o.Retry.Max = -1
	return o
}

// TestReplayAgrees checks that a trace is replayed bit for bit, and that every line
// is visited.
func TestReplayAgrees(t *testing.T) {
	trace := record(t, options(), call())
	lines := 0
	n, err := journal.Replay(bytes.NewReader(trace), func(l journal.Line, ev conv.Event, c *conv.Conversation) {
		lines++
		if l.Event != conv.EventType(ev) || l.State != c.Phase().String() {
			t.Errorf("line %d is %s in %s, the machine had %s in %v", lines, l.Event, l.State, conv.EventType(ev), c.Phase())
		}
	})
	if err != nil || n != len(call()) || lines != n {
		t.Errorf("%d steps, %d lines, %v; expected %d", n, lines, err, len(call()))
	}
	if !bytes.Equal(trace, record(t, options(), call())) {
		t.Error("the same call gives another trace")
	}
	for i, line := range bytes.Split(bytes.TrimSpace(trace), []byte("\n")) {
		if !json.Valid(line) {
			t.Errorf("line %d is not JSON: %s", i+1, line)
		}
	}
}

// TestHeaderTellsTheConfiguration checks that different configurations have
// different hashes, and that a modified one is detected.
func TestHeaderTellsTheConfiguration(t *testing.T) {
	a, err := journal.NewHeader(started, options(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := journal.NewHeader(started.Add(time.Hour), options(), nil)
	if err != nil {
		t.Fatal(err)
	}
	other := options()
	other.Limits.Tool = time.Minute
	c, err := journal.NewHeader(started, other, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Config != b.Config || a.Config == c.Config || !strings.HasPrefix(a.Config, "sha256:") {
		t.Errorf("hashes %s, %s, %s: expected the first two to be the same and the third another", a.Config, b.Config, c.Config)
	}
}

// TestReplayFindsTheDifference checks that a replay ends at the first line where
// the machine behaves differently, and shows both versions.
func TestReplayFindsTheDifference(t *testing.T) {
	lines := strings.SplitAfter(string(record(t, options(), call())), "\n")
	for name, c := range map[string]struct {
		line     int
		old, new string
	}{
		"another effect":     {6, `"attempt":1`, `"attempt":2`},
		"another state":      {6, `"state":"processing.understanding"`, `"state":"speaking"`},
		"another transition": {5, `"to":"listening.capturing"`, `"to":"speaking"`},
		"another turn":       {5, `"turn":1`, `"turn":9`},
		"late now":           {7, `"transitions"`, `"late":true,"transitions"`},
	} {
		changed := append([]string(nil), lines...)
		if !strings.Contains(changed[c.line-1], c.old) {
			t.Fatalf("%s: line %d has no %s: %s", name, c.line, c.old, changed[c.line-1])
		}
		changed[c.line-1] = strings.Replace(changed[c.line-1], c.old, c.new, 1)
		n, err := journal.Replay(strings.NewReader(strings.Join(changed, "")), nil)
		var d *journal.Difference
		if !errors.As(err, &d) || d.Line != c.line || n != c.line-2 {
			t.Errorf("%s: %d steps, %v; expected a difference at line %d", name, n, err, c.line)
			continue
		}
		if bytes.Equal(d.Recorded, d.Replayed) || !strings.Contains(err.Error(), "recorded:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBadTraces checks that each kind of damage yields one error that names the
// line.
func TestBadTraces(t *testing.T) {
	good := string(record(t, options(), call()))
	lines := strings.SplitAfter(good, "\n")
	replace := func(line int, old, with string) string {
		t.Helper()
		changed := append([]string(nil), lines...)
		if !strings.Contains(changed[line-1], old) {
			t.Fatalf("line %d has no %s: %s", line, old, changed[line-1])
		}
		changed[line-1] = strings.Replace(changed[line-1], old, with, 1)
		return strings.Join(changed, "")
	}
	for name, c := range map[string]struct{ trace, want string }{
		"empty":                   {"", "the trace is empty"},
		"blank":                   {"\n \n", "the trace is empty"},
		"no JSON":                 {"hello\n", "trace line 1"},
		"no header":               {lines[1], "trace line 1: the first line is not a header"},
		"another format":          {replace(1, "hocket trace", "cocktail trace"), `field format is "cocktail trace"`},
		"another version":         {replace(1, `"version":2`, `"version":1`), "trace line 1: the trace has version 1: expected 2"},
		"no start":                {replace(1, `"started":"2026-01-01T09:00:00Z"`, `"started":"0001-01-01T00:00:00Z"`), "field started is missing"},
		"options were changed":    {replace(1, `"language":"de"`, `"language":"en"`), "do not match the hash"},
		"options of another kind": {replace(1, `"language":"de"`, `"language":7`), "trace line 1"},
		"truncated in a line":     {good[:len(good)-20], "trace line 19: not a step"},
		"truncated in the header": {good[:40], "trace line 1"},
		"garbage in the middle":   {lines[0] + lines[1] + "what?\n" + lines[2], "trace line 3: not a step"},
		"a step without an event": {lines[0] + `{"at":1,"event":"user.start"}` + "\n", "trace line 2: field in is missing"},
		"an unknown event":        {replace(2, `"type":"user.start"`, `"type":"user.dream"`), "trace line 2: event \"user.dream\""},
		"an unknown field":        {replace(2, `"type":"user.start"`, `"type":"user.start","mood":"good"`), "trace line 2"},
		"a time before the start": {replace(2, `"at":0`, `"at":-5`), "trace line 2: field at is -5"},
		"a time beyond the world": {replace(2, `"at":0`, `"at":1e300`), "trace line 2: field at is 1e+300"},
		"an invalid time":         {replace(2, `"at":0`, `"at":"noon"`), "trace line 2: not a step"},
		"no options that work":    {reheader(t, conv.Options{Endpoint: "nonsense"}), "nonsense"},
	} {
		_, err := journal.Replay(strings.NewReader(c.trace), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, expected one line with %q", name, err, c.want)
		}
	}
	// Empty lines are allowed.
	if _, err := journal.Replay(strings.NewReader(strings.ReplaceAll(good, "\n", "\n\n")), nil); err != nil {
		t.Errorf("with empty lines: %v", err)
	}
}

// reheader is a trace of a header alone.
func reheader(t *testing.T, o conv.Options) string {
	t.Helper()
	h, err := journal.NewHeader(started, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

// TestTooLongLine checks that a line without an end is refused.
func TestTooLongLine(t *testing.T) {
	trace := reheader(t, conv.Options{}) + `{"at":0,"in":"` + strings.Repeat("x", 17<<20) + "\n"
	_, err := journal.Replay(strings.NewReader(trace), nil)
	if err == nil || !strings.Contains(err.Error(), "trace line 2 is longer than") {
		t.Errorf("%v, expected that line 2 is too long", err)
	}
}

type failing struct{ after int }

func (f *failing) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func (f *failing) Read([]byte) (int, error) { return 0, errors.New("disk gone") }

// TestErrorsOfTheDisk checks that write and read errors are returned with the
// operation.
func TestErrorsOfTheDisk(t *testing.T) {
	h, err := journal.NewHeader(started, conv.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.NewWriter(&failing{}, h); err == nil || !strings.Contains(err.Error(), "write trace: disk full") {
		t.Errorf("header: %v", err)
	}
	w, err := journal.NewWriter(&failing{after: 1}, h)
	if err != nil {
		t.Fatal(err)
	}
	c, err := h.Conversation()
	if err != nil {
		t.Fatal(err)
	}
	c.Step(started, conv.UserStart{})
	if err := w.Step(started, c, conv.UserStart{}); err == nil || !strings.Contains(err.Error(), "write trace: disk full") {
		t.Errorf("step: %v", err)
	}
	if _, err := journal.NewReader(io.MultiReader(strings.NewReader(reheader(t, conv.Options{})), &failing{})); err != nil {
		t.Errorf("a header that is whole: %v", err)
	}
	if _, err := journal.NewReader(&failing{}); err == nil || !strings.Contains(err.Error(), "disk gone") {
		t.Errorf("read: %v", err)
	}
}

// TestPrivateConversationsAreNotRecorded checks SEC-002.
func TestPrivateConversationsAreNotRecorded(t *testing.T) {
	h, err := journal.NewHeader(started, conv.Options{Privacy: conv.PrivacyNone}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := journal.NewWriter(&b, h); !errors.Is(err, journal.ErrPrivate) || b.Len() > 0 {
		t.Errorf("%v and %d bytes, expected ErrPrivate and none", err, b.Len())
	}
}

// TestOffsetIsExact checks that the times of a trace are exact to the nanosecond for a
// month.
func TestOffsetIsExact(t *testing.T) {
	for _, d := range []time.Duration{
		0, 1, 999, 1234567, time.Second / 3, time.Hour + 1, 15*time.Minute - 1, 30*24*time.Hour + 123456789,
	} {
		back, err := journal.Offset(journal.Millis(d))
		if err != nil || back != d {
			t.Errorf("%v comes back as %v (%v)", d, back, err)
		}
	}
}

// FuzzTrace checks that any trace is replayed or refused with one error, without a
// panic.
func FuzzTrace(f *testing.F) {
	good := record(f, options(), call())
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(good[:10])
	f.Add(append(append([]byte(nil), good...), goesOn(f, []conv.Event{conv.ConnectionLost{}})...))
	f.Add([]byte{})
	f.Add([]byte("\n\n\n"))
	f.Add(bytes.Replace(good, []byte(`"version":2`), []byte(`"version":1`), 1))
	f.Add(append(append([]byte(nil), good...), "garbage\n"...))
	f.Add(bytes.ReplaceAll(good, []byte("\n"), []byte("\r\n")))
	header, _, _ := bytes.Cut(good, []byte("\n"))
	f.Add(append(append([]byte(nil), header...), "\n{\"at\":0,\"in\":{\"type\":\"user.start\"}}\n{\"at\":1,\"in\":{\"type\":\"fault\",\"code\":\"X\"}}\n"...))
	f.Fuzz(func(t *testing.T, trace []byte) {
		n, err := journal.Replay(bytes.NewReader(trace), nil)
		if n < 0 || n > bytes.Count(trace, []byte("\n"))+1 {
			t.Fatalf("%d steps of %d lines", n, bytes.Count(trace, []byte("\n"))+1)
		}
		if err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Fatal("an empty error")
		}
	})
}

// FuzzTraceSteps keeps a whole header, so that the fuzzer's lines reach the machine.
func FuzzTraceSteps(f *testing.F) {
	good := record(f, options(), call())
	header, steps, _ := bytes.Cut(good, []byte("\n"))
	f.Add(steps)
	for _, line := range bytes.Split(bytes.TrimSpace(steps), []byte("\n")) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		r, err := journal.NewReader(io.MultiReader(bytes.NewReader(header), strings.NewReader("\n"), bytes.NewReader(lines)))
		if err != nil {
			t.Fatalf("a header that is whole: %v", err)
		}
		c, err := r.Header().Conversation()
		if err != nil {
			t.Fatal(err)
		}
		for {
			line, ev, err := r.Next()
			if err != nil {
				return
			}
			at, err := journal.Offset(line.At)
			if err != nil {
				return
			}
			c.Step(started.Add(at), ev)
			if _, err := journal.Describe(c, at, ev); err != nil {
				t.Fatalf("a step that was made is not described: %v", err)
			}
		}
	})
}

// TestFramesBetweenSteps checks that a replay skips the turn controller's lines for
// frames.
func TestFramesBetweenSteps(t *testing.T) {
	trace := record(t, options(), call())
	frame := `{"timestamp_ms":20,"frame_energy":0.01,"vad_prob":0.2}` + "\n"
	with := bytes.ReplaceAll(trace, []byte("\n"), []byte("\n"+frame))
	n, err := journal.Replay(bytes.NewReader(with), nil)
	if err != nil || n != len(call()) {
		t.Errorf("%d steps, %v; expected %d", n, err, len(call()))
	}
	if _, err := journal.NewReader(strings.NewReader(frame)); err == nil {
		t.Error("a frame is taken for the header")
	}
}
