package session

import (
	"errors"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
)

// This file implements the two interfaces of the seeds (000 section 4, 001 section 7) in the
// style of Go. docs/facade.md maps their names to those of this package.

// Snapshot is the state at one moment: ConversationStateSnapshot of seed 000 and StateContext
// of seed 001. It contains no words of the conversation, and any goroutine may read it.
type Snapshot struct {
	Phase    conv.Phase `json:"phase"`
	Previous conv.Phase `json:"previous"` // the phase before the last transition
	Views    view.Views `json:"views"`
	Label    string     `json:"label"` // the name of the state for people, in the conversation's language
	Since    time.Time  `json:"since"` // when the phase began

	Turn     int       `json:"turn,omitempty"`      // number of the open turn, the agent's rather than the user's; zero: none
	TurnRole conv.Role `json:"turn_role,omitempty"` // the role of Turn

	SessionID    string    `json:"session_id,omitempty"`
	SessionStart time.Time `json:"session_start,omitzero"`
	Request      int       `json:"request,omitempty"`    // number of the current model request
	Retries      int       `json:"retries,omitempty"`    // how often that request was tried again
	Recoveries   int       `json:"recoveries,omitempty"` // recoveries from faults since the last completed reply
	LastError    string    `json:"last_error,omitempty"` // code of the fault that the machine has not recovered from

	PlayoutTurn  int           `json:"playout_turn,omitempty"`     // number of the turn that plays, or played last
	PlayoutHeard time.Duration `json:"playout_heard_ns,omitempty"` // how much of that turn was heard, as reported last
	Tools        []string      `json:"tools,omitempty"`            // names of the tools and tasks without a result
	Pending      []string      `json:"pending,omitempty"`          // what waits: "start", "text", "news"
	Queued       bool          `json:"queued,omitempty"`           // the user has said something that waits for a tool
}

// publish stores the current state for State. It runs on the loop's goroutine.
func (m *Machine) publish() {
	st := m.conv.State()
	s := &Snapshot{
		Phase: st.Phase, Previous: st.Previous, Views: st.Views(), Since: st.Entered,
		SessionID: st.Session.ID, SessionStart: st.Session.Started,
		Request: st.Reply.Request, Retries: max(0, st.Reply.Attempt-1),
		Recoveries: st.Faults.Recoveries, LastError: st.Faults.Code,
		PlayoutTurn: st.Playout.Turn, PlayoutHeard: st.Playout.Heard,
		Queued: (st.Phase == conv.ToolRunning || st.Phase == conv.Delegated) && st.User.Words() != "",
	}
	s.Label = m.words("state." + s.Views.AgentVoice.String())
	switch {
	case st.Reply.Turn != 0:
		s.Turn, s.TurnRole = st.Reply.Turn, conv.RoleAgent
	case st.User.Turn != 0:
		s.Turn, s.TurnRole = st.User.Turn, conv.RoleUser
	}
	for i := range st.Calls {
		s.Tools = append(s.Tools, st.Calls[i].Name)
	}
	if st.Starting() {
		s.Pending = append(s.Pending, "start")
	}
	if len(st.Pending.Texts) > 0 {
		s.Pending = append(s.Pending, "text")
	}
	if len(st.Pending.News) > 0 {
		s.Pending = append(s.Pending, "news")
	}
	m.current.Store(s)
}

// State returns the state after the last step (getState, state, context).
func (m *Machine) State() Snapshot { return *m.current.Load() }

// Words returns the text of the message with a code, in the conversation's language.
func (m *Machine) Words(code string) string { return m.words(code) }

// Said returns the number of the agent's last turn, what was heard of it, with secrets hidden,
// and when it was said. turn is 0 if the agent has said nothing. The error is [ErrEnded] after
// the end of the loop.
func (m *Machine) Said() (turn int, text string, at time.Time, err error) {
	err = m.inspect(func(*conv.Conversation) {
		history := m.veil.Shown().State().History
		for i := range history {
			it := &history[i]
			if it.Role != conv.RoleAgent || it.Text == "" {
				continue
			}
			if it.Turn != turn {
				turn, text = it.Turn, ""
			}
			text, at = strings.TrimSpace(text+" "+it.Text), it.At
		}
	})
	return turn, text, at, err
}

// Recent returns the last transitions, the oldest first, at most 20 (seed 000, CON-003). The
// error is [ErrEnded] after the end of the loop.
func (m *Machine) Recent() ([]conv.Transition, error) {
	var recent []conv.Transition
	err := m.inspect(func(c *conv.Conversation) { recent = append(recent, c.Recent()...) })
	return recent, err
}

// Initialize posts that the session with the services is ready (initialize).
func (m *Machine) Initialize(sessionID string) error {
	return m.Post(conv.SessionReady{ID: sessionID})
}

