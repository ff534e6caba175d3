package conv

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/dialog"
)

// snapshotVersion is the schema of [Conversation.Snapshot]. It rises when an
// older reader would misunderstand a newer snapshot.
const snapshotVersion = 1

// written is a state as a snapshot has it: its dialogue is written with it, not by
// itself and then read again.
type written struct {
	stateForm
	Dialogue any `json:"dialogue"`
}

// read is a state as it is read from a snapshot.
type read struct {
	stateForm
	Dialogue dialog.State `json:"dialogue"`
}

// snapshot is the wire form of a snapshot: S is written or read.
type snapshot[S any] struct {
	Version int               `json:"version"`
	State   S                 `json:"state"`
	Facts   []json.RawMessage `json:"deferred,omitempty"`
}

// Snapshot writes the whole state as JSON. The last transitions are not in it
// (seed 000, CON-003).
func (c *Conversation) Snapshot() ([]byte, error) {
	st := c.st
	if c.opts.Privacy == PrivacyNone {
		st = st.withoutWords()
	}
	return st.snapshot()
}

// snapshot is a snapshot of the whole state.
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

// withoutWords drops everything that somebody said, typed or was told.
func (s State) withoutWords() State {
	s.History, s.Summary = nil, Summary{}
	s.User.Text, s.User.Partial = "", ""
	s.Over.Text, s.Over.Partial, s.Said = "", "", ""
	s.Reply.Text, s.Reply.Unsaid, s.Reply.Sealed, s.Reply.Asked, s.Reply.Advice = "", "", 0, "", ""
	s.Playout.Text = ""
	s.ReadBack, s.Consent = ReadBack{}, Consent{}
	s.Conn.Unanswered.Text = ""
	s.Pending.Texts, s.Pending.Tell, s.Pending.Telling, s.Pending.Follow, s.Pending.Resume = nil, nil, nil, nil, ""
	s.Calls = slices.Clone(s.Calls)
	for i := range s.Calls {
		s.Calls[i].Arguments = ""
	}
	s.Dialogue = dialog.State{}
	s.Suspended.Facts = nil
	return s
}

// Restore makes a conversation that goes on where the snapshot was taken. The
// options are the caller's: they are configuration, not state.
func Restore(o Options, b []byte) (*Conversation, error) {
	c, err := New(o)
	if err != nil {
		return nil, err
	}
	var s snapshot[read]
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("restore: the snapshot is no valid JSON of one: %w", err)
	}
	if s.Version != snapshotVersion {
		return nil, fmt.Errorf("restore: the snapshot has version %d, expected %d", s.Version, snapshotVersion)
	}
	c.st = s.State.state()
	c.st.Dialogue = s.State.Dialogue
	for i, raw := range s.Facts {
		fact, err := UnmarshalEvent(raw)
		if err != nil {
			return nil, fmt.Errorf("restore: deferred fact %d: %w", i+1, err)
		}
		c.st.Suspended.Facts = append(c.st.Suspended.Facts, fact)
	}
	if err := c.st.check(); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	if o.Agent != nil && c.st.Expecting {
		// While an action runs the machine expects less than the dialogue would.
		if e := o.Agent.Expect(&c.st.Dialogue); e.Slot == c.st.Expect.Slot && e.Kind == c.st.Expect.Kind {
			c.st.Expect.Phrases = e.Phrases
		}
	}
	return c, nil
}

// check finds what no conversation comes to and what Step would trip over: the
// snapshot was cut, or changed by hand.
func (s *State) check() error {
	r := &s.Reply
	for _, c := range []struct {
		bad  bool
		what string
	}{
		{s.Phase == Suspended && !s.Before.Active(), fmt.Sprintf("before: %v cannot have been suspended", s.Before)},
		{r.Sealed < 0 || r.Sealed > len(r.Text), fmt.Sprintf("reply.sealed: %d, expected 0 to %d, the length of reply.text", r.Sealed, len(r.Text))},
		{len(r.Unsaid) > len(r.Text), "reply.unsaid: longer than reply.text"},
		{!s.ReadBack.check(), "read_back: its places must be within its text"},
		{r.Attempt < 0, fmt.Sprintf("reply.attempt: %d, expected 0 or more", r.Attempt)},
		{s.Conn.Attempts < 0, fmt.Sprintf("connection.attempts: %d, expected 0 or more", s.Conn.Attempts)},
		{s.Pending.Feedback < 0, fmt.Sprintf("pending.feedback: %d, expected 0 or more", s.Pending.Feedback)},
		{s.DeadAir.Next < 0, fmt.Sprintf("dead_air.next: %d, expected 0 or more", s.DeadAir.Next)},
	} {
		if c.bad {
			return errors.New(c.what)
		}
	}
	for p, timers := range phaseTimers {
		for _, t := range timers {
			if !s.Timers[t].IsZero() && !slices.Contains(phaseTimers[s.Phase], t) {
				return fmt.Errorf("timers: %v is armed in %v, expected in %v alone", t, s.Phase, Phase(p))
			}
		}
	}
	return nil
}

// Fork returns a conversation with the same options and a copy of the state,
// which goes its own way. Tools that look into the future use it.
func (c *Conversation) Fork() *Conversation {
	return &Conversation{
		opts: c.opts, ear: c.ear, phrases: c.phrases, st: c.st.clone(),
	}
}

// Become replaces the state by a copy of st. It is for tools that explore the
// machine; a conversation that runs is only ever stepped.
func (c *Conversation) Become(st *State) {
	c.st = st.clone()
}
