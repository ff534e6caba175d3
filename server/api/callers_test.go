package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/server/hub"
)

// callersHouse is a server whose store has conversations and tasks of the caller ann, of another
// caller, and of a caller of another key who is called ann too.
func callersHouse(t *testing.T) (*house, *shelf) {
	t.Helper()
	s := newShelf()
	s.tasks.Tool = &porttest.Tool{Known: []port.ToolSpec{{Name: "work", Long: true}}}
	t.Cleanup(s.tasks.Close)
	for i, caller := range []string{"office/ann", "office/ann", "", "phone/ann", "office/ann"} {
		s.kept[i].Caller = caller
	}
	s.traces["conv_1"] = `{"format":"hocket trace","version":1,"agent":[{"name":"a.yaml","data":"c2VjcmV0"}]}` + "\n" + `{"at":0}` + "\n" +
		`{"format":"hocket trace","version":1,"agent":[{"name":"a.yaml","data":"c2VjcmV0"}]}` + "\n" + `{"at":1}` + "\n"
	for _, k := range []port.Task{
		{Key: "k1", Conversation: "conv_1", Caller: "office/ann", Call: port.ToolCall{ID: "k1", Name: "work", Arguments: `{"to":"Denver"}`}},
		{Key: "k2", Conversation: "conv_1", Caller: "office/ann", Secret: true, Call: port.ToolCall{ID: "k2", Name: "work", Arguments: `{"pin":"pin-4711"}`}},
		{Key: "k3", Conversation: "conv_elsewhere", Caller: "office/ann", Call: port.ToolCall{ID: "k3", Name: "work", Arguments: `{}`}},
		{Key: "k4", Conversation: "conv_3", Caller: "phone/ann", Call: port.ToolCall{ID: "k4", Name: "work", Arguments: `{}`}},
	} {
		if err := s.tasks.Start(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		_, _ = s.tasks.Follow(t.Context(), k.Key, nil) // how it ends does not matter
	}
	return newHouse(t, hub.Options{}, func(o *Options) {
		o.Stored, o.Keys = s, mustKeys(t, "office "+keyOne+"\nphone "+keyTwo)
	}), s
}

func idsOf(list []StoredInfo) (ids []string) {
	for _, i := range list {
		ids = append(ids, i.ID)
	}
	return ids
}

// TestCallers checks that a key can list, export and delete the data of its own callers: stored,
// remembered and running conversations, and delegated work.
func TestCallers(t *testing.T) {
	h, s := callersHouse(t)
	h.key = keyOne
	begun := ask[Created](h, http.StatusCreated, "POST", "/v1/conversations", `{"transport":"text","caller":"ann"}`)
	data := ask[CallerData](h, http.StatusOK, "GET", "/v1/callers?caller=ann", "")
	if ids := idsOf(data.Conversations); !slices.Equal(ids, []string{"conv_1", "conv_2", "conv_elsewhere", begun.ID}) || data.Unreadable != 1 || len(data.Tasks) != 3 {
		t.Errorf("%+v", data)
	}
	if last := data.Conversations[3]; !last.Live || last.Ended {
		t.Errorf("the running one is %+v", last)
	}
	for _, k := range data.Tasks {
		if k.Words != nil || k.Tool != "work" {
			t.Errorf("the list has %+v", k)
		}
	}
	if nobody := ask[CallerData](h, http.StatusOK, "GET", "/v1/callers?caller=bob", ""); len(nobody.Conversations) != 0 || len(nobody.Tasks) != 0 {
		t.Errorf("of nobody there is %+v", nobody)
	}

	status, b := h.do("GET", "/v1/callers/export?caller=ann", "")
	types := map[string]int{}
	for line := range bytes.Lines(b) {
		var one struct{ Type string }
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		types[one.Type]++
	}
	if status != http.StatusOK || types["conversation"] != 4 || types["task"] != 3 || types["caller"] != 1 || types["end"] != 1 || types["trace"] < 5 {
		t.Errorf("status %d, lines %v", status, types)
	}
	for _, want := range []string{`book a flight`, `Denver`, `{"type":"trace","conversation":"conv_1","record":{"at":1}}`, `"withheld":"secret"`} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("the export has no %s:\n%s", want, b)
		}
	}
	for _, never := range []string{"pin-4711", "c2VjcmV0", "agents/agent.yaml", "Owner", "office/ann"} {
		if bytes.Contains(b, []byte(never)) {
			t.Errorf("the export has %s:\n%s", never, b)
		}
	}

	gone := ask[CallerDeleted](h, http.StatusOK, "DELETE", "/v1/callers?caller=ann", "")
	var left []string
	for _, l := range gone.Left {
		if left = append(left, l.ID); l.Code != "conversation_active" || l.Message == "" {
			t.Errorf("left is %+v", l)
		}
	}
	if !slices.Equal(gone.Conversations, []string{"conv_1", "conv_2"}) || !slices.Equal(left, []string{"conv_elsewhere", begun.ID}) || gone.Tasks != 2 || gone.Unreadable != 1 {
		t.Errorf("%+v", gone)
	}
	if keys := s.tasks.Keys(); !slices.Equal(keys, []string{"k3", "k4"}) {
		t.Errorf("tasks %v are left", keys)
	}

	// What runs is ended first; then nothing is left of it, in memory neither.
	h.do("POST", "/v1/conversations/"+begun.ID+"/commands", `{"type":"endConversation"}`)
	h.ended(begun.ID)
	if status, _ := h.do("GET", "/v1/conversations/"+begun.ID+"/trace", ""); status != http.StatusOK {
		t.Errorf("an ended conversation is not remembered: status %d", status)
	}
	gone = ask[CallerDeleted](h, http.StatusOK, "DELETE", "/v1/callers?caller=ann", "")
	if !slices.Equal(gone.Conversations, []string{begun.ID}) {
		t.Errorf("%+v", gone)
	}
	h.refused(http.StatusNotFound, "no_such_conversation", "GET", "/v1/conversations/"+begun.ID+"/trace", "")

	// Nothing of the other key was touched.
	h.key = keyTwo
	if data := ask[CallerData](h, http.StatusOK, "GET", "/v1/callers?caller=ann", ""); !slices.Equal(idsOf(data.Conversations), []string{"conv_3"}) || len(data.Tasks) != 1 {
		t.Errorf("the other key's: %+v", data)
	}
}

