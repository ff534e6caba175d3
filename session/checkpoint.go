package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/timezone"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
)

// Checkpoints say where a conversation's state is kept (seed 003, Checkpoint
// Strategy). The zero value keeps it nowhere.
type Checkpoints struct {
	Store port.Store // nil: none are written
	// Sealed: the store encrypts what it keeps. Where it does not, the values of secret
	// slots are not kept, and asked for again by who goes on.
	Sealed bool
	Token  int64 // of the claim under which they are written, 0 if none was made
	// Claim, if set, makes that claim when the session begins. It gives 0 where the store
	// does not answer: the session begins without a claim, which is made before anything
	// is written.
	Claim func(ctx context.Context, id string) (token int64, err error)
	// Agent, Transport, Owner and Caller are for who lists the conversations, or goes
	// on with one.
	Agent, Transport, Owner, Caller string
	// Awaited: see [journal.Checkpoint].
	Awaited bool
	// Started is when the conversation began, if that is not now.
	Started time.Time
	// Journal, if set, keeps the steps too, where privacy allows it. It needs a Token.
	Journal port.Journal
	// Behind hears of a store that does not save, and with nil that it has caught up:
	// the conversation goes on. It is called from one goroutine, and may be nil.
	Behind func(error)
}

// saveLimit bounds a save: a conversation's end does not wait longer, nor does an action
// that is to be known before it runs, or an answer. journalLimit bounds what is written to
// the journal before it: a journal that takes longer has a part of it later.
const (
	saveLimit    = 2 * time.Second
	journalLimit = saveLimit / 4
)

// saveAgain is the pause before a store that did not save is asked again.
const saveAgain = time.Second

// keeper writes checkpoints behind the loop. note is called by the loop; run is its
// goroutine. What has not been written when the next comes is left out: only the
// last state matters.
type keeper struct {
	o       Checkpoints
	id      string
	privacy conv.Privacy
	keep    bool // after the conversation's end
	started time.Time
	// timezone is the name of the conversation's.
	timezone string

	// Of the loop's goroutine.
	last *conv.Conversation // as it was noted last; nil: nothing was

	wake chan struct{} // holds a token when there is something to write
	busy func(n int)   // counts drafts for virtual time, which stands until they are written
	log  *log          // nil: no journal
	// behind is of run's goroutine: the store did not save.
	behind bool

	mu    sync.Mutex    // guards all below
	next  *draft        // what is to be written; nil: nothing
	noted int           // the number of the state handed over last
	tried int           // of the last that was written, or could not be
	done  int           // of the last that was written
	late  bool          // the store did not take the last that was written
	lost  bool          // the conversation is somebody else's
	moved chan struct{} // closed when any of these changes
	held  []telling     // in their order
}

// telling is what tells the person something, and the number of the state that it
// follows from.
type telling struct {
	number int
	tell   func()
}

// draft is a checkpoint that is to be written. Its conversation is its own.
type draft struct {
	number int
	now    time.Time
	conv   *conv.Conversation
	ended  bool
	// counted: virtual time waits for it. It does not for another try.
	counted bool
}

// newKeeper returns nil where nothing is kept.
func newKeeper(o Checkpoints, id string, privacy conv.Privacy, started time.Time, busy func(int)) *keeper {
	if o.Store == nil {
		return nil
	}
	k := &keeper{
		o: o, id: id, privacy: privacy, keep: privacy != conv.PrivacySession && privacy != conv.PrivacyNone,
		wake: make(chan struct{}, 1), moved: make(chan struct{}), busy: busy,
	}
	if o.Journal != nil && k.keep {
		k.log = &log{o: o}
	}
	k.begin(o.Token, started)
	return k
}

// begin says since when there is a conversation, and under which claim it is kept.
func (k *keeper) begin(token int64, started time.Time) {
	k.o.Token, k.started, k.timezone = token, started, timezone.Name(started)
	if !k.o.Started.IsZero() {
		k.started = k.o.Started
	}
	if k.log != nil {
		k.log.hold = k.hold()
	}
}

