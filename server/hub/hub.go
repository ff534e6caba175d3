package hub

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

// Reasons for refusing a new conversation.
var (
	ErrFull     = errors.New("too many conversations at once")
	ErrUserFull = errors.New("too many conversations of one owner at once")
	ErrDraining = errors.New("the server is shutting down")
	ErrStart    = errors.New("the conversation cannot begin")
	ErrRuns     = errors.New("the conversation is already running")
)

// Watcher observes all conversations. Its methods are called by the goroutines of
// many conversations and must not block.
type Watcher interface {
	Started(c Info)
	// Stepped is called for each step. answer is the timing that the step
	// completes, or nil.
	Stepped(c *Conversation, s session.Step, answer *Timing)
	Ended(c Info)
	// Refused is called for each conversation that was refused. reason is one of
	// "full", "late", "owner_full", "caller_active", "shutting_down" and "cannot_start".
	Refused(reason string)
	// Failed is called for each failure of a provider or a tool.
	Failed(agent string, f journal.Failure)
}

// Hub runs conversations. It is safe for concurrent use.
type Hub struct {
	o       Options
	list    *feed
	began   time.Time
	workers sync.WaitGroup // the running conversations
	// leaving, if not nil, bounds the time in which conversations are handed over as soon as
	// they are at rest.
	leaving atomic.Pointer[context.Context]

	mu       sync.Mutex // guards the fields below
	live     map[string]*Conversation
	ended    []*Conversation // the oldest first
	expiry   *time.Timer     // drops them after their time; nil if there are none
	draining bool
	over     bool          // the hub has stopped
	empty    chan struct{} // closed when draining has finished; nil if nobody waits
}

// New returns a hub without conversations.
func New(o Options) (*Hub, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	return &Hub{o: o, list: newFeed(o.Events, 1), began: time.Now(), live: make(map[string]*Conversation)}, nil
}

// Start starts a conversation, which runs until it ends or the hub drains. It
// returns when the conversation accepts commands.
func (h *Hub) Start(call Call) (*Conversation, error) {
	id := call.ID
	if id == "" {
		id = newID()
	}
	c := newConversation(h, id, call)
	if err := h.admit(c); err != nil {
		return nil, errors.Join(err, closeLeg(call.Leg))
	}
	s, err := call.Session(c)
	if err != nil {
		c.gone(false)
		h.drop(c)
		err = fmt.Errorf("%w with %s: %w", ErrStart, call.Agent, err)
		h.Refuse(err)
		return nil, errors.Join(err, closeLeg(call.Leg))
	}
	ctx, cancel := context.WithCancel(context.Background()) // the conversation outlives the request that started it
	c.attach(s, cancel)
	h.workers.Go(func() {
		defer cancel()
		_ = c.run(ctx) // the error is logged and stored in c
	})
	select {
	case <-c.begun:
		return c, nil
	case <-c.done:
		if c.err == nil {
			return c, nil // the conversation was short
		}
		return nil, fmt.Errorf("%w with %s: %w", ErrStart, call.Agent, c.err)
	}
}

// Prepare reserves a place for a conversation that the caller runs with
// [Conversation.Hold]. Until then it is not visible. A caller that does not hold it
// must call [Conversation.Forgo].
func (h *Hub) Prepare(call Call) (*Conversation, error) {
	c := newConversation(h, cmp.Or(call.ID, newID()), call)
	if err := h.admit(c); err != nil {
		return nil, err
	}
	return c, nil
}

// Hold runs a prepared conversation to its end. It may be called once.
func (c *Conversation) Hold(ctx context.Context, s *session.Session) error {
	if c.hub.Draining() {
		c.Forgo()
		return ErrDraining
	}
	if !c.taken.CompareAndSwap(false, true) {
		return fmt.Errorf("%w: its place was released", ErrStart)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.attach(s, cancel)
	return c.run(ctx)
}

// Forgo frees the place of a prepared conversation that does not begin. It does
// nothing after a call of Hold or Forgo.
func (c *Conversation) Forgo() {
	if c.taken.CompareAndSwap(false, true) {
		c.gone(false)
		c.hub.drop(c)
	}
}

// admit reserves a place for a conversation. If it fails, it reports to the creator
// that the conversation does not run here, unless it already does.
func (h *Hub) admit(c *Conversation) error {
	err := h.place(c)
	h.Refuse(err)
	if err != nil && !errors.Is(err, ErrRuns) {
		c.gone(false)
	}
	return err
}

func (h *Hub) place(c *Conversation) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.draining:
		return ErrDraining
	case h.live[c.id] != nil:
		return ErrRuns
	case len(h.live) >= h.o.Most:
		return ErrFull
	case c.transport != transportText && h.o.Pace.Late():
		return ErrLate
	case h.o.PerUser > 0 && h.owned(c.owner) >= h.o.PerUser:
		return ErrUserFull
	case h.o.OnePerCaller && h.calling(c.caller):
		return &session.ActiveError{Owner: "the caller"}
	}
	h.live[c.id] = c
	h.workers.Add(1) // until the conversation has left the list; see drop
	return nil
}

// owned returns the number of an owner's conversations. It requires mu.
func (h *Hub) owned(owner string) int {
	n := 0
	for _, c := range h.live {
		if c.owner == owner {
			n++
		}
	}
	return n
}

// calling reports whether a caller has a running conversation. It requires mu.
func (h *Hub) calling(caller string) bool {
	if caller == "" {
		return false
	}
	for _, c := range h.live {
		if c.caller == caller {
			return true
		}
	}
	return false
}

