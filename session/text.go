package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/turn"
)

// TextOptions configure a [Text].
type TextOptions struct {
	// Conv configures the machine. NewText sets its Endpoint to [turn.PolicyManual] and
	// switches DeadAir off, because a person who types may take their time.
	Conv conv.Options
	// Tools, ModelTools, Model and Instructions are those of [Options].
	Tools        port.Tool
	ModelTools   port.Tool
	Model        port.Model
	Instructions string
	// ID, Checkpoints, Restore and Keys are those of [Options]; no Journal is written. A
	// checkpoint is written before a tool runs and before a line is answered.
	ID          string
	Checkpoints Checkpoints
	Restore     []byte
	Keys        string
	// Location is that of [Options]. If it is nil, the time zone of the first time that the
	// caller gives is used.
	Location *time.Location
	// Wait waits for the time d, such as a pause between two tries. If it is nil, the
	// conversation continues at once, as if the time had passed.
	Wait func(ctx context.Context, d time.Duration) error
}

// Text is a conversation by text that its caller steps, line by line: it takes the time from its
// caller and does all work on the caller's goroutine. It is not safe for concurrent use.
type Text struct {
	s    *Session
	wait func(ctx context.Context, d time.Duration) error
	open bool  // prepare has opened the session
	err  error // set if another process has the conversation
	page page
}

// page is the leg of a [Text]. It collects what the person must read.
type page struct{ said, notes []string }

var _ port.Leg = (*page)(nil)

// Rate returns any valid rate, because there is no audio.
func (*page) Rate() int { return 8000 }

func (*page) Read(context.Context) (audio.Frame, error) { return audio.Frame{}, io.EOF }

func (*page) Write(context.Context, audio.Frame) error { return nil }

func (*page) Clear(context.Context) error { return nil }

func (p *page) Notify(n port.Notice) {
	switch n.Type {
	case "caption":
		p.said = append(p.said, n.Text)
	case "notification":
		p.notes = append(p.notes, n.Code)
	}
}

// NewText returns a conversation by text. [Text.Start] begins it or, with o.Restore,
// [Text.Resume] continues it. NewText returns an error if an option is invalid.
func NewText(o TextOptions) (*Text, error) {
	o.Conv.Endpoint = turn.PolicyManual
	o.Conv.DeadAir = turn.DeadAirOptions{Off: true}
	o.Checkpoints.Journal = nil // to resume the conversation, the checkpoints are enough
	t := &Text{wait: o.Wait}
	s, err := New(Options{
		ID: o.ID, Conv: o.Conv, Leg: &t.page, Text: true, Model: o.Model, Tools: o.Tools, ModelTools: o.ModelTools,
		Instructions: o.Instructions, Checkpoints: o.Checkpoints, Restore: o.Restore, Keys: o.Keys, Location: o.Location,
	})
	if err != nil {
		return nil, err
	}
	t.s = s
	return t, nil
}

// State returns the state of the conversation, which the caller must not change. It is valid until
// the next call of another method.
func (t *Text) State() *conv.State { return t.s.conv.State() }

// Over reports whether the conversation has ended or not begun.
func (t *Text) Over() bool { return t.s.conv.Phase() == conv.Idle }

// TextReply is the answer to a line.
type TextReply struct {
	Said []string // what the agent said, in order
	// Notes are the codes of messages that the person must see besides, for example of a
	// failure or of a line that was refused.
	Notes []string
	// Handoff says that the agent hands the conversation over to a person.
	Handoff bool
}

// Start begins the conversation at the time now and returns the greeting.
func (t *Text) Start(ctx context.Context, now time.Time) (TextReply, error) {
	return t.take(ctx, now, func() error { return t.s.step(t.s.virtualNow, conv.UserStart{}) })
}

// Resume continues the conversation of a snapshot, in place of Start. If the agent has nothing to
// say, it repeats what it said last.
func (t *Text) Resume(ctx context.Context, now time.Time) (TextReply, error) {
	r, err := t.take(ctx, now, func() error { return t.s.goOn(t.s.virtualNow) })
	if last := t.State().Dialogue.LastResponse; err == nil && len(r.Said) == 0 && last != "" {
		r.Said = []string{last}
	}
	return r, err
}

