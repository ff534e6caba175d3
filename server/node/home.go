package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/tokens"
)

// TTL is how long a node is considered alive without a heartbeat.
const TTL = 6 * time.Second

// The times of a server among those that share a store.
const (
	nodeBeat = 2 * time.Second // time between heartbeats
	// askStore is the timeout of one request to the store for which somebody waits.
	askStore = 2 * time.Second
	// sweepEvery is the time between searches for abandoned conversations.
	sweepEvery = 30 * time.Second
	// expireEvery is the time between deletions of old conversations.
	expireEvery = time.Hour
)

// Options configures a [Home]. Node, Expire, Keep and Shared may be zero; the other
// fields must be set.
type Options struct {
	// Node is this process. An empty ID is replaced by [Name].
	Node     port.Node
	Registry port.Registry
	Tickets  port.Tickets
	Store    port.Store
	// Load reads a checkpoint from the store; ok is false if there is none.
	Load func(ctx context.Context, id string) (c journal.Checkpoint, ok bool, err error)
	// Expire deletes the conversations that were last saved longer ago than age. It must
	// be set if Keep is.
	Expire func(ctx context.Context, age time.Duration) (deleted int, err error)
	// Wait is how long a conversation waits for its client to return before it is ended.
	Wait time.Duration
	// Keep is how long conversations are stored; 0 means forever.
	Keep time.Duration
	// Shared reports that processes of other machines may use the store too. The store
	// may then have been unavailable to them without this process noticing.
	Shared bool
	Log    *slog.Logger
}

// Home is a server as a node of its store. It keeps the claims and the tokens of the
// server's conversations in the store, so that they survive connections and processes.
// Use [Open] to create one. It is safe for concurrent use.
type Home struct {
	o      Options
	opened time.Time

	// Tasks, if not nil, is told which conversations were abandoned. It must be set
	// before Run.
	Tasks port.Tasks
	// Lost, if not nil, is called for a conversation that runs here and that another
	// process has claimed. It must be set before Run.
	Lost func(id string)

	shared []*tokens.Shared // valid at every node

	away atomic.Bool // the store did not answer the last heartbeat
	// failed is when a request to the store last failed, in nanoseconds since 1970: see
	// unsure.
	failed atomic.Int64
	// back is when the store became available again, in nanoseconds since 1970. The other
	// nodes must have time for a heartbeat before their conversations count as abandoned.
	back atomic.Int64

	mu       sync.Mutex               // guards the fields below
	holds    map[string]port.Hold     // conversations that run here or are being claimed; without a token until claimed
	releases map[string]release       // not yet written to the store
	grants   map[string]*port.Grant   // not yet written to the store, of the conversations in holds
	giving   map[string]chan struct{} // conversations whose tokens are being written; closed afterwards
	// unclaimed has the conversations whose failed claim was logged.
	unclaimed map[string]bool
}

// release is a conversation that no longer runs here, as it is reported to the store.
type release struct {
	hold  port.Hold
	ended bool
	grant *port.Grant // tokens not yet written to the store; nil if there are none or they are no longer needed
}

// Open makes this process a node of its store.
func Open(ctx context.Context, o Options) (*Home, error) {
	if o.Node.ID == "" {
		o.Node.ID = Name()
	}
	h := &Home{
		o:     o,
		holds: make(map[string]port.Hold), releases: make(map[string]release),
		grants: make(map[string]*port.Grant), giving: make(map[string]chan struct{}), unclaimed: make(map[string]bool), opened: time.Now(),
	}
	return h, o.Registry.Beat(ctx, o.Node, TTL)
}

// Tokens returns a store for up to most secrets of a kind, which are valid at every
// node. It must be called before Run.
func (h *Home) Tokens(kind string, most int) *tokens.Shared {
	s := tokens.NewShared(tokens.SharedOptions{Store: h.o.Tickets, Kind: kind, Most: most, Limit: askStore, Away: h.away.Load})
	h.shared = append(h.shared, s)
	return s
}

// Run sends heartbeats, ends abandoned conversations and deletes old ones until ctx
// ends.
func (h *Home) Run(ctx context.Context) {
	var workers sync.WaitGroup
	workers.Go(func() { repeat(ctx, nodeBeat, h.beat) })
	workers.Go(func() { repeat(ctx, sweepEvery, h.sweepIfHeard) })
	if h.o.Keep > 0 {
		workers.Go(func() { repeat(ctx, expireEvery, h.expire) })
	}
	workers.Wait()
}

