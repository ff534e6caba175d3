package words

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
	"github.com/hocketvoice/hocket/dialog/value"
)

// Words understands the messages to one agent. It is trained when it is made and never
// changes: any number of goroutines may use it.
type Words struct {
	def *agent.Definition

	intents     *classifier
	flowWords   []map[string]bool // by flow: the words that speak for it
	flowWeights map[string]float64
	triggers    [][]triggerWords // by flow
	askables    []askable
	spelt       map[string]bool // words that are known; true: a request has them
	speltWords  []string        // those of requests, in order
	askWeights  map[string]float64
	values      *value.Phrases // of all slots that list theirs

	guarded []*agent.Flow        // those that have a condition
	closed  map[*agent.Flow]bool // those of them that may not start, at the moment of a [Reading]
}

// New trains the understanding of an agent's messages. The same definition always gives
// the same understanding.
func New(def *agent.Definition) *Words {
	a := &Words{def: def}
	for _, f := range def.Flows {
		if f.Guarded() {
			a.guarded = append(a.guarded, f)
		}
	}
	a.trainIntents()
	a.learnWords()
	a.learnSpelling()
	a.learnAskables()
	return a
}

// Understand returns what a message means by its words.
func (a *Words) Understand(m *command.Moment, text string) command.Meaning {
	t := a.Hear(m, a.Read(m, text))
	t.repair()
	t.rd.Respell()
	cmds := t.Local()
	if len(cmds) == 0 && len(t.offered) == 0 && len(t.a.closed) > 0 {
		cmds = t.barred()
	}
	for i := range cmds {
		cmds[i].Value = value.Canonical(cmds[i].Value)
	}
	out := command.Meaning{Commands: cmds, Heard: t.rd, Values: t.values, Given: t.given, Respelt: t.respelt, Unused: t.leftOver(cmds)}
	for _, s := range t.either {
		out.Either = append(out.Either, s.Name)
	}
	for _, f := range t.offered {
		out.Offered = append(out.Offered, f.Name)
	}
	return out
}

// Read cuts a message into tokens.
func (a *Words) Read(m *command.Moment, text string) value.Reader {
	return value.Reader{Lang: a.def.Lang, Raw: text, Toks: value.Tokenize(text, nil), Now: m.Now, Week: m.Week}
}

// message is a message at a moment: what its words say.
type message struct {
	a    *Words
	st   *command.Moment
	flow *agent.Flow // of CurrentFlow, nil without one
	rd   value.Reader
}

// Reading is what is made of a message at a moment, and what of it is open.
type Reading struct {
	message

	either  []*agent.Slot  // to which of them a value belongs is not known
	values  map[string]any // what it would be in each
	offered []*agent.Flow  // that may be meant, and that the words do not ask for plainly
	given   map[string]any // values that were said for the one that is offered
	respelt string
}

// Hear is a message that was read at a moment.
func (a *Words) Hear(m *command.Moment, rd value.Reader) *Reading {
	return &Reading{message: message{a: a.at(m), st: m, flow: a.def.FlowIndex[m.CurrentFlow], rd: rd}}
}

// at is the understanding at a moment: without the flows that may not start.
func (a *Words) at(m *command.Moment) *Words {
	var closed map[*agent.Flow]bool
	for _, f := range a.guarded {
		if !f.MayStart(func(name string) any { return m.Slots[name] }) {
			if closed == nil {
				closed = make(map[*agent.Flow]bool)
			}
			closed[f] = true
		}
	}
	if len(closed) == 0 && len(a.closed) == 0 {
		return a
	}
	at := *a
	at.closed = closed
	return &at
}

// barred is a flow that the message asks for and that may not start.
func (t *Reading) barred() []command.Command {
	all, open := *t, *t.a
	open.closed = nil
	all.a = &open
	for _, c := range all.Local() {
		if f := t.a.def.FlowIndex[c.Flow]; c.Type == command.StartFlow && t.a.closed[f] {
			return []command.Command{{Type: command.StartFlow, Flow: f.Name}}
		}
	}
	return nil
}

func (t *message) read(text string) { t.rd = t.a.Read(t.st, text) }

// sealed reports whether the flow that ended last has done what a correction cannot undo.
func (t *message) sealed() bool { return t.flow == nil && t.st.Sealed() }

// acceptable reports whether the slot would take the value: five hundred is an
// amount and no account number.
func (t *message) acceptable(v found) bool {
	return !value.Half(v.value) && !t.twin(v.slot, v.value) && t.a.takes(t.rd, v.slot, v.value, t.st.Slots)
}

// twin reports whether a slot from which this one differs has the value already.
func (t *message) twin(s *agent.Slot, v any) bool {
	return slices.ContainsFunc(s.Differs, func(name string) bool {
		o := t.a.def.SlotIndex[name]
		return o != nil && o != s && value.Equal(t.st.Slots[name], v)
	})
}

// Sharing are the flows that all have the message as a trigger, where there are several.
func (t *Reading) Sharing() []*agent.Flow { return t.a.sharing(t.rd.Toks) }

// Nearest is the flow that has most words of the message, nil if none stands out.
func (t *Reading) Nearest() *agent.Flow {
	f, _ := t.byWords(t.rd.Toks)
	return f
}

// Undecided are the values for the awaited slot of which the user chose none: "Monday or
// Tuesday".
func (t *Reading) Undecided() (*agent.Slot, []any) {
	s, open := t.choice()
	var values []any
	for _, f := range open {
		values = append(values, f.value)
	}
	return s, values
}

// Offered are the flows that may be meant and that the words do not ask for plainly, after
// [Reading.Local].
func (t *Reading) Offered() []*agent.Flow { return t.offered }

// Given are the values that were said for the flow that is offered.
func (t *Reading) Given() map[string]any { return t.given }
