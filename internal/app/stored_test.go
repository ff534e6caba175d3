package app

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/seal"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/store/sealed"
)

// hold holds a conversation by text, with one line of the person, until its end.
func (r *running) hold(line string) (id string) {
	r.t.Helper()
	return r.holdWith("", line)
}

// holdWith is like hold, for a caller.
func (r *running) holdWith(caller, line string) (id string) {
	r.t.Helper()
	var made api.Created
	if status := r.do("POST", "/v1/conversations", `{"transport":"text","caller":"`+caller+`"}`, &made); status != http.StatusCreated {
		r.t.Fatalf("status %d", status)
	}
	path := "/v1/conversations/" + made.ID
	turns := func(n int) func() bool {
		return func() bool {
			var d hub.Details
			r.do("GET", path, "", &d)
			return d.Metrics.AgentTurns >= n
		}
	}
	r.eventually("the greeting", turns(1))
	r.do("POST", path+"/commands", `{"type":"send_text","text":"`+line+`"}`, nil)
	r.eventually("the answer", turns(2))
	r.do("POST", path+"/commands", `{"type":"endConversation"}`, nil)
	r.eventually("the end in the store", func() bool {
		var d api.StoredDetails
		return r.do("GET", "/v1/stored/"+made.ID, "", &d) == http.StatusOK && d.Ended && !d.Live
	})
	return made.ID
}

// trace reads a stored trace.
func (r *running) trace(id string) (int, []byte) {
	r.t.Helper()
	status, _, b := r.answer(http.MethodGet, "/v1/stored/"+id+"/trace", "")
	return status, b
}

// TestStoredConversations checks that the owner of stored conversations can list, read,
// replay and delete them.
func TestStoredConversations(t *testing.T) {
	t.Setenv("HOCKET_API_KEYS", "office 0123456789abcdef-one, phone 0123456789abcdef-two")
	path := filepath.Join(t.TempDir(), "store.db")
	r := serve(t, "store: {path: "+path+"}\n")
	r.key = "0123456789abcdef-two"
	theirs := r.hold("change my flight")
	r.key = "0123456789abcdef-one"
	first := r.hold("I want to book a flight")
	second := r.hold("what can you do")

	var list api.StoredList
	r.do("GET", "/v1/stored", "", &list)
	if len(list.Conversations) != 2 || list.Conversations[0].ID != second || list.Conversations[1].ID != first {
		t.Fatalf("the list of the office is %+v", list)
	}
	var page api.StoredList
	r.do("GET", "/v1/stored?limit=1", "", &page)
	if len(page.Conversations) != 1 || page.Next == "" {
		t.Fatalf("one of two: %+v", page)
	}
	r.do("GET", "/v1/stored?limit=1&before="+page.Next, "", &page)
	if len(page.Conversations) != 1 || page.Conversations[0].ID != first {
		t.Errorf("the next page is %+v", page)
	}
	var one api.StoredDetails
	r.do("GET", "/v1/stored/"+first, "", &one)
	if one.Agent != "flights" || one.Transport != "text" || !one.Ended || !one.Trace || one.Started.IsZero() || len(one.Lines) < 3 {
		t.Errorf("the stored conversation is %+v", one)
	}
	said := false
	for _, l := range one.Lines {
		said = said || l.Role == "user" && l.Text == "I want to book a flight"
	}
	if !said {
		t.Errorf("the lines are %+v", one.Lines)
	}
	_, trace := r.trace(first)
	if steps, err := journal.Replay(bytes.NewReader(trace), nil); err != nil || steps < 10 {
		t.Errorf("the trace has %d steps: %v", steps, err)
	}
	var others api.AlternativeList
	if status := r.do("GET", "/v1/stored/"+first+"/alternatives?barge_in=none", "", &others); status != http.StatusOK || len(others.Alternatives) > 0 {
		t.Errorf("status %d, alternatives %+v: expected none for a conversation by text", status, others)
	}
	if status := r.do("GET", "/v1/stored/"+theirs, "", nil); status != http.StatusNotFound {
		t.Errorf("the conversation of another owner: status %d", status)
	}
	if status, _ := r.trace(theirs); status != http.StatusNotFound {
		t.Errorf("the trace of another owner: status %d", status)
	}
	if status := r.do("DELETE", "/v1/stored/"+first, "", nil); status != http.StatusOK {
		t.Errorf("deletion: status %d", status)
	}
	if status, _ := r.trace(first); status != http.StatusNotFound {
		t.Errorf("the trace after the deletion: status %d", status)
	}
	if strings.Contains(r.log.String(), "book a flight") {
		t.Error("the log holds what was said")
	}
}

// counting is a store that counts reads.
type counting struct {
	*porttest.Store
	loads int
}

func (c *counting) Load(ctx context.Context, id string) ([]byte, bool, error) {
	c.loads++
	return c.Store.Load(ctx, id)
}

func (c *counting) Close() error { return nil }

