package session

import (
	"context"
	"encoding/json"
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

// Checkpoints say where the state of a conversation is stored while it runs (seed 003,
// Checkpoint Strategy). The zero value stores it nowhere.
type Checkpoints struct {
	// Store stores the checkpoints. If it is nil, none are written.
	Store port.Store
	// Sealed says that the store encrypts what it stores. Otherwise the values of secret
	// slots are not stored, and a resumed conversation asks for them again.
	Sealed bool
	// Token is the token of the claim under which the checkpoints are written, or 0 if the
	// conversation is not claimed.
	Token int64
	// Claim, if not nil, claims the conversation with this id when the session begins, and
	// returns the Token. If the store does not answer it returns 0: the session then begins
	// without a claim, and calls Claim again before it writes anything.
	Claim func(ctx context.Context, id string) (token int64, err error)
	// Agent, Transport, Owner and Caller are stored with each checkpoint, for programs that
	// list conversations or resume one.
	Agent, Transport, Owner, Caller string
	// AgentDigest is the digest of the agent's files, see [journal.EncodeAgent].
	AgentDigest string
	// Changes, if not nil, is JSON that is stored with each checkpoint, see
	// [journal.Checkpoint].
	Changes json.RawMessage
	// Awaited is stored with each checkpoint, see [journal.Checkpoint].
	Awaited bool
	// Started is when the conversation began. The zero time means the beginning of the
	// session.
	Started time.Time
	// Journal, if not nil, also stores every step, if privacy allows it. It needs a Token.
	Journal port.Journal
	// Behind, if not nil, is called with an error when the store or the journal fails to
	// save, and with nil when it has caught up. The conversation continues meanwhile. Behind
	// is called from one goroutine at a time.
	Behind func(error)
}

// saveLimit limits the time of a save. The end of a conversation, an action that must be stored
// before it runs, and an answer wait no longer. journalLimit limits the time for the journal,
// which is written before the checkpoint; the rest of it is written with the next save.
const (
	saveLimit    = 2 * time.Second
	journalLimit = saveLimit / 4
)

// saveAgain is the pause before the next try after the store failed to save.
const saveAgain = time.Second

// keeper writes checkpoints beside the loop. The loop calls note; run has a goroutine of its
// own. States are numbered in the order in which note gets them. A state that has not been
// written when the next one comes is skipped: only the last state matters.
type keeper struct {
	o       Checkpoints
	id      string
	privacy conv.Privacy
	keep    bool // the last checkpoint stays after the end of the conversation
	started time.Time
	// timezone is the name of the conversation's time zone.
	timezone string

	// Only the loop's goroutine uses this field.
	last *conv.Conversation // the last state that note got; nil: none, or the conversation has ended

	wake chan struct{} // holds a token when there is something to write
	busy func(n int)   // counts drafts, because virtual time stands until they are written
	log  *log          // nil: no journal
	// behind says that the store has failed to save. Only the goroutine of run uses it.
	behind bool

	mu    sync.Mutex    // guards all below
	next  *draft        // the draft to write next; nil: none
	noted int           // the number of the last state
	tried int           // the number of the last state that was written or could not be written
	done  int           // the number of the last state that was written
	late  bool          // the last save failed
	lost  bool          // another process has the conversation
	moved chan struct{} // closed when any of these changes
	held  []telling     // in the order of the calls of whenKept
}

// telling is a function that tells the person something, and the number of the state that must
// be stored before.
type telling struct {
	number int
	tell   func()
}

// draft is a checkpoint that is not written yet. It owns its conversation.
type draft struct {
	number int
	now    time.Time
	conv   *conv.Conversation
	ended  bool
	// counted says that virtual time waits for the draft. It does not wait for another try.
	counted bool
}

// newKeeper returns nil if there is no store.
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

// begin sets the claim under which checkpoints are written, and when the conversation began.
func (k *keeper) begin(token int64, started time.Time) {
	k.o.Token, k.started, k.timezone = token, started, timezone.Name(started)
	if !k.o.Started.IsZero() {
		k.started = k.o.Started
	}
	if k.log != nil {
		k.log.hold = k.hold()
	}
}

// hold returns the claim under which checkpoints are written.
func (k *keeper) hold() port.Hold { return port.Hold{ID: k.id, Token: k.o.Token} }

// written returns the claim under which a state has been stored. ok is false if none has been.
func (k *keeper) written() (h port.Hold, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.done == 0 || k.lost {
		return port.Hold{}, false
	}
	return k.hold(), true // the claim does not change after the first state was stored
}

// note takes a copy of a state that must be stored ([conv.Output].Keep), for run to write. If
// the store does not encrypt, c is the conversation that may be shown.
func (k *keeper) note(now time.Time, c *conv.Conversation) {
	d := &draft{now: now}
	switch {
	case c.Resumable():
		d.conv = k.copy(c)
		k.last = d.conv
	case k.last == nil:
		return // the conversation has not begun, or its end was noted before
	default: // the conversation ends; its last state is stored, unless privacy forbids that
		d.conv, d.ended = k.last, true
		if c.Phase() == conv.Terminating {
			d.conv = k.copy(c) // this state has the last words, which Idle has forgotten
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
	default: // run will wake anyway and write the last state
	}
}

// copy returns a copy of a conversation, without secrets if the store does not encrypt.
func (k *keeper) copy(c *conv.Conversation) *conv.Conversation {
	c = c.Fork()
	if !k.o.Sealed {
		c.ForgetSecrets()
	}
	return c
}

// run writes drafts until ctx ends, and then the last one. It returns an error only if another
// process has the conversation.
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
		err := k.flush(context.WithoutCancel(ctx)) // a save that has begun must finish
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

// flush writes the last state, if it is not written yet, and what waits for the journal. If the
// store fails, the state is kept for the next flush.
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
		behind = k.log.flush(short) // a failure of the journal does not prevent the checkpoint
		cancel()
		if d != nil {
			err = k.write(ctx, d)
		}
	}
	all := errors.Join(behind, err)
	if all != nil {
		k.tell(all) // before flushed tells the person what is not stored
	}
	k.flushed(d, err, errors.Is(all, port.ErrFenced))
	if all == nil {
		k.tell(nil) // after flushed: from now on the person is told only what is stored
	}
	return all
}

