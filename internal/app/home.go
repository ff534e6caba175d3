package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/leg/realtime"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/server/tokens"
)

// The times of a server among those that share a store.
const (
	nodeTTL  = 6 * time.Second // how long it is believed to live without a sign of life
	nodeBeat = 2 * time.Second
	// askStore bounds one question to the store, where somebody waits for the answer.
	askStore = 2 * time.Second
	// sweepEvery is how often a server looks for conversations that nobody came back to.
	sweepEvery = 30 * time.Second
	// expireEvery is how often it deletes what is too old.
	expireEvery = time.Hour
)

// home is where a server's conversations are kept between connections, processes and
// nodes. It is safe for concurrent use.
type home struct {
	store *Store
	tasks port.Tasks // nil: there are none that outlive a conversation
	node  port.Node
	// wait is how long a conversation without a client is kept from its end; keep how
	// long one is kept at all, for ever if 0.
	wait, keep time.Duration
	log        *slog.Logger

	// clientTokens and clientSecrets are good at every node.
	clientTokens, clientSecrets *tokens.Shared

	away atomic.Bool // the store did not answer the last sign of life
	// back is when the store has answered again, in nanoseconds since 1970: the other
	// nodes have to be heard before what they hold is taken for abandoned.
	back atomic.Int64

	// lost is told of a conversation that runs here and is another process's.
	lost func(id string)

	mu       sync.Mutex
	holds    map[string]port.Hold // what runs here, or is being taken: without a token while it is not claimed
	releases map[string]release   // that the store has not taken yet
	grants   map[string]*grant    // as well, of what is here
	giving   map[string]bool      // conversations whose tokens are on their way to the store
}

type release struct {
	hold  port.Hold
	ended bool
}

// openHome makes this process a node of the store's.
func openHome(ctx context.Context, store *Store, c config.Server, keep time.Duration, log *slog.Logger) (*home, error) {
	h := &home{
		store: store, node: port.Node{ID: cmp.Or(c.Node, nodeName()), URL: c.URL}, wait: time.Duration(c.Resume), keep: keep, log: log,
		lost:  func(string) {},
		holds: make(map[string]port.Hold), releases: make(map[string]release),
		grants: make(map[string]*grant), giving: make(map[string]bool),
	}
	shared := func(kind string, most int) *tokens.Shared {
		return tokens.NewShared(tokens.SharedOptions{Store: store.tickets, Kind: kind, Most: most, Limit: askStore, Away: h.away.Load})
	}
	h.clientTokens, h.clientSecrets = shared("client_token", api.MaxClientTokens), shared("client_secret", realtime.MaxSecrets)
	if err := store.registry.Beat(ctx, h.node, nodeTTL); err != nil {
		return nil, err
	}
	return h, nil
}

// run gives signs of life, and looks after what nobody holds, until ctx ends.
func (h *home) run(ctx context.Context) {
	var workers sync.WaitGroup
	workers.Go(func() { repeat(ctx, nodeBeat, h.beat) })
	workers.Go(func() { repeat(ctx, sweepEvery, h.sweepIfHeard) })
	if h.keep > 0 {
		workers.Go(func() { repeat(ctx, expireEvery, h.expire) })
	}
	workers.Wait()
}

