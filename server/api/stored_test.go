package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/server/hub"
)

// shelf is a store in memory.
type shelf struct {
	mu     sync.Mutex
	kept   []StoredDetails
	traces map[string]string
	broken error // what everything fails with
	tasks  porttest.Tasks
	cut    error // what a trace fails with behind its first line
}

// newShelf returns a store with three conversations of the owner office, one of the owner phone,
// one that cannot be read and one that another node holds.
func newShelf() *shelf {
	s := &shelf{traces: map[string]string{"conv_1": "{\"format\":\"hocket trace\"}\n{\"at\":0}\n"}}
	at := time.Date(2026, 11, 20, 12, 0, 0, 5000, time.UTC)
	for i, one := range []StoredInfo{
		{ID: "conv_1", Owner: "office", Agent: "flights", Transport: "text", Phase: "idle", Ended: true, Turns: 5, Trace: true},
		{ID: "conv_2", Owner: "office", Agent: "flights", Transport: "webrtc", Phase: "speaking", Turns: 2},
		{ID: "conv_locked", Owner: "office", Error: "the conversation is encrypted"},
		{ID: "conv_3", Owner: "phone", Agent: "bank", Transport: "text", Phase: "idle", Ended: true},
		{ID: "conv_elsewhere", Owner: "office", Agent: "flights", Transport: "text", Phase: "speaking"},
	} {
		one.Saved = at.Add(time.Duration(-i) * time.Minute)
		one.Started = one.Saved.Add(-time.Minute)
		s.kept = append(s.kept, StoredDetails{StoredInfo: one})
	}
	s.kept[0].Lines = []StoredLine{{Turn: 1, Role: "agent", Text: "Welcome.", Interrupted: true}, {Turn: 2, Role: "user", Text: "book a flight"}}
	return s
}

// fails makes every call fail, or only traces after their first line.
func (s *shelf) fails(all, traces error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken, s.cut = all, traces
}

// List implements [Stored].
func (s *shelf) List(_ context.Context, q StoredQuery) (list []StoredInfo, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.kept {
		if q.Selects(d.StoredInfo) && (q.Before.IsZero() || d.Saved.Before(q.Before)) {
			list = append(list, d.StoredInfo)
		}
	}
	slices.SortFunc(list, func(a, b StoredInfo) int { return cmp.Or(b.Saved.Compare(a.Saved), strings.Compare(a.ID, b.ID)) })
	if q.Caller == "" {
		list = list[:min(len(list), q.Limit)]
	}
	return list, s.broken
}

// Tasks implements [Stored].
func (s *shelf) Tasks(ctx context.Context, caller string) ([]port.TaskRecord, error) {
	if s.broken != nil {
		return nil, s.broken
	}
	return s.tasks.TasksOf(ctx, caller)
}

// DeleteTasks implements [Stored].
func (s *shelf) DeleteTasks(ctx context.Context, caller string, spare func(string) bool) (int, error) {
	return s.tasks.DeleteTasksOf(ctx, caller, spare)
}

// Load implements [Stored].
func (s *shelf) Load(_ context.Context, id string) (d StoredDetails, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.kept, func(d StoredDetails) bool { return d.ID == id })
	if i < 0 || s.broken != nil {
		return d, false, s.broken
	}
	return s.kept[i], true, nil
}

// Trace implements [Stored].
func (s *shelf) Trace(_ context.Context, id string, w io.Writer) error {
	s.mu.Lock()
	trace, ok := s.traces[id]
	cut := s.cut
	s.mu.Unlock()
	if !ok {
		return fmt.Errorf("%s: %w", id, ErrNoTrace)
	}
	for line := range strings.Lines(trace) {
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
		if cut != nil {
			return cut
		}
	}
	return nil
}

// wave is a recording.
type wave struct{ fails error }

func (w wave) Size() int64      { return int64(len("RIFF the sound")) }
func (w wave) Began() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 5000, time.UTC) }
func (w wave) WriteTo(to io.Writer) (int64, error) {
	if w.fails != nil {
		n, _ := io.WriteString(to, "RIFF")
		return int64(n), w.fails
	}
	n, err := io.WriteString(to, "RIFF the sound")
	return int64(n), err
}

// Recording implements [Stored].
func (s *shelf) Recording(_ context.Context, id string) (Recording, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.traces[id]; !ok {
		return nil, fmt.Errorf("%s: %w", id, ErrNoRecording)
	}
	return wave{s.cut}, nil
}

