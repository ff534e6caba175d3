package session

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
)

// Checkpoints say where a conversation's state is kept (seed 003, Checkpoint
// Strategy). The zero value keeps it nowhere.
type Checkpoints struct {
	Store port.Store // nil: none are written
	// Agent and Transport are for who lists the conversations.
	Agent, Transport string
	// Started is when the conversation began, if that is not now.
	Started time.Time
	// Failed hears of a store that does not save; the conversation goes on. It is
	// called from any goroutine, and may be nil.
	Failed func(error)
}

// saveLimit bounds one call of the store: a conversation's end does not wait longer.
const saveLimit = 5 * time.Second

// keeper writes checkpoints behind the loop. note is called by the loop; run is its
// goroutine. What has not been written when the next comes is left out: only the
// last state matters.
type keeper struct {
	o       Checkpoints
	id      string
	keep    bool // after the conversation's end
	started time.Time

	// Of the loop's goroutine.
	place place
	last  *conv.Conversation // as it was noted last; nil: nothing was

	wake chan struct{} // holds a token when there is something to write

	mu      sync.Mutex // guards all below
	next    *draft     // what is to be written; nil: nothing
	noted   int        // numbers of the states handed over, and written
	written int
	moved   chan struct{} // closed when written moves
}

// draft is a checkpoint that is to be written. Its conversation is its own.
type draft struct {
	number int
	now    time.Time
	conv   *conv.Conversation
	ended  bool
}

// place tells one state of the dialogue from another.
type place struct {
	turns, calls, runs, misses, trace int
	state                             dialog.ConversationState
	flow, step                        string
	event                             float64
}

func placeOf(s *dialog.State) place {
	m := place{
		turns: s.TurnCount, calls: s.Calls, runs: s.Runs, misses: s.Misses, trace: len(s.Trace),
		state: s.ConversationState, flow: s.CurrentFlow, step: s.CurrentStep,
	}
	if n := len(s.Trace); n > 0 {
		m.event = s.Trace[n-1].Timestamp
	}
	return m
}

// newKeeper returns nil where nothing is kept.
func newKeeper(o Checkpoints, id string, privacy conv.Privacy, started time.Time) *keeper {
	if o.Store == nil {
		return nil
	}
	if !o.Started.IsZero() {
		started = o.Started
	}
	return &keeper{
		o: o, id: id, keep: privacy != conv.PrivacySession && privacy != conv.PrivacyNone, started: started,
		wake: make(chan struct{}, 1), moved: make(chan struct{}),
	}
}

// note hands a state over, after a step that changed the phase, the calls or the
// dialogue. It copies and does not write.
func (k *keeper) note(now time.Time, c *conv.Conversation) {
	st, out := c.State(), c.Last()
	d := &draft{now: now}
	switch m := placeOf(&st.Dialogue); {
	case c.Resumable():
		if len(out.Transitions) == 0 && m == k.place && !calls(out.Effects) {
			return
		}
		k.place = m
		d.conv = c.Fork()
		k.last = d.conv
	case k.last == nil:
		return // it has not begun, or its end is noted
	default: // it ends: what it was stays, unless privacy forbids
		d.conv, d.ended = k.last, true
		if st.Phase == conv.Terminating {
			d.conv = c.Fork() // with the last words; Idle has forgotten them
		}
		k.last = nil
	}
	k.mu.Lock()
	k.noted++
	d.number = k.noted
	k.next = d
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default: // No op. It will find the last state.
	}
}

// calls reports whether effects start work that must not be forgotten.
func calls(effects []conv.Effect) bool {
	for _, e := range effects {
		switch e.(type) {
		case conv.RunTool, conv.StartTask:
			return true
		default:
		}
	}
	return false
}

// run writes until ctx ends, and then what is left.
func (k *keeper) run(ctx context.Context) {
	for {
		select {
		case <-k.wake:
			k.flush(ctx)
		case <-ctx.Done():
			k.flush(context.WithoutCancel(ctx))
			return
		}
	}
}

// flush writes what was handed over last.
func (k *keeper) flush(ctx context.Context) {
	k.mu.Lock()
	d := k.next
	k.next = nil
	k.mu.Unlock()
	if d == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveLimit) // half of a save is worth nothing
	defer cancel()
	err := k.write(ctx, d)
	k.mu.Lock()
	k.written = d.number
	close(k.moved)
	k.moved = make(chan struct{})
	k.mu.Unlock()
	if err != nil && k.o.Failed != nil {
		k.o.Failed(fmt.Errorf("checkpoint of %s: %w", k.id, err))
	}
}

func (k *keeper) write(ctx context.Context, d *draft) error {
	if d.ended && !k.keep {
		return k.o.Store.Delete(ctx, k.id)
	}
	b, err := k.encode(d)
	if err != nil {
		return err
	}
	return k.o.Store.Save(ctx, k.id, b)
}

// encode is a draft as the store takes it.
func (k *keeper) encode(d *draft) ([]byte, error) {
	snapshot, err := d.conv.Snapshot()
	if err != nil {
		return nil, err
	}
	st := d.conv.State()
	return journal.Checkpoint{
		ID: k.id, Agent: k.o.Agent, Transport: k.o.Transport, Started: k.started, Saved: d.now,
		Phase: st.Phase.String(), Turns: st.LastTurn, Ended: d.ended, Snapshot: snapshot,
	}.Marshal()
}

// position is the number of the state that was handed over last.
func (k *keeper) position() int {
	if k == nil {
		return 0
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.noted
}

// settle waits until a state is written, or could not be, or ctx ends (seed 003:
// "before calling external actions").
func (k *keeper) settle(ctx context.Context, number int) {
	if k == nil {
		return
	}
	for {
		k.mu.Lock()
		done, moved := k.written >= number, k.moved
		k.mu.Unlock()
		if done {
			return
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return
		}
	}
}
