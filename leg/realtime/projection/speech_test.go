package projection_test

import (
	"slices"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/leg/realtime/projection"
)

// talk is a conversation whose machine is stepped by the test.
type talk struct {
	t    *testing.T
	c    *conv.Conversation
	p    *projection.Projection
	at   projection.Instant
	told []wire.Event
}

// newTalk returns a conversation whose machine listens.
func newTalk(t *testing.T, s wire.Session) *talk {
	t.Helper()
	c, err := conv.New(walk{}.options())
	if err != nil {
		t.Fatal(err)
	}
	k := &talk{t: t, c: c, at: instant}
	k.p = projection.New(k.at.Now, projection.Options{
		Session: s, Conversation: "conv_1", IDs: "x", Responses: 10, Tokens: 1000, Stopped: 200 * time.Millisecond,
	})
	k.take(projection.Connected{})
	k.take(projection.Appended{Samples: projection.Rate})
	k.facts(conv.SessionReady{}, conv.AudioReady{})
	return k
}

func (k *talk) take(in projection.Input) {
	k.t.Helper()
	out := k.p.Step(k.at, in)
	k.told = append(k.told, out.Events...)
	for _, e := range out.Effects {
		if post, ok := e.(projection.Post); ok {
			k.facts(post.Events...)
		}
	}
}

func (k *talk) facts(events ...conv.Event) {
	k.t.Helper()
	for _, ev := range events {
		k.c.Step(k.at.Now, ev)
		k.take(projection.Stepped{Event: ev, Output: k.c.Last(), State: k.c.State()})
	}
}

// pass advances the time while the client sends silence.
func (k *talk) pass(d time.Duration) {
	k.t.Helper()
	for ; d > 0; d -= 20 * time.Millisecond {
		k.at.Now, k.at.Heard = k.at.Now.Add(20*time.Millisecond), k.at.Heard+20
		k.take(projection.Appended{Samples: projection.Rate / 50})
		k.wait(0)
	}
}

// wait advances the time while the client sends nothing.
func (k *talk) wait(d time.Duration) {
	k.t.Helper()
	k.at.Now = k.at.Now.Add(d)
	if next := k.p.Deadline(); !next.IsZero() && !k.at.Now.Before(next) {
		k.take(projection.TimePassed{})
	}
}

// types returns the types of the client's events.
func (k *talk) types() (list []string) {
	for _, e := range k.told {
		list = append(list, e.EventType())
	}
	return list
}

// has reports whether the client has received an event of a type.
func (k *talk) has(name string) bool {
	return slices.Contains(k.types(), name)
}

// TestSpeechStoppedFollowsTheSilence checks that speech_stopped follows the configured
// silence, even if the machine and the recognizer are still waiting. In this test,
// nothing reports the end of the turn.
func TestSpeechStoppedFollowsTheSilence(t *testing.T) {
	k := newTalk(t, session(spoken)) // 500 ms of silence
	k.facts(conv.SpeechStarted{Utterance: 1, Source: "vad"})
	k.pass(time.Second)
	stopped := k.at.Heard // 200 ms after the voice
	k.facts(conv.SpeechStopped{Utterance: 1, Source: "vad"})
	k.pass(280 * time.Millisecond)
	if k.has("input_audio_buffer.speech_stopped") {
		t.Error("it has stopped too soon")
	}
	k.pass(100 * time.Millisecond)
	if !k.has("input_audio_buffer.speech_stopped") || !k.has("input_audio_buffer.committed") {
		t.Fatalf("500 ms behind the voice: %v", k.types())
	}
	for _, e := range k.told {
		if e, ok := e.(wire.SpeechStopped); ok && (e.AudioEndMS < stopped+300 || e.AudioEndMS > stopped+400) {
			t.Errorf("it stopped at %d ms, expected 300 to 400 behind %d", e.AudioEndMS, stopped)
		}
	}
	if k.has("response.created") {
		t.Error("the response does not wait for the end of the turn")
	}
	k.facts(conv.STTFinal{Utterance: 1, Text: "book a flight"}, conv.TurnEnded{Utterance: 1, Cause: "silence"})
	if !k.has("conversation.item.input_audio_transcription.completed") || !k.has("response.created") {
		t.Errorf("at the end of the turn: %v", k.types())
	}
}

// TestVoiceThatGoesOn checks that a voice that continues within the configured silence
// is one turn.
func TestVoiceThatGoesOn(t *testing.T) {
	k := newTalk(t, session(spoken))
	k.facts(conv.SpeechStarted{Utterance: 1, Source: "vad"}, conv.SpeechStopped{Utterance: 1, Source: "vad"})
	k.pass(200 * time.Millisecond)
	k.facts(conv.SpeechStarted{Utterance: 2, Source: "vad"})
	k.pass(5 * time.Second)
	if k.has("input_audio_buffer.speech_stopped") {
		t.Error("it has stopped")
	}
}

// TestCommitFindsItsSound checks that the client's own commit contains its sound,
// whatever the machine does with it.
func TestCommitFindsItsSound(t *testing.T) {
	k := newTalk(t, session(spoken))
	k.facts(conv.SpeechStarted{Utterance: 1, Source: "vad"})
	k.pass(time.Second)
	k.take(projection.Requested{Event: wire.ClientEvent{Type: wire.AudioCommit}})
	k.take(projection.CommitReached{})
	if !k.has("input_audio_buffer.committed") || k.has("error") {
		t.Errorf("%v", k.types())
	}
}

// TestEagernessHigh checks that a turn under semantic_vad ends after the silence of its
// eagerness if its words do not end it, even if the client stops sending while the
// person speaks.
func TestEagernessHigh(t *testing.T) {
	eager := session(func(s *wire.Session) {
		d := wire.DefaultTurnDetection(wire.SemanticVAD)
		d.Eagerness = "high"
		s.Input.TurnDetection = &d
	})
	for name, stops := range map[string]bool{"silence": true, "nothing more": false} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t, eager)
			k.facts(conv.SpeechStarted{Utterance: 1, Source: "vad"})
			k.pass(time.Second)
			if stops {
				k.facts(conv.SpeechStopped{Utterance: 1, Source: "vad"})
			}
			k.wait(1900 * time.Millisecond)
			if k.has("input_audio_buffer.speech_stopped") {
				t.Error("it has stopped too soon")
			}
			k.wait(200 * time.Millisecond)
			if !k.has("input_audio_buffer.speech_stopped") || k.c.Phase() != conv.Understanding {
				t.Errorf("2.1 s behind the sound the machine is %v", k.c.Phase())
			}
		})
	}
}

// TestWordsThatNeverCome checks that speech without a transcript does not delay a
// response forever.
func TestWordsThatNeverCome(t *testing.T) {
	k := newTalk(t, session(func(s *wire.Session) { s.Input.TurnDetection.InterruptResponse = false }))
	k.facts(conv.UserText{Text: "hello"}, conv.ReplyDelta{Text: "Well. And"}, conv.PlayoutStarted{})
	k.facts(conv.SpeechStarted{Utterance: 1, Source: "vad"}, conv.SpeechStopped{Utterance: 1, Source: "vad"})
	k.pass(time.Second)
	if !k.has("input_audio_buffer.committed") {
		t.Fatalf("%v", k.types())
	}
	k.pass(3 * time.Second)
	if !k.has("conversation.item.input_audio_transcription.completed") {
		t.Errorf("%v", k.types())
	}
}
