package projection_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/internal/explore"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/leg/realtime/projection"
)

// mutant changes the client's events so that they break one rule of the protocol.
type mutant struct {
	name string
	walk string // the walk in which it is found
	rule string // part of the violation
	do   func(wire.Event) []wire.Event
}

// once returns a mutant that replaces events of one Go type.
func once[E wire.Event](change func(E) []wire.Event) func(wire.Event) []wire.Event {
	return func(e wire.Event) []wire.Event {
		if it, ok := e.(E); ok {
			return change(it)
		}
		return []wire.Event{e}
	}
}

// named returns a mutant that replaces events of one protocol type.
func named(name string, change func(wire.Event) []wire.Event) func(wire.Event) []wire.Event {
	return func(e wire.Event) []wire.Event {
		if e.EventType() == name {
			return change(e)
		}
		return []wire.Event{e}
	}
}

func twice(e wire.Event) []wire.Event { return []wire.Event{e, e} }
func never(wire.Event) []wire.Event   { return nil }

// item returns a mutant that changes item events.
func item(change func(*wire.ItemEvent)) func(wire.Event) []wire.Event {
	return func(e wire.Event) []wire.Event {
		it := e.(wire.ItemEvent)
		change(&it)
		return []wire.Event{it}
	}
}

var elsewhere = "elsewhere"

