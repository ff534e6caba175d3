package conv_test

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/convtest"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/turn"
)

// somehow is one of each kind of effect.
var somehow = []conv.Effect{
	conv.OpenSession{},
	conv.PrimeAudio{},
	conv.Listen{},
	conv.Expect{Expect: dialog.Expectation{Slot: "pin", Kind: "digits", Secret: true}},
	conv.NoteAnswer{Utterance: 3, Answer: turn.Incomplete},
	conv.FinalizeTranscript{Turn: 3},
	conv.RequestReply{Turn: 4, UserTurn: 3, Request: 2, Attempt: 1, Text: "hello", Why: conv.RequestUtterance},
	conv.Summarize{Request: 5, Items: 20},
	conv.Speak{Turn: 4, Part: 1, Seq: 2, Text: "Which city?", Code: "ask"},
	conv.EndSpeech{Turn: 4, Part: 1},
	conv.CancelTurn{Turn: 4},
	conv.FlushPlayout{Turn: 4, Part: 1, Heard: 1250 * time.Millisecond},
	conv.DuckPlayout{Turn: 4},
	conv.PausePlayout{Turn: 4},
	conv.ResumePlayout{Turn: 4},
	conv.RunTool{Turn: 4, ID: "a", Key: "k", Name: "find", Arguments: `{"x": 1}`},
	conv.StartTask{Turn: 4, ID: "b", Key: "k", Name: "search", Arguments: `{"x": "•••"}`},
	conv.FollowTask{ID: "b", Key: "k"},
	conv.SettleTask{ID: "b", Key: "k", Adopted: true},
	conv.CancelTool{ID: "b"},
	conv.Cue{Turn: 4, Code: "working", Text: "One moment."},
	conv.PauseAudio{},
	conv.ResumeAudio{},
	conv.SaveContext{Reason: "expiring"},
	conv.RestoreContext{},
	conv.CloseConnection{},
	conv.Reconnect{Attempt: 2},
	conv.Release{Reason: "user.stop"},
	conv.Notify{Level: conv.LevelError, Code: "model_failed"},
	conv.Reject{Code: "busy"},
}

// TestEffectsReadBack: each effect is read back as it was written.
func TestEffectsReadBack(t *testing.T) {
	var types []string
	for _, e := range somehow {
		b, err := conv.MarshalEffect(e)
		if err != nil {
			t.Fatal(err)
		}
		back, err := conv.UnmarshalEffect(b)
		if err != nil {
			t.Error(err)
			continue
		}
		again, err := conv.MarshalEffect(back)
		if err != nil || !bytes.Equal(b, again) || conv.EffectType(back) != conv.EffectType(e) {
			t.Errorf("%s was read back as %s, error %v", b, again, err)
		}
		if f, ok := e.(conv.FlushPlayout); ok && back != conv.Effect(f) {
			t.Errorf("%+v was read back as %+v", e, back)
		}
		types = append(types, conv.EffectType(e))
	}
	source, err := os.ReadFile("effect.go")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(types)
	if n, there := len(slices.Compact(types)), bytes.Count(source, []byte(") effect() effectKind ")); n != there || there == 0 {
		t.Errorf("%d kinds of effects were tried, there are %d", n, there)
	}
	for _, bad := range []string{"", "null", "[]", "{}", `{"type":"nothing"}`, `{"type":"speak","turn":"x"}`, `{"type":"flush_playout","heard_ms":"x"}`} {
		if e, err := conv.UnmarshalEffect([]byte(bad)); err == nil {
			t.Errorf("%q is read as %+v", bad, e)
		}
	}
}

// FuzzUnmarshalEffect: bytes of a trace make an effect that is written as it was read, or
// an error.
func FuzzUnmarshalEffect(f *testing.F) {
	for _, e := range somehow {
		b, err := conv.MarshalEffect(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"type":"flush_playout","heard_ms":1e300}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := conv.UnmarshalEffect(b)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an empty error")
			}
			return
		}
		once, err := conv.MarshalEffect(e)
		if err != nil {
			t.Fatal(err)
		}
		back, err := conv.UnmarshalEffect(once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if again, err := conv.MarshalEffect(back); err != nil || !bytes.Equal(once, again) {
			t.Fatalf("%s was read back as %s, error %v", once, again, err)
		}
	})
}

// FuzzRecall: the state behind a step, as a trace gives it back, is taken or refused; a
// conversation that refused it is as it was, and one that took it goes on.
func FuzzRecall(f *testing.F) {
	for _, p := range conv.Phases() {
		r, err := convtest.Reach(p, conv.Options{Endpoint: "recognizer"}, nil)
		if err != nil {
			f.Fatal(err)
		}
		b, err := r.Conv.Snapshot()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`null`))
	f.Add([]byte(`{"version":1,"state":{"phase":"speaking","read_back":{"text":"a","end":9}}}`))
	now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := convtest.Reach(conv.Speaking, conv.Options{Endpoint: "recognizer"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		before, err := r.Conv.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if r.Conv.Recall(b, conv.Output{Late: true}) != nil {
			if after, err := r.Conv.Snapshot(); err != nil || !bytes.Equal(before, after) || r.Conv.Last().Late {
				t.Fatalf("a state that was refused changed the conversation: %s, error %v", after, err)
			}
			return
		}
		if !r.Conv.Last().Late {
			t.Fatal("what the step did was not taken")
		}
		for i, ev := range []conv.Event{conv.UserText{Text: "hello"}, conv.DeadlinePassed{}, conv.UserStop{}} {
			r.Conv.Step(now.Add(time.Duration(i)*time.Second), ev)
		}
		if _, err := r.Conv.Snapshot(); err != nil {
			t.Fatal(err)
		}
	})
}