// End notes that the person has left. It deletes the checkpoint of a conversation that privacy
// allows to store only while it lasts.
func (t *Text) End(ctx context.Context) error {
	k := t.s.keeper
	if k == nil || k.keep {
		return nil
	}
	return k.o.Store.Delete(ctx, k.id)
}

// Say gives the agent a line that the person typed at the time now, and returns when the agent
// waits for the next line. now must not go back.
func (t *Text) Say(ctx context.Context, now time.Time, text string) (TextReply, error) {
	return t.take(ctx, now, func() error {
		if next := t.s.conv.NextDeadline(); !next.IsZero() && !now.Before(next) {
			// Timers that were due between the two lines fire first.
			if err := t.s.step(t.s.virtualNow, conv.DeadlinePassed{}); err != nil {
				return err
			}
		}
		return t.s.step(t.s.virtualNow, conv.UserText{Text: text})
	})
}

// Interrupt stops an answer of the agent, after the context of the Say that waited for it has
// ended. It returns when the agent listens.
func (t *Text) Interrupt(ctx context.Context, now time.Time) (TextReply, error) {
	return t.take(ctx, now, func() error { return t.s.step(t.s.virtualNow, conv.UserInterrupt{Source: "keyboard"}) })
}

// Recover continues after an error, as [Machine.Recover] does, and returns when the agent waits
// for the next line.
func (t *Text) Recover(ctx context.Context, now time.Time) (TextReply, error) {
	return t.take(ctx, now, func() error { return t.s.step(t.s.virtualNow, conv.UserRecover{}) })
}

// take calls begin and then steps the machine until it waits for the user.
func (t *Text) take(ctx context.Context, now time.Time, begin func() error) (TextReply, error) {
	s := t.s
	t.page = page{}
	if err := t.prepare(ctx, now); err != nil {
		return TextReply{}, err
	}
	s.spawn = t.spawner(ctx)
	if err := begin(); err != nil {
		return TextReply{}, err
	}
	for {
		if err := errors.Join(s.drain(), t.err, ctx.Err()); err != nil {
			return TextReply{}, err
		}
		if p := s.conv.Phase(); p == conv.ListeningReady || p == conv.Idle {
			t.save(ctx)
			return TextReply{Said: t.page.said, Notes: t.page.notes, Handoff: slices.Contains(t.page.notes, "handoff")}, t.err
		}
		next := s.conv.NextDeadline()
		if next.IsZero() {
			return TextReply{}, fmt.Errorf("session: no deadline is set in phase %v", s.conv.Phase())
		}
		if t.wait != nil {
			if err := t.wait(ctx, next.Sub(s.virtualNow)); err != nil {
				return TextReply{}, err
			}
		}
		s.set(next)
		s.postFact(conv.DeadlinePassed{})
	}
}

// prepare sets the clock, and opens the session at the first call.
func (t *Text) prepare(ctx context.Context, now time.Time) error {
	if t.open {
		t.s.set(now)
		return nil
	}
	err := t.s.claim(func() {
		t.s.begin(now)
		t.s.work.end() // there are no workers
	})
	if err != nil {
		return err
	}
	t.open = true
	return t.s.open(ctx, t.s.virtualNow, t.s.postFacts)
}

// spawner returns a function for s.spawn that queues jobs. drain runs them one after the other,
// each after the last state is written, so that a job is stored before it runs.
func (t *Text) spawner(ctx context.Context) func(func(context.Context)) func() {
	return func(job func(context.Context)) func() {
		ctx, stop := context.WithCancel(ctx)
		t.s.work.later(func() {
			defer stop()
			if t.save(ctx); t.err == nil && ctx.Err() == nil {
				job(ctx)
			}
		})
		return stop
	}
}

// save writes the last state. It sets t.err if another process has the conversation. Other errors
// of the store are only reported to [Checkpoints].Behind.
func (t *Text) save(ctx context.Context) {
	k := t.s.keeper
	if k == nil {
		return
	}
	if err := k.flush(context.WithoutCancel(ctx)); errors.Is(err, port.ErrFenced) {
		t.err = fmt.Errorf("checkpoint of %s: %w", k.id, err)
	}
}

// Dialogue returns a copy of the state of the dialogue with secrets hidden.
func (t *Text) Dialogue() dialog.State {
	st := &t.s.conv.State().Dialogue
	if agent := t.s.conv.Options().Agent; agent != nil {
		return agent.Masked(*st)
	}
	return st.Clone()
}
