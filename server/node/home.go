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

// TTL is how long a node is believed to live without a sign of life.
const TTL = 6 * time.Second

// The times of a server among those that share a store.
const (
	nodeBeat = 2 * time.Second
	// askStore bounds one question to the store, where somebody waits for the answer.
	askStore = 2 * time.Second
	// sweepEvery is how often a server looks for conversations that nobody came back to.
	sweepEvery = 30 * time.Second
	// expireEvery is how often it deletes what is too old.
	expireEvery = time.Hour
)

// Options configure a [Home]. All but Expire, Keep and Shared must be set.
type Options struct {
	// Node is this process: its ID is [Name] where it is empty.
	Node     port.Node
	Registry port.Registry
	Tickets  port.Tickets
	Store    port.Store
	// Load reads a checkpoint of the store; ok is false where there is none.
	Load func(ctx context.Context, id string) (c journal.Checkpoint, ok bool, err error)
	// Expire deletes what was last saved longer ago than age.
	Expire func(ctx context.Context, age time.Duration) (deleted int, err error)
	// Wait is how long a conversation without a client is kept from its end; Keep how
	// long one is kept at all, for ever if 0.
	Wait, Keep time.Duration
	// Shared: processes of other machines may have the store too. It can then have been away
	// from them without this one's knowledge.
	Shared bool
	Log    *slog.Logger
}

// Home is where a server's conversations are kept between connections, processes and
// nodes. [Open] makes one. It is safe for concurrent use.
type Home struct {
	o      Options
	opened time.Time

	// Tasks, if set, are told of conversations that nobody came back to. It is set
	// before Run.
	Tasks port.Tasks
	// Lost, if set, is told of a conversation that runs here and is another process's.
	// It is set before Run.
	Lost func(id string)

	shared []*tokens.Shared // good at every node

	away atomic.Bool // the store did not answer the last sign of life
	// failed is when the store has last left a question without an answer, in nanoseconds
	// since 1970: see unsure.
	failed atomic.Int64
	// back is when the store has answered again, in nanoseconds since 1970: the other
	// nodes have to be heard before what they hold is taken for abandoned.
	back atomic.Int64

	mu       sync.Mutex
	holds    map[string]port.Hold     // what runs here, or is being taken: without a token while it is not claimed
	releases map[string]release       // that the store has not taken yet
	grants   map[string]*port.Grant   // as well, of what is here
	giving   map[string]chan struct{} // conversations whose tokens are on their way to the store; closed when they are not
}

// release is what the store is to be told of a conversation that is not here any more.
type release struct {
	hold  port.Hold
	ended bool
	grant *port.Grant // tokens that it has not taken; nil: none, or they are of no use any more
}

// Open makes this process a node of the store's.
func Open(ctx context.Context, o Options) (*Home, error) {
	if o.Node.ID == "" {
		o.Node.ID = Name()
	}
	h := &Home{
		o:     o,
		holds: make(map[string]port.Hold), releases: make(map[string]release),
		grants: make(map[string]*port.Grant), giving: make(map[string]chan struct{}), opened: time.Now(),
	}
	return h, o.Registry.Beat(ctx, o.Node, TTL)
}

// Tokens keeps what secrets of a kind are good for, at every node. It is called before
// Run.
func (h *Home) Tokens(kind string, most int) *tokens.Shared {
	s := tokens.NewShared(tokens.SharedOptions{Store: h.o.Tickets, Kind: kind, Most: most, Limit: askStore, Away: h.away.Load})
	h.shared = append(h.shared, s)
	return s
}

// Run gives signs of life, and looks after what nobody holds, until ctx ends.
func (h *Home) Run(ctx context.Context) {
	var workers sync.WaitGroup
	workers.Go(func() { repeat(ctx, nodeBeat, h.beat) })
	workers.Go(func() { repeat(ctx, sweepEvery, h.sweepIfHeard) })
	if h.o.Keep > 0 {
		workers.Go(func() { repeat(ctx, expireEvery, h.expire) })
	}
	workers.Wait()
}

// beat says that this process lives, tells the store what it has not taken, and gives up
// what is not this process's any more.
func (h *Home) beat(ctx context.Context) {
	running := ctx
	ctx, cancel := context.WithTimeout(ctx, nodeBeat)
	defer cancel()
	err := h.o.Registry.Beat(ctx, h.o.Node, TTL)
	if running.Err() != nil {
		return // the server ends: it says nothing of the store
	}
	h.note(running, err)
	if was := h.away.Swap(err != nil); was != (err != nil) {
		if err != nil {
			h.o.Log.Error("the store does not answer: conversations go on, and are kept when it does", "error", err)
		} else {
			h.back.Store(time.Now().UnixNano())
			h.o.Log.Info("the store answers again")
		}
	}
	if err != nil {
		return
	}
	if err := h.lose(ctx); err != nil && ctx.Err() == nil {
		h.o.Log.Error("look for conversations that are held elsewhere", "error", err)
	}
	h.mu.Lock()
	left := maps.Clone(h.releases)
	h.mu.Unlock()
	for id, r := range left {
		h.letGo(ctx, id, r)
	}
	h.giveAll(ctx)
}