// beat sends a heartbeat, writes pending releases and tokens to the store, and reports
// the conversations that another process has claimed.
func (h *Home) beat(ctx context.Context) {
	running := ctx
	ctx, cancel := context.WithTimeout(ctx, nodeBeat)
	defer cancel()
	err := h.o.Registry.Beat(ctx, h.o.Node, TTL)
	if running.Err() != nil {
		return // the server stops: the error says nothing about the store
	}
	h.note(running, err)
	if was := h.away.Swap(err != nil); was != (err != nil) {
		if err != nil {
			h.o.Log.Error("the store does not answer: conversations continue and are saved when it answers again", "error", err)
		} else {
			h.back.Store(time.Now().UnixNano())
			h.o.Log.Info("the store answers again")
		}
	}
	if err != nil {
		return
	}
	if err := h.lose(ctx); err != nil && ctx.Err() == nil {
		h.o.Log.Error("look for conversations claimed by other nodes", "error", err)
	}
	h.mu.Lock()
	left := maps.Clone(h.releases)
	h.mu.Unlock()
	for id, r := range left {
		h.letGo(ctx, id, r)
	}
	h.giveAll(ctx)
}

// lose reports the conversations that another process has claimed, so that they stop
// here at once: clients must not talk to a copy that is no longer saved.
func (h *Home) lose(ctx context.Context) error {
	var holds []port.Hold
	h.mu.Lock()
	for _, hold := range h.holds {
		if hold.Token != 0 {
			holds = append(holds, hold)
		}
	}
	h.mu.Unlock()
	fenced, err := h.o.Registry.Fenced(ctx, holds)
	for _, hold := range fenced {
		if h.Hold(hold.ID) == hold { // otherwise it has ended or was claimed again
			h.tellLost(hold.ID)
		}
	}
	return err
}

func (h *Home) tellLost(id string) {
	if h.Lost != nil {
		h.Lost(id)
	}
}

// sweepIfHeard sweeps unless the store was unavailable until recently: the other nodes
// must have time for a heartbeat first.
func (h *Home) sweepIfHeard(ctx context.Context) {
	if h.away.Load() || time.Since(time.Unix(0, h.back.Load())) < 2*TTL {
		return
	}
	if err := h.sweep(ctx); err != nil && ctx.Err() == nil {
		h.o.Log.Error("look for abandoned conversations", "error", err)
	}
}

// expire deletes old conversations.
func (h *Home) expire(ctx context.Context) {
	if _, err := h.o.Expire(ctx, h.o.Keep); err != nil && ctx.Err() == nil {
		h.o.Log.Error("delete old conversations", "error", err)
	}
}

// Close removes this node and its claims from the store. Other nodes can then continue
// its conversations at once.
func (h *Home) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), claimEnd)
	defer cancel()
	return h.o.Registry.Leave(ctx, h.o.Node.ID)
}

// Over releases a conversation that no longer runs here. ended reports that it is over
// and will not continue elsewhere.
func (h *Home) Over(id string, ended bool) {
	h.mu.Lock()
	r := release{h.holds[id], ended, h.grants[id]}
	if ended {
		r.grant = nil
	}
	delete(h.holds, id)
	delete(h.grants, id)
	delete(h.unclaimed, id)
	if r.hold.Token != 0 {
		h.releases[id] = r
	}
	h.mu.Unlock()
	if r.hold.Token != 0 {
		ctx, cancel := context.WithTimeout(context.Background(), askStore)
		defer cancel()
		h.letGo(ctx, id, r)
	}
}

// letGo writes the pending tokens of a conversation, which its client needs to continue
// elsewhere, and its release to the store. If this fails, the next heartbeat tries again.
func (h *Home) letGo(ctx context.Context, id string, r release) {
	if r.grant != nil {
		if err := h.o.Registry.Grant(ctx, r.hold, *r.grant); err != nil && !errors.Is(err, port.ErrFenced) {
			return
		}
	}
	if err := h.o.Registry.Release(ctx, r.hold, r.ended); err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.releases[id] == r {
		delete(h.releases, id)
	}
}

// ErrUnsure reports that the store may be out of date because it was unavailable until
// recently: other nodes may have issued tokens that it does not know yet, and may hold
// conversations whose claims have expired in the store.
var ErrUnsure = errors.New("the store was unavailable until recently: wait until the other nodes have reported to it")

// note records whether a request to the store has failed. ctx is the caller's context.
func (h *Home) note(ctx context.Context, err error) {
	_, held := errors.AsType[*port.HeldError](err)
	if err != nil && !held && !errors.Is(err, port.ErrFenced) && ctx.Err() == nil {
		h.failed.Store(time.Now().UnixNano())
	}
}

