package conv

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/dialog"
)

// snapshotVersion is the version of the snapshots. It must rise when an older version of the
// program would misread a new snapshot.
const snapshotVersion = 1

// written is a state that is written to a snapshot. Its Dialogue is the form of the dialogue,
// so that it is encoded once, together with the rest.
type written struct {
	stateForm
	Dialogue any `json:"dialogue"`
}

// read is a state that is read from a snapshot.
type read struct {
	stateForm
	Dialogue dialog.State `json:"dialogue"`
}

// snapshot is the JSON form of a snapshot. S is written or read.
type snapshot[S any] struct {
	Version int               `json:"version"`
	State   S                 `json:"state"`
	Facts   []json.RawMessage `json:"deferred,omitempty"`
}

// Snapshot returns the state as JSON, from which [Restore] makes a conversation. With
// [PrivacyNone] it leaves out everything that was said, typed or told. It does not contain the
// transitions of [Conversation.Recent] (seed 000, CON-003).
func (c *Conversation) Snapshot() ([]byte, error) {
	st := c.st
	if c.opts.Privacy == PrivacyNone {
		st = st.withoutWords()
	}
	return st.snapshot()
}

// snapshot returns a snapshot of the whole state.
func (s *State) snapshot() ([]byte, error) {
	w := snapshot[written]{Version: snapshotVersion, State: written{s.form(), s.Dialogue.Form()}}
	for _, fact := range s.Suspended.Facts {
		b, err := MarshalEvent(fact)
		if err != nil {
			return nil, fmt.Errorf("snapshot: %w", err)
		}
		w.Facts = append(w.Facts, b)
	}
	b, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	return b, nil
}

// withoutWords returns the state without everything that was said, typed or told.
func (s State) withoutWords() State {
	s.History, s.Summary, s.Context = nil, summary{}, Context{}
	s.User.Text, s.User.Partial = "", ""
	s.Over.Text, s.Over.Partial, s.Said = "", "", ""
	s.Reply.Text, s.Reply.Unsaid, s.Reply.Sealed, s.Reply.Asked, s.Reply.Advice = "", "", 0, "", ""
	s.Playout.Text = ""
	s.ReadBack, s.Consent = readBack{}, consent{}
	s.Conn.Unanswered.Text = ""
	s.Pending.Texts, s.Pending.Tell, s.Pending.Telling, s.Pending.Follow = nil, nil, nil, nil
	s.Going = going{}
	s.Calls = slices.Clone(s.Calls)
	for i := range s.Calls {
		s.Calls[i].Arguments = ""
	}
	s.Dialogue = dialog.State{}
	s.Suspended.Facts = nil
	return s
}

// ErrOtherAgent reports a snapshot whose dialogue cannot go on with the agent.
var ErrOtherAgent = errors.New("the snapshot is of another agent, or of another version of it")

// Restore returns a conversation in the state of a snapshot. The options are not part of a
// snapshot and may differ from those of the earlier conversation. It returns an error if an
// option is invalid, or if the snapshot is not valid or of another version, and one that wraps
// [ErrOtherAgent] if the dialogue cannot go on with the agent. The caller calls
// [Conversation.Wake] before the first step if time has passed since the snapshot.
func Restore(o Options, b []byte) (*Conversation, error) {
	c, err := New(o)
	if err != nil {
		return nil, err
	}
	var s snapshot[read]
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("restore: the snapshot is not valid JSON: %w", err)
	}
	if s.Version != snapshotVersion {
		return nil, fmt.Errorf("restore: the snapshot has version %d: expected %d", s.Version, snapshotVersion)
	}
	c.st = s.State.state()
	c.st.Dialogue = s.State.Dialogue
	for i, raw := range s.Facts {
		fact, err := UnmarshalEvent(raw)
		if err != nil {
			return nil, fmt.Errorf("restore: deferred event %d: %w", i+1, err)
		}
		c.st.Suspended.Facts = append(c.st.Suspended.Facts, fact)
	}
	if err := c.st.Context.check(); err != nil {
		return nil, fmt.Errorf("restore: context: %w", err)
	}
	if err := c.st.check(); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	if o.Agent != nil {
		if err := o.Agent.Fits(&c.st.Dialogue); err != nil {
			return nil, fmt.Errorf("restore: %w: %w", ErrOtherAgent, err)
		}
	}
	if o.Agent != nil && c.st.Expecting {
		// While an action runs, the machine may expect something else than the dialogue.
		if e := o.Agent.Expect(&c.st.Dialogue); e.Slot == c.st.Expect.Slot && e.Kind == c.st.Expect.Kind {
			c.st.Expect.Phrases, c.st.Expect.Digits = e.Phrases, e.Digits
		}
	}
	return c, nil
}

// check returns an error if the state is one that no conversation can reach and with which Step
// could panic. Such a snapshot is damaged, or was changed by hand.
func (s *State) check() error {
	r := &s.Reply
	for _, c := range []struct {
		bad  bool
		what string
	}{
		{s.Phase == Suspended && !s.Before.Active(), fmt.Sprintf("before: %v: expected a phase that can be suspended", s.Before)},
		{r.Sealed < 0 || r.Sealed > len(r.Text), fmt.Sprintf("reply.sealed: %d: expected 0 to %d, the length of reply.text", r.Sealed, len(r.Text))},
		{len(r.Unsaid) > len(r.Text), "reply.unsaid: must not be longer than reply.text"},
		{!s.ReadBack.check(), "read_back: offsets must be within its text"},
		{s.Going.Heard < 0 || s.Going.Heard > len(s.Going.Text), fmt.Sprintf("going.heard: %d: expected 0 to %d, the length of going.text", s.Going.Heard, len(s.Going.Text))},
		{r.Attempt < 0, fmt.Sprintf("reply.attempt: %d: expected 0 or more", r.Attempt)},
		{s.Conn.Attempts < 0, fmt.Sprintf("connection.attempts: %d: expected 0 or more", s.Conn.Attempts)},
		{s.Pending.Feedback < 0, fmt.Sprintf("pending.feedback: %d: expected 0 or more", s.Pending.Feedback)},
		{s.DeadAir.Next < 0, fmt.Sprintf("dead_air.next: %d: expected 0 or more", s.DeadAir.Next)},
	} {
		if c.bad {
			return errors.New(c.what)
		}
	}
	for p, timers := range phaseTimers {
		for _, t := range timers {
			if !s.Timers[t].IsZero() && !slices.Contains(phaseTimers[s.Phase], t) {
				return fmt.Errorf("timers: %v is armed in %v: expected only in %v", t, s.Phase, Phase(p))
			}
		}
	}
	return nil
}

// Fork returns a conversation with the same options and a copy of the state. Steps of one do
// not change the other. Tools use it to try what an event would do.
func (c *Conversation) Fork() *Conversation {
	return &Conversation{
		opts: c.opts, ear: c.ear, phrases: c.phrases, st: c.st.clone(),
	}
}

// Become replaces the state by a copy of st. It is only for tools that explore the machine.
func (c *Conversation) Become(st *State) {
	c.st = st.clone()
}