// lose gives up at once what another process goes on with: nobody is to be answered by a
// copy that is not kept.
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
		if h.Hold(hold.ID) == hold { // else it has ended, or was claimed again
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

// sweepIfHeard sweeps, unless the store was away until a moment ago: the other nodes have
// to be heard first.
func (h *Home) sweepIfHeard(ctx context.Context) {
	if h.away.Load() || time.Since(time.Unix(0, h.back.Load())) < 2*TTL {
		return
	}
	if err := h.sweep(ctx); err != nil && ctx.Err() == nil {
		h.o.Log.Error("look for abandoned conversations", "error", err)
	}
}

// expire deletes what is too old.
func (h *Home) expire(ctx context.Context) {
	if _, err := h.o.Expire(ctx, h.o.Keep); err != nil && ctx.Err() == nil {
		h.o.Log.Error("delete old conversations", "error", err)
	}
}

// Close says that this process holds nothing any more: what it held may go on
// elsewhere at once.
func (h *Home) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), claimEnd)
	defer cancel()
	return h.o.Registry.Leave(ctx, h.o.Node.ID)
}

// Claim takes a new conversation. Where the store does not answer the token is 0, for a
// call is not refused for that: the session asks again before it writes.
func (h *Home) Claim(ctx context.Context, id string) (int64, error) {
	h.begin(id)
	if h.away.Load() {
		return 0, nil
	}
	limited, cancel := context.WithTimeout(ctx, askStore)
	defer cancel()
	hold, err := h.ask(limited, id)
	if _, held := errors.AsType[*port.HeldError](err); held {
		return 0, err
	}
	if err != nil {
		h.o.Log.Error("a conversation was not claimed", "conversation", id, "error", err)
		return 0, nil
	}
	h.held(hold)
	_ = h.give(ctx, id) // what was granted before; a beat tries again
	return hold.Token, nil
}

// ask claims a conversation. A process that was held up for longer than it is believed
// to live is taken for dead, and refused: it says that it lives, and asks again.
func (h *Home) ask(ctx context.Context, id string) (port.Hold, error) {
	hold, err := claimOnce(ctx, h.o.Registry, id, h.o.Node.ID)
	if _, held := errors.AsType[*port.HeldError](err); err == nil || held {
		return hold, err
	}
	if h.o.Registry.Beat(ctx, h.o.Node, TTL) == nil {
		hold, err = claimOnce(ctx, h.o.Registry, id, h.o.Node.ID)
	}
	h.note(ctx, err) // the store is away
	return hold, err
}

func (h *Home) held(hold port.Hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holds[hold.ID] = hold
}

// begin notes that a conversation is being taken. It reports false where it is here
// already: another claim would fence it.
func (h *Home) begin(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, here := h.holds[id]; here {
		return false
	}
	h.holds[id] = port.Hold{ID: id}
	return true
}

// Hold is that of a conversation which is here; without a token it is not claimed, or not
// here.
func (h *Home) Hold(id string) port.Hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.holds[id]
}