// TestListReadsOnce checks that a list reads each conversation once, and again after it was
// saved, and that one that cannot be read is listed with the reason.
func TestListReadsOnce(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	mem := &counting{Store: &porttest.Store{Now: func() time.Time { return now }}}
	save := func(id, owner string) {
		t.Helper()
		now = now.Add(time.Second)
		b, err := journal.Checkpoint{ID: id, Owner: owner, Snapshot: []byte("{}")}.Marshal()
		if owner == "" {
			b = []byte("no checkpoint")
		}
		if err := errors.Join(err, mem.Save(t.Context(), port.Hold{ID: id}, b)); err != nil {
			t.Fatal(err)
		}
	}
	s := newArchive(&Store{engine: mem, port: mem, journal: mem, sound: mem.Recordings(), registry: mem, tickets: mem}, nil)
	list := func(q api.StoredQuery, loads int, want ...string) {
		t.Helper()
		mem.loads = 0
		got, err := s.List(t.Context(), q)
		var ids []string
		for _, d := range got {
			ids = append(ids, d.ID)
		}
		if err != nil || !slices.Equal(ids, want) || mem.loads != loads {
			t.Errorf("%q is listed with %d snapshots read, error %v; expected %q with %d", ids, mem.loads, err, want, loads)
		}
	}
	save("a", "me")
	save("b", "them")
	save("c", "me")
	save("broken", "")
	mine, all := api.StoredQuery{Owner: "me", Limit: 9}, api.StoredQuery{All: true, Limit: 9}
	list(mine, 4, "c", "a")
	list(mine, 0, "c", "a")
	list(all, 0, "broken", "c", "b", "a")
	save("b", "me")
	list(mine, 1, "b", "c", "a")
	if err := mem.Delete(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	list(mine, 0, "b", "a")
	if d, ok, err := s.Load(t.Context(), "broken"); !ok || err != nil || d.Error == "" {
		t.Errorf("%+v, %v, error %v", d, ok, err)
	}
	with := func(key byte) *sealed.Store {
		store, err := sealed.New(sealed.Options{Store: mem, Journal: mem, Keys: [][]byte{bytes.Repeat([]byte{key}, sealed.KeySize)}})
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	if err := with(1).Save(t.Context(), port.Hold{ID: "a"}, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	other := with(2) // the key is gone
	s = newArchive(&Store{engine: mem, port: other, journal: other, sound: other.Recordings(), registry: mem, tickets: mem}, nil)
	if d, ok, err := s.Load(t.Context(), "a"); !ok || err != nil || !strings.Contains(d.Error, "which is not among the keys") {
		t.Errorf("%+v, %v, error %v", d, ok, err)
	}
	list(all, 3, "a", "b", "broken")
}

// TestCallerIsFoundByTheirMark checks that listing the conversations of a caller does not read
// those of others, also after the keys of the store were changed or one was lost. Conversations
// without a mark are read once.
func TestCallerIsFoundByTheirMark(t *testing.T) {
	mem := &counting{Store: &porttest.Store{}}
	store := func(keys ...byte) *Store {
		t.Helper()
		s := &Store{engine: mem, port: mem, journal: mem, sound: mem.Recordings(), registry: mem, tickets: mem, callers: mem}
		var all [][]byte
		for _, k := range keys {
			all = append(all, bytes.Repeat([]byte{k}, sealed.KeySize))
		}
		if len(all) == 0 {
			return s
		}
		box, err := seal.New(all)
		if err != nil {
			t.Fatal(err)
		}
		sealing, err := sealed.New(sealed.Options{Store: mem, Journal: mem, Keys: all})
		if err != nil {
			t.Fatal(err)
		}
		s.port, s.journal, s.keys, s.box = sealing, sealing, all, box
		return s
	}
	save := func(to port.Store, id, caller string) {
		t.Helper()
		c := journal.Checkpoint{ID: id, Owner: "me", Snapshot: []byte("{}")}
		if caller != "" {
			c.Caller = "me/" + caller
		}
		b, err := c.Marshal()
		if err := errors.Join(err, to.Save(t.Context(), port.Hold{ID: id}, b)); err != nil {
			t.Fatal(err)
		}
	}
	find := func(s *Store, caller string, loads int, want ...string) {
		t.Helper()
		mem.loads = 0
		got, err := newArchive(s, nil).List(t.Context(), api.StoredQuery{Owner: "me", Caller: "me/" + caller})
		var ids []string
		for _, d := range got {
			if ids = append(ids, d.ID); d.Error != "" {
				ids[len(ids)-1] += "?"
			}
		}
		slices.Sort(ids)
		if err != nil || !slices.Equal(ids, want) || mem.loads != loads {
			t.Errorf("%s has %q, with %d snapshots read, error %v; expected %q with %d", caller, ids, mem.loads, err, want, loads)
		}
	}
	plain, one, both, two := store(), store(1), store(2, 1), store(2)
	save(plain.port, "before", "ann") // by a program that knows no marks
	save(plain.port, "nobody's", "")
	save(plain.marking("me/ann"), "a", "ann")
	save(plain.marking("me/bob"), "b", "bob")
	find(plain, "ann", 3, "a", "before")
	find(plain, "ann", 2, "a", "before")
	find(plain, "bob", 1, "b")
	find(plain, "eve", 0)

	// The store is sealed from now on: its unsealed conversations are errors, and may be any
	// caller's.
	for _, id := range []string{"before", "nobody's", "a", "b"} {
		if err := mem.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	save(one.marking("me/ann"), "a1", "ann")
	save(one.marking("me/bob"), "b1", "bob")
	save(both.marking("me/ann"), "a2", "ann")
	save(both.marking("me/bob"), "b2", "bob")
	find(both, "ann", 2, "a1", "a2")
	find(two, "ann", 3, "a1?", "a2", "b1?")
	find(two, "ann", 3, "a1?", "a2", "b1?")
	find(both, "bob", 2, "b1", "b2")
	// A continued conversation is sealed with the new key, and so is its mark.
	save(both.marking("me/bob"), "b1", "bob")
	find(two, "bob", 3, "a1?", "b1", "b2")
	entries, err := mem.Marked(t.Context(), nil, nil)
	if err != nil || len(entries) != 4 {
		t.Fatalf("%+v, error %v", entries, err)
	}
	marks, _ := one.marks("me/ann")
	others, _ := two.marks("me/ann")
	if bytes.Contains(marks[0], []byte("ann")) || bytes.Equal(marks[0], others[0]) {
		t.Errorf("the marks %x and %x reveal their callers", marks[0], others[0])
	}
}
