package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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
	// Wait waits for a pause between two tries; the time passes at once if nil.
	Wait func(ctx context.Context, d time.Duration) error
}

// Text holds a conversation by text: the same machine as a call's, with lines
// for speech. What the agent says is heard at once and whole. It is not safe for
// concurrent use.
type Text struct {
	o     TextOptions
	tools toolbox
	keep  *keeper // nil: no checkpoints
	c     *conv.Conversation
	veil  *conv.Veil
	now   time.Time
	queue []conv.Event
	again []conv.Call // ran when the snapshot was taken, and are to be run again
	said  []string
	notes []string
}

// NewText makes a conversation that has not begun.
func NewText(o TextOptions) (*Text, error) {
	o.Conv.Endpoint = "manual"
	o.Conv.DeadAir = turn.DeadAirOptions{Off: true}
	c, veil, err := newConversation(o.Conv, o.Restore)
	if err != nil {
		return nil, err
	}
	return &Text{o: o, tools: newToolbox(o.Tools, o.ModelTools), c: c, veil: veil}, nil
}

// State is the machine's, for reading until the next line.
func (t *Text) State() *conv.State { return t.c.State() }

// Over reports whether the conversation has ended.
func (t *Text) Over() bool { return t.c.Phase() == conv.Idle }

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
	t.begin(now)
	return t.take(ctx, now, conv.UserStart{})
}

// Resume goes on with the conversation of a snapshot, in place of Start. What was
// said last is said again, if nothing else is to be said.
func (t *Text) Resume(ctx context.Context, now time.Time) (TextReply, error) {
	t.begin(now)
	t.veil.Wake(now)
	for _, ev := range resumed() {
		t.post(ev)
	}
	t.again = running(t.c)
	r, err := t.take(ctx, now, nil)
	if last := t.c.State().Dialogue.LastResponse; err == nil && len(r.Said) == 0 && last != "" {
		r.Said = []string{last}
	}
	return r, err
}

// End is the person leaving: what privacy allows to keep for as long as the
// conversation lives alone is deleted.
func (t *Text) End(ctx context.Context) error {
	if t.keep == nil || t.keep.keep {
		return nil
	}
	return t.keep.o.Store.Delete(ctx, t.keep.id)
}

func (t *Text) begin(now time.Time) {
	t.keep = newKeeper(t.o.Checkpoints, t.o.ID, t.c.Options().Privacy, now, func(int) {})
}

// Say gives the agent a line and returns when it waits for the next. now must
// not go back.
func (t *Text) Say(ctx context.Context, now time.Time, text string) (TextReply, error) {
	return t.take(ctx, now, conv.UserText{Text: text})
}

// take steps an event, does what follows, and goes on until the machine waits
// for the user.
func (t *Text) take(ctx context.Context, now time.Time, ev conv.Event) (TextReply, error) {
	t.said, t.notes = nil, nil
	t.now = now
	if next := t.c.NextDeadline(); !next.IsZero() && !now.Before(next) {
		// What passed between two lines: the session's clock alone.
		t.queue = append(t.queue, conv.DeadlinePassed{})
	}
	if ev != nil {
		t.queue = append(t.queue, ev)
	}
	for {
		for len(t.queue) > 0 {
			next := t.queue[0]
			t.queue = t.queue[1:]
			// The effects are the machine's until its next step.
			shown, err := t.veil.Step(t.now, next)
			if err != nil {
				return TextReply{}, err
			}
			effects := slices.Clone(t.c.Last().Effects)
			if t.keep != nil && t.c.Last().Keep {
				kept := t.c
				if !t.o.Checkpoints.Sealed {
					kept = shown.Conversation
				}
				t.keep.note(t.now, kept)
			}
			for _, e := range effects {
				if err := t.perform(ctx, e); err != nil {
					return TextReply{}, err
				}
			}
		}
		if len(t.again) > 0 {
			if err := t.runAgain(ctx); err != nil {
				return TextReply{}, err
			}
			continue
		}
		if p := t.c.Phase(); p == conv.ListeningReady || p == conv.Idle {
			return TextReply{Said: t.said, Notes: t.notes, Handoff: slices.Contains(t.notes, "handoff")}, t.save(ctx)
		}
		next := t.c.NextDeadline()
		if next.IsZero() {
			return TextReply{}, fmt.Errorf("%v waits for nothing", t.c.Phase())
		}
		if err := t.pause(ctx, next.Sub(t.now)); err != nil {
			return TextReply{}, err
		}
		t.now = next
		t.queue = append(t.queue, conv.DeadlinePassed{})
	}
}