// beat says that this process lives, tells the store what it has not taken, and gives up
// what is not this process's any more.
func (h *home) beat(ctx context.Context) {
	running := ctx
	ctx, cancel := context.WithTimeout(ctx, nodeBeat)
	defer cancel()
	err := h.store.registry.Beat(ctx, h.node, nodeTTL)
	if running.Err() != nil {
		return // the server ends: it says nothing of the store
	}
	if was := h.away.Swap(err != nil); was != (err != nil) {
		if err != nil {
			h.log.Error("the store does not answer: conversations go on, and are kept when it does", "error", err)
		} else {
			h.back.Store(time.Now().UnixNano())
			h.log.Info("the store answers again")
		}
	}
	if err != nil {
		return
	}
	if err := h.lose(ctx); err != nil && ctx.Err() == nil {
		h.log.Error("look for conversations that are held elsewhere", "error", err)
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
func (h *home) lose(ctx context.Context) error {
	var holds []port.Hold
	h.mu.Lock()
	for _, hold := range h.holds {
		if hold.Token != 0 {
			holds = append(holds, hold)
		}
	}
	h.mu.Unlock()
	fenced, err := h.store.registry.Fenced(ctx, holds)
	for _, hold := range fenced {
		if h.hold(hold.ID) == hold { // else it has ended, or was claimed again
			h.lost(hold.ID)
		}
	}
	return err
}

// sweepIfHeard sweeps, unless the store was away until a moment ago: the other nodes have
// to be heard first.
func (h *home) sweepIfHeard(ctx context.Context) {
	if h.away.Load() || time.Since(time.Unix(0, h.back.Load())) < 2*nodeTTL {
		return
	}
	if err := h.sweep(ctx); err != nil && ctx.Err() == nil {
		h.log.Error("look for abandoned conversations", "error", err)
	}
}

// expire deletes what is too old.
func (h *home) expire(ctx context.Context) {
	if _, err := h.store.Expire(ctx, h.keep); err != nil && ctx.Err() == nil {
		h.log.Error("delete old conversations", "error", err)
	}
}

// close says that this process holds nothing any more: what it held may go on
// elsewhere at once.
func (h *home) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), claimEnd)
	defer cancel()
	return h.store.registry.Leave(ctx, h.node.ID)
}

// claim takes a new conversation. Where the store does not answer the token is 0, for a
// call is not refused for that: the session asks again before it writes.
func (h *home) claim(ctx context.Context, id string) (int64, error) {
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
		h.log.Error("a conversation was not claimed", "conversation", id, "error", err)
		return 0, nil
	}
	h.held(hold)
	_ = h.give(ctx, id) // what was granted before; a beat tries again
	return hold.Token, nil
}

// ask claims a conversation. A process that was held up for longer than it is believed
// to live is taken for dead, and refused: it says that it lives, and asks again.
func (h *home) ask(ctx context.Context, id string) (port.Hold, error) {
	hold, err := claimOnce(ctx, h.store.registry, id, h.node.ID)
	if _, held := errors.AsType[*port.HeldError](err); err == nil || held {
		return hold, err
	}
	if h.store.registry.Beat(ctx, h.node, nodeTTL) != nil {
		return hold, err // the store is away
	}
	return claimOnce(ctx, h.store.registry, id, h.node.ID)
}

func (h *home) held(hold port.Hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holds[hold.ID] = hold
}

// begin notes that a conversation is being taken. It reports false where it is here
// already: another claim would fence it.
func (h *home) begin(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, here := h.holds[id]; here {
		return false
	}
	h.holds[id] = port.Hold{ID: id}
	return true
}

// hold is that of a conversation which is here; without a token it is not claimed, or not
// here.
func (h *home) hold(id string) port.Hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.holds[id]
}

// over gives a conversation up that does not run here any more.
func (h *home) over(id string, ended bool) {
	h.mu.Lock()
	hold := h.holds[id]
	delete(h.holds, id)
	delete(h.grants, id)
	if hold.Token != 0 {
		h.releases[id] = release{hold, ended}
	}
	h.mu.Unlock()
	if hold.Token != 0 {
		ctx, cancel := context.WithTimeout(context.Background(), askStore)
		defer cancel()
		h.letGo(ctx, id, release{hold, ended})
	}
}

// letGo tells the store that a conversation was given up. What it does not take is
// tried again with the next sign of life.
func (h *home) letGo(ctx context.Context, id string, r release) {
	if err := h.store.registry.Release(ctx, r.hold, r.ended); err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.releases[id] == r {
		delete(h.releases, id)
	}
}

