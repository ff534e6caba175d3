package realtime_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/provider/openai/fake"
)

// texting returns a client that receives answers as text, with one message of the user.
func texting(t testing.TB, r *rig, line string) *client {
	t.Helper()
	c := r.dial(t, dialOptions{})
	c.textOnly()
	c.user(line)
	return c
}

// respond asks for a response and returns its events up to response.done.
func (c *client) respond(params obj) []event {
	c.t.Helper()
	m := c.mark()
	e := obj{"type": "response.create"}
	if params != nil {
		e["response"] = params
	}
	c.send(e)
	c.of("response.done")
	return c.since(m)
}

func find(t testing.TB, list []event, name string) event {
	t.Helper()
	i := slices.IndexFunc(list, func(e event) bool { return e.Type == name })
	if i < 0 {
		t.Fatalf("no %s among %v", name, types(list))
	}
	return list[i]
}

// count returns the number of events of a type.
func count(list []event, name string) (n int) {
	for _, e := range list {
		if e.Type == name {
			n++
		}
	}
	return n
}

// types returns the types in order, without repetitions.
func types(list []event) []string {
	var names []string
	for _, e := range list {
		if n := len(names); n == 0 || names[n-1] != e.Type {
			names = append(names, e.Type)
		}
	}
	return names
}

func concat(list []event, name string) string {
	text := ""
	for _, e := range list {
		if e.Type == name {
			text += e.str("delta")
		}
	}
	return text
}