// StartConversation starts the conversation. In the phase Faulted it asks to try again now
// (seed 000, section 9, "Faulted Recovery Attempt"). It returns an [*ActiveError] if a
// conversation of this machine, or of the same owner, is active.
func (m *Machine) StartConversation() error {
	if m.State().Phase == conv.Faulted {
		return m.Post(conv.UserStart{}) // this conversation is the owner's active one
	}
	round := m.round.Load()
	release, err := m.o.Owners.Acquire(m.o.Owner)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.release = release
	m.mu.Unlock()
	err = m.Post(conv.UserStart{})
	select {
	case <-round.donec:
		// The loop has ended meanwhile. It calls letGo after it closes donec, which may have
		// been before m.release was set.
		m.letGo()
		return ErrEnded
	default:
		return err
	}
}

// EndConversation ends the conversation (endConversation, user_end_session).
func (m *Machine) EndConversation(reason string) error {
	return m.Post(conv.UserStop{Reason: reason})
}

// HandleUserInterrupt interrupts the agent. [conv.UserInterrupt] describes the sources.
func (m *Machine) HandleUserInterrupt(source conv.Source) error {
	return m.Post(conv.UserInterrupt{Source: source})
}

// SendText posts a line that the person typed.
func (m *Machine) SendText(text string) error { return m.Post(conv.UserText{Text: text}) }

// Cancel cancels the delegated work or the reply in progress, or gives up reconnecting. See
// [conv.UserCancel].
func (m *Machine) Cancel() error { return m.Post(conv.UserCancel{}) }

// ErrNoTask is the error for delegated work that does not run.
var ErrNoTask = errors.New("no delegated work with this id is running")

// CancelTask cancels one delegated call, whether or not a reply waits for it. It returns
// [ErrNoTask] if no delegated call with this id runs.
func (m *Machine) CancelTask(id string) error {
	runs := false
	err := m.inspect(func(c *conv.Conversation) { runs = c.Delegated(id) })
	switch {
	case err != nil:
		return err
	case !runs:
		return ErrNoTask
	}
	return m.Post(conv.UserCancel{ID: id})
}

// Suspend begins a planned pause. reason is "renewal", "diagnostics" or another word for the
// records.
func (m *Machine) Suspend(reason string) error {
	return m.Post(conv.SessionRenewal{Source: conv.Source(reason)})
}

// Resume ends a planned pause.
func (m *Machine) Resume() error { return m.Post(conv.SessionRenewed{}) }

// Recover continues after an error (recover, user_dismiss): it leaves the phase Faulted now,
// even if the circuit breaker is open, and takes the dialogue out of its error state. It does
// nothing if nothing has failed, or after the end of the loop. See [conv.UserRecover].
func (m *Machine) Recover() error {
	if err := m.Post(conv.UserRecover{}); !errors.Is(err, ErrEnded) {
		return err
	}
	return nil
}

// CanTransition reports whether an event would change the phase if it happened now. It does not
// change the machine. The error is [ErrEnded] after the end of the loop.
func (m *Machine) CanTransition(ev conv.Event) (bool, error) {
	can := false
	err := m.inspect(func(c *conv.Conversation) {
		fork := c.Fork()
		fork.Step(m.o.Now(), ev)
		can = len(fork.Last().Transitions) > 0
	})
	return can, err
}

// OnStateChanged calls f for every change of the phase or of a view, in order. Observers run on
// the loop's goroutine and must not block. They post events with the [Loop] that they get, and
// may call the methods of the machine that post nothing. The returned function ends the
// subscription. If another goroutine than the loop's calls it, a call of f that is in progress
// may still finish afterwards.
func (m *Machine) OnStateChanged(f func(StateChanged)) (cancel func()) {
	return m.subscribe(&observer{changed: f})
}

// OnStateEnter calls f each time that the phase p is entered. See [Machine.OnStateChanged].
func (m *Machine) OnStateEnter(p conv.Phase, f func(StateChanged)) (cancel func()) {
	return m.OnStateChanged(func(s StateChanged) {
		if s.Transition.To == p && s.Transition.From != p {
			f(s)
		}
	})
}

// OnStateExit calls f each time that the phase p is left; In is how long the phase lasted. See
// [Machine.OnStateChanged].
func (m *Machine) OnStateExit(p conv.Phase, f func(StateChanged)) (cancel func()) {
	return m.OnStateChanged(func(s StateChanged) {
		if s.Transition.From == p && s.Transition.To != p {
			f(s)
		}
	})
}

// OnTurnEvent calls f for each turn that begins or ends. See [Machine.OnStateChanged].
func (m *Machine) OnTurnEvent(f func(TurnEvent)) (cancel func()) {
	return m.subscribe(&observer{turn: f})
}

// OnError calls f for each failure that the person is told about. See [Machine.OnStateChanged].
func (m *Machine) OnError(f func(Problem)) (cancel func()) {
	return m.subscribe(&observer{problem: f})
}

// OnStep calls f after every step, with everything that the step did. See
// [Machine.OnStateChanged].
func (m *Machine) OnStep(f func(Step)) (cancel func()) {
	return m.subscribe(&observer{step: f})
}
