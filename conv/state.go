package conv

import (
	"time"

	"github.com/hocketvoice/hocket/conv/view"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/turn"
)

// State is everything that a conversation knows: plain data, written as JSON by
// [Conversation.Snapshot]. Its fields are for reading; only Step changes them.
type State struct {
	Phase    Phase     `json:"phase"`
	Previous Phase     `json:"previous"` // the phase before the last transition
	Entered  time.Time `json:"entered"`  // when the last transition was
	Before   Phase     `json:"before"`   // Suspended: the phase to return to
	Now      time.Time `json:"now"`      // time of the last step; it never goes back

	LastTurn    int `json:"last_turn"`           // the last turn number given
	LastRequest int `json:"last_request"`        // the last request number given
	LastCall    int `json:"last_call,omitempty"` // the last number given to a call without an id

	Floor     Floor              `json:"floor"`
	User      UserTurn           `json:"user"`
	Over      UserTurn           `json:"over,omitzero"` // words heard over the agent's audio, not decided yet
	Reply     Reply              `json:"reply"`
	Playout   Playout            `json:"playout"`
	ReadBack  ReadBack           `json:"read_back,omitzero"` // what a yes is awaited to
	Consent   Consent            `json:"consent,omitzero"`   // a model's calls that await a yes
	Barge     turn.BargeIn       `json:"barge"`
	DeadAir   turn.DeadAir       `json:"dead_air"`
	Calls     Calls              `json:"calls,omitempty"`
	Session   Session            `json:"session"`
	Rules     Rules              `json:"rules,omitzero"`
	Conn      Connection         `json:"connection"`
	Faults    Faults             `json:"faults"`
	Pending   Pending            `json:"pending"`
	Suspended Suspension         `json:"suspension"`
	Dialogue  dialog.State       `json:"dialogue"`
	Expect    dialog.Expectation `json:"expect,omitzero"`     // what the agent awaits
	Expecting bool               `json:"expecting,omitempty"` // Expect was set
	History   []Item             `json:"history,omitempty"`
	Summary   Summary            `json:"summary,omitzero"`
	Said      string             `json:"said,omitempty"`     // the agent's last words that had a voice
	SaidCut   bool               `json:"said_cut,omitempty"` // they were cut off
	Timers    Timers             `json:"timers"`

	// changed: the step has changed what has to be kept. False between steps.
	changed bool
}

// Audible reports whether the agent's audio is playing: the reply, or what was
// said before a tool whose result is being worked on. In ListeningCapturing the
// user has the floor: a held reply's audio is paused, whatever is still on its
// way to the ear.
func (s *State) Audible() bool {
	return s.Phase == Speaking || s.Playout.Playing && s.Phase != ListeningCapturing
}

// Rules are what [SessionConfigured] has set in place of the options.
type Rules struct {
	BargeIn    turn.BargeInPolicy `json:"barge_in,omitempty"`
	ListenOnly bool               `json:"listen_only,omitempty"`
}

// Suspension is what a planned pause keeps.
type Suspension struct {
	Source Source    `json:"source,omitempty"`
	At     time.Time `json:"at"`
	Timers Timers    `json:"timers"` // as they stood when time stopped
	Facts  []Event   `json:"-"`      // what came in meanwhile, in order
}

// Role is the origin of an item of the history.
type Role string

// The roles.
const (
	RoleUser  Role = "user"
	RoleAgent Role = "agent"
	RoleTool  Role = "tool"
)

// Item is one entry of the history: what was said and heard, called and
// returned.
type Item struct {
	Turn int  `json:"turn"`
	Role Role `json:"role"`
	// Text is what the user said, what of the agent's words was heard, or a
	// tool's result.
	Text string `json:"text"`
	// Full is what the agent meant to say, if it was cut off.
	Full        string `json:"full,omitempty"`
	Part        int    `json:"part,omitempty"` // of the agent's turn
	Cut         bool   `json:"cut,omitempty"`  // Text is final: this part was cut off, or played to its end, while its turn went on
	Interrupted bool   `json:"interrupted,omitempty"`
	// CallID, Name and Arguments describe the call that a tool's item answers.
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
	Event string     `json:"event"` // the type of the event that made it
	Turn  int        `json:"turn"`  // the turn that it belongs to or has ended, the agent's before the user's
	At    time.Time  `json:"at"`
	Views view.Views `json:"views"` // what the seeds see after it
}

// TurnEventType is the kind of a [TurnEvent].
type TurnEventType string

// The kinds. Every turn has exactly one started and one of the others.
const (
	TurnStarted     TurnEventType = "turn-started"
	TurnCompleted   TurnEventType = "turn-completed"
	TurnInterrupted TurnEventType = "turn-interrupted"
	TurnAbandoned   TurnEventType = "turn-abandoned" // the user said nothing to answer
	TurnFailed      TurnEventType = "turn-failed"    // the reply could not be made
)

// TurnEvent tells the beginning and the end of a turn.
type TurnEvent struct {
	Type       TurnEventType `json:"type"`
	Turn       int           `json:"turn"`
	Role       Role          `json:"role"`
	Kind       ReplyKind     `json:"kind,omitempty"` // the agent's turns
	Confidence float64       `json:"confidence,omitempty"`
	Duration   time.Duration `json:"duration,omitempty"`
	At         time.Time     `json:"at"`
}

// clone returns a deep copy: the explorer and Restore hand states around.
func (s State) clone() State {
	s.Calls = append([]Call(nil), s.Calls...)
	s.Consent.Calls = append([]Asked(nil), s.Consent.Calls...)
	s.Faults.Expiries = append([]time.Time(nil), s.Faults.Expiries...)
	s.Pending.Texts = append([]string(nil), s.Pending.Texts...)
	s.Pending.News = append([]string(nil), s.Pending.News...)
	s.Pending.Tell = append([]string(nil), s.Pending.Tell...)
	s.Pending.Telling = append([]string(nil), s.Pending.Telling...)
	s.Pending.Follow = append([]dialog.Output(nil), s.Pending.Follow...)
	s.Pending.Settle = append([]Settled(nil), s.Pending.Settle...)
	s.Pending.Announcing = append([]string(nil), s.Pending.Announcing...)
	s.Suspended.Facts = append([]Event(nil), s.Suspended.Facts...)
	s.History = append([]Item(nil), s.History...)
	s.Dialogue = s.Dialogue.Clone()
	return s
}