// take claims a conversation that is kept, and reads it. It fails with a
// [port.HeldError] while somebody holds it, this process included, and with
// [api.ErrGone].
func (h *home) take(ctx context.Context, id string) (journal.Checkpoint, port.Hold, error) {
	if !h.begin(id) {
		return journal.Checkpoint{}, port.Hold{}, &port.HeldError{Node: port.Node{ID: h.node.ID}} // without the URL: nobody sends on to itself
	}
	hold, err := h.ask(ctx, id)
	if err != nil {
		h.over(id, false) //nolint:contextcheck // nothing is to be told
		return journal.Checkpoint{}, port.Hold{}, err
	}
	h.held(hold)
	kept, err := h.store.Load(ctx, id)
	_, missing := errors.AsType[missingError](err)
	if missing || err == nil && kept.Ended {
		h.over(id, true) //nolint:contextcheck // it is given up whatever becomes of the request
		return kept, hold, api.ErrGone
	}
	if err != nil { // another node may be able to read it
		h.over(id, false) //nolint:contextcheck // as above
		return kept, hold, fmt.Errorf("go on with conversation %s: %w", id, err)
	}
	return kept, hold, nil
}

// sweep ends the conversations that nobody came back to.
func (h *home) sweep(ctx context.Context) error {
	ids, err := h.store.registry.Abandoned(ctx, h.wait+nodeTTL, 100)
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range ids {
		kept, hold, err := h.take(ctx, id)
		_, held := errors.AsType[*port.HeldError](err)
		switch {
		case errors.Is(err, api.ErrGone), held:
			continue
		case err != nil:
			errs = append(errs, err)
			continue
		}
		if kept.Awaited {
			err = h.end(ctx, kept, hold)
		}
		h.over(id, err == nil) //nolint:contextcheck // it is given up whatever becomes of the sweep
		errs = append(errs, err)
		h.log.Info("conversation ended", "conversation", id, "agent", kept.Agent, "transport", kept.Transport, "reason", "abandoned")
	}
	return errors.Join(errs...)
}

// end ends a conversation that nobody came back to, as its own end would have.
func (h *home) end(ctx context.Context, kept journal.Checkpoint, hold port.Hold) error {
	if h.tasks != nil {
		if err := h.tasks.Leave(ctx, kept.ID); err != nil {
			return err
		}
	}
	if p := conv.Privacy(kept.Privacy); p == conv.PrivacySession || p == conv.PrivacyNone {
		return h.store.port.Delete(ctx, kept.ID)
	}
	kept.Ended, kept.Saved = true, time.Now()
	b, err := kept.Marshal()
	if err != nil {
		return err
	}
	return h.store.port.Save(ctx, hold, b)
}

// ready says why the server is not ready, for /readyz.
func (h *home) ready(context.Context) error {
	if h.away.Load() {
		return errors.New("the store does not answer")
	}
	return nil
}

// Holder is where another node that holds a conversation is reached. A process of this
// machine that was killed is none, though its time is not over: where it was reached,
// this one may be.
func (h *home) Holder(ctx context.Context, id string) (url string, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, askStore)
	defer cancel()
	n, ok, err := h.store.registry.Holder(ctx, id)
	return n.URL, ok && n.ID != h.node.ID && n.URL != "" && !diedHere(n.ID), err
}

// kept is a conversation that this server may go on with.
type kept struct {
	*home
	agents []*served
}

// Restore describes how a conversation goes on here. Who does not begin it calls its
// Over.
func (k kept) Restore(ctx context.Context, id string) (hub.Call, error) {
	c, hold, err := k.take(ctx, id)
	if err != nil {
		return hub.Call{}, err
	}
	for _, a := range k.agents {
		if a.name == c.Agent {
			return a.goesOn(c, hold), nil
		}
	}
	k.over(id, false) //nolint:contextcheck // it is given up whatever becomes of the request
	k.log.Error("a conversation cannot go on: this server does not have its agent", "conversation", id, "agent", c.Agent)
	return hub.Call{}, api.ErrGone
}