// hold is that under which is written.
func (k *keeper) hold() port.Hold { return port.Hold{ID: k.id, Token: k.o.Token} }

// note hands a state over that is to be kept ([conv.Output].Keep): what may be shown of
// it, where the store does not encrypt. It copies and does not write.
func (k *keeper) note(now time.Time, c *conv.Conversation) {
	d := &draft{now: now}
	switch {
	case c.Resumable():
		d.conv = k.copy(c)
		k.last = d.conv
	case k.last == nil:
		return // it has not begun, or its end is noted
	default: // it ends: what it was stays, unless privacy forbids
		d.conv, d.ended = k.last, true
		if c.Phase() == conv.Terminating {
			d.conv = k.copy(c) // with the last words; Idle has forgotten them
		}
		k.last = nil
	}
	k.mu.Lock()
	k.noted++
	d.number = k.noted
	if d.counted = true; k.next == nil || !k.next.counted {
		k.busy(1)
	}
	k.next = d
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default: // No op. It will find the last state.
	}
}

// copy is a conversation as it is kept.
func (k *keeper) copy(c *conv.Conversation) *conv.Conversation {
	c = c.Fork()
	if !k.o.Sealed {
		c.ForgetSecrets()
	}
	return c
}

// run writes until ctx ends, and then what is left. It fails when the conversation
// is somebody else's.
func (k *keeper) run(ctx context.Context) error {
	again := time.NewTimer(saveAgain)
	again.Stop()
	defer again.Stop()
	for {
		var last bool
		select {
		case <-k.wake:
		case <-again.C:
		case <-ctx.Done():
			last = true
		}
		err := k.flush(context.WithoutCancel(ctx)) // half of a save is worth nothing
		switch {
		case errors.Is(err, port.ErrFenced):
			return fmt.Errorf("checkpoint of %s: %w", k.id, err)
		case last:
			return nil
		case err != nil:
			again.Reset(saveAgain)
		}
	}
}

// flush writes what was handed over last. A store that does not save is asked again.
func (k *keeper) flush(ctx context.Context) error {
	k.mu.Lock()
	d := k.next
	k.next = nil
	k.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, saveLimit)
	defer cancel()
	var behind error
	err := k.claim(ctx)
	if err == nil {
		short, cancel := context.WithTimeout(ctx, journalLimit)
		behind = k.log.flush(short) // nobody waits for the journal
		cancel()
		if d != nil {
			err = k.write(ctx, d)
		}
	}
	all := errors.Join(behind, err)
	if all != nil {
		k.tell(all) // before anything that is not kept
	}
	k.flushed(d, err, errors.Is(all, port.ErrFenced))
	if all == nil {
		k.tell(nil) // behind it: what is told from now on waits again
	}
	return all
}

// flushed notes what has become of a draft, which may be nil, and tells what may be told.
func (k *keeper) flushed(d *draft, err error, lost bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	defer k.changed()
	k.lost = k.lost || lost
	if d == nil {
		return
	}
	k.tried, k.late = d.number, err != nil
	if err == nil {
		k.done = d.number
	} else if k.next == nil {
		k.next = &draft{number: d.number, now: d.now, conv: d.conv, ended: d.ended}
	}
	if d.counted {
		k.busy(-1)
	}
}

// changed wakes who waits, and tells what may be told. It is called with mu held.
func (k *keeper) changed() {
	close(k.moved)
	k.moved = make(chan struct{})
	n := 0
	for n < len(k.held) && k.tellable(k.held[n].number) {
		k.held[n].tell()
		n++
	}
	k.held = slices.Delete(k.held, 0, n)
}

// tellable reports whether the person may be told what follows from a state: it is kept,
// or the store is away, which holds up no call. It is called with mu held.
func (k *keeper) tellable(number int) bool {
	return !k.lost && (k.done >= number || k.late)
}

