package node

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// stores is all that a home needs of a store.
type stores interface {
	port.Store
	port.Registry
	port.Tickets
}

// open returns a node that waits a minute for clients to return.
func open(t *testing.T, s stores, name string) (*Home, error) {
	t.Helper()
	return Open(t.Context(), Options{
		Node: port.Node{ID: name}, Registry: s, Tickets: s, Store: s, Wait: time.Minute, Log: slog.New(slog.DiscardHandler),
		Load: func(ctx context.Context, id string) (c journal.Checkpoint, ok bool, err error) {
			b, ok, err := s.Load(ctx, id)
			if err == nil && ok {
				c, err = journal.ReadCheckpoint(b)
			}
			return c, ok, err
		},
	})
}

// left records the conversations for which Leave was called.
type left struct {
	porttest.Tasks
	ended []string
}

func (l *left) Leave(_ context.Context, conversation string) error {
	l.ended = append(l.ended, conversation)
	return nil
}

// TestSweep: an abandoned conversation ends as it would by itself: it is stored as ended,
// or deleted if its privacy requires that, and its tasks wait for their caller. One whose
// client may still return, or that no server waits for, stays.
func TestSweep(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	mem := &porttest.Store{Now: func() time.Time { return now }}
	h, err := open(t, mem, "alive")
	if err != nil {
		t.Fatal(err)
	}
	tasks := &left{}
	h.Tasks = tasks
	begin := func(id, node string, privacy conv.Privacy, awaited bool) {
		t.Helper()
		if err := mem.Beat(t.Context(), port.Node{ID: node}, TTL); err != nil {
			t.Fatal(err)
		}
		hold, err := mem.Claim(t.Context(), id, node)
		if err != nil {
			t.Fatal(err)
		}
		b, err := journal.Checkpoint{ID: id, Privacy: string(privacy), Awaited: awaited, Snapshot: []byte(`{"words":"secret"}`)}.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if err := mem.Save(t.Context(), hold, b); err != nil {
			t.Fatal(err)
		}
	}
	begin("kept", "dead", conv.PrivacyKeep, true)
	begin("session", "dead", conv.PrivacySession, true)
	begin("chat", "dead", conv.PrivacyKeep, false)
	now = now.Add(2 * time.Minute)
	begin("fresh", "dead too", conv.PrivacyKeep, true)
	if err := mem.Beat(t.Context(), h.o.Node, TTL); err != nil {
		t.Fatal(err)
	}
	if err := h.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]struct{ there, ended bool }{
		"kept": {true, true}, "session": {false, false}, "chat": {true, false}, "fresh": {true, false},
	} {
		b, ok, err := mem.Load(t.Context(), id)
		if err != nil || ok != want.there {
			t.Errorf("%s: there %v, error %v", id, ok, err)
			continue
		}
		if c, err := journal.ReadCheckpoint(b); ok && (err != nil || c.Ended != want.ended) {
			t.Errorf("%s: ended %v, error %v", id, c.Ended, err)
		}
	}
	if len(tasks.ended) != 2 {
		t.Errorf("the tasks of %v were left, expected those of kept and session", tasks.ended)
	}
	if _, _, err := h.Take(t.Context(), "kept"); !errors.Is(err, ErrGone) {
		t.Errorf("an ended conversation is taken up again: %v", err)
	}
}

// TestStoreAway: an unavailable store prevents no call, and conversations that stop
// meanwhile are released when it is available again.
func TestStoreAway(t *testing.T) {
	mem := &porttest.Store{}
	away := &unreachable{Store: mem}
	h, err := open(t, away, "a")
	if err != nil {
		t.Fatal(err)
	}
	token, err := h.Claim(t.Context(), "one")
	if err != nil || token == 0 {
		t.Fatalf("token %d, error %v", token, err)
	}
	away.down = true
	h.beat(t.Context())
	if h.Ready(t.Context()) == nil {
		t.Error("it is ready without its store")
	}
	if token, err := h.Claim(t.Context(), "two"); err != nil || token != 0 {
		t.Errorf("token %d, error %v: expected a conversation without a claim", token, err)
	}
	h.Over("one", false)
	if n, ok, _ := mem.Holder(t.Context(), "one"); !ok || n.ID != "a" {
		t.Fatalf("it is held by %v, %v", n, ok)
	}
	away.down = false
	h.beat(t.Context())
	if _, ok, _ := mem.Holder(t.Context(), "one"); ok || h.Ready(t.Context()) != nil {
		t.Errorf("held %v, ready %v", ok, h.Ready(t.Context()))
	}
}