// Over gives a conversation up that does not run here any more.
func (h *Home) Over(id string, ended bool) {
	h.mu.Lock()
	r := release{h.holds[id], ended, h.grants[id]}
	if ended {
		r.grant = nil
	}
	delete(h.holds, id)
	delete(h.grants, id)
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

// letGo tells the store that a conversation was given up, and first the tokens with which
// its client goes on elsewhere. What it does not take is tried again with the next sign of
// life.
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

// ErrUnsure says that nobody can tell at the moment: the store has not answered a moment
// ago, and the other nodes may have given tokens meanwhile that it does not know yet, and
// hold conversations of which it believes that nobody does.
var ErrUnsure = errors.New("the store was away a moment ago: the other nodes have to be heard first")

// note notes what has become of a question to the store. ctx is that of who asked.
func (h *Home) note(ctx context.Context, err error) {
	_, held := errors.AsType[*port.HeldError](err)
	if err != nil && !held && !errors.Is(err, port.ErrFenced) && ctx.Err() == nil {
		h.failed.Store(time.Now().UnixNano())
	}
}

// unsure reports that what the store does not know may be all the same: it was away, and
// the signs of life of the other nodes, with which they tell it what it has missed, need
// not all have come.
func (h *Home) unsure() bool {
	return h.away.Load() || time.Since(time.Unix(0, h.failed.Load())) < TTL
}

// ErrGone says that there is nothing to go on with.
var ErrGone = errors.New("the conversation is not kept, or has ended")

// Take claims a conversation that is kept, and reads it. It fails with a
// [port.HeldError] while somebody holds it, this process included, with [ErrGone], and
// with [ErrUnsure].
func (h *Home) Take(ctx context.Context, id string) (journal.Checkpoint, port.Hold, error) {
	if h.unsure() {
		return journal.Checkpoint{}, port.Hold{}, ErrUnsure // a node that lives may hold it
	}
	if !h.begin(id) {
		return journal.Checkpoint{}, port.Hold{}, &port.HeldError{Node: port.Node{ID: h.o.Node.ID}} // without the URL: nobody sends on to itself
	}
	hold, err := h.ask(ctx, id)
	if err != nil {
		h.Over(id, false) //nolint:contextcheck // nothing is to be told
		return journal.Checkpoint{}, port.Hold{}, err
	}
	h.held(hold)
	kept, ok, err := h.o.Load(ctx, id)
	if err == nil && (!ok || kept.Ended) {
		h.Over(id, true) //nolint:contextcheck // it is given up whatever becomes of the request
		return kept, hold, ErrGone
	}
	if err != nil { // another node may be able to read it
		h.Over(id, false) //nolint:contextcheck // as above
		return kept, hold, fmt.Errorf("go on with conversation %s: %w", id, err)
	}
	return kept, hold, nil
}

// sweep ends the conversations that nobody came back to.
func (h *Home) sweep(ctx context.Context) error {
	ids, err := h.o.Registry.Abandoned(ctx, h.o.Wait+TTL, 100)
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range ids {
		kept, hold, err := h.Take(ctx, id)
		_, held := errors.AsType[*port.HeldError](err)
		switch {
		case errors.Is(err, ErrGone), held:
			continue
		case err != nil:
			errs = append(errs, err)
			continue
		}
		if kept.Awaited {
			err = h.end(ctx, kept, hold)
		}
		h.Over(id, err == nil) //nolint:contextcheck // it is given up whatever becomes of the sweep
		errs = append(errs, err)
		h.o.Log.Info("conversation ended", "conversation", id, "agent", kept.Agent, "transport", kept.Transport, "reason", "abandoned")
	}
	return errors.Join(errs...)
}

// end ends a conversation that nobody came back to, as its own end would have.
func (h *Home) end(ctx context.Context, kept journal.Checkpoint, hold port.Hold) error {
	if h.Tasks != nil {
		if err := h.Tasks.Leave(ctx, kept.ID); err != nil {
			return err
		}
	}
	if p := conv.Privacy(kept.Privacy); p == conv.PrivacySession || p == conv.PrivacyNone {
		return h.o.Store.Delete(ctx, kept.ID)
	}
	kept.Ended, kept.Saved = true, time.Now()
	b, err := kept.Marshal()
	if err != nil {
		return err
	}
	return h.o.Store.Save(ctx, hold, b)
}

// Elsewhere reports whether another node can take what runs here: one that lives and can
// be reached by clients of this one.
func (h *Home) Elsewhere(ctx context.Context) bool {
	limited, cancel := context.WithTimeout(ctx, askStore)
	defer cancel()
	nodes, err := h.o.Registry.Nodes(limited)
	h.note(ctx, err)
	return err == nil && slices.ContainsFunc(nodes, func(n port.Node) bool {
		return n.ID != h.o.Node.ID && n.URL != "" && !DiedHere(n.ID)
	})
}

// Ready says why the server is not ready, for /readyz.
func (h *Home) Ready(context.Context) error {
	if h.away.Load() {
		return errors.New("the store does not answer")
	}
	return nil
}

// Holder is where another node that holds a conversation is reached. A process of this
// machine that was killed is none, though its time is not over: where it was reached,
// this one may be.
func (h *Home) Holder(ctx context.Context, id string) (url string, ok bool, err error) {
	limited, cancel := context.WithTimeout(ctx, askStore)
	defer cancel()
	n, ok, err := h.o.Registry.Holder(limited, id)
	if h.note(ctx, err); err == nil && !ok && h.unsure() {
		err = ErrUnsure
	}
	return n.URL, ok && n.ID != h.o.Node.ID && n.URL != "" && !DiedHere(n.ID), err
}