func (t *Text) pause(ctx context.Context, d time.Duration) error {
	if t.o.Wait == nil {
		return ctx.Err()
	}
	return t.o.Wait(ctx, d)
}

// perform carries out an effect, to its end.
func (t *Text) perform(ctx context.Context, e conv.Effect) error {
	switch e := e.(type) {
	case conv.OpenSession:
		t.post(conv.SessionReady{ID: "text"})
	case conv.PrimeAudio:
		t.post(conv.AudioReady{})
	case conv.Speak:
		t.said = append(t.said, e.Text)
		t.post(conv.PlayoutStarted{Turn: e.Turn, Part: e.Part})
	case conv.EndSpeech:
		t.post(conv.PlayoutFinished{Turn: e.Turn, Part: e.Part})
	case conv.RunTool:
		return t.run(ctx, e.ID, toolCall(e), false, t.c.Options().Limits.Tool)
	case conv.StartTask:
		return t.run(ctx, e.ID, toolCall(conv.RunTool(e)), true, t.c.Options().Limits.Task)
	case conv.RequestReply:
		if t.o.Model == nil {
			t.post(noModel(e))
			break
		}
		ask(ctx, t.o.Model, modelRequest(t.o.Instructions, t.c, t.tools.model, e), e, t.post)
	case conv.Summarize:
		t.post(conv.Summarized{Request: e.Request, Text: summarize(ctx, t.o.Model, summaryRequest(t.c, e))})
	case conv.Reconnect:
		t.post(conv.ConnectionRestored{})
	case conv.Release:
		t.post(conv.SessionEnded{})
	case conv.Notify:
		t.notes = append(t.notes, e.Code)
	case conv.Reject:
		t.notes = append(t.notes, e.Code)
	case conv.FlushPlayout:
		t.post(conv.PlayoutFlushed{Turn: e.Turn, Part: e.Part, Heard: e.Heard})
	case conv.Listen, conv.Expect, conv.FinalizeTranscript, conv.CancelTurn, conv.DuckPlayout, conv.PausePlayout,
		conv.ResumePlayout, conv.CancelTool, conv.Cue, conv.PauseAudio, conv.ResumeAudio, conv.SaveContext,
		conv.RestoreContext, conv.CloseConnection, conv.FollowTask, conv.SettleTask:
		// They concern audio, a connection, or work that runs beside.
	default:
		panic(fmt.Sprintf("session: unexpected effect %T", e))
	}
	return ctx.Err()
}

// save writes the last state. It fails when the conversation is somebody else's:
// what a store does not save otherwise is told to [Checkpoints].Behind.
func (t *Text) save(ctx context.Context) error {
	if t.keep == nil {
		return nil
	}
	if err := t.keep.flush(context.WithoutCancel(ctx)); errors.Is(err, port.ErrFenced) {
		return fmt.Errorf("checkpoint of %s: %w", t.keep.id, err)
	}
	return nil
}

// runAgain runs the calls that ran when the snapshot was taken.
func (t *Text) runAgain(ctx context.Context) error {
	calls := t.again
	t.again = nil
	for _, call := range calls {
		if err := t.tools.unsafe(t.c, call); err != nil {
			t.post(callEnded(call.ID, call.Long, "", err))
			continue
		}
		limit := t.c.Options().Limits.Tool
		if call.Long {
			limit = t.c.Options().Limits.Task
		}
		if err := t.run(ctx, call.ID, asked(call), call.Long, limit); err != nil {
			return err
		}
	}
	return nil
}

// run runs a call to its end.
func (t *Text) run(ctx context.Context, id string, call port.ToolCall, long bool, limit time.Duration) error {
	tool := t.tools.pick(t.c, id)
	call.ID = keys(t.o.Keys, t.o.ID) + call.ID
	if err := t.save(ctx); err != nil { // that it runs is known before it does
		return err
	}
	output, err := runTool(ctx, tool, call, limit, nil)
	t.post(callEnded(id, long, output, err))
	return nil
}

func (t *Text) post(ev conv.Event) { t.queue = append(t.queue, ev) }

// Dialogue is a copy of the dialogue's state to show: secrets are hidden.
func (t *Text) Dialogue() dialog.State {
	st := &t.c.State().Dialogue
	if agent := t.c.Options().Agent; agent != nil {
		return agent.Masked(*st)
	}
	return st.Clone()
}
