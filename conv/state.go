package conv

import (
	"time"

	"github.com/hocketvoice/hocket/conv/view"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/internal/timers"
	"github.com/hocketvoice/hocket/turn"
)

// State is everything that a conversation knows. It is plain data; [Conversation.Snapshot]
// returns it as JSON. Callers may read its fields; only Step changes them.
type State struct {
	Phase    Phase     `json:"phase"`
	Previous Phase     `json:"previous"` // the phase before the last transition
	Entered  time.Time `json:"entered"`  // time of the last transition
	Before   Phase     `json:"before"`   // in Suspended: the phase to return to
	Now      time.Time `json:"now"`      // time of the last step; it never goes back

	LastTurn    int `json:"last_turn"`           // the last number given to a turn
	LastRequest int `json:"last_request"`        // the last number given to a request
	LastCall    int `json:"last_call,omitempty"` // the last number given to a call without an id

	Floor     floor              `json:"floor"`
	User      userTurn           `json:"user"`
	Over      userTurn           `json:"over,omitzero"` // words over the agent's audio that may be an interruption
	Reply     reply              `json:"reply"`
	Playout   playout            `json:"playout"`
	ReadBack  readBack           `json:"read_back,omitzero"` // the question of the dialogue that waits for a yes
	Consent   consent            `json:"consent,omitzero"`   // the calls of a model that wait for a yes
	Barge     turn.BargeIn       `json:"barge"`
	DeadAir   turn.DeadAir       `json:"dead_air"`
	Calls     calls              `json:"calls,omitempty"`
	Session   session            `json:"session"`
	Rules     rules              `json:"rules,omitzero"`
	Going     going              `json:"going,omitzero"` // a reply that was cut off and may go on
	Conn      connection         `json:"connection"`
	Faults    faults             `json:"faults"`
	Pending   pending            `json:"pending"`
	Suspended suspension         `json:"suspension"`
	Dialogue  dialog.State       `json:"dialogue"`
	Expect    dialog.Expectation `json:"expect,omitzero"`     // what the agent expects from the user
	Expecting bool               `json:"expecting,omitempty"` // Expect was set
	History   history            `json:"history,omitempty"`
	Summary   summary            `json:"summary,omitzero"`
	Context   Context            `json:"context,omitzero"`
	Said      string             `json:"said,omitempty"`     // the agent's last words that had audio
	SaidCut   bool               `json:"said_cut,omitempty"` // Said was cut off
	Timers    timers.Deadlines   `json:"timers"`

	// changed says that the step has changed something that must be stored. It is false
	// between steps.
	changed bool
}

// Audible reports whether the agent's audio is playing: the reply, or an announcement before a
// tool. In ListeningCapturing it returns false, because the audio of a held reply is paused.
func (s *State) Audible() bool {
	return s.Phase == Speaking || s.Playout.Playing && s.Phase != ListeningCapturing
}

// rules are the rules that the last [SessionConfigured] has set. The zero value means that the
// options apply.
type rules struct {
	BargeIn    turn.BargeInPolicy `json:"barge_in,omitempty"`
	ListenOnly bool               `json:"listen_only,omitempty"`
}

// suspension is what the machine keeps during a planned pause.
type suspension struct {
	Source Source           `json:"source,omitempty"` // why the pause was made
	At     time.Time        `json:"at"`               // when the pause began
	Timers timers.Deadlines `json:"timers"`           // the timers at that time
	Facts  []Event          `json:"-"`                // the events that have come since, in order
}

// Role is the origin of an item of the history.
type Role string

// The values of [Role].
const (
	RoleUser  Role = "user"
	RoleAgent Role = "agent"
	RoleTool  Role = "tool"
)

// Item is one entry of the history: what the user said, what was heard of the agent, or a call
// with its result.
type Item struct {
	Turn int  `json:"turn"`
	Role Role `json:"role"`
	// Text is what the user said, what was heard of the agent's words, or the result of a
	// call.
	Text string `json:"text"`
	// Full is all that the agent was to say, with the original white space.
	Full        string `json:"full,omitempty"`
	Part        int    `json:"part,omitempty"`        // the part of the agent's turn
	Cut         bool   `json:"cut,omitempty"`         // Text is final: this part was cut off, or played to its end, while the turn continued
	Interrupted bool   `json:"interrupted,omitempty"` // the agent's words were cut off: Text may be shorter than Full
	// Unwritten is the number of the last stretch of speech of a user's turn whose words are not
	// in Text yet; zero: none ([Options.SpeechToSpeech]).
	Unwritten int `json:"unwritten,omitempty"`
	// CallID, Name and Arguments describe the call. Failed says that the call failed.
	CallID    string    `json:"call_id,omitempty"`
	Name      string    `json:"name,omitempty"`
	Arguments string    `json:"arguments,omitempty"`
	Failed    bool      `json:"failed,omitempty"`
	At        time.Time `json:"at"`
}

// Transition is one change of phase.
type Transition struct {
	From  Phase      `json:"from"`
	To    Phase      `json:"to"`
	Cause Cause      `json:"cause"`
	Event string     `json:"event"` // the type of the event that caused it
	Turn  int        `json:"turn"`  // the turn that is open, or that it has ended; the agent's rather than the user's
	At    time.Time  `json:"at"`
	Views view.Views `json:"views"` // the views of the state after it
}

// TurnEventType is the type of a [TurnEvent].
type TurnEventType string

// The types of turn events. Every turn has exactly one TurnStarted and one of the others.
const (
	TurnStarted     TurnEventType = "turn-started"
	TurnCompleted   TurnEventType = "turn-completed"
	TurnInterrupted TurnEventType = "turn-interrupted"
	TurnAbandoned   TurnEventType = "turn-abandoned" // the user's turn had nothing to answer
	TurnFailed      TurnEventType = "turn-failed"    // the reply failed
)

// TurnEvent reports the beginning or the end of a turn.
type TurnEvent struct {
	Type       TurnEventType `json:"type"`
	Turn       int           `json:"turn"`
	Role       Role          `json:"role"`
	Kind       ReplyKind     `json:"kind,omitempty"`       // of a turn of the agent
	Confidence float64       `json:"confidence,omitempty"` // of the user's words, from 0 to 1, at the end of the turn
	Duration   time.Duration `json:"duration,omitempty"`   // of the turn, at its end
	At         time.Time     `json:"at"`
}

// clone returns a deep copy of the state.
func (s State) clone() State {
	s.Calls = append([]Call(nil), s.Calls...)
	s.Consent.Calls = append([]asked(nil), s.Consent.Calls...)
	s.Faults.Expiries = append([]time.Time(nil), s.Faults.Expiries...)
	s.Pending.Texts = append([]string(nil), s.Pending.Texts...)
	s.Pending.News = append([]string(nil), s.Pending.News...)
	s.Pending.Tell = append([]string(nil), s.Pending.Tell...)
	s.Pending.Telling = append([]string(nil), s.Pending.Telling...)
	s.Pending.Follow = append([]dialog.Output(nil), s.Pending.Follow...)
	s.Pending.Settle = append([]settled(nil), s.Pending.Settle...)
	s.Pending.Announcing = append([]string(nil), s.Pending.Announcing...)
	s.Suspended.Facts = append([]Event(nil), s.Suspended.Facts...)
	s.History = append(history(nil), s.History...)
	s.Dialogue = s.Dialogue.Clone()
	return s
}