// TestGrantedWhileAway: tokens issued while the store is unavailable are valid at every
// node when it is available again: the latest ones, of conversations that still run here,
// including those that could not be claimed when they began.
func TestGrantedWhileAway(t *testing.T) {
	mem := &porttest.Store{}
	away := &unreachable{Store: mem}
	h, err := open(t, away, "a")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"claimed", "over"} {
		if _, err := h.Claim(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Grant(t.Context(), "claimed", port.Grant{Now: port.Tokens{Access: []byte("a0"), Resume: []byte("r0")}}); err != nil {
		t.Fatal(err)
	}
	away.down = true
	h.beat(t.Context())
	for _, id := range []string{"begun", "later"} {
		if token, err := h.Claim(t.Context(), id); err != nil || token != 0 {
			t.Fatalf("token %d, error %v", token, err)
		}
	}
	for _, id := range []string{"claimed", "over", "begun"} {
		for _, n := range []string{"1", "2"} {
			if err := h.Grant(t.Context(), id, port.Grant{Now: port.Tokens{Access: []byte("a" + n + id), Resume: []byte("r" + n + id)}}); err == nil {
				t.Errorf("the store has taken the tokens of %s", id)
			}
		}
	}
	h.Over("over", true)
	if err := h.Grant(t.Context(), "over", port.Grant{Now: port.Tokens{Access: nil, Resume: []byte("r")}}); err == nil || len(h.grants) != 2 {
		t.Errorf("the tokens of %d conversations wait, error %v", len(h.grants), err)
	}
	want := func(token, id string) {
		t.Helper()
		access, _, err := mem.Access(t.Context(), []byte("a"+token))
		resume, _, err2 := mem.Resume(t.Context(), []byte("r"+token))
		if err := errors.Join(err, err2); err != nil || access != id || resume != id {
			t.Errorf("%s is good for %q and %q, error %v; expected %q", token, access, resume, err, id)
		}
	}
	want("0", "claimed")
	away.down = false
	h.beat(t.Context())
	want("0", "")
	want("1claimed", "")
	want("2claimed", "claimed")
	want("2over", "")
	want("2begun", "")
	if token, err := h.Claim(t.Context(), "begun"); err != nil || token == 0 { // its session asks again
		t.Fatalf("token %d, error %v", token, err)
	}
	want("2begun", "begun")
	if _, err := h.Claim(t.Context(), "later"); err != nil || len(h.grants) != 0 {
		t.Errorf("the tokens of %d conversations wait, error %v", len(h.grants), err)
	}
}

// TestLost: a heartbeat finds the conversations that another process has claimed, and only
// those are reported as lost.
func TestLost(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	mem := &porttest.Store{Now: func() time.Time { return now }}
	h, err := open(t, mem, "a")
	if err != nil {
		t.Fatal(err)
	}
	var lost []string
	h.Lost = func(id string) { lost = append(lost, id) }
	for _, id := range []string{"ours", "theirs"} {
		if _, err := h.Claim(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	h.begin("not claimed yet")
	now = now.Add(2 * TTL) // it was not heard for so long
	if err := mem.Beat(t.Context(), port.Node{ID: "b"}, TTL); err != nil {
		t.Fatal(err)
	}
	if _, err := mem.Claim(t.Context(), "theirs", "b"); err != nil {
		t.Fatal(err)
	}
	h.beat(t.Context())
	if len(lost) != 1 || lost[0] != "theirs" {
		t.Errorf("lost are %q", lost)
	}
	h.Over("theirs", false)
	h.beat(t.Context())
	if n, _, err := mem.Holder(t.Context(), "theirs"); err != nil || n.ID != "b" || len(lost) != 1 {
		t.Errorf("held by %q, lost are %q, error %v", n.ID, lost, err)
	}
}

// unreachable is a store that is unavailable while down is set.
type unreachable struct {
	*porttest.Store
	down bool
}

var errNoRoute = errors.New("no route to the store")

func (u *unreachable) Beat(ctx context.Context, n port.Node, ttl time.Duration) error {
	if u.down {
		return errNoRoute
	}
	return u.Store.Beat(ctx, n, ttl)
}

func (u *unreachable) Claim(ctx context.Context, id, node string) (port.Hold, error) {
	if u.down {
		return port.Hold{}, errNoRoute
	}
	return u.Store.Claim(ctx, id, node)
}

func (u *unreachable) Release(ctx context.Context, hold port.Hold, ended bool) error {
	if u.down {
		return errNoRoute
	}
	return u.Store.Release(ctx, hold, ended)
}

func (u *unreachable) Grant(ctx context.Context, hold port.Hold, g port.Grant) error {
	if u.down {
		return errNoRoute
	}
	return u.Store.Grant(ctx, hold, g)
}

// TestHeldUp: a process that was delayed until the store considered it dead can still claim
// and resume conversations.
func TestHeldUp(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	mem := &porttest.Store{Now: func() time.Time { return now }}
	h, err := open(t, mem, "a")
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * TTL)
	token, err := h.Claim(t.Context(), "new")
	if err != nil || token == 0 {
		t.Fatalf("token %d, error %v: expected a claim", token, err)
	}
	b, err := journal.Checkpoint{ID: "new", Snapshot: []byte(`{}`)}.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if err := mem.Save(t.Context(), port.Hold{ID: "new", Token: token}, b); err != nil {
		t.Fatal(err)
	}
	h.Over("new", false)
	now = now.Add(2 * TTL)
	if kept, hold, err := h.Take(t.Context(), "new"); err != nil || kept.ID != "new" || hold.Token <= token {
		t.Errorf("%q, token %d after %d, error %v", kept.ID, hold.Token, token, err)
	}
	// What somebody else holds stays theirs.
	if err := mem.Beat(t.Context(), port.Node{ID: "b"}, TTL); err != nil {
		t.Fatal(err)
	}
	if _, err := mem.Claim(t.Context(), "theirs", "b"); err != nil {
		t.Fatal(err)
	}
	now = now.Add(TTL / 2)
	if _, err := h.Claim(t.Context(), "theirs"); err == nil {
		t.Error("it is taken from its holder")
	}
}
