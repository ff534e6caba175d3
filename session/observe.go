package session

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
)

// StateChanged reports a change of the phase, or of a view alone, to observers: the
// state-changed event of seed 000. It contains no words of the conversation, and ids are hashed
// (SEC-001).
type StateChanged struct {
	// Transition is the change. If only a view has changed, From and To are the same phase,
	// and Cause is the type of the event.
	Transition conv.Transition
	From, To   view.Views // the views before and after the change
	Label      string     // the name of the state for people, in the conversation's language (INT-003)
	// In is how long the phase before the change lasted or, if only a view has changed, how
	// long the phase has lasted so far.
	In time.Duration
	// Conversation is the hash of the conversation's id, see [HashID].
	Conversation string
	// Turn is the turn that is open, or that the change has ended.
	Turn TurnContext
	// Loop lets the observer post events during the call.
	Loop *Loop
}

// TurnEvent reports the beginning or the end of a turn to observers: the turn events of seed
// 000.
type TurnEvent struct {
	conv.TurnEvent
	Conversation string // the hash of the conversation's id, see [HashID]
	Context      TurnContext
	Loop         *Loop // lets the observer post events during the call
}

// Problem reports a failure to observers ([Machine.OnError]). It says what has happened and what
// the person can do, and never contains a credential (SEC-003).
type Problem struct {
	Phase   conv.Phase       // the phase after the failure
	Code    string           // the code of the message
	Message string           // the message, in the conversation's language
	Level   conv.NotifyLevel // the level of the message
	Loop    *Loop            // lets the observer post events during the call
}

// Step is everything that one step did, with secrets hidden ([conv.Veil]). Its pointers are
// valid only during the call of the observer.
type Step struct {
	Now    time.Time    // the time of the step
	Event  conv.Event   // the event that was stepped
	Output *conv.Output // what the step produced
	State  *conv.State  // the state after the step
	Loop   *Loop        // lets the observer post events
}

// observer is one subscription. Exactly one of the functions is set.
type observer struct {
	gone atomic.Bool // the subscription has ended

	changed func(StateChanged)
	turn    func(TurnEvent)
	problem func(Problem)
	step    func(Step)
}

// subscribe adds an observer and returns a function that removes it.
func (m *Machine) subscribe(o *observer) (cancel func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.observers = append(m.observers, o)
	return sync.OnceFunc(func() {
		o.gone.Store(true)
		m.mu.Lock()
		defer m.mu.Unlock()
		for i, other := range m.observers {
			if other == o {
				m.observers = append(m.observers[:i:i], m.observers[i+1:]...)
				return
			}
		}
	})
}

// tell calls the observers after a step. It runs on the loop's goroutine and holds no lock.
func (m *Machine) tell(now time.Time, shown conv.Shown, before view.Views, since time.Time) {
	m.mu.Lock()
	observers := m.observers
	m.mu.Unlock()
	out := shown.Conversation.Last()
	m.turns.note(out.Turns)
	if len(observers) == 0 {
		return
	}
	changes := m.changes(now, shown.Event, before, since)
	for _, o := range observers {
		switch {
		case o.step != nil:
			o.tellStep(Step{Now: now, Event: shown.Event, Output: out, State: shown.Conversation.State(), Loop: &m.loop})
		case o.changed != nil:
			o.tellChanges(changes)
		case o.turn != nil:
			m.tellTurns(o, out.Turns)
		case o.problem != nil:
			m.tellProblems(o, out.Effects)
		}
	}
}

func (o *observer) tellStep(s Step) {
	if !o.gone.Load() {
		o.step(s)
	}
}

func (o *observer) tellChanges(changes []StateChanged) {
	for i := range changes {
		if o.gone.Load() {
			return
		}
		o.changed(changes[i])
	}
}

func (m *Machine) tellTurns(o *observer, turns []conv.TurnEvent) {
	for _, t := range turns {
		if o.gone.Load() {
			return
		}
		o.turn(TurnEvent{t, HashID(m.o.ID), m.context(t.Turn), &m.loop})
	}
}

func (m *Machine) tellProblems(o *observer, effects []conv.Effect) {
	for _, e := range effects {
		n, ok := e.(conv.Notify)
		if !ok || n.Level != conv.LevelError || o.gone.Load() {
			continue
		}
		o.problem(Problem{Phase: m.conv.Phase(), Code: n.Code, Message: m.words(n.Code), Level: n.Level, Loop: &m.loop})
	}
}

// changes returns the changes of phase of a step, followed by a change of the views that no
// transition shows, if there is one.
func (m *Machine) changes(now time.Time, ev conv.Event, before view.Views, since time.Time) []StateChanged {
	var changes []StateChanged
	tell := func(t conv.Transition) {
		if since.IsZero() {
			since = t.At // the first phase has no beginning
		}
		changes = append(changes, StateChanged{
			Transition: t, From: before, To: t.Views, In: t.At.Sub(since),
			Label:        m.words("state." + t.Views.AgentVoice.String()),
			Conversation: HashID(m.o.ID), Turn: m.context(t.Turn), Loop: &m.loop,
		})
		before = t.Views
	}
	for _, t := range m.conv.Last().Transitions {
		tell(t)
		since = t.At
	}
	st := m.conv.State()
	if views := st.Views(); views != before {
		number := st.Reply.Turn
		if number == 0 {
			number = st.User.Turn
		}
		tell(conv.Transition{
			From: st.Phase, To: st.Phase, Cause: conv.Cause(conv.EventType(ev)), Event: conv.EventType(ev), Turn: number, At: now, Views: views,
		})
	}
	return changes
}

// words returns the text of the message with a code, in the conversation's language.
func (m *Machine) words(code string) string { return m.catalog.Text(code) }

// turnID returns the hashed id of a turn of this conversation, or "" for the number 0.
func (m *Machine) turnID(number int) string {
	if number == 0 {
		return ""
	}
	return HashID(m.o.ID + "/" + strconv.Itoa(number))
}

// HashID returns a hash of an id, with which records can be correlated without the id itself
// (seed 000, SEC-001): the first 16 hexadecimal digits of its SHA-256. It returns "" for an empty
// id.
func HashID(id string) string {
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}
