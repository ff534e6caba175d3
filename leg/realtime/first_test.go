package realtime_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/leg/realtime"
	"github.com/hocketvoice/hocket/session"
)

// unasked holds what a client is told that only speaks against what it must never be told.
func unasked(t *testing.T, c *client, words string) {
	t.Helper()
	mic := c.microphone(nil)
	mic.say(sound(t, words))
	c.of("input_audio_buffer.committed")
	c.of("conversation.item.input_audio_transcription.completed")
	mic.pass(1000 * ms)
	c.settle()
	for _, e := range c.since(0) {
		if strings.HasPrefix(e.Type, "response.") {
			t.Errorf("%.200s", e.raw)
		}
	}
}

// A transcription session only writes down, whatever agent there is: it is not greeted.
func TestTranscriptionIsNotGreeted(t *testing.T) {
	t.Parallel()
	r := flowing(t)
	c := r.dial(t, dialOptions{query: "intent=transcription&model=agent"})
	c.of("session.created")
	unasked(t, c, "transfer money")
}

// The same where a client says so in its configuration, before anything has begun.
func TestUpdateToTranscription(t *testing.T) {
	t.Parallel()
	c := flowing(t).dial(t, dialOptions{query: "model=agent"})
	c.of("session.created")
	if e := c.update(obj{"type": "transcription", "audio": obj{"input": obj{"transcription": obj{"model": "whisper-1"}}}}); e.str("session.type") != "transcription" {
		t.Errorf("%s", e.raw)
	}
	unasked(t, c, "transfer money")
	c.expectError(obj{"type": "session.update", "session": obj{"type": "realtime"}})
}

// A client that wants no responses unasked is not greeted.
func TestNoGreetingWithoutResponses(t *testing.T) {
	t.Parallel()
	c := flowing(t).dial(t, dialOptions{query: "model=agent"})
	c.of("session.created")
	c.update(obj{"audio": obj{"input": obj{"transcription": obj{"model": "whisper-1"}, "turn_detection": obj{"type": "server_vad", "create_response": false}}}})
	unasked(t, c, "transfer money")
}

// An agent without a greeting lets the user begin.
func TestAgentWithoutGreeting(t *testing.T) {
	t.Parallel()
	engine(t)
	take(t, 1)
	mute, problems := dialog.Parse([]agent.File{{Name: "agent.yaml", Data: []byte(strings.Replace(flowsAgent, `  greeting: "Hello."`+"\n", "", 1))}})
	if mute == nil {
		t.Fatal(problems)
	}
	r := newRig(t, rigOptions{open: func(_ string, o *session.Options) error {
		o.Conv.Agent = mute
		return nil
	}})
	c := r.dial(t, dialOptions{query: "model=agent"})
	c.of("session.created")
	c.update(obj{"output_modalities": []string{"text"}})
	mic := c.microphone(nil)
	mic.say(sound(t, "transfer money"))
	if done := c.of("response.done"); !strings.Contains(done.str("response.output.0.content.0.text"), "How much") {
		t.Errorf("%s", done.raw)
	}
}

// Without ?model= a client sees who answers. The first model that it names is taken, and
// of another one it is told, while the rest of its update counts.
func TestModelIsNamedLater(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{silent: true, change: func(o *realtime.Options) {
		open := o.Open
		o.Open = func(ctx context.Context, from realtime.Caller) (realtime.Parts, error) {
			p, err := open(ctx, from)
			p.Model, p.Means = "house", func(name string) bool { return !slices.Contains([]string{"garden"}, name) }
			return p, err
		}
	}})
	c := r.dial(t, dialOptions{query: "x=y"})
	if e := c.of("session.created"); e.str("session.model") != "house" {
		t.Errorf("%s", e.raw)
	}
	refused := func(model, shown string) {
		t.Helper()
		c.send(obj{"type": "session.update", "event_id": "named", "session": obj{"type": "realtime", "model": model, "instructions": "about the " + model}})
		if e := c.of("session.updated"); e.str("session.model") != shown || e.str("session.instructions") != "about the "+model {
			t.Errorf("%s", e.raw)
		}
		if e := c.of("error"); e.str("error.param") != "session.model" || e.str("error.event_id") != "named" {
			t.Errorf("%s", e.raw)
		}
	}
	refused("garden", "house") // it is somebody else's
	if e := c.update(obj{"model": "gpt-realtime"}); e.str("session.model") != "gpt-realtime" {
		t.Errorf("%s", e.raw)
	}
	refused("another", "gpt-realtime")
}

// An answer that is truncated while it is spoken stops there: some clients break in by this
// alone. What lies behind was not heard, here and in what the model is told.
func TestTruncateStopsTheSpeech(t *testing.T) {
	t.Parallel()
	engine(t)
	take(t, 1)
	r := newRig(t, rigOptions{})
	c := spoken(t, r, "tell me a story")
	c.send(obj{"type": "response.create"})
	id := c.of("conversation.item.added").str("item.id")
	for played := 0; played < 48*3000; { // three seconds
		played += len(c.of("response.output_audio.delta").str("delta")) * 3 / 4
	}
	c.send(obj{"type": "conversation.item.truncate", "item_id": id, "content_index": 0, "audio_end_ms": 2000})
	c.of("conversation.item.truncated")
	m := c.mark()
	if done := c.of("response.done"); done.str("response.status") != "cancelled" || done.str("response.status_details.reason") != "client_cancelled" {
		t.Errorf("%s", done.raw)
	}
	c.settle()
	for _, e := range c.since(m) {
		if e.Type == "response.output_audio.delta" {
			t.Errorf("it is spoken on: %.100s", e.raw)
		}
	}
	c.send(obj{"type": "conversation.item.retrieve", "item_id": id})
	text := c.of("conversation.item.retrieved").str("item.content.0.transcript")
	if !strings.HasPrefix(longAnswer, text) || len(text) < 5 || len(text) > 60 {
		t.Errorf("what was heard in 2 s: %q", text)
	}
	c.update(obj{"output_modalities": []string{"text"}})
	c.user("hello")
	c.respond(nil)
	asked := r.llm.Requests()
	if last := asked[len(asked)-1].Messages; len(last) != 3 || last[1].Text() != text {
		t.Errorf("the model was asked %+v", last)
	}
}
