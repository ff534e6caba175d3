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

// TextOptions set up a conversation by text.
type TextOptions struct {
	// Conv is the machine's configuration. Dead air is switched off: somebody who
	// types may take their time.
	Conv conv.Options
	// Tools, ModelTools, Model and Instructions: see [Options].
	Tools        port.Tool
	ModelTools   port.Tool
	Model        port.Model
	Instructions string
	// ID, Checkpoints, Restore and Keys: see [Options]. A checkpoint is written
	// before a tool runs and before a line is answered.
	ID          string
	Checkpoints Checkpoints
	Restore     []byte
	Keys        string
	// Location: see [Options]. The start is that of the first time that the caller gives.
	Location *time.Location
	// Wait waits for a pause between two tries; the time passes at once if nil.
	Wait func(ctx context.Context, d time.Duration) error
}

// Text holds a conversation by text in step: a [Session] whose clock is its caller's,
// and whose work is done on the caller's goroutine. It is not safe for concurrent use.
type Text struct {
	s    *Session
	wait func(ctx context.Context, d time.Duration) error
	open bool  // the session's parts are made
	err  error // somebody else has the conversation
	page page
}

// page is the leg of a conversation in step: it takes what the person is to read.
type page struct{ said, notes []string }

var _ port.Leg = (*page)(nil)

// Rate is the lowest there is: nothing sounds.
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

// NewText makes a conversation that has not begun.
func NewText(o TextOptions) (*Text, error) {
	o.Conv.Endpoint = turn.PolicyManual
	o.Conv.DeadAir = turn.DeadAirOptions{Off: true}
	o.Checkpoints.Journal = nil // it is resumed, and not looked at
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

// State is the machine's, for reading until the next line.
func (t *Text) State() *conv.State { return t.s.conv.State() }

// Over reports whether the conversation has ended.
func (t *Text) Over() bool { return t.s.conv.Phase() == conv.Idle }

// TextReply is what came of a line.
type TextReply struct {
	Said []string // by the agent, in order
	// Notes are codes of what the person has to be told beside it: of a failure,
	// a line that was refused.
	Notes []string
	// Handoff: the agent gives the conversation to a person.
	Handoff bool
}

// Start begins the conversation and returns the greeting.
func (t *Text) Start(ctx context.Context, now time.Time) (TextReply, error) {
	return t.take(ctx, now, func() error { return t.s.step(t.s.virtualNow, conv.UserStart{}) })
}

// Resume goes on with the conversation of a snapshot, in place of Start. What was
// said last is said again, if nothing else is to be said.
func (t *Text) Resume(ctx context.Context, now time.Time) (TextReply, error) {
	r, err := t.take(ctx, now, func() error { return t.s.goOn(t.s.virtualNow) })
	if last := t.State().Dialogue.LastResponse; err == nil && len(r.Said) == 0 && last != "" {
		r.Said = []string{last}
	}
	return r, err
}

// End is the person leaving: what privacy allows to keep for as long as the
// conversation lives alone is deleted.
func (t *Text) End(ctx context.Context) error {
	k := t.s.keeper
	if k == nil || k.keep {
		return nil
	}
	return k.o.Store.Delete(ctx, k.id)
}

// Say gives the agent a line and returns when it waits for the next. now must
// not go back.
func (t *Text) Say(ctx context.Context, now time.Time, text string) (TextReply, error) {
	return t.take(ctx, now, func() error {
		if next := t.s.conv.NextDeadline(); !next.IsZero() && !now.Before(next) {
			// What passed between two lines: the session's clock alone.
			if err := t.s.step(t.s.virtualNow, conv.DeadlinePassed{}); err != nil {
				return err
			}
		}
		return t.s.step(t.s.virtualNow, conv.UserText{Text: text})
	})
}

// Interrupt stops the agent's answer, after the context of the call that it was the work of has
// ended, and returns when the agent listens.
func (t *Text) Interrupt(ctx context.Context, now time.Time) (TextReply, error) {
	return t.take(ctx, now, func() error { return t.s.step(t.s.virtualNow, conv.UserInterrupt{Source: "keyboard"}) })
}

// Recover goes on after an error, as [Machine.Recover] does, and returns when the agent
// waits for the next line.
func (t *Text) Recover(ctx context.Context, now time.Time) (TextReply, error) {
	return t.take(ctx, now, func() error { return t.s.step(t.s.virtualNow, conv.UserRecover{}) })
}

// take begins something, and goes on until the machine waits for the user.
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
			return TextReply{}, fmt.Errorf("%v waits for nothing", s.conv.Phase())
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

// prepare sets the clock, and the first time makes the session's parts.
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

// spawner has jobs done one after the other by who waits for them, once the last state
// is written: what runs is known before it does.
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

// save writes the last state. It fails when the conversation is somebody else's:
// what a store does not save otherwise is told to [Checkpoints].Behind.
func (t *Text) save(ctx context.Context) {
	k := t.s.keeper
	if k == nil {
		return
	}
	if err := k.flush(context.WithoutCancel(ctx)); errors.Is(err, port.ErrFenced) {
		t.err = fmt.Errorf("checkpoint of %s: %w", k.id, err)
	}
}

// Dialogue is a copy of the dialogue's state to show: secrets are hidden.
func (t *Text) Dialogue() dialog.State {
	st := &t.s.conv.State().Dialogue
	if agent := t.s.conv.Options().Agent; agent != nil {
		return agent.Masked(*st)
	}
	return st.Clone()
}
