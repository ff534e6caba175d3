package porttest

import (
	"fmt"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// This file tests the rules for turns of the user and answers.

func upstreamHears(r *upstreamRig) {
	r.open()
	for n := range 2 {
		r.say(time.Second, 1500*time.Millisecond)
		r.pass(5 * time.Second)
		list := r.kinds(port.UpstreamVoice, port.UpstreamSilence, port.UpstreamHeard)
		if len(list) != 3*(n+1) {
			r.t.Fatalf("events %+v: expected voice, silence and words for each turn", list)
		}
		list = list[3*n:]
		if list[0].Kind != port.UpstreamVoice || list[1].Kind != port.UpstreamSilence || list[2].Kind != port.UpstreamHeard {
			r.t.Errorf("events %+v: expected voice, silence and words, in this order", list)
		}
		if list[0].Item == "" || list[1].Item != list[0].Item || list[2].Item != list[0].Item {
			r.t.Errorf("events %+v: expected the same item", list)
		}
		if list[2].Text != UpstreamHeardWords {
			r.t.Errorf("heard %q: expected %q", list[2].Text, UpstreamHeardWords)
		}
		began := time.Duration(n) * 2500 * time.Millisecond
		if at := list[0].At; at > began+200*time.Millisecond || at < began-600*time.Millisecond && n > 0 {
			r.t.Errorf("the voice begins at %v: expected about %v, or earlier by what the service counts as its beginning", at, began)
		}
	}
}

func upstreamAnswers(r *upstreamRig) {
	r.open()
	r.must("Add", r.stream.Add(port.Message{Role: "user", Content: "hello"}))
	r.ask("one")
	r.pass(5 * time.Second)
	r.complete("one", UpstreamAnswer)
	if list := r.kinds(port.UpstreamBegun); len(list) != 1 || list[0].Request != "one" {
		r.t.Errorf("begun: %+v: expected the request, once", list)
	}
}

func upstreamWaits(r *upstreamRig) {
	r.open()
	r.say(time.Second, 2*time.Second)
	r.pass(10 * time.Second)
	if list := r.kinds(port.UpstreamBegun, port.UpstreamText, port.UpstreamSound, port.UpstreamCall, port.UpstreamDone); len(list) > 0 {
		r.t.Errorf("unasked: %+v", list)
	}
}

func upstreamInOrder(r *upstreamRig) {
	r.open()
	for i := range 3 {
		r.ask(fmt.Sprint("ask-", i))
	}
	r.pass(10 * time.Second)
	var order []string
	for _, e := range r.kinds(port.UpstreamBegun, port.UpstreamDone) {
		order = append(order, e.Request)
	}
	if want := []string{"ask-0", "ask-0", "ask-1", "ask-1", "ask-2", "ask-2"}; !slices.Equal(order, want) {
		r.t.Errorf("beginnings and ends of %v: expected %v", order, want)
	}
	for i := range 3 {
		r.complete(fmt.Sprint("ask-", i), UpstreamAnswer)
	}
}

func upstreamSays(r *upstreamRig) {
	r.open()
	r.ask("answer")
	r.must("Ask", r.stream.Ask(port.UpstreamRequest{ID: "say", Say: "One moment, please."}))
	r.pass(5 * time.Second)
	r.complete("say", "One moment, please.")
	r.complete("answer", UpstreamAnswer)
	if known := r.lab.Known(); slices.Contains(known, "One moment, please.") {
		r.t.Errorf("the conversation is %q: expected it without what was said beside it", known)
	}
}

func upstreamCancels(r *upstreamRig) {
	r.open()
	r.ask("one")
	for r.heard("one") == 0 {
		r.pass(5 * time.Millisecond)
	}
	at := time.Now()
	r.must("Cancel", r.stream.Cancel("one"))
	r.ask("two")
	r.pass(10 * time.Second)
	r.mu.Lock()
	late := r.last["one"].Sub(at)
	r.mu.Unlock()
	if late > 50*time.Millisecond {
		r.t.Errorf("an event of the cancelled answer came after %v: expected at most 50 ms", late)
	}
	r.complete("two", UpstreamAnswer)
	r.must("Cancel of what has ended", r.stream.Cancel("two"))
	r.must("Cancel of what is not known", r.stream.Cancel("three"))
}

func upstreamCancelsEarly(r *upstreamRig) {
	r.open()
	r.ask("one")
	r.ask("two")
	r.must("Cancel", r.stream.Cancel("one"))
	r.must("Cancel", r.stream.Cancel("two"))
	r.ask("three")
	r.pass(10 * time.Second)
	if got := r.heard("one") + r.heard("two"); got > 0 {
		r.t.Errorf("%v of cancelled answers: expected none", got)
	}
	r.complete("three", UpstreamAnswer)
}

func upstreamTruncates(r *upstreamRig) {
	r.open()
	r.ask("one")
	r.pass(10 * time.Second)
	r.must("Truncate", r.stream.Truncate(r.item("one"), 300*time.Millisecond))
	r.pass(time.Second)
	if known := r.lab.Known(); slices.Contains(known, UpstreamAnswer) {
		r.t.Errorf("the conversation is %q: expected it without what was not heard", known)
	}
	r.ask("two")
	r.pass(10 * time.Second)
	r.complete("two", UpstreamAnswer)
}

func upstreamTruncatesBeyond(r *upstreamRig) {
	r.open()
	r.ask("one")
	r.pass(10 * time.Second)
	r.must("Truncate", r.stream.Truncate(r.item("one"), time.Hour))
	r.must("Truncate of what is not known", r.stream.Truncate("nothing", time.Second))
	r.pass(time.Second)
	if known := r.lab.Known(); !slices.Contains(known, UpstreamAnswer) {
		r.t.Errorf("the conversation is %q: expected all of the answer", known)
	}
}

func upstreamCalls(r *upstreamRig) {
	r.open()
	r.must("Add", r.stream.Add(port.Message{Role: "user", Content: UpstreamAsksForTool}))
	r.ask("one")
	r.pass(5 * time.Second)
	calls := r.kinds(port.UpstreamCall)
	if len(calls) != 1 || calls[0].Request != "one" || calls[0].Call.ID == "" || calls[0].Call.Name != "clock" || calls[0].Call.Arguments != "{}" {
		r.t.Fatalf("calls %+v: expected one of clock", calls)
	}
	r.must("Add", r.stream.Add(port.Message{Role: "tool", CallID: calls[0].Call.ID, Name: "clock", Arguments: "{}", Content: "noon"}))
	r.ask("two")
	r.pass(5 * time.Second)
	r.complete("two", UpstreamAnswer)
	if known := r.lab.Known(); !slices.Contains(known, "noon") {
		r.t.Errorf("the conversation is %q: expected the result", known)
	}
}

func upstreamRemembers(r *upstreamRig) {
	r.open(
		port.Message{Role: "user", Content: "I am Ada."},
		port.Message{Role: "agent", Content: "Hello Ada."},
		port.Message{Role: "tool", CallID: "another-session", Name: "clock", Arguments: "{}", Content: "noon"},
		port.Message{Role: "user", Content: ""},
	)
	r.ask("one")
	r.pass(5 * time.Second)
	known := r.lab.Known()
	if want := []string{"I am Ada.", "Hello Ada.", "noon", UpstreamAnswer}; !slices.Equal(known, want) {
		r.t.Errorf("the conversation is %q: expected %q", known, want)
	}
}