// ended waits until a conversation has ended.
func (h *house) ended(id string) {
	h.t.Helper()
	c, ok := h.hub.Find(id)
	if !ok {
		h.t.Fatalf("there is no conversation %s", id)
	}
	list, err := h.hub.Watch(hub.StreamOptions{From: 1})
	if err != nil {
		h.t.Fatal(err)
	}
	defer list.Close()
	<-c.Done()
	for {
		m, err := list.Next(waittest.Context(h.t))
		if err != nil {
			h.t.Fatal(err)
		}
		if m.Type == hub.TypeEnded && bytes.Contains(m.Payload, []byte(id)) {
			return
		}
	}
}

// TestCallersRefused checks which requests about callers are refused.
func TestCallersRefused(t *testing.T) {
	h, s := callersHouse(t)
	const at = "/v1/callers?caller=ann"
	h.refused(http.StatusUnauthorized, "no_key", "GET", at, "")
	h.key = keyOne
	for _, c := range []struct{ path, want string }{
		{"/v1/callers", "parameter caller is missing"},
		{"/v1/callers?caller=", "parameter caller is missing"},
		{"/v1/callers?caller=" + strings.Repeat("x", 201), "expected at most 200"},
		{"/v1/callers?caller=%ff", "must be valid UTF-8"},
		{"/v1/callers?caller=a%00n", "must not contain a NUL character"},
		{"/v1/callers?caller=ann&caller=bob", "given 2 times"},
	} {
		for _, r := range [][2]string{{"GET", c.path}, {"DELETE", c.path}, {"GET", strings.Replace(c.path, "callers", "callers/export", 1)}} {
			if status, b := h.do(r[0], r[1], ""); status != http.StatusBadRequest || !bytes.Contains(b, []byte(c.want)) {
				t.Errorf("%s %s: status %d, %s", r[0], r[1], status, b)
			}
		}
	}
	h.refused(http.StatusBadRequest, "bad_request", "POST", "/v1/conversations", `{"transport":"text","caller":"a\u0000n"}`)
	h.refused(http.StatusBadRequest, "bad_request", "POST", "/v1/client_tokens", `{"caller":"\u0000"}`)
	token := ask[ClientToken](h, http.StatusOK, "POST", "/v1/client_tokens", `{"caller":"ann"}`)
	begun := ask[Created](h, http.StatusCreated, "POST", "/v1/conversations", `{"transport":"text","caller":"ann"}`)
	for _, h.key = range []string{token.Token, begun.AccessToken} {
		for _, r := range [][2]string{{"GET", at}, {"DELETE", at}, {"GET", "/v1/callers/export?caller=ann"}} {
			if status, _ := h.do(r[0], r[1], ""); status != http.StatusForbidden && status != http.StatusUnauthorized {
				t.Errorf("%s %s with a token: status %d", r[0], r[1], status)
			}
		}
	}
	h.key = keyOne
	s.fails(errors.New("the disk is gone"), nil)
	for _, r := range [][2]string{{"GET", at}, {"DELETE", at}, {"GET", "/v1/callers/export?caller=ann"}} {
		h.refused(http.StatusServiceUnavailable, "store_unavailable", r[0], r[1], "")
	}
	s.fails(nil, errors.New("the disk is gone"))
	r, err := http.NewRequestWithContext(waittest.Context(t), http.MethodGet, h.url+"/v1/callers/export?caller=ann", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+h.key)
	if w, err := http.DefaultClient.Do(r); err == nil {
		defer w.Body.Close()
		if b, err := io.ReadAll(w.Body); err == nil {
			t.Errorf("a broken export is complete, with status %d: %s", w.StatusCode, b)
		}
	}
}
