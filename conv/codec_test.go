package conv_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
)

// TestEventsRoundTrip writes and reads an event of each type with all its fields.
func TestEventsRoundTrip(t *testing.T) {
	full := []conv.Event{
		conv.UserStart{Silent: true},
		conv.UserStop{Reason: "done"},
		conv.SessionEnded{},
		conv.SessionReady{ID: "s1"},
		conv.AudioReady{},
		conv.SpeechStarted{Turn: 1, Utterance: 2, Source: "energy", Lag: 60 * time.Millisecond, Echo: true},
		conv.SpeechStopped{Turn: 1, Utterance: 2, Source: "vad", Lag: 240 * time.Millisecond},
		conv.STTPartial{Turn: 1, Utterance: 2, Text: "a <b> & \"c\" \u2028 日本", Confidence: 0.25, Stability: 1},
		conv.STTFinal{Turn: 1, Utterance: 2, Text: "a", Confidence: 0.9, Stability: 0.5, Endpoint: true, Lag: 300 * time.Millisecond},
		conv.TurnEnded{Turn: 1, Utterance: 2, Cause: "semantic"},
		conv.UserText{Text: "a\nb"},
		conv.UserKey{},
		conv.UserInterrupt{Source: "button", Heard: 1234567 * time.Nanosecond},
		conv.UserCancel{ID: "a"},
		conv.UserRecover{},
		conv.ReplyRequested{Turn: 1, Request: 2, Source: "x"},
		conv.ReplyDelta{Turn: 1, Request: 2, Text: " a "},
		conv.ReplyDone{Turn: 1, Request: 2, Text: "a", Silent: true},
		conv.ReplyFailed{Turn: 1, Request: 2, Code: "C", Message: "m", Retryable: true},
		conv.ToolCalled{Turn: 1, Request: 2, ID: "i", Name: "n", Arguments: `{"a": [1, 2]}`, Long: true, Confirm: true},
		conv.ToolDone{ID: "i", Output: "o"},
		conv.ToolFailed{ID: "i", Code: "C", Message: "m", Output: "o", Fatal: true},
		conv.TaskProgress{ID: "i", Text: "half"},
		conv.TaskDone{ID: "i", Output: "o"},
		conv.TaskFailed{ID: "i", Code: "C", Message: "m", Output: "o"},
		conv.TaskAdopted{Key: "k", Name: "n", Arguments: `{"a":1}`},
		conv.Summarized{Request: 3, Text: "a"},
		conv.PlayoutStarted{Turn: 1, Part: 2},
		conv.PlayoutProgress{Turn: 1, Heard: time.Hour, Text: "a"},
		conv.PlayoutFinished{Turn: 1, Part: 2, Heard: time.Millisecond / 3, Text: "a"},
		conv.PlayoutFailed{Turn: 1, Code: "C", Message: "m"},
		conv.PlayoutFlushed{Turn: 1, Part: 2, Heard: time.Second, Text: "a"},
		conv.SessionRenewal{Source: "diagnostics"},
		conv.SessionRenewed{ID: "s2"},
		conv.SessionConfigured{BargeIn: "energy", ListenOnly: true},
		conv.ContextSet{ID: "a", Data: `{"files":{"a":1}}`},
		conv.SessionExpiring{},
		conv.SessionExpired{},
		conv.ConnectionLost{Retryable: true},
		conv.ConnectionRestored{},
		conv.ReconnectFailed{Retryable: true},
		conv.Fault{Code: "C", Message: "m", Fatal: true},
		conv.DeadlinePassed{},
	}
	types := conv.EventTypes()
	if len(types) != len(full) {
		t.Errorf("%d events are tried, there are %d", len(full), len(types))
	}
	for i, ev := range full {
		if conv.EventType(ev) != types[i] {
			t.Errorf("event %d is %s, expected %s", i, conv.EventType(ev), types[i])
		}
		// A field that is zero here would not be tried.
		v := reflect.ValueOf(ev)
		for j := range v.NumField() {
			if v.Field(j).IsZero() {
				t.Errorf("%s: field %s is not tried", conv.EventType(ev), v.Type().Field(j).Name)
			}
		}
		b, err := conv.MarshalEvent(ev)
		if err != nil {
			t.Errorf("%s: %v", conv.EventType(ev), err)
			continue
		}
		back, err := conv.UnmarshalEvent(b)
		if err != nil || back != ev {
			t.Errorf("%s: written as %s, read as %#v (%v)", conv.EventType(ev), b, back, err)
		}
	}
}

// TestUnmarshalEventRefuses: bad input is one clear line that names the field and
// what was expected.
func TestUnmarshalEventRefuses(t *testing.T) {
	for in, want := range map[string]string{
		``:                                      "ends early",
		`{`:                                     "ends early",
		`null`:                                  "no type",
		`[]`:                                    "array",
		`"user.start"`:                          "string",
		`{}`:                                    "no type",
		`{"type":"user.begin"}`:                 `"user.begin": unknown type; expected one of [user.start`,
		`{"type":"user.start"} {}`:              "more than one",
		`{"type":"user.start"} x`:               "more than one",
		`{"type":"user.start","txet":"a"}`:      "txet",
		`{"type":"user.text","text":7}`:         "field text is a JSON number: expected string",
		`{"type":"stt.final","confidence":1.5}`: "field confidence is 1.5: expected 0 to 1",
		`{"type":"stt.final","stability":-0.1}`: "field stability is -0.1: expected 0 to 1",
		`{"type":"stt.final","turn":-1}`:        "field turn is -1: expected 0 or more",
		`{"type":"stt.final","turn":1.5}`:       "field turn",
		`{"type":"playout.started","part":-1}`:  "field part is -1",
		`{"type":"reply.delta","request":-1}`:   "field request is -1",
		`{"type":"speech.stopped","utterance":-1}`:  "field utterance is -1",
		`{"type":"playout.progress","heard_ms":-1}`: "field heard_ms is -1: expected 0 or more",
		`{"type":"turn.ended","cause":"bored"}`:     `field cause is "bored": expected one of [auto silence`,
		`{"type":"tool.called","long":"yes"}`:       "field long is a JSON string: expected bool",
	} {
		ev, err := conv.UnmarshalEvent([]byte(in))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %v; expected one line with %q", in, ev, err, want)
		}
	}
}