// unsure reports whether the store may be out of date: it was unavailable, and other
// nodes, which write what it has missed with their next heartbeat, may not have done so
// yet.
func (h *Home) unsure() bool {
	return h.away.Load() || time.Since(time.Unix(0, h.failed.Load())) < TTL
}

// ErrGone reports that a conversation cannot be resumed.
var ErrGone = errors.New("the conversation is not stored or has ended")

// Take claims a stored conversation and loads it. It returns a [*port.HeldError] if a
// process holds the conversation, which may be this one, [ErrGone] if it is not stored or
// has ended, and [ErrUnsure] if the store may be out of date.
func (h *Home) Take(ctx context.Context, id string) (journal.Checkpoint, port.Hold, error) {
	if h.unsure() {
		return journal.Checkpoint{}, port.Hold{}, ErrUnsure // a live node may hold it
	}
	if !h.begin(id) {
		return journal.Checkpoint{}, port.Hold{}, &port.HeldError{Node: port.Node{ID: h.o.Node.ID}} // without the URL: a node does not forward to itself
	}
	hold, err := h.ask(ctx, id)
	if err != nil {
		h.Over(id, false) //nolint:contextcheck // not claimed: nothing is written
		return journal.Checkpoint{}, port.Hold{}, err
	}
	h.claimed(hold)
	stored, ok, err := h.o.Load(ctx, id)
	if err == nil && (!ok || stored.Ended) {
		h.Over(id, true) //nolint:contextcheck // it is released even if the request is canceled
		return stored, hold, ErrGone
	}
	if err != nil { // another node may be able to read it
		h.Over(id, false) //nolint:contextcheck // as above
		return stored, hold, fmt.Errorf("resume conversation %s: %w", id, err)
	}
	return stored, hold, nil
}

// sweep ends the conversations that were abandoned.
func (h *Home) sweep(ctx context.Context) error {
	ids, err := h.o.Registry.Abandoned(ctx, h.o.Wait+TTL, 100)
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range ids {
		stored, hold, err := h.Take(ctx, id)
		_, held := errors.AsType[*port.HeldError](err)
		switch {
		case errors.Is(err, ErrGone), held:
			continue
		case err != nil:
			errs = append(errs, err)
			continue
		}
		if stored.Awaited {
			err = h.end(ctx, stored, hold)
		}
		h.Over(id, err == nil) //nolint:contextcheck // it is released even if the sweep is canceled
		errs = append(errs, err)
		h.o.Log.Info("conversation ended", "conversation", id, "agent", stored.Agent, "transport", stored.Transport, "reason", "abandoned")
	}
	return errors.Join(errs...)
}

// end ends an abandoned conversation in the store, with the same result as an end by the
// conversation itself.
func (h *Home) end(ctx context.Context, stored journal.Checkpoint, hold port.Hold) error {
	if h.Tasks != nil {
		if err := h.Tasks.Leave(ctx, stored.ID); err != nil {
			return err
		}
	}
	if p := conv.Privacy(stored.Privacy); p == conv.PrivacySession || p == conv.PrivacyNone {
		return h.o.Store.Delete(ctx, stored.ID)
	}
	stored.Ended, stored.Saved = true, time.Now()
	b, err := stored.Marshal()
	if err != nil {
		return err
	}
	return h.o.Store.Save(ctx, hold, b)
}

// Elsewhere reports whether there is another live node, with a URL, that can continue the
// conversations of this one.
func (h *Home) Elsewhere(ctx context.Context) bool {
	limited, cancel := context.WithTimeout(ctx, askStore)
	defer cancel()
	nodes, err := h.o.Registry.Nodes(limited)
	h.note(ctx, err)
	return err == nil && slices.ContainsFunc(nodes, func(n port.Node) bool {
		return n.ID != h.o.Node.ID && n.URL != "" && !DiedHere(n.ID)
	})
}

// Ready returns an error if the store does not answer. It is meant for /readyz.
func (h *Home) Ready(context.Context) error {
	if h.away.Load() {
		return errors.New("the store does not answer")
	}
	return nil
}

// Holder returns the URL of the other node that holds a conversation. ok is false if
// there is none, or if the node was a process of this machine that no longer exists: this
// process may have its URL now.
func (h *Home) Holder(ctx context.Context, id string) (url string, ok bool, err error) {
	limited, cancel := context.WithTimeout(ctx, askStore)
	defer cancel()
	n, ok, err := h.o.Registry.Holder(limited, id)
	if h.note(ctx, err); err == nil && !ok && h.unsure() {
		err = ErrUnsure
	}
	return n.URL, ok && n.ID != h.o.Node.ID && n.URL != "" && !DiedHere(n.ID), err
}