// responseChecks are C24 to C37.
var responseChecks = []check{
	{id: "C24", what: "response.created: in_progress, output [], usage null, id, conversation_id", test: func(t testing.TB, r *rig) {
		e := find(t, texting(t, r, "hello").respond(nil), "response.created")
		if out, ok := e.get("response.output").([]any); !ok || len(out) != 0 || e.str("response.status") != "in_progress" ||
			e.get("response.usage") != nil || e.str("response.id") == "" || e.str("response.conversation_id") == "" || e.str("response.object") != "realtime.response" {
			t.Errorf("%s", e.raw)
		}
	}},
	{id: "C25", what: "the order of the events of a text response", test: func(t testing.TB, r *rig) {
		got := types(texting(t, r, "hello").respond(nil))
		want := []string{
			"response.created", "response.output_item.added", "conversation.item.added", "response.content_part.added",
			"response.output_text.delta", "response.output_text.done", "response.content_part.done",
			"conversation.item.done", "response.output_item.done", "response.done",
		}
		if !slices.Equal(got, want) {
			t.Errorf("came %v\nexpected %v", got, want)
		}
	}},
	{id: "C26", what: "the deltas are the text, everywhere", test: func(t testing.TB, r *rig) {
		list := texting(t, r, "hello").respond(nil)
		text := concat(list, "response.output_text.delta")
		if !r.says(text, shortAnswer) {
			t.Errorf("text %q", text)
		}
		for name, path := range map[string]string{
			"response.output_text.done": "text", "response.content_part.done": "part.text", "conversation.item.done": "item.content.0.text",
			"response.output_item.done": "item.content.0.text", "response.done": "response.output.0.content.0.text",
		} {
			if e := find(t, list, name); e.str(path) != text {
				t.Errorf("%s: %q in %s", name, e.str(path), e.raw)
			}
		}
	}},
	{id: "C27", what: "response.done: completed, usage with its sums and details", test: func(t testing.TB, r *rig) {
		e := find(t, texting(t, r, "hello").respond(nil), "response.done")
		in, out := e.num("response.usage.input_tokens"), e.num("response.usage.output_tokens")
		if e.str("response.status") != "completed" || in < 1 || out < 5 || e.num("response.usage.total_tokens") != in+out ||
			e.num("response.usage.input_token_details.text_tokens") < 0 || e.num("response.usage.input_token_details.audio_tokens") < 0 ||
			e.num("response.usage.output_token_details.text_tokens") != out || e.num("response.usage.output_token_details.audio_tokens") != 0 {
			t.Errorf("%s", e.raw)
		}
	}},
	{id: "C28", what: "a text response sends no audio events", test: func(t testing.TB, r *rig) {
		for _, e := range texting(t, r, "hello").respond(nil) {
			if strings.Contains(e.Type, "audio") {
				t.Errorf("%s", e.raw)
			}
		}
	}},
	{id: "C29", what: "response.metadata is echoed on response.created and response.done", test: func(t testing.TB, r *rig) {
		list := texting(t, r, "hello").respond(obj{"metadata": obj{"client_event_id": "abc"}})
		for _, name := range []string{"response.created", "response.done"} {
			if e := find(t, list, name); e.str("response.metadata.client_event_id") != "abc" {
				t.Errorf("%s", e.raw)
			}
		}
	}},
	{id: "C30", what: "rate_limits.updated comes with each response", test: func(t testing.TB, r *rig) {
		c := texting(t, r, "hello")
		c.respond(nil)
		first := c.of("rate_limits.updated")
		c.user("again")
		c.respond(nil)
		second := c.of("rate_limits.updated")
		for _, e := range []event{first, second} {
			if e.str("rate_limits.0.name") != "requests" || e.str("rate_limits.1.name") != "tokens" || e.num("rate_limits.0.limit") < 1 || e.num("rate_limits.0.reset_seconds") < 0 {
				t.Errorf("%s", e.raw)
			}
		}
		if second.num("rate_limits.0.remaining") != first.num("rate_limits.0.remaining")-1 || second.num("rate_limits.1.remaining") >= first.num("rate_limits.1.remaining") {
			t.Errorf("%s then %s", first.raw, second.raw)
		}
	}},
	{id: "C31", what: "a second response.create while one is active", test: func(t testing.TB, r *rig) {
		c := texting(t, r, "talk without end")
		c.send(obj{"type": "response.create"})
		id := c.of("response.created").str("response.id")
		e := c.expectError(obj{"type": "response.create"})
		if e.str("error.code") != "conversation_already_has_active_response" || !strings.Contains(e.str("error.message"), id) {
			t.Errorf("%s", e.raw)
		}
		c.send(obj{"type": "response.cancel"})
		c.of("response.done")
	}},
	{id: "C32", what: "response.cancel ends what is open: incomplete item, cancelled response", test: func(t testing.TB, r *rig) {
		c := texting(t, r, "talk without end")
		m := c.mark()
		c.send(obj{"type": "response.create"})
		c.of("response.output_text.delta")
		c.of("response.output_text.delta")
		c.send(obj{"type": "response.cancel"})
		done := c.of("response.done")
		list := c.since(m)
		text := concat(list, "response.output_text.delta")
		if done.str("response.status") != "cancelled" || done.str("response.status_details.type") != "cancelled" ||
			done.str("response.status_details.reason") != "client_cancelled" || done.str("response.output.0.status") != "incomplete" {
			t.Errorf("%s", done.raw)
		}
		if e := find(t, list, "response.output_text.done"); e.str("text") != text || len(text) >= len(longAnswer) {
			t.Errorf("%q, %s", text, e.raw)
		}
		find(t, list, "response.content_part.done")
		if e := find(t, list, "response.output_item.done"); e.str("item.status") != "incomplete" {
			t.Errorf("%s", e.raw)
		}
		c.user("hello")
		if e := find(t, c.respond(nil), "response.done"); e.str("response.status") != "completed" {
			t.Errorf("the next: %s", e.raw)
		}
	}},
	{id: "C33", what: "response.cancel with none active: response_cancel_not_active", test: func(t testing.TB, r *rig) {
		c := texting(t, r, "hello")
		e := c.expectError(obj{"type": "response.cancel"})
		if e.str("error.code") != "response_cancel_not_active" || !strings.HasPrefix(e.str("error.message"), "Cancellation failed") {
			t.Errorf("%s", e.raw)
		}
		c.respond(nil)
	}},
	{id: "C34", what: "response.cancel with an unknown response_id: an error", test: func(t testing.TB, r *rig) {
		c := texting(t, r, "talk without end")
		c.send(obj{"type": "response.create"})
		id := c.of("response.created").str("response.id")
		c.expectError(obj{"type": "response.cancel", "response_id": "resp_nobody"})
		c.send(obj{"type": "response.cancel", "response_id": id})
		if e := c.of("response.done"); e.str("response.status") != "cancelled" {
			t.Errorf("%s", e.raw)
		}
	}},
	{id: "C35", what: "out of band: metadata echoed, conversation_id null, nothing in the conversation", test: func(t testing.TB, r *rig) {
		c := texting(t, r, "talk without end")
		c.send(obj{"type": "response.create"})
		active := c.of("response.created").str("response.id")
		m := c.mark()
		c.send(obj{"type": "response.create", "response": obj{
			"conversation": "none", "metadata": obj{"topic": "side"},
			"input": []any{message("user", "input_text", "hello")},
		}})
		done := c.wait("the other response", func(e event) bool {
			return e.Type == "response.done" && e.str("response.metadata.topic") == "side"
		})
		id := done.str("response.output.0.id")
		if done.get("response.conversation_id") != nil || done.str("response.status") != "completed" ||
			done.str("response.output.0.content.0.text") != shortAnswer || done.str("response.id") == active {
			t.Errorf("%s", done.raw)
		}
		for _, e := range c.since(m) {
			if strings.HasPrefix(e.Type, "conversation.item.") && e.str("item.id") == id {
				t.Errorf("%s", e.raw)
			}
			if e.Type == "response.created" && e.str("response.metadata.topic") != "side" {
				t.Errorf("%s", e.raw)
			}
		}
		c.expectError(obj{"type": "conversation.item.retrieve", "item_id": id})
		c.send(obj{"type": "response.cancel"})
		c.of("response.done")
	}},
	{id: "C36", what: "item_reference in the input: a known id works, an unknown one is an error", test: func(t testing.TB, r *rig) {
		c := texting(t, r, "hello")
		it := message("user", "input_text", "tell me your instructions")
		it["id"] = "ref"
		c.create(it, nil)
		done := find(t, c.respond(obj{"instructions": "Say cheese.", "input": []any{obj{"type": "item_reference", "id": "ref"}}}), "response.done")
		if done.str("response.output.0.content.0.text") != "Say cheese." {
			t.Errorf("%s", done.raw)
		}
		asked := r.llm.Requests()
		if last := lastOf(t, asked).Messages; len(last) != 2 || last[1].Text() != "tell me your instructions" {
			t.Errorf("asked %+v", last)
		}
		c.expectError(obj{"type": "response.create", "response": obj{"input": []any{obj{"type": "item_reference", "id": "nobody"}}}})
	}},
	{id: "C37", what: "max_output_tokens reached: incomplete", test: func(t testing.TB, r *rig) {
		done := find(t, texting(t, r, "tell me a story").respond(obj{"max_output_tokens": 10}), "response.done")
		if done.str("response.status") != "incomplete" || done.str("response.status_details.type") != "incomplete" ||
			done.str("response.status_details.reason") != "max_output_tokens" || done.num("response.max_output_tokens") != 10 || done.num("response.usage.output_tokens") != 10 {
			t.Errorf("%s", done.raw)
		}
	}},
}

// says reports whether text is the expected answer. The answers of flows may have any
// text.
func (r *rig) says(text, want string) bool { return text == want || r.o.flows && text != "" }

// greeted waits for the end of the greeting, if the agent greets.
func (r *rig) greeted(c *client) {
	if r.o.greets {
		c.of("response.done")
	}
}

// lastOf returns the last request that the model received.
func lastOf(t testing.TB, asked []fake.Request) fake.Request {
	t.Helper()
	if len(asked) == 0 {
		t.Fatal("the model was not asked")
	}
	return asked[len(asked)-1]
}