// TestLooseTexts: arguments and outputs may be given as JSON values.
func TestLooseTexts(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": 1, "b": [ true ]}`: `{"a":1,"b":[true]}`,
		`"plain"`:                 `plain`,
		`12`:                      `12`,
		`null`:                    ``,
	} {
		ev, err := conv.UnmarshalEvent([]byte(`{"type":"tool.done","id":"a","output":` + in + `}`))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := ev.(conv.ToolDone).Output; got != want {
			t.Errorf("%s: %q, expected %q", in, got, want)
		}
	}
}

// TestEffectsMarshal: each effect is an object whose first field is its type.
func TestEffectsMarshal(t *testing.T) {
	effects := []conv.Effect{
		conv.OpenSession{},
		conv.PrimeAudio{},
		conv.Listen{},
		conv.Expect{},
		conv.FinalizeTranscript{Turn: 1},
		conv.RequestReply{Turn: 2, UserTurn: 1, Request: 1, Attempt: 1, Text: "<a> & b", Why: conv.RequestUtterance},
		conv.Speak{Turn: 2, Part: 1, Seq: 1, Text: "Hi."},
		conv.EndSpeech{Turn: 2, Part: 1},
		conv.CancelTurn{Turn: 2},
		conv.FlushPlayout{Turn: 2, Part: 1, Heard: 1500 * time.Millisecond},
		conv.DuckPlayout{Turn: 2},
		conv.PausePlayout{Turn: 2},
		conv.ResumePlayout{Turn: 2},
		conv.RunTool{Turn: 2, ID: "a"},
		conv.StartTask{Turn: 2, ID: "c"},
		conv.CancelTool{ID: "a"},
		conv.Cue{Code: "progress", Text: "half"},
		conv.PauseAudio{},
		conv.ResumeAudio{},
		conv.SaveContext{Reason: "x"},
		conv.RestoreContext{},
		conv.CloseConnection{},
		conv.Reconnect{Attempt: 1},
		conv.Release{Reason: "x"},
		conv.Notify{Level: conv.LevelInfo, Code: "x"},
		conv.Reject{Code: "x"},
	}
	seen := map[string]bool{}
	for _, e := range effects {
		b, err := conv.MarshalEffect(e)
		if err != nil || !json.Valid(b) || !strings.HasPrefix(string(b), `{"type":"`+conv.EffectType(e)+`"`) {
			t.Errorf("%T: %s (%v)", e, b, err)
		}
		if seen[conv.EffectType(e)] {
			t.Errorf("two effects are called %s", conv.EffectType(e))
		}
		seen[conv.EffectType(e)] = true
	}
	b, err := conv.MarshalEffect(conv.FlushPlayout{Turn: 2, Heard: 1500 * time.Millisecond})
	if want := `{"type":"flush_playout","turn":2,"heard_ms":1500}`; err != nil || string(b) != want {
		t.Errorf("%s (%v), expected %s", b, err, want)
	}
}

// FuzzEvent: what is read can be written and is read as the same; nothing panics.
func FuzzEvent(f *testing.F) {
	for _, kind := range conv.EventTypes() {
		f.Add([]byte(`{"type":"` + kind + `"}`))
		f.Add([]byte(`{"type":"` + kind + `","turn":3,"utterance":2,"request":1,"part":1,"id":"a","source":"vad","cause":"silence","text":"a b","confidence":0.5,"stability":0.5,"endpoint":true,"silent":true,"name":"n","arguments":{"a":1},"long":true,"output":[1],"code":"X","message":"m","retryable":true,"fatal":true,"heard_ms":12.5,"reason":"r"}`))
	}
	f.Add([]byte(`{"type":"user.text","text":"\ud800"}`))
	f.Add([]byte("{\"type\":\"user.text\",\"text\":\"\xff\"}"))
	f.Add([]byte(`{"type":"playout.progress","heard_ms":0.0000001}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		ev, err := conv.UnmarshalEvent(b)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Fatal("an empty error")
			}
			return
		}
		out, err := conv.MarshalEvent(ev)
		if err != nil {
			t.Fatalf("%#v was read and is not written: %v", ev, err)
		}
		again, err := conv.UnmarshalEvent(out)
		if err != nil || !sameEvent(again, ev) {
			t.Fatalf("%#v was written as %s and is read as %#v (%v)", ev, out, again, err)
		}
	})
}

// sameEvent compares two events. Beyond a hundred days the milliseconds of the wire
// do not hold a nanosecond any more.
func sameEvent(a, b conv.Event) bool {
	if a == b {
		return true
	}
	heard := func(ev conv.Event) time.Duration {
		f := reflect.ValueOf(ev).FieldByName("Heard")
		if !f.IsValid() {
			return 0
		}
		return time.Duration(f.Int())
	}
	const exact = 100 * 24 * time.Hour
	if heard(a) < exact || conv.EventType(a) != conv.EventType(b) {
		return false
	}
	return heard(a).Round(time.Second) == heard(b).Round(time.Second)
}