// drop removes a conversation from the running ones.
func (h *Hub) drop(c *Conversation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.live, c.id)
	if h.empty != nil && len(h.live) == 0 {
		close(h.empty)
		h.empty = nil
	}
	h.workers.Done()
}

// retire moves a conversation to the ended ones and announces its end. It frees the
// place last, since the hub may stop afterwards.
func (h *Hub) retire(c *Conversation, info Info) {
	h.mu.Lock()
	c.shown = false
	h.ended = append(h.ended, c)
	h.forget(time.Now())
	h.mu.Unlock()
	h.tell(TypeEnded, info)
	if h.o.Watch != nil {
		h.o.Watch.Ended(info)
	}
	h.drop(c)
}

// show makes a conversation visible.
func (h *Hub) show(c *Conversation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.shown = true
}

// forget drops ended conversations that exceed the limits of number or age. It
// requires mu.
func (h *Hub) forget(now time.Time) {
	over, size := max(0, len(h.ended)-h.o.Ended), 0
	for i, c := range slices.Backward(h.ended) {
		if size += c.size; size > h.o.EndedBytes {
			over = max(over, i+1)
			break
		}
	}
	for over < len(h.ended) && now.Sub(h.ended[over].endedAt()) >= h.o.EndedFor {
		over++
	}
	h.ended = slices.Delete(h.ended, 0, over)
	if h.expiry != nil {
		h.expiry.Stop()
		h.expiry = nil
	}
	if len(h.ended) > 0 && !h.over {
		h.expiry = time.AfterFunc(h.ended[0].endedAt().Add(h.o.EndedFor).Sub(now), h.expire)
	}
}

// expire drops ended conversations after their time.
func (h *Hub) expire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget(time.Now())
}

// Find returns a conversation, including an ended one that is still listed.
func (h *Hub) Find(id string) (*Conversation, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget(time.Now())
	if c, ok := h.live[id]; ok && c.shown {
		return c, true
	}
	for _, c := range h.ended {
		if c.id == id {
			return c, true
		}
	}
	return nil, false
}

// List returns all conversations, the newest first. visible selects them by owner;
// nil selects all.
func (h *Hub) List(visible func(owner string) bool) []Info {
	h.mu.Lock()
	h.forget(time.Now())
	all := append(h.shown(), h.ended...)
	h.mu.Unlock()
	list := make([]Info, 0, len(all))
	for _, c := range all {
		if visible == nil || visible(c.owner) {
			list = append(list, c.Info())
		}
	}
	slices.SortFunc(list, func(a, b Info) int {
		return cmp.Or(b.Started.Compare(a.Started), strings.Compare(a.ID, b.ID))
	})
	return list
}

// Lose ends a conversation at once and silently, because another process continues
// it.
func (h *Hub) Lose(id string) {
	h.mu.Lock()
	c, ok := h.live[id]
	ok = ok && c.shown
	h.mu.Unlock()
	if ok {
		c.lost.Store(true)
		c.cancel()
	}
}

// Live returns the number of running conversations.
func (h *Hub) Live() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.live)
}

// Watch opens a stream of changes of the list.
func (h *Hub) Watch(o StreamOptions) (*Stream, error) { return h.list.stream(o, 4*h.o.Streams) }

// tell publishes a change of the list.
func (h *Hub) tell(what string, c Info) {
	h.list.publish(Message{Type: what, At: float64(time.Since(h.began).Microseconds()) / 1000, Payload: encode(c), owner: c.Owner})
}

// Draining reports whether the hub refuses new conversations.
func (h *Hub) Draining() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.draining
}

// Drain refuses new conversations and waits until the running ones have ended. When
// ctx ends, it ends them politely, and after grace at once. If Options.HandOver is
// set, conversations that can continue elsewhere are ended at once when ctx ends, and
// with Options.Elsewhere before that: when nobody speaks and nothing runs.
// When Drain returns, all goroutines of the hub and all streams have ended.
func (h *Hub) Drain(ctx context.Context, grace time.Duration) {
	empty := h.close()
	if h.o.HandOver && h.o.Elsewhere != nil && h.o.Elsewhere(ctx) {
		h.leave(ctx)
	}
	select {
	case <-empty:
	case <-ctx.Done():
		for _, c := range h.running() {
			if h.o.HandOver {
				c.cancel()
				continue
			}
			if s := c.session.Load(); s != nil { // it may have ended meanwhile
				_ = s.EndConversation("shutdown")
			}
		}
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-empty:
		case <-timer.C:
			for _, c := range h.running() {
				c.cancel()
			}
		}
	}
	h.workers.Wait()
	h.list.end()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	h.forget(time.Now())
}

// close refuses new conversations. It returns a channel that is closed when none is
// left.
func (h *Hub) close() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.draining = true
	if h.empty == nil {
		h.empty = make(chan struct{})
	}
	empty := h.empty
	if len(h.live) == 0 {
		close(h.empty)
		h.empty = nil
	}
	return empty
}

// running returns the running conversations.
func (h *Hub) running() []*Conversation {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.shown()
}

// shown returns the running conversations that are visible. It requires mu.
func (h *Hub) shown() []*Conversation {
	all := make([]*Conversation, 0, len(h.live))
	for _, c := range h.live {
		if c.shown {
			all = append(all, c)
		}
	}
	return all
}

// newID returns an unguessable id.
func newID() string {
	var b [15]byte
	rand.Read(b[:]) // never fails
	return "conv_" + strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}

// closeLeg closes a leg.
func closeLeg(leg port.Leg) error {
	if c, ok := leg.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
