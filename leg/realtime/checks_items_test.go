package realtime_test

import (
	"bytes"
	"encoding/base64"
	"maps"
	"testing"
)

func message(role, kind, text string) obj {
	return obj{"type": "message", "role": role, "content": []any{obj{"type": kind, "text": text}}}
}

func (c *client) create(item obj, more obj) event {
	c.t.Helper()
	e := obj{"type": "conversation.item.create", "item": item}
	maps.Copy(e, more)
	c.send(e)
	return c.of("conversation.item.added")
}

// quiet returns a client without turn detection.
func quiet(t testing.TB, r *rig) *client {
	t.Helper()
	c := r.dial(t, dialOptions{})
	c.update(obj{"audio": obj{"input": obj{"turn_detection": nil}}})
	return c
}

// itemChecks are C16 to C23.
var itemChecks = []check{
	{id: "C16", what: "conversation.item.create: added then done, the client's id kept, full content", test: func(t testing.TB, r *rig) {
		c := quiet(t, r)
		m := c.mark()
		it := message("user", "input_text", "hello there")
		it["id"] = "my_item"
		added := c.create(it, nil)
		done := c.of("conversation.item.done")
		for _, e := range []event{added, done} {
			if e.str("item.id") != "my_item" || e.str("item.object") != "realtime.item" || e.str("item.status") != "completed" ||
				e.str("item.content.0.text") != "hello there" || e.get("previous_item_id") != nil {
				t.Errorf("%s", e.raw)
			}
		}
		c.settle()
		for _, e := range c.since(m) {
			if e.Type == "conversation.item.created" {
				t.Errorf("%s", e.raw)
			}
		}
	}},
	{id: "C17", what: "previous_item_id: omitted appends, root begins, an id inserts behind it, an unknown one is an error", test: func(t testing.TB, r *rig) {
		c := quiet(t, r)
		a := c.create(message("user", "input_text", "a"), nil).str("item.id")
		b := c.create(message("user", "input_text", "b"), nil)
		if b.str("previous_item_id") != a {
			t.Errorf("appended: %s", b.raw)
		}
		if e := c.create(message("user", "input_text", "c"), obj{"previous_item_id": "root"}); e.get("previous_item_id") != nil {
			t.Errorf("at the root: %s", e.raw)
		}
		if e := c.create(message("user", "input_text", "d"), obj{"previous_item_id": a}); e.str("previous_item_id") != a {
			t.Errorf("behind %s: %s", a, e.raw)
		}
		c.expectError(obj{"type": "conversation.item.create", "previous_item_id": "nobody", "item": message("user", "input_text", "e")})
		if e := c.create(message("user", "input_text", "f"), nil); e.str("previous_item_id") != b.str("item.id") {
			t.Errorf("the last is not %s: %s", b.str("item.id"), e.raw)
		}
	}},
	{id: "C18", what: `previous_item_id "" appends`, test: func(t testing.TB, r *rig) {
		c := quiet(t, r)
		a := c.create(message("user", "input_text", "a"), nil).str("item.id")
		if e := c.create(message("user", "input_text", "b"), obj{"previous_item_id": ""}); e.str("previous_item_id") != a {
			t.Errorf("%s", e.raw)
		}
	}},
	{id: "C19", what: "conversation.item.retrieve: retrieved; unknown: item_retrieve_invalid_item_id", test: func(t testing.TB, r *rig) {
		c := quiet(t, r)
		id := c.create(message("user", "input_text", "find me"), nil).str("item.id")
		c.send(obj{"type": "conversation.item.retrieve", "item_id": id})
		if e := c.of("conversation.item.retrieved"); e.str("item.id") != id || e.str("item.content.0.text") != "find me" {
			t.Errorf("%s", e.raw)
		}
		if e := c.expectError(obj{"type": "conversation.item.retrieve", "item_id": "nobody"}); e.str("error.code") != "item_retrieve_invalid_item_id" {
			t.Errorf("%s", e.raw)
		}
	}},
	{id: "C20", what: "conversation.item.delete: deleted; again: item_delete_invalid_item_id", test: func(t testing.TB, r *rig) {
		c := quiet(t, r)
		id := c.create(message("user", "input_text", "x"), nil).str("item.id")
		c.send(obj{"type": "conversation.item.delete", "item_id": id})
		if e := c.of("conversation.item.deleted"); e.str("item_id") != id {
			t.Errorf("%s", e.raw)
		}
		if e := c.expectError(obj{"type": "conversation.item.delete", "item_id": id}); e.str("error.code") != "item_delete_invalid_item_id" {
			t.Errorf("%s", e.raw)
		}
	}},
	{id: "C21", what: "history items of the assistant and of the system are accepted, and the model is told", test: func(t testing.TB, r *rig) {
		c := quiet(t, r)
		c.textOnly()
		c.create(message("system", "input_text", "The user is called Ann."), nil)
		c.create(message("assistant", "output_text", "Hello, Ann."), nil)
		c.user("And now?")
		c.send(obj{"type": "response.create"})
		c.of("response.done")
		asked := r.llm.Requests()
		last := lastOf(t, asked).Messages
		if len(last) != 3 || last[0].Role != "system" || last[1].Role != "assistant" || last[1].Text() != "Hello, Ann." || last[2].Text() != "And now?" {
			t.Errorf("the model was asked %+v", last)
		}
	}},
	{id: "C22", what: "a content type not allowed for the role: an error, and the item is not added", test: func(t testing.TB, r *rig) {
		c := quiet(t, r)
		for _, it := range []obj{message("user", "output_text", "x"), message("assistant", "input_text", "x"), message("system", "input_audio", "x"), message("nobody", "input_text", "x")} {
			it["id"] = "wrong"
			c.expectError(obj{"type": "conversation.item.create", "item": it})
			c.expectError(obj{"type": "conversation.item.retrieve", "item_id": "wrong"})
		}
	}},
	{id: "C23", what: "a message with inline input_audio is accepted; the audio is not sent back; its words count", speech: true, test: func(t testing.TB, r *rig) {
		c := quiet(t, r)
		c.textOnly()
		b := base64.StdEncoding.EncodeToString(bytesOf(sound(t, "What is the weather in Paris")))
		added := c.create(obj{"type": "message", "role": "user", "content": []any{obj{"type": "input_audio", "audio": b}}}, nil)
		if added.str("item.content.0.type") != "input_audio" || bytes.Contains(added.raw, []byte(b[:100])) {
			t.Errorf("%.300s", added.raw)
		}
		if _, ok := added.get("item.content.0").(map[string]any)["transcript"]; !ok {
			t.Errorf("no transcript member: %s", added.raw)
		}
		c.send(obj{"type": "response.create"})
		c.of("response.done")
		if r.o.flows {
			return // flows have no model to be told
		}
		asked := r.llm.Requests()
		if last := lastOf(t, asked).Messages; !bytes.Contains([]byte(last[len(last)-1].Text()), []byte("weather")) {
			t.Errorf("the model was asked %q", last[len(last)-1].Text())
		}
	}},
}
