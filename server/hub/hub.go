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
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

// The reasons why there is no new conversation.
var (
	ErrFull     = errors.New("too many conversations at once")
	ErrUserFull = errors.New("too many conversations of one owner at once")
	ErrDraining = errors.New("the server is shutting down")
	ErrStart    = errors.New("the conversation cannot begin")
	ErrRuns     = errors.New("the conversation runs already")
)

// Call describes a conversation that is to begin.
type Call struct {
	ID        string    // of a conversation that goes on; a new one if empty
	Started   time.Time // when it began, if not now
	Agent     string
	Transport string // "text", "webrtc", ...
	Owner     string // who may see it and counts for Options.PerUser; may be empty
	Caller    string // who holds it, if that is known: the same in their next conversation
	Privacy   conv.Privacy
	// Leg is the hub's from the moment of [Hub.Start] on, whatever comes of it: if
	// it is an io.Closer it is closed when nobody uses it any more.
	Leg port.Leg
	// Session makes the session of a conversation: for its leg, with its recorder, and
	// Behind for its checkpoints.
	Session func(c *Conversation) (*session.Session, error)
	// Over, if set, is called when the conversation runs here no more; ended says that
	// it has come to its end, and will not go on elsewhere.
	Over func(id string, ended bool)
}

// Watcher sees what happens in all conversations. Its methods are called by the
// goroutines of many conversations and must not block.
type Watcher interface {
	Started(c Info)
	// Stepped sees each step; answer is the timing that it completes, or nil.
	Stepped(c *Conversation, s session.Step, answer *Timing)
	Ended(c Info)
}

// Hub holds conversations. It is safe for concurrent use.
type Hub struct {
	o       Options
	list    *feed
	began   time.Time
	workers sync.WaitGroup // the conversations that run

	mu       sync.Mutex // guards all below
	live     map[string]*Conversation
	ended    []*Conversation // the oldest first
	expiry   *time.Timer     // forgets them when nobody asks; nil: there are none
	draining bool
	over     bool          // nothing runs any more
	empty    chan struct{} // closed when draining and nobody is left; nil: nobody waits
}

// New makes a hub without conversations.
func New(o Options) (*Hub, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	return &Hub{o: o, list: newFeed(o.Events, 1), began: time.Now(), live: make(map[string]*Conversation)}, nil
}

// Start begins a conversation, which runs until it ends by itself or the hub
// drains. It returns when the conversation takes commands.
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
		return nil, errors.Join(fmt.Errorf("%w with %s: %w", ErrStart, call.Agent, err), closeLeg(call.Leg))
	}
	ctx, cancel := context.WithCancel(context.Background()) // it outlives the request that started it
	c.attach(s, cancel)
	h.workers.Go(func() {
		defer cancel()
		_ = c.run(ctx) // it is in the log, and c has it
	})
	select {
	case <-c.begun:
		return c, nil
	case <-c.done:
		if c.err == nil {
			return c, nil // it has been short
		}
		return nil, fmt.Errorf("%w with %s: %w", ErrStart, call.Agent, c.err)
	}
}

// Prepare gives a conversation its place that somebody else runs, in
// [Conversation.Hold]. Until then nobody sees it. Who does not hold it calls
// [Conversation.Forgo].
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
		return fmt.Errorf("%w: its place was given up", ErrStart)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.attach(s, cancel)
	return c.run(ctx)
}

// Forgo gives up the place of a prepared conversation that does not begin. Of one that
// is held, or was given up, it changes nothing.
func (c *Conversation) Forgo() {
	if c.taken.CompareAndSwap(false, true) {
		c.gone(false)
		c.hub.drop(c)
	}
}

// admit gives a conversation its place, if there is one. Who asked for it is told that
// it does not run here, unless it does.
func (h *Hub) admit(c *Conversation) error {
	err := h.place(c)
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
	case h.o.PerUser > 0 && h.owned(c.owner) >= h.o.PerUser:
		return ErrUserFull
	case h.o.OnePerCaller && h.calling(c.caller):
		return &session.ActiveError{Owner: "the caller"}
	}
	h.live[c.id] = c
	h.workers.Add(1) // until it has left the list: see drop
	return nil
}

// owned is how many conversations an owner has. It is called with mu held.
func (h *Hub) owned(owner string) int {
	n := 0
	for _, c := range h.live {
		if c.owner == owner {
			n++
		}
	}
	return n
}

// calling reports whether a caller has a conversation. It is called with mu held.
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

// drop takes a conversation off the list of those that run.
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

// retire keeps an ended conversation for a while, and tells that it has ended.
// Its place is given back last: behind that the hub may be gone.
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

// show lets a conversation be seen.
func (h *Hub) show(c *Conversation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.shown = true
}

// forget drops the ended conversations that are too many or too old. It is
// called with mu held.
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

// expire forgets what is too old, though nobody asks.
func (h *Hub) expire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget(time.Now())
}

// Find returns a conversation, an ended one too as long as it is remembered.
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

// List is all conversations, the newest first. visible says by the owner which;
// nil: all.
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

// Lose ends a conversation at once and without a word: another process goes on with it.
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

// Live is how many conversations there are.
func (h *Hub) Live() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.live)
}

// Watch opens a stream of the changes of the list.
func (h *Hub) Watch(o StreamOptions) (*Stream, error) { return h.list.stream(o, 4*h.o.Streams) }

// tell publishes a change of the list.
func (h *Hub) tell(what string, c Info) {
	h.list.publish(Message{Type: what, At: float64(time.Since(h.began).Microseconds()) / 1000, Payload: encode(c), owner: c.Owner})
}

// Draining reports whether there will be no new conversation.
func (h *Hub) Draining() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.draining
}

// Drain lets no new conversation begin and waits until those that run have
// ended. When ctx ends, they are ended politely, and after grace at once; those that
// can go on elsewhere (Options.HandOver) at once, so that they do. It returns when nothing of the hub runs any more; the streams have ended then.
func (h *Hub) Drain(ctx context.Context, grace time.Duration) {
	empty := h.close()
	select {
	case <-empty:
	case <-ctx.Done():
		for _, c := range h.running() {
			if h.o.HandOver {
				c.cancel()
				continue
			}
			if s := c.session.Load(); s != nil { // it was not faster
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

// close refuses what is new. What it returns is closed when nobody is left.
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

// running is the conversations that run.
func (h *Hub) running() []*Conversation {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.shown()
}

// shown is the conversations that run and may be seen. It is called with mu
// held.
func (h *Hub) shown() []*Conversation {
	all := make([]*Conversation, 0, len(h.live))
	for _, c := range h.live {
		if c.shown {
			all = append(all, c)
		}
	}
	return all
}

// newID makes an id that nobody can guess.
func newID() string {
	var b [15]byte
	rand.Read(b[:]) // never fails
	return "conv_" + strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}

// closeLeg gives a leg up.
func closeLeg(leg port.Leg) error {
	if c, ok := leg.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