// Delete implements [Stored].
func (s *shelf) Delete(_ context.Context, id string) error {
	if id == "conv_elsewhere" {
		return &port.HeldError{Node: port.Node{ID: "node_2"}}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = slices.DeleteFunc(s.kept, func(d StoredDetails) bool { return d.ID == id })
	delete(s.traces, id)
	return s.broken
}

// TestStored checks that a key gives access to its own conversations.
func TestStored(t *testing.T) {
	h := newHouse(t, hub.Options{}, func(o *Options) {
		o.Stored, o.Keys = newShelf(), mustKeys(t, "office "+keyOne+"\nphone "+keyTwo)
	})
	h.refused(http.StatusUnauthorized, "no_key", "GET", "/v1/stored", "")
	h.key = keyTwo
	list := ask[StoredList](h, http.StatusOK, "GET", "/v1/stored", "")
	if len(list.Conversations) != 1 || list.Conversations[0].ID != "conv_3" || list.Next != "" {
		t.Errorf("the phone sees %+v", list)
	}
	for _, method := range []string{"GET", "DELETE"} {
		h.refused(http.StatusNotFound, "no_such_conversation", method, "/v1/stored/conv_1", "")
	}
	h.refused(http.StatusNotFound, "no_such_conversation", "GET", "/v1/stored/conv_1/trace", "")

	h.key = keyOne
	var ids []string
	for next := "/v1/stored?limit=2"; next != ""; {
		list := ask[StoredList](h, http.StatusOK, "GET", next, "")
		for _, c := range list.Conversations {
			ids = append(ids, c.ID)
		}
		if next = ""; list.Next != "" {
			next = "/v1/stored?limit=2&before=" + list.Next
		}
	}
	if got := strings.Join(ids, " "); got != "conv_1 conv_2 conv_locked conv_elsewhere" {
		t.Errorf("page by page the office sees %s", got)
	}
	one := ask[StoredDetails](h, http.StatusOK, "GET", "/v1/stored/conv_1", "")
	if len(one.Lines) != 2 || one.Lines[1].Text != "book a flight" || !one.Lines[0].Interrupted || one.Live {
		t.Errorf("details %+v", one)
	}
	if status, b := h.do("GET", "/v1/stored/conv_1/trace", ""); status != http.StatusOK || !bytes.Contains(b, []byte("{\"at\":0}\n")) {
		t.Errorf("the trace: %d %s", status, b)
	}
	h.refused(http.StatusNotFound, "no_trace", "GET", "/v1/stored/conv_2/trace", "")
	if status, b := h.do("GET", "/v1/conversations/conv_1/recording", ""); status != http.StatusOK || string(b) != "RIFF the sound" {
		t.Errorf("the recording: %d %s", status, b)
	}
	h.refused(http.StatusNotFound, "no_recording", "GET", "/v1/conversations/conv_2/recording", "")
	h.refused(http.StatusNotFound, "no_such_conversation", "GET", "/v1/conversations/conv_3/recording", "") // the phone's
	ask[Empty](h, http.StatusOK, "DELETE", "/v1/stored/conv_1", "")
	h.refused(http.StatusNotFound, "no_such_conversation", "GET", "/v1/stored/conv_1", "")
	h.refused(http.StatusConflict, "conversation_active", "DELETE", "/v1/stored/conv_elsewhere", "")
	for _, query := range []string{"limit=x", "limit=0", "limit=201", "before=yesterday"} {
		h.refused(http.StatusBadRequest, "bad_request", "GET", "/v1/stored?"+query, "")
	}
	if strings.Contains(h.log.String(), "book a flight") {
		t.Errorf("the log holds what was said:\n%s", h.log)
	}
}

// TestStoredAll checks that without keys all conversations are accessible, and that
// a running one cannot be deleted.
func TestStoredAll(t *testing.T) {
	shelf := newShelf()
	h := newHouse(t, hub.Options{}, func(o *Options) { o.Stored = shelf })
	made := h.begin("flights")
	shelf.mu.Lock()
	shelf.kept = append(shelf.kept, StoredDetails{StoredInfo: StoredInfo{ID: made.ID, Agent: "flights", Saved: time.Now()}})
	shelf.mu.Unlock()
	list := ask[StoredList](h, http.StatusOK, "GET", "/v1/stored", "")
	if len(list.Conversations) != 6 || list.Conversations[0].ID != made.ID || !list.Conversations[0].Live || list.Conversations[1].Live {
		t.Errorf("the list is %+v", list)
	}
	h.refused(http.StatusConflict, "conversation_active", "DELETE", "/v1/stored/"+made.ID, "")
	// A token for one conversation opens it, no others, nor the list.
	h.refused(http.StatusNotFound, "no_recording", "GET", "/v1/conversations/"+made.ID+"/recording", "", "Authorization", "Bearer "+made.AccessToken)
	h.refused(http.StatusNotFound, "no_such_conversation", "GET", "/v1/conversations/conv_1/recording", "", "Authorization", "Bearer "+made.AccessToken)
	for _, path := range []string{"/v1/stored", "/v1/stored/conv_1", "/v1/stored/conv_1/trace"} {
		h.refused(http.StatusForbidden, "forbidden", "GET", path, "", "Authorization", "Bearer "+made.AccessToken)
	}

	// A truncated trace is not a complete response.
	shelf.fails(nil, errors.New("disk broken"))
	w, err := http.DefaultClient.Do(h.request("GET", "/v1/stored/conv_1/trace", ""))
	if err == nil {
		_, err = io.ReadAll(w.Body)
		_ = w.Body.Close()
	}
	if err == nil {
		t.Error("the trace that broke off came to its end")
	}
	w, err = http.DefaultClient.Do(h.request("GET", "/v1/conversations/conv_1/recording", ""))
	if err == nil {
		_, err = io.ReadAll(w.Body)
		_ = w.Body.Close()
	}
	if err == nil {
		t.Error("the recording that broke off came to its end")
	}
	shelf.fails(errors.New("disk full"), nil)
	h.refused(http.StatusServiceUnavailable, "store_unavailable", "GET", "/v1/conversations/conv_1/recording", "")
	h.refused(http.StatusServiceUnavailable, "store_unavailable", "GET", "/v1/stored", "")
	if !strings.Contains(h.log.String(), "disk full") || !strings.Contains(h.log.String(), "disk broken") {
		t.Errorf("the log says nothing of the store:\n%s", h.log)
	}
}

// TestNoStore checks the error of a server without a store.
func TestNoStore(t *testing.T) {
	h := newHouse(t, hub.Options{}, nil)
	for _, path := range []string{"GET /v1/stored", "GET /v1/stored/conv_1", "GET /v1/stored/conv_1/trace", "GET /v1/conversations/conv_1/recording", "DELETE /v1/stored/conv_1"} {
		method, path, _ := strings.Cut(path, " ")
		h.refused(http.StatusNotFound, "no_store", method, path, "")
	}
}
