package session

import (
	"errors"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
)

// This file is the facade of the seeds' two interfaces (000 section 4, 001
// section 7) in Go's manner. docs/facade.md has the table from their names to
// these.

// Snapshot is the state at one moment, for reading from any goroutine: seed
// 000's ConversationStateSnapshot and seed 001's StateContext. It holds no
// words.
type Snapshot struct {
	Phase    conv.Phase `json:"phase"`
	Previous conv.Phase `json:"previous"`
	Views    view.Views `json:"views"`
	Label    string     `json:"label"`
	Since    time.Time  `json:"since"`

	Turn     int       `json:"turn,omitempty"`
	TurnRole conv.Role `json:"turn_role,omitempty"`

	SessionID    string    `json:"session_id,omitempty"`
	SessionStart time.Time `json:"session_start,omitzero"`
	Request      int       `json:"request,omitempty"` // the model request that is out
	Retries      int       `json:"retries,omitempty"` // of it
	Recoveries   int       `json:"recoveries,omitempty"`
	LastError    string    `json:"last_error,omitempty"`

	PlayoutTurn  int           `json:"playout_turn,omitempty"` // current audio item
	PlayoutHeard time.Duration `json:"playout_heard_ns,omitempty"`
	Tools        []string      `json:"tools,omitempty"`   // names of running tools and tasks
	Pending      []string      `json:"pending,omitempty"` // actions that wait: start, texts, news
	Queued       bool          `json:"queued,omitempty"`  // the user said something that waits for a tool
}

// publish makes the current state readable. It runs on the loop's goroutine.
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

// State is the state at this moment (getState, state, context).
func (m *Machine) State() Snapshot { return *m.current.Load() }

// Words are the catalogue's for a code, in the conversation's language.
func (m *Machine) Words(code string) string { return m.words(code) }

// Said is what the agent has said in its last turn, as a client may be shown it, and when;
// turn is 0 where it has said nothing.
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

// Recent are the last transitions until this moment, at most 20 (CON-003).
func (m *Machine) Recent() ([]conv.Transition, error) {
	var recent []conv.Transition
	err := m.inspect(func(c *conv.Conversation) { recent = append(recent, c.Recent()...) })
	return recent, err
}

// Initialize tells that a session with the services lives (initialize).
func (m *Machine) Initialize(sessionID string) error {
	return m.Post(conv.SessionReady{ID: sessionID})
}

// StartConversation wants a conversation. In Faulted it is the demand to try again now
// (seed 000, section 9, "Faulted Recovery Attempt"). A second one, of this machine or
// of the same owner, is refused with an [*ActiveError].
func (m *Machine) StartConversation() error {
	if m.State().Phase == conv.Faulted {
		return m.Post(conv.UserStart{}) // it has its place
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
		// The loop ended meanwhile. It gives the place back after donec is closed,
		// which may have been before it was taken here.
		m.letGo()
		return ErrEnded
	default:
		return err
	}
}

// EndConversation ends it (endConversation, user_end_session).
func (m *Machine) EndConversation(reason string) error {
	return m.Post(conv.UserStop{Reason: reason})
}

// HandleUserInterrupt interrupts the agent. See [conv.UserInterrupt] for the
// sources.
func (m *Machine) HandleUserInterrupt(source conv.Source) error {
	return m.Post(conv.UserInterrupt{Source: source})
}

// SendText is what the person typed.
func (m *Machine) SendText(text string) error { return m.Post(conv.UserText{Text: text}) }

// Cancel calls off the delegated work, the reply, or the reconnection.
func (m *Machine) Cancel() error { return m.Post(conv.UserCancel{}) }

// ErrNoTask is among the causes of an error about delegated work that does not run.
var ErrNoTask = errors.New("no delegated work of this id runs here")

// CancelTask calls off one delegated call, also one that no reply waits for. It fails
// with [ErrNoTask] where there is none.
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

// Suspend begins a planned pause: "renewal", "diagnostics".
func (m *Machine) Suspend(reason string) error {
	return m.Post(conv.SessionRenewal{Source: conv.Source(reason)})
}

// Resume ends it.
func (m *Machine) Resume() error { return m.Post(conv.SessionRenewed{}) }

// Recover goes on after an error: it leaves Faulted now, the circuit breaker included,
// and takes the dialogue out of its error state. A person acts (recover, user_dismiss).
// Where nothing has failed, and after the end, it does nothing. See [conv.UserRecover].
func (m *Machine) Recover() error {
	if err := m.Post(conv.UserRecover{}); !errors.Is(err, ErrEnded) {
		return err
	}
	return nil
}

// CanTransition reports whether the fact would change the phase if it happened
// now. The machine is not changed. After the loop's end it fails with
// [ErrEnded], as does Recent.
func (m *Machine) CanTransition(ev conv.Event) (bool, error) {
	can := false
	err := m.inspect(func(c *conv.Conversation) {
		fork := c.Fork()
		fork.Step(m.o.Now(), ev)
		can = len(fork.Last().Transitions) > 0
	})
	return can, err
}

// OnStateChanged tells f of every change of phase and of a view, in order. Observers run
// on the loop's goroutine and must not block. What they have to say they post with the
// [Loop] that they are given; of the machine they may call all that posts nothing. The
// function returned ends the subscription: called from an observer, at once;
// from another goroutine, with the call that may be under way.
func (m *Machine) OnStateChanged(f func(StateChanged)) (cancel func()) {
	return m.subscribe(&observer{changed: f})
}

// OnStateEnter tells f of each time that a phase is entered.
func (m *Machine) OnStateEnter(p conv.Phase, f func(StateChanged)) (cancel func()) {
	return m.OnStateChanged(func(s StateChanged) {
		if s.Transition.To == p && s.Transition.From != p {
			f(s)
		}
	})
}

// OnStateExit tells f of each time that a phase is left; In is how long it lasted.
func (m *Machine) OnStateExit(p conv.Phase, f func(StateChanged)) (cancel func()) {
	return m.OnStateChanged(func(s StateChanged) {
		if s.Transition.From == p && s.Transition.To != p {
			f(s)
		}
	})
}

// OnTurnEvent tells f of each turn that begins or ends.
func (m *Machine) OnTurnEvent(f func(TurnEvent)) (cancel func()) {
	return m.subscribe(&observer{turn: f})
}

// OnError tells f of each failure.
func (m *Machine) OnError(f func(Problem)) (cancel func()) {
	return m.subscribe(&observer{problem: f})
}

// OnStep tells f of every step with all that it did, for recorders and displays.
func (m *Machine) OnStep(f func(Step)) (cancel func()) {
	return m.subscribe(&observer{step: f})
}