// whenKept has something told when the state that was handed over last is kept, behind
// what waits already: now, or later from another goroutine. tell must not wait, nor call
// the keeper. Where the conversation is somebody else's nothing is told any more.
func (k *keeper) whenKept(tell func()) {
	if k == nil {
		tell()
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.held) == 0 && k.tellable(k.noted) {
		tell()
		return
	}
	if !k.lost {
		k.held = append(k.held, telling{k.noted, tell})
	}
}

var errUnclaimed = errors.New("the conversation could not be claimed")

// claim makes the claim that could not be made when the session began.
func (k *keeper) claim(ctx context.Context) error {
	if k.o.Claim == nil || k.o.Token != 0 {
		return nil
	}
	token, err := k.o.Claim(ctx, k.id)
	if _, held := errors.AsType[*port.HeldError](err); held {
		return fmt.Errorf("%w: %w", port.ErrFenced, err)
	}
	if err == nil && token == 0 {
		err = errUnclaimed
	}
	if err != nil {
		return err
	}
	k.o.Token = token
	if k.log != nil {
		k.log.hold = k.hold()
	}
	return nil
}

// tell reports that the store fell behind, or has caught up.
func (k *keeper) tell(err error) {
	if k.o.Behind == nil || (err != nil) == k.behind {
		return
	}
	k.behind = err != nil
	if err != nil {
		err = fmt.Errorf("checkpoint of %s: %w", k.id, err)
	}
	k.o.Behind(err)
}

func (k *keeper) write(ctx context.Context, d *draft) error {
	if d.ended && !k.keep {
		// Deleting is not fenced: what somebody else goes on with is not ours to delete.
		if err := k.o.Store.Save(ctx, k.hold(), nil); err != nil {
			return err
		}
		return k.o.Store.Delete(ctx, k.id)
	}
	b, err := k.encode(d)
	if err != nil {
		return err
	}
	return k.o.Store.Save(ctx, k.hold(), b)
}

// encode is a draft as the store takes it.
func (k *keeper) encode(d *draft) ([]byte, error) {
	snapshot, err := d.conv.Snapshot()
	if err != nil {
		return nil, err
	}
	st := d.conv.State()
	return journal.Checkpoint{
		ID: k.id, Agent: k.o.Agent, Transport: k.o.Transport, Owner: k.o.Owner, Caller: k.o.Caller,
		Privacy: string(k.privacy), Awaited: k.o.Awaited, Timezone: k.timezone, Started: k.started, Saved: d.now,
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
// "before calling external actions"). Nobody waits for a store that is away. It reports
// false where the conversation is somebody else's: nothing may be done for it here.
func (k *keeper) settle(ctx context.Context, number int) bool {
	if k == nil {
		return true
	}
	k.await(ctx, func() bool { return k.tried >= number || k.late })
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.lost
}

// told waits until the person may be told what follows from a state, or ctx ends. See
// whenKept.
func (k *keeper) told(ctx context.Context, number int) bool {
	return k == nil || k.await(ctx, func() bool { return k.tellable(number) })
}

// saved waits until a state is written, and reports false when ctx ends before. Where
// nothing is kept nothing is waited for.
func (k *keeper) saved(ctx context.Context, number int) bool {
	return k == nil || k.await(ctx, func() bool { return k.done >= number })
}

// begun waits until the first state is written, or could not be, or ctx ends, and reports
// whether one is written. Where nothing is kept nothing is waited for.
func (k *keeper) begun(ctx context.Context) bool {
	if k == nil {
		return true
	}
	k.await(ctx, func() bool { return k.tried > 0 })
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.done > 0
}

// await waits until so, which is called with mu held, or reports false when ctx ends.
func (k *keeper) await(ctx context.Context, so func() bool) bool {
	for {
		k.mu.Lock()
		yes, moved := so(), k.moved
		k.mu.Unlock()
		if yes {
			return true
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return false
		}
	}
}
