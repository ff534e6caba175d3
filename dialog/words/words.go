package words

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
	"github.com/hocketvoice/hocket/dialog/value"
)

// Words understands messages to one agent. It is trained by [New], immutable and safe for
// concurrent use.
type Words struct {
	def *agent.Definition

	intents     *classifier
	flowWords   []map[string]bool // by flow: its words
	flowWeights map[string]float64
	triggers    [][]triggerWords // by flow
	askables    []askable
	spelt       map[string]bool // the known words; true for words of requests
	speltWords  []string        // the words of requests, sorted
	askWeights  map[string]float64
	values      *value.Phrases // the listed values of all slots

	guarded []*agent.Flow        // the flows with conditions
	closed  map[*agent.Flow]bool // the flows that may not start at the moment of a [Reading]
}

// New trains the understanding of messages to an agent. The same definition always gives
// the same result.
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

// Understand returns the meaning of a message by its words.
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

// Read splits a message into tokens.
func (a *Words) Read(m *command.Moment, text string) value.Reader {
	return value.Reader{Lang: a.def.Lang, Raw: text, Toks: value.Tokenize(text, nil), Now: m.Now, Week: m.Week}
}

// message is a message at a moment. Its methods find out what the words say.
type message struct {
	a    *Words
	st   *command.Moment
	flow *agent.Flow // the current flow, or nil
	rd   value.Reader
}

// Reading is a message at a moment, with the parts of its meaning that are open.
type Reading struct {
	message

	either  []*agent.Slot  // slots to one of which a value belongs
	values  map[string]any // the value in the form of each of them
	offered []*agent.Flow  // flows that the user may mean but does not clearly ask for
	given   map[string]any // values that were given for the offered flow
	respelt string         // the flow that was found by correcting spelling, or ""
}

// Hear returns the reading of a message that [Words.Read] has split.
func (a *Words) Hear(m *command.Moment, rd value.Reader) *Reading {
	return &Reading{message: message{a: a.at(m), st: m, flow: a.def.FlowIndex[m.CurrentFlow], rd: rd}}
}

// at returns the understanding without the flows that may not start at a moment.
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

// barred returns the command of a message that asks for a flow that may not start.
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

// sealed reports whether the flow that ended last has done something that a correction
// cannot undo.
func (t *message) sealed() bool { return t.flow == nil && t.st.Sealed() }

// acceptable reports whether the slot would accept the value: five hundred is an amount but
// not an account number.
func (t *message) acceptable(v found) bool {
	return !value.Half(v.value) && !t.twin(v.slot, v.value) && t.a.takes(t.rd, v.slot, v.value, t.st.Slots)
}

// twin reports whether a slot from which s must differ already has the value.
func (t *message) twin(s *agent.Slot, v any) bool {
	return slices.ContainsFunc(s.Differs, func(name string) bool {
		o := t.a.def.SlotIndex[name]
		return o != nil && o != s && value.Equal(t.st.Slots[name], v)
	})
}

// Sharing returns the flows that have the message as a trigger, or between which the user does not
// choose, if there are several.
func (t *Reading) Sharing() []*agent.Flow {
	if flows := t.a.sharing(t.rd.Toks); len(flows) > 0 {
		return flows
	}
	return t.alternatives()
}

// alternatives returns two flows that "or" joins: "cancel my visit, or maybe move it".
func (t *message) alternatives() []*agent.Flow {
	toks := t.rd.Toks
	for k := 1; k+1 < len(toks); k++ {
		_, n := t.a.def.Lang.Or.At(toks, k)
		if n == 0 || k+n >= len(toks) {
			continue
		}
		first, _ := t.requestIn(toks[:k])
		if first == nil {
			continue
		}
		if second := t.verbOf(toks[k+n:], first); second != nil {
			return []*agent.Flow{first, second}
		}
	}
	return nil
}

// verbOf returns the only other flow that has the first word of one of its triggers in the given
// words.
func (t *message) verbOf(toks []value.Token, not *agent.Flow) *agent.Flow {
	var only *agent.Flow
	said := t.a.def.Lang.Contents(toks, nil)
	for _, f := range t.a.def.Flows {
		if f == not || !t.a.Startable(f) || !slices.ContainsFunc(t.a.triggers[f.Index], func(tr triggerWords) bool {
			return len(tr.words) > 0 && slices.Contains(said, tr.words[0]) && !t.a.flowWords[not.Index][tr.words[0]]
		}) {
			continue
		}
		if only != nil {
			return nil
		}
		only = f
	}
	return only
}

// Nearest returns the flow with most words of the message, or nil if none stands out.
func (t *Reading) Nearest() *agent.Flow {
	f, _ := t.byWords(t.rd.Toks)
	return f
}

// Undecided returns the awaited slot and the values for it of which the user chose none:
// "Monday or Tuesday".
func (t *Reading) Undecided() (*agent.Slot, []any) {
	s, open := t.choice()
	var values []any
	for _, f := range open {
		values = append(values, f.value)
	}
	return s, values
}

// Offered returns the flows that the user may mean but does not clearly ask for, after
// [Reading.Local].
func (t *Reading) Offered() []*agent.Flow { return t.offered }

// Given returns the values that were given for the offered flow.
func (t *Reading) Given() map[string]any { return t.given }
