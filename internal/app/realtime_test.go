package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"testing"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/leg/realtime"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/server/node"
)

// returning is a server to which Realtime clients return after another node has held their
// conversations.
type returning struct {
	t      *testing.T
	mem    *porttest.Store
	server *Server
	resume func(context.Context, realtime.Caller, string) (realtime.Parts, error)
}

func newReturning(t *testing.T) *returning {
	t.Helper()
	mem := &porttest.Store{}
	log := slog.New(slog.DiscardHandler)
	store := &Store{port: mem, registry: mem, journal: mem, sound: mem.Recordings(), tickets: mem, versions: mem}
	h, err := openHome(t.Context(), store, config.Server{Node: "here"}, 0, log)
	if err != nil {
		t.Fatal(err)
	}
	one, err := hub.New(hub.Options{Most: 1, HandOver: true})
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{o: ServeOptions{Log: log, Note: func(string) {}}, home: h, hub: one}
	agents, err := s.loadServed()
	if err != nil {
		t.Fatal(err)
	}
	agents[0].home, agents[0].store = h, store
	s.roster.set(agents)
	return &returning{t: t, mem: mem, server: s, resume: s.resumeRealtime()}
}

// left saves a conversation that another node has released, and its token.
func (r *returning) left(c journal.Checkpoint, token string) {
	r.t.Helper()
	b, err := c.Marshal()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.mem.Beat(r.t.Context(), port.Node{ID: "dead"}, node.TTL); err != nil {
		r.t.Fatal(err)
	}
	hold, err := r.mem.Claim(r.t.Context(), c.ID, "dead")
	if err != nil {
		r.t.Fatal(err)
	}
	digest := sha256.Sum256([]byte(token))
	if err := errors.Join(r.mem.Save(r.t.Context(), hold, b), r.mem.Grant(r.t.Context(), hold, port.Grant{Now: port.Tokens{Resume: digest[:]}}), r.mem.Leave(r.t.Context(), "dead")); err != nil {
		r.t.Fatal(err)
	}
}

// want checks which conversation a token is valid for, and which node holds the conversation.
func (r *returning) want(what, token, id, node string) {
	r.t.Helper()
	digest := sha256.Sum256([]byte(token))
	if got, _, err := r.mem.Resume(r.t.Context(), digest[:]); err != nil || got != id {
		r.t.Errorf("%s: the token is good for %q, error %v", what, got, err)
	}
	if n, _, err := r.mem.Holder(r.t.Context(), "conv_a"); err != nil || n.ID != node {
		r.t.Errorf("%s: the conversation is held by %q, error %v", what, n.ID, err)
	}
}

// TestRealtimeTokenStaysGood checks that only its next token invalidates a Realtime client's
// token, and no failure before that.
func TestRealtimeTokenStaysGood(t *testing.T) {
	r := newReturning(t)
	r.left(journal.Checkpoint{ID: "conv_a", Agent: "flights", Transport: realtimeTransport, Owner: "me", Snapshot: []byte("{}")}, "rt_a")
	me := realtime.Caller{Owner: "me"}

	place, err := r.server.hub.Prepare(hub.Call{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.resume(t.Context(), me, "rt_a"); !errors.Is(err, realtime.ErrBusy) {
		t.Errorf("without room: %v", err)
	}
	r.want("without room", "rt_a", "conv_a", "")
	place.Forgo()

	if _, err := r.resume(t.Context(), realtime.Caller{Owner: "them"}, "rt_a"); !errors.Is(err, realtime.ErrUnknownToken) {
		t.Errorf("another owner: %v", err)
	}
	r.want("another owner", "rt_a", "conv_a", "")

	parts, err := r.resume(t.Context(), me, "rt_a")
	if err != nil || parts.ID != "conv_a" {
		t.Fatalf("%q, error %v", parts.ID, err)
	}
	r.want("taken", "rt_a", "conv_a", "here")
	hold := r.server.home.Hold("conv_a")
	if _, err := r.resume(t.Context(), me, "rt_a"); !errors.Is(err, realtime.ErrAgain) {
		t.Errorf("at the same time: %v", err)
	}
	if now := r.server.home.Hold("conv_a"); now != hold {
		t.Errorf("the first one's claim %v was replaced by %v", hold, now)
	}
	if err := parts.Close(); err != nil { // its connection has not come about
		t.Fatal(err)
	}
	r.want("not connected", "rt_a", "conv_a", "")
	if n := r.server.hub.Live(); n != 0 {
		t.Errorf("%d places are taken", n)
	}

	if parts, err = r.resume(t.Context(), me, "rt_a"); err != nil {
		t.Fatal(err)
	}
	next := sha256.Sum256([]byte("rt_b"))
	first := sha256.Sum256([]byte("rt_a"))
	parts.Issue(t.Context(), next[:], first[:])
	r.want("the next token, of which nobody knows whether it arrived", "rt_b", "conv_a", "here")
	r.want("the token before it", "rt_a", "conv_a", "here")
	parts.Issue(t.Context(), next[:], nil)
	r.want("the next token", "rt_b", "conv_a", "here")
	r.want("the token before", "rt_a", "", "here")
	if err := parts.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRealtimeContinuesElsewhere checks that a conversation that cannot continue here is given up again,
// and that its token stays valid for another node.
func TestRealtimeContinuesElsewhere(t *testing.T) {
	r := newReturning(t)
	for what, c := range map[string]journal.Checkpoint{
		"an agent that this server does not have": {Agent: "trains", Transport: realtimeTransport},
		"another transport":                       {Agent: "flights", Transport: "text"},
	} {
		c.ID, c.Snapshot = "conv_a", []byte("{}")
		r.left(c, "rt_a")
		if _, err := r.resume(t.Context(), realtime.Caller{}, "rt_a"); !errors.Is(err, realtime.ErrUnknownToken) {
			t.Errorf("%s: %v", what, err)
		}
		r.want(what, "rt_a", "conv_a", "")
	}
	// A conversation that runs here keeps its claim.
	r.left(journal.Checkpoint{ID: "conv_a", Agent: "flights", Transport: "text", Snapshot: []byte("{}")}, "rt_a")
	if _, _, err := r.server.home.Take(t.Context(), "conv_a"); err != nil {
		t.Fatal(err)
	}
	before := r.server.home.Hold("conv_a")
	if _, err := r.resume(t.Context(), realtime.Caller{}, "rt_a"); !errors.Is(err, realtime.ErrAgain) {
		t.Errorf("one that runs: %v", err)
	}
	if now := r.server.home.Hold("conv_a"); now != before {
		t.Errorf("its claim %v was replaced by %v", before, now)
	}
	if _, err := r.resume(t.Context(), realtime.Caller{}, "rt_nothing"); !errors.Is(err, realtime.ErrUnknownToken) {
		t.Errorf("no token: %v", err)
	}
}

// TestAnyKeyWithoutKeys checks that a server without keys accepts the key that Realtime
// clients always send, and refuses it over the control API.
func TestAnyKeyWithoutKeys(t *testing.T) {
	r := serve(t, "")
	r.key = "sk-anything"
	if status := r.do("POST", "/v1/realtime/client_secrets", "{}", nil); status != 200 {
		t.Errorf("the Realtime protocol answers %d, expected 200", status)
	}
	if status := r.do("GET", "/v1/agents", "", nil); status != 401 {
		t.Errorf("the control API answers %d, expected 401", status)
	}
}
