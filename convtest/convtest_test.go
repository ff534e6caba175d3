package convtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
)

func TestParseLine(t *testing.T) {
	for in, want := range map[string]Line{
		"user.start":                           {Event: conv.UserStart{}},
		"+500ms user.start":                    {At: 500 * time.Millisecond, Event: conv.UserStart{}},
		"@2s user.start":                       {At: 2 * time.Second, Absolute: true, Event: conv.UserStart{}},
		"wait 3s":                              {At: 3 * time.Second, Event: conv.DeadlinePassed{}, Wait: true},
		`stt.final text="a b" confidence=0.5`:  {Event: conv.STTFinal{Text: "a b", Confidence: 0.5}},
		`stt.final text='say "a"' endpoint`:    {Event: conv.STTFinal{Text: `say "a"`, Endpoint: true}},
		`stt.final text=word turn=3`:           {Event: conv.STTFinal{Text: "word", Turn: 3}},
		`user.text text=""`:                    {Event: conv.UserText{}},
		`tool.called id=a arguments='{"a":1}'`: {Event: conv.ToolCalled{ID: "a", Arguments: `{"a":1}`}},
		`{"at":1240,"type":"stt.final","text":"x"}`: {
			At: 1240 * time.Millisecond, Absolute: true, Event: conv.STTFinal{Text: "x"},
		},
	} {
		got, err := ParseLine(in)
		if err != nil || got != want {
			t.Errorf("%s: %+v (%v), expected %+v", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"user.dream":               "unknown type",
		"stt.final colour=red":     "colour",
		"stt.final text=7":         "field text",
		`stt.final text="a`:        "does not end",
		`stt.final text='a`:        "does not end",
		"stt.final =7":             "without a field",
		"+soon user.start":         "expected a time",
		"+-1s user.start":          "expected a time",
		"wait until":               "expected a time",
		`{"at":-1,"type":"fault"}`: "field at",
		`{"at":1`:                  "unexpected end",
		`{"at":1,"type":"x"}`:      "unknown type",
	} {
		if _, err := ParseLine(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", in, err, want)
		}
	}
}

func TestSetOption(t *testing.T) {
	var o conv.Options
	for path, value := range map[string]string{
		"endpoint": "manual", "barge_in": "words", "dead_air": "off", "limits.tool": "3s", "retry.backoff": "1s,2s",
		"history_limit": "7", "speak_notices": "true", "filter.Echo": "0.5", "barge_in.thinking.min_speech": "off",
	} {
		if err := SetOption(&o, path, value); err != nil {
			t.Errorf("%s=%s: %v", path, value, err)
		}
	}
	if o.Endpoint != "manual" || o.BargeIn.Reply.Policy != "words" || !o.DeadAir.Off || o.Limits.Tool != 3*time.Second ||
		len(o.Retry.Backoff) != 2 || o.HistoryLimit != 7 || !o.SpeakNotices || o.Filter.Echo != 0.5 || o.BargeIn.Thinking.MinSpeech != -1 {
		t.Errorf("not all options are set: %+v", o)
	}
	for path, value := range map[string]string{
		"nonsense": "1", "limits.nonsense": "1s", "limits": "1s", "endpoint.x": "1", "limits.tool": "soon", "dead_air": "on",
		"history_limit": "many", "speak_notices": "maybe", "limits.feedback": "1s", "filter.Echo": "loud", "retry.backoff": "1s,soon",
	} {
		if err := SetOption(&o, path, value); err == nil {
			t.Errorf("%s=%s is taken", path, value)
		}
	}
}

// TestExpectations checks that each assertion can succeed and fail.
func TestExpectations(t *testing.T) {
	r, err := Reach(conv.Speaking, conv.Options{Endpoint: "recognizer"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"+500ms user.interrupt source=button", "reply.delta turn=2 text=late", "wait 50ms"} {
		l, err := ParseLine(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Do(l); err != nil {
			t.Fatal(err)
		}
	}
	from := len(r.Steps) - 3
	for _, line := range []string{
		"phase listening.ready", "view agent-voice listening", "path speaking > interrupted > listening.ready",
		"within 50ms interrupted > listening.ready", "leads user.interrupt > interrupted", "effect flush_playout",
		"effect flush_playout =1 turn=2 heard_ms=500", "no speak", "effect speak =0", "turn 2 interrupted", "turn 1 completed",
		"turn 9 absent", "late 1", `said user "book a flight"`, `said agent "Where"`, `never "any train"`, "calls 0",
		"armed inactivity", "idle speaking", `words ""`,
	} {
		if err := r.expectation(line, from, conv.Speaking); err != nil {
			t.Errorf("%s does not hold: %v", line, err)
		}
	}
	for _, line := range []string{
		"phase speaking", "view agent-voice speaking", "view soni idle", "path speaking > listening.ready",
		"within 49ms interrupted > listening.ready", "within 1s faulted > listening.ready", "within soon a > b", "within 1s a",
		"leads user.interrupt > speaking", "leads nonsense", "effect speak", "effect flush_playout =2", "effect flush_playout =x",
		"effect flush_playout turn=3", `effect flush_playout text="`, "no flush_playout", "turn 2 completed", "late 0",
		`said user "something"`, "said user something", `said tool "x"`, `never "flight"`, "never flight", "calls 1",
		"armed speaking", "idle inactivity", "armed nonsense", `words "x"`, "words x", "hope for the best", "",
	} {
		if err := r.expectation(line, from, conv.Speaking); err == nil {
			t.Errorf("%q holds", line)
		}
	}
}

// TestScenarioErrors checks that errors in a scenario name the place.
func TestScenarioErrors(t *testing.T) {
	for text, want := range map[string]string{
		"step\nuser.start\n----\n":                                 "begin with `new`",
		"new endpoint=telepathy\n----\n":                           "telepathy",
		"new\nlimits.tool=soon\n----\n":                            "limits.tool",
		"new\n----\n\ndance\n----\n":                               `unknown command "dance"`,
		"new\n----\n\nstep\nuser.dream\n----\n":                    "user.dream",
		"new\n----\n\nreach nowhere\n----\n":                       "nowhere",
		"new\n----\n\nreach\n----\n":                               "expected one phase",
		"new\n----\n\nexpect\nphase speaking\n----\n":              "line 4: phase speaking: phase is idle",
		"new\n----\n\nstep\n@2s user.start\n@1s user.stop\n----\n": "the clock is already at 2.000s",
		"new\n----\n\nstep\nuser.start\n":                          "no ---- behind step",
	} {
		path := filepath.Join(t.TempDir(), "x.txt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Assertions(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", text, err, want)
		}
	}
	if err := Assertions(filepath.Join(t.TempDir(), "absent.txt")); err == nil {
		t.Error("a file that is not there is run")
	}
}

// TestVerifyNotices checks that a modified record is detected.
func TestVerifyNotices(t *testing.T) {
	r, err := Reach(conv.Speaking, conv.Options{Endpoint: "recognizer"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Verify(); err != nil {
		t.Fatal(err)
	}
	last := &r.Steps[len(r.Steps)-1]
	last.line = []byte(strings.Replace(string(last.line), "speaking", "listening.ready", 1))
	if err := r.Verify(); err == nil {
		t.Error("a step that was something else is not noticed")
	}
}

// TestElapsed measures from entry to entry.
func TestElapsed(t *testing.T) {
	r, err := Reach(conv.Speaking, conv.Options{Endpoint: "recognizer"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := r.Elapsed(conv.ListeningCapturing, conv.Speaking); !ok || d != 1300*time.Millisecond {
		t.Errorf("%v, %v; expected 1.3s", d, ok)
	}
	if _, ok := r.Elapsed(conv.Speaking, conv.Idle); ok {
		t.Error("what did not happen was measured")
	}
}