// flushed notes the outcome of a flush of the draft d, which may be nil, and wakes the waiters.
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

// changed wakes the waiters and calls the tellings that may be told. The caller holds mu.
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

// tellable reports whether the person may be told what follows from a state: the state is
// stored, or the store fails, which must not delay a call. The caller holds mu.
func (k *keeper) tellable(number int) bool {
	return !k.lost && (k.done >= number || k.late)
}

// whenKept calls tell when the last state is stored, or the store fails: now, or later from
// another goroutine, and always in the order of the calls of whenKept. tell must not block or
// call the keeper. It is not called if another process has the conversation.
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

// claim claims the conversation if that was not possible when the session began.
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

// tell calls Behind if the store has begun to fail, or has caught up.
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

// write writes a draft. It deletes the checkpoint of a conversation that has ended if privacy
// does not allow to keep it.
func (k *keeper) write(ctx context.Context, d *draft) error {
	if d.ended && !k.keep {
		// Delete does not check the claim but Save does, so another process's checkpoint is
		// not deleted.
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

// encode returns a draft in the form that the store takes.
func (k *keeper) encode(d *draft) ([]byte, error) {
	snapshot, err := d.conv.Snapshot()
	if err != nil {
		return nil, err
	}
	st := d.conv.State()
	return journal.Checkpoint{
		ID: k.id, Agent: k.o.Agent, AgentDigest: k.o.AgentDigest, Transport: k.o.Transport, Owner: k.o.Owner, Caller: k.o.Caller,
		Changes: k.o.Changes,
		Privacy: string(k.privacy), Awaited: k.o.Awaited, Timezone: k.timezone, Started: k.started, Saved: d.now,
		Phase: st.Phase.String(), Turns: st.LastTurn, Ended: d.ended, Snapshot: snapshot,
	}.Marshal()
}

// position returns the number of the last state.
func (k *keeper) position() int {
	if k == nil {
		return 0
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.noted
}

// settle waits until a state is written or could not be written, the store fails, or ctx ends
// (seed 003: "before calling external actions"). It returns false if another process has the
// conversation: this process must then do nothing more for it.
func (k *keeper) settle(ctx context.Context, number int) bool {
	if k == nil {
		return true
	}
	k.await(ctx, func() bool { return k.tried >= number || k.late })
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.lost
}

// told waits until the person may be told what follows from a state, as in whenKept. It returns
// false if ctx ends before.
func (k *keeper) told(ctx context.Context, number int) bool {
	return k == nil || k.await(ctx, func() bool { return k.tellable(number) })
}

// saved waits until a state is written. It returns false if ctx ends before. Without a store it
// returns true at once.
func (k *keeper) saved(ctx context.Context, number int) bool {
	return k == nil || k.await(ctx, func() bool { return k.done >= number })
}

// begun waits until the first state is written or could not be written, or ctx ends. It reports
// whether a state is written. Without a store it returns true at once.
func (k *keeper) begun(ctx context.Context) bool {
	if k == nil {
		return true
	}
	k.await(ctx, func() bool { return k.tried > 0 })
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.done > 0
}

// await waits until so returns true. It returns false if ctx ends before. It calls so with mu
// held.
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
