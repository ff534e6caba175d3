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

// StateChanged is one change of phase, or of a view alone, as observers see it: seed
// 000's state-changed event. It holds no words; ids are hashed (SEC-001).
type StateChanged struct {
	// Transition is the change. Where a view alone has changed its From and To are the
	// same phase, and its cause is the event's type.
	Transition conv.Transition
	From, To   view.Views // what the seeds saw before and see after it
	Label      string     // the state's name for people (INT-003)
	// In is how long the phase before was, so far if a view alone has changed.
	In time.Duration
	// Conversation is the hash of the conversation's id.
	Conversation string
	// Turn is the turn that the change ended or belongs to.
	Turn TurnContext
	// Loop takes facts of the observer's, during the call.
	Loop *Loop
}

// TurnEvent is the beginning or the end of a turn: seed 000's turn events.
type TurnEvent struct {
	conv.TurnEvent
	Conversation string // the hash of its id
	Context      TurnContext
	Loop         *Loop // takes facts of the observer's, during the call
}

// Problem is a fault as observers see it (OnError). It names the class and what
// a person can do, never a credential (SEC-003).
type Problem struct {
	Phase   conv.Phase
	Code    string // of the message catalogue
	Message string
	Level   conv.NotifyLevel
	Loop    *Loop // takes facts of the observer's, during the call
}

// Step is everything one step did, for observers that record or display, without the
// secrets of the agent's (conv.Veil). It is valid during the call.
type Step struct {
	Now    time.Time
	Event  conv.Event
	Output *conv.Output
	State  *conv.State
	Loop   *Loop // takes facts of the observer's
}

// observer is one subscription: one of the functions is set.
type observer struct {
	gone atomic.Bool // it has unsubscribed

	changed func(StateChanged)
	turn    func(TurnEvent)
	problem func(Problem)
	step    func(Step)
}

// subscribe adds an observer and returns its end.
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

// tell calls the observers, on the loop's goroutine and without a lock held.
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

// changes are the step's changes of phase, and behind them what has changed of the
// views besides.
func (m *Machine) changes(now time.Time, ev conv.Event, before view.Views, since time.Time) []StateChanged {
	var changes []StateChanged
	tell := func(t conv.Transition) {
		if since.IsZero() {
			since = t.At // nobody was in the first phase
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

// words are the catalogue's for a code, in the conversation's language.
func (m *Machine) words(code string) string { return m.catalog.Text(code) }

// turnID is the hashed id of a turn of this conversation; empty for none.
func (m *Machine) turnID(number int) string {
	if number == 0 {
		return ""
	}
	return HashID(m.o.ID + "/" + strconv.Itoa(number))
}

// HashID makes an id that can be correlated and not read (seed 000, SEC-001): the first
// 16 hexadecimal digits of its SHA-256. It is empty for an empty id.
func HashID(id string) string {
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}
