package api

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/server/hub"
)

// TestContext checks that a client can set and read the context of its conversation, and that an
// invalid request is refused with a reason and changes nothing.
func TestContext(t *testing.T) {
	h := newHouse(t, hub.Options{}, func(o *Options) {
		o.Keys = mustKeys(t, "office "+keyOne+"\nphone "+keyTwo+"\n")
		o.MaxBody = 32 << 10
	})
	h.key = keyOne
	made, other := h.begin("flights"), h.begin("flights")
	path := "/v1/conversations/" + made.ID + "/context"
	want := func(name, want string) {
		t.Helper()
		status, b := h.do("GET", path, "")
		if got := strings.TrimSpace(string(b)); status != http.StatusOK || got != want {
			t.Errorf("%s: %d %s, expected %s", name, status, got, want)
		}
	}
	want("new", `{}`)
	h.key = made.AccessToken
	view := ask[conv.ContextView](h, http.StatusOK, "PATCH", path, `{"files":{"a.go":{"line":3.0}},"preferences":{"tone":"<b>"}}`)
	if string(view.Files["a.go"]) != `{"line":3.0}` {
		t.Errorf("the answer has %+v", view)
	}
	const set = `{"files":{"a.go":{"line":3.0}},"preferences":{"tone":"<b>"}}`
	want("set", set)

	for _, c := range []struct {
		name, body, says string
		status           int
		code             string
	}{
		{"an unknown section", `{"files":{"b":1},"notes":{}}`, `"notes"`, 400, "bad_context"},
		{"operations", `{"operations":{}}`, "cannot be set", 400, "bad_context"},
		{"nothing", ``, "empty", 400, "bad_context"},
		{"no JSON", `{"files"`, "ends early", 400, "bad_context"},
		{"null", `null`, "must be a JSON object", 400, "bad_context"},
		{"a name twice", `{"files":{"b":1,"b":2}}`, "twice", 400, "bad_context"},
		{"not UTF-8", "{\"files\":{\"b\":\"\xff\"}}", "UTF-8", 400, "bad_context"},
		{"deep", `{"files":{"b":` + strings.Repeat("[", 10_000), "levels", 400, "bad_context"},
		{"too much", `{"files":{"b":"` + strings.Repeat("x", 17<<10) + `"}}`, "at most 16384", 400, "bad_context"},
		{"a huge body", `{"files":{"b":"` + strings.Repeat("x", 64<<10) + `"}}`, "more than 32768", 413, "too_large"},
	} {
		status, b := h.do("PATCH", path, c.body)
		if status != c.status || !strings.Contains(string(b), `"`+c.code+`"`) || !strings.Contains(strings.ReplaceAll(string(b), `\`, ""), c.says) || len(b) > 500 {
			t.Errorf("%s: %d %.300s, expected %d %s with %s", c.name, status, b, c.status, c.code, c.says)
		}
	}
	want("behind what was refused", set)

	// No other client can read or set it.
	h.refused(http.StatusNotFound, "no_such_conversation", "GET", "/v1/conversations/"+other.ID+"/context", "")
	h.refused(http.StatusNotFound, "no_such_conversation", "PATCH", "/v1/conversations/"+other.ID+"/context", `{"files":{"b":1}}`)
	for _, key := range []string{keyTwo, other.AccessToken} {
		h.key = key
		h.refused(http.StatusNotFound, "no_such_conversation", "GET", path, "")
		h.refused(http.StatusNotFound, "no_such_conversation", "PATCH", path, `{"files":{"b":1}}`)
	}
	h.key = "at_nobody"
	h.refused(http.StatusUnauthorized, "bad_key", "PATCH", path, `{"files":{"b":1}}`)
	h.key = ""
	h.refused(http.StatusUnauthorized, "no_key", "GET", path, "")
	h.key = keyOne
	want("behind others", set)

	// The list of conversations has no words, and the log has none.
	if _, b := h.do("GET", "/v1/conversations/"+made.ID, ""); strings.Contains(string(b), "a.go") {
		t.Errorf("the details have it: %s", b)
	}
	c, _ := h.hub.Find(made.ID)
	ask[Empty](h, http.StatusAccepted, "POST", "/v1/conversations/"+made.ID+"/commands", `{"type":"endConversation"}`)
	<-c.Done()
	h.refused(http.StatusConflict, "conversation_ended", "GET", path, "")
	h.refused(http.StatusConflict, "conversation_ended", "PATCH", path, `{"files":{"b":1}}`)
	if strings.Contains(h.log.String(), "a.go") || strings.Contains(h.log.String(), "tone") {
		t.Errorf("the log has it: %s", h.log.String())
	}
}

// TestContextFromTheStart checks that a conversation begins with the context of its request, that
// the limits and errors are those of PATCH, and that a refused request begins no conversation.
func TestContextFromTheStart(t *testing.T) {
	h := newHouse(t, hub.Options{}, func(o *Options) { o.MaxBody = 64 << 10 })
	const set = `{"files":{"a.go":{"line":3.0}},"preferences":{"tone":"<b>"}}`
	made := ask[Created](h, http.StatusCreated, "POST", "/v1/conversations", `{"agent":"flights","transport":"text","context":`+set+`}`)
	path := "/v1/conversations/" + made.ID
	if status, b := h.do("GET", path+"/context", ""); status != http.StatusOK || strings.TrimSpace(string(b)) != set {
		t.Errorf("the context is %d %s, expected %s", status, b, set)
	}
	var trace []byte
	waittest.Until(t, "the start in the trace", nil, func() bool {
		_, trace = h.do("GET", path+"/trace", "")
		return bytes.Contains(trace, []byte(`"user.start"`))
	})
	if at, begun := bytes.Index(trace, []byte("a.go")), bytes.Index(trace, []byte(`"user.start"`)); at < 0 || begun < at {
		t.Errorf("the context is at %d of the trace, the start at %d: expected it before", at, begun)
	}
	ask[Created](h, http.StatusCreated, "POST", "/v1/conversations", `{"agent":"flights","transport":"text","context":{}}`)

	before := len(ask[ConversationList](h, http.StatusOK, "GET", "/v1/conversations", "").Conversations)
	for _, c := range []struct{ name, context, says, code string }{
		{"an unknown section", `{"notes":{}}`, `"notes"`, "bad_context"},
		{"operations", `{"operations":{}}`, "cannot be set", "bad_context"},
		{"null", `null`, "must be a JSON object", "bad_context"},
		{"a list", `[]`, "must be a JSON object", "bad_context"},
		{"a name twice", `{"files":{"b":1,"b":2}}`, "twice", "bad_context"},
		{"not UTF-8", "{\"files\":{\"b\":\"\xff\"}}", "UTF-8", "bad_context"},
		{"deep", `{"files":{"b":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}}`, "levels", "bad_context"},
		{"too much", `{"files":{"b":"` + strings.Repeat("x", 17<<10) + `"}}`, "at most 16384", "bad_context"},
		{"a huge body", `{"files":{"b":"` + strings.Repeat("x", 40<<10) + `"}}`, "at most 32768", "bad_context"},
		{"no JSON", `{"files"`, "not valid JSON", "bad_json"},
	} {
		status, b := h.do("POST", "/v1/conversations", `{"agent":"flights","transport":"text","context":`+c.context+`}`)
		if status != http.StatusBadRequest || !strings.Contains(string(b), `"`+c.code+`"`) || !strings.Contains(strings.ReplaceAll(string(b), `\`, ""), c.says) {
			t.Errorf("%s: %d %.300s, expected %s with %s", c.name, status, b, c.code, c.says)
		}
	}
	h.refused(http.StatusBadRequest, "bad_request", "POST", "/v1/conversations", `{"resume":"`+made.ResumeToken+`","context":{"files":{"b":1}}}`)
	if after := len(ask[ConversationList](h, http.StatusOK, "GET", "/v1/conversations", "").Conversations); after != before {
		t.Errorf("%d conversations are there, expected %d", after, before)
	}
	if status, b := h.do("GET", path+"/context", ""); status != http.StatusOK || strings.TrimSpace(string(b)) != set {
		t.Errorf("behind what was refused the context is %d %s, expected %s", status, b, set)
	}
	ask[Created](h, http.StatusCreated, "POST", "/v1/conversations", `{"resume":"`+made.ResumeToken+`"}`)
	if strings.Contains(h.log.String(), "a.go") || strings.Contains(h.log.String(), "tone") {
		t.Errorf("the log has it: %s", h.log.String())
	}
}

// TestContextsSetAtOnce checks that clients that set entries at the same time do not overwrite each
// other's entries while the conversation continues and others read the context.
func TestContextsSetAtOnce(t *testing.T) {
	h := newHouse(t, hub.Options{}, nil)
	made := h.begin("flights")
	path := "/v1/conversations/" + made.ID + "/context"
	h.say(made.ID, "book a flight")
	var all sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for i := range 30 {
		all.Go(func() {
			status, b := h.do("PATCH", path, fmt.Sprintf(`{"files":{"f%d":%d}}`, i, i))
			if status != http.StatusOK || !strings.Contains(string(b), fmt.Sprintf(`"f%d":%d`, i, i)) {
				mu.Lock()
				defer mu.Unlock()
				failed = errors.Join(failed, fmt.Errorf("f%d: %d %s", i, status, b))
			}
		})
	}
	all.Wait()
	if failed != nil {
		t.Fatal(failed)
	}
	if v := ask[conv.ContextView](h, http.StatusOK, "GET", path, ""); len(v.Files) != 30 {
		t.Errorf("%d files are there, expected 30", len(v.Files))
	}
}

// TestContextOfAPrivateConversation checks that with privacy "none" only requests for the
// context return it: no later message has it.
func TestContextOfAPrivateConversation(t *testing.T) {
	h := newHouse(t, hub.Options{}, nil)
	made := h.begin("secret")
	path := "/v1/conversations/" + made.ID
	ask[conv.ContextView](h, http.StatusOK, "PATCH", path+"/context", `{"files":{"diary.txt":1}}`)
	if v := ask[conv.ContextView](h, http.StatusOK, "GET", path+"/context", ""); len(v.Files) != 1 {
		t.Errorf("the context is %+v", v)
	}
	events := h.listen(path + "/events?steps=1&from=1")
	h.say(made.ID, "book a flight")
	events.until("the question", func(m hub.Message) bool { return strings.Contains(string(m.Payload), "fly from") })
	for _, m := range events.seen {
		if strings.Contains(string(m.Payload), "diary") {
			t.Errorf("a message has it: %s", m.Payload)
		}
	}
}