var mutants = []mutant{
	{"no session.created", "a voice", "before session.created", named("session.created", never)},
	{"two session.created", "a voice", "comes first, and once", named("session.created", twice)},

	{"a response ends twice", "a voice", "it is not active", named("response.done", twice)},
	{"a response does not end", "a voice", "another one is active", named("response.done", never)},
	{"a response begins twice", "a voice", "it has begun before", named("response.created", twice)},
	{"a response does not begin", "a voice", "it is not active", named("response.created", never)},
	{"a cancelled response is completed", "in writing", "the client has cancelled it", named("response.done", func(e wire.Event) []wire.Event {
		r := e.(wire.ResponseEvent)
		r.Response.Status, r.Response.Details = wire.Completed, nil
		return []wire.Event{r}
	})},
	{"a response does not say how it ended", "a voice", "how it ended", named("response.done", func(e wire.Event) []wire.Event {
		r := e.(wire.ResponseEvent)
		r.Response.Usage = nil
		return []wire.Event{r}
	})},
	{"a response does not say why", "a voice", "why it was not completed", named("response.done", func(e wire.Event) []wire.Event {
		r := e.(wire.ResponseEvent)
		r.Response.Details = nil
		return []wire.Event{r}
	})},
	{"a response has no output", "a voice", "not all of it", named("response.done", func(e wire.Event) []wire.Event {
		r := e.(wire.ResponseEvent)
		r.Response.Output = nil
		return []wire.Event{r}
	})},

	{"a response unasked", "no response unasked", "the client does not want it", once(func(e wire.SpeechStarted) []wire.Event {
		return []wire.Event{e, wire.ResponseEvent{Name: "created", Response: wire.Response{ID: elsewhere, ConversationID: "conv_1", Status: wire.InProgress}}}
	})},
	{"a response in a transcription", "a transcription", "the client does not want it", once(func(e wire.SpeechStarted) []wire.Event {
		return []wire.Event{e, wire.ResponseEvent{Name: "created", Response: wire.Response{ID: elsewhere, ConversationID: "conv_1", Status: wire.InProgress}}}
	})},

	{"output is not announced", "a voice", "its item was not announced", named("response.output_item.added", never)},
	{"output is announced twice", "a voice", "it was announced before", named("response.output_item.added", twice)},
	{"output is not done", "a voice", "its items are not done", named("response.output_item.done", never)},
	{"output is done twice", "a voice", "done before", named("response.output_item.done", twice)},
	{"output is done too soon", "a voice", "it was not announced, or not closed", named("response.output_item.added", func(e wire.Event) []wire.Event {
		done := e.(wire.OutputItem)
		done.Name = "done"
		return []wire.Event{done, e}
	})},
	{"the second item of the output has the index of the first", "in writing", "its index", once(func(e wire.OutputItem) []wire.Event {
		e.OutputIndex = 0
		return []wire.Event{e}
	})},
	{"a message is still in progress when it is done", "a voice", "its status is", named("response.output_item.done", func(e wire.Event) []wire.Event {
		it := e.(wire.OutputItem)
		it.Item.Status = wire.InProgress
		return []wire.Event{it}
	})},

	{"a part is not opened", "a voice", "its part is not open", named("response.content_part.added", never)},
	{"a part is opened twice", "a voice", "it has a part already", named("response.content_part.added", twice)},
	{"a part is not closed", "a voice", "not closed", named("response.content_part.done", never)},
	{"a part has other words", "a voice", "its content is not done, or another", named("response.content_part.done", func(e wire.Event) []wire.Event {
		p := e.(wire.Part)
		p.Content.Words = elsewhere
		return []wire.Event{p}
	})},
	{"a delta behind the end of the words", "a voice", "the words are done", once(func(e wire.WordsDone) []wire.Event {
		return []wire.Event{e, wire.WordsDelta{Audio: e.Audio, Place: e.Place, Delta: "more"}}
	})},
	{"a delta of another response", "a voice", "its response is not active", once(func(e wire.WordsDelta) []wire.Event {
		e.ResponseID = elsewhere
		return []wire.Event{e}
	})},
	{"other words at the end", "a voice", "the words are done, or others", once(func(e wire.WordsDone) []wire.Event {
		e.Words = elsewhere
		return []wire.Event{e}
	})},
	{"sound behind its end", "a voice", "the sound is done", once(func(e wire.AudioDone) []wire.Event {
		return []wire.Event{e, projection.Sound{Place: e.Place, PCM: make([]int16, 1)}}
	})},
	{"sound outside of a part", "a voice", "its part is not open", once(func(e wire.Part) []wire.Event {
		return []wire.Event{e, projection.Sound{Place: e.Place, PCM: make([]int16, 1)}}
	})},
	{"sound in a text", "in writing", "of another kind", once(func(e wire.WordsDelta) []wire.Event {
		return []wire.Event{e, projection.Sound{Place: e.Place, PCM: make([]int16, 1)}}
	})},
	{"the sound is not done", "a voice", "its content is not done", named("response.output_audio.done", never)},

	{"arguments of a message", "in writing", "it is not a call", once(func(e wire.WordsDelta) []wire.Event {
		return []wire.Event{e, wire.ArgumentsDelta{ResponseID: e.ResponseID, ItemID: e.ItemID, Delta: "{}"}}
	})},
	{"arguments twice", "in writing", "has its arguments", named("response.function_call_arguments.done", twice)},
	{"other arguments", "in writing", "the arguments are others", once(func(e wire.ArgumentsDone) []wire.Event {
		e.Arguments = elsewhere
		return []wire.Event{e}
	})},

	{"an item is announced twice", "in writing", "it was announced before", named("conversation.item.added", twice)},
	{"an item is not announced", "in writing", "it was not announced, or is gone", named("conversation.item.added", never)},
	{"an item is done twice", "in writing", "it was done before", named("conversation.item.done", twice)},
	{"an item behind one that is not there", "in writing", "the item before it is unknown", named("conversation.item.added", item(func(e *wire.ItemEvent) { e.PreviousItemID = &elsewhere }))},
	{"an item is done elsewhere", "in writing", "it stands elsewhere", named("conversation.item.done", item(func(e *wire.ItemEvent) { e.PreviousItemID = nil }))},
	{"an item is deleted twice", "in writing", "it was not announced, or is gone", once(func(e wire.ItemDeleted) []wire.Event { return twice(e) })},

	{"more is truncated than was sent", "a voice, cut off", "of the assistant's item that has", once(func(e wire.ItemTruncated) []wire.Event {
		e.AudioEndMS += 100
		return []wire.Event{e}
	})},
	{"an answer is spoken on behind its truncation", "a voice, cut off", "cut off", once(func(e wire.AudioDone) []wire.Event {
		return []wire.Event{projection.Sound{Place: e.Place, PCM: make([]int16, 1)}, e}
	})},
	{"an item is truncated that is not there", "a voice, cut off", "it was not announced, or is gone", once(func(e wire.ItemTruncated) []wire.Event {
		e.ItemID = elsewhere
		return []wire.Event{e}
	})},

	{"words of an item that is not there", "a voice", "it was not announced, or is gone", once(func(e wire.TranscriptionCompleted) []wire.Event {
		e.ItemID = elsewhere
		return []wire.Event{e}
	})},
	{"words are told twice", "a voice", "whose words were told", once(func(e wire.TranscriptionCompleted) []wire.Event { return twice(e) })},
	{"a voice begins twice", "a voice", "a voice is heard already", once(func(e wire.SpeechStarted) []wire.Event { return twice(e) })},
	{"a voice stops that did not begin", "a voice", "that voice was not heard", once(func(e wire.SpeechStarted) []wire.Event { return never(e) })},
	{"a commit of another item", "a voice", "it is of another item", once(func(e wire.AudioCommitted) []wire.Event {
		e.ItemID = elsewhere
		return []wire.Event{e}
	})},
	{"what was committed is not announced", "commits", "another one was committed", once(func(e wire.AudioCommitted) []wire.Event {
		e.ItemID = elsewhere
		return []wire.Event{e}
	})},

	{"sound is played twice", "a call", "one is played already", named("output_audio_buffer.started", twice)},
	{"sound stops that was not played", "a call", "it is not played", named("output_audio_buffer.started", never)},
	{"sound stops too soon", "a call", "over too early or not yet", named("output_audio_buffer.started", func(e wire.Event) []wire.Event {
		b := e.(wire.OutputBuffer)
		b.Name = "stopped"
		return []wire.Event{e, b}
	})},
}

// TestEachRuleCanBreak checks that each rule detects its mutant.
func TestEachRuleCanBreak(t *testing.T) {
	all := walks()
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			i := slices.IndexFunc(all, func(w walk) bool { return w.name == m.walk })
			change := func(list []wire.Event) (told []wire.Event) {
				for _, e := range list {
					told = append(told, m.do(e)...)
				}
				return told
			}
			defer func() { // the first event precedes the walk
				if r := recover(); r != nil && !strings.Contains(r.(error).Error(), m.rule) {
					t.Errorf("found: %v", r)
				}
			}()
			r, err := explore.Run([]explore.Config{all[i].config(300, change)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, v := range broken(r) {
				found = append(found, v.What)
			}
			if !slices.ContainsFunc(found, func(what string) bool { return strings.Contains(what, m.rule) }) {
				t.Errorf("not found: %q; found: %q", m.rule, found)
			}
		})
	}
}
