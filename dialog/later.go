package dialog

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file: two requests in one message. One is carried out, the other is kept and
// offered when the first is done.

// Request is something that the user has asked for beside another.
type Request struct {
	Flow  string         `json:"flow"`
	Slots map[string]any `json:"slots,omitempty"`
}

const maxLater = 4

// again is the text of a command to start a flow once more, with other values.
const again = "again"

// keepLater takes the second and further requests from commands and keeps them. The
// values behind one are its own.
func (t *turn) keepLater(cmds []Command) []Command {
	var out []Command
	var first *agent.Flow
	later, lost := -1, false
	for _, c := range cmds {
		f := t.a.def.FlowIndex[c.Flow]
		switch {
		case c.Type == StartFlow && c.Text == again && f != nil:
			if later = -1; len(t.st.Later) < maxLater {
				later = len(t.st.Later)
				t.st.Later = append(t.st.Later, Request{Flow: c.Flow})
				t.trace("request_kept", TraceData{Flow: c.Flow})
			}
			lost = later < 0
			t.kept = !lost
			continue
		case lost && (c.Type == SetSlot || c.Type == CorrectSlot):
			continue
		case c.Type == StartFlow && (first == nil || f == first):
			first, later = f, -1
		case c.Type == StartFlow && f == t.flow:
		case c.Type == StartFlow:
			later = slices.IndexFunc(t.st.Later, func(r Request) bool { return r.Flow == c.Flow })
			if later < 0 && len(t.st.Later) < maxLater {
				later = len(t.st.Later)
				t.st.Later = append(t.st.Later, Request{Flow: c.Flow})
				t.trace("request_kept", TraceData{Flow: c.Flow})
			}
			continue
		case later >= 0 && (c.Type == SetSlot || c.Type == CorrectSlot):
			s, kept := t.a.def.SlotIndex[c.Slot], t.a.def.FlowIndex[t.st.Later[later].Flow]
			if c.Value != nil && s != nil && kept != nil && kept.UsesSlot(s) && !s.Secret {
				put(&t.st.Later[later].Slots, c.Slot, c.Value)
			}
			continue
		}
		out = append(out, c)
	}
	return out
}

// offerLater asks about a request that was kept, if there is one.
func (t *turn) offerLater() {
	st := t.st
	for len(st.Later) > 0 {
		r := st.Later[0]
		st.Later = slices.Clone(st.Later[1:])
		if len(st.Later) == 0 {
			st.Later = nil
		}
		if f := t.a.def.FlowIndex[r.Flow]; f != nil {
			t.proposeFlow("propose_later", f, r.Slots)
			return
		}
	}
}

// startProposed begins the flow that was proposed, with the values that were given for it and
// those of the message.
func (t *turn) startProposed(f *agent.Flow) []Command {
	values := t.a.extract(t.rd, f.Slots, nil)
	cmds := t.starting(f, values)
	for _, s := range t.a.def.Slots {
		v, given := t.st.ProposedSlots[s.Name]
		if given && !slices.ContainsFunc(values, func(x found) bool { return x.slot == s }) {
			cmds = append(cmds, Command{Type: SetSlot, Slot: s.Name, Value: v})
		}
	}
	return cmds
}

// twoRequests finds two flows that a message asks for, each by words of its own.
func (t *turn) twoRequests() []Command {
	toks := t.rd.Toks
	for k := 1; k+1 < len(toks); k++ {
		n := t.joins(k)
		if n == 0 || k+n >= len(toks) {
			continue
		}
		first, given := t.requestIn(toks[:k])
		if first == nil {
			continue
		}
		second, more := t.requestIn(toks[k+n:])
		once := ""
		if second == nil || first == second {
			if second, more = first, t.onceMore(first, toks[k+n:]); !conflicts(given, more) {
				continue
			}
			once = again
		}
		cmds := []Command{{Type: StartFlow, Flow: first.Name}}
		for _, v := range given {
			cmds = append(cmds, Command{Type: SetSlot, Slot: v.slot.Name, Value: v.value})
		}
		cmds = append(cmds, Command{Type: StartFlow, Flow: second.Name, Text: once})
		for _, v := range more {
			cmds = append(cmds, Command{Type: SetSlot, Slot: v.slot.Name, Value: v.value})
		}
		return cmds
	}
	return nil
}

// onceMore are the values of a request that leaves out the words of the one before it: "100
// to Bob" behind "send 250 to Anna".
func (t *turn) onceMore(f *agent.Flow, toks []value.Token) []found {
	part := t.rd
	part.Raw = value.SpanText(t.rd.Raw, toks, 0, len(toks))
	part.Toks = value.Tokenize(part.Raw, nil)
	var best []found
	for _, tr := range f.Triggers {
		k := slices.IndexFunc(tr.Parts, func(p agent.TriggerPart) bool { return p.Slot != nil })
		if k < 0 {
			continue
		}
		if values, ok := t.a.matchPattern(part, t.a.def.Lang.Polite.TrimRight(part.Toks), 0, tr.Parts[k:], nil, 0); ok && len(values) > len(best) {
			best = values
		}
	}
	if len(best) < 2 {
		best = t.a.extract(part, f.Slots, nil)
	}
	if len(best) < 2 || slices.ContainsFunc(best, func(v found) bool { return denied(part, v) || t.a.alternative(part, v) }) {
		return nil
	}
	return best
}

// conflicts reports whether two lists of values have a slot in common, with another value.
func conflicts(a, b []found) bool {
	return slices.ContainsFunc(a, func(x found) bool {
		return slices.ContainsFunc(b, func(y found) bool { return x.slot == y.slot && !value.Equal(x.value, y.value) })
	})
}

// another finds a further request for the flow that runs: "yes, and also 50 to Bob". It
// changes nothing about this one.
func (t *turn) another() []Command {
	if t.flow == nil {
		return nil
	}
	l, toks := t.a.def.Lang, t.rd.Toks
	answer, n := l.LeadingAnswer(toks)
	_, also := l.Also.At(toks, n)
	if _, m := l.Joins.At(toks, n); answer == value.Yes && n > 0 && m > also {
		also = m
	}
	if also == 0 || n+also >= len(toks) {
		return nil
	}
	values := t.onceMore(t.flow, toks[n+also:])
	if !slices.ContainsFunc(values, func(v found) bool { o := t.st.Slots[v.slot.Name]; return o != nil && !value.Equal(o, v.value) }) {
		return nil
	}
	cmds := []Command{{Type: StartFlow, Flow: t.flow.Name, Text: again}}
	for _, v := range values {
		cmds = append(cmds, Command{Type: SetSlot, Slot: v.slot.Name, Value: v.value})
	}
	return cmds
}

// joins is the length of what joins two requests at token k.
func (t *turn) joins(k int) int {
	_, n := t.a.def.Lang.Joins.At(t.rd.Toks, k)
	return n
}

// requestIn is the flow that a part of a message asks for, with the values that it
// gives; nil if that is not plain.
func (t *turn) requestIn(toks []value.Token) (*agent.Flow, []found) {
	part := *t
	part.rd.Raw = value.SpanText(t.rd.Raw, toks, 0, len(toks))
	part.rd.Toks = value.Tokenize(part.rd.Raw, nil)
	if f, values := part.byPattern(); f != nil {
		return f, values
	}
	f, _ := t.a.classify(t.a.core(toks))
	if f == nil {
		var p float64
		if f, p = t.byWords(toks); p < intentSure {
			return nil, nil
		}
	}
	if f == nil || !t.mayAsk(f, toks) {
		return nil, nil
	}
	values := t.a.extract(part.rd, f.Slots, nil)
	if !part.asksFor(f, values) {
		return nil, nil
	}
	return f, values
}

// asksToBeTold reports whether words ask for something to be told: "how much is it", "did
// it arrive". Whether there is something ("is there a flight") is asked by who wants it.
func (t *turn) asksToBeTold(toks []value.Token) bool { return t.questionWord(toks) != "" }

// questionWord is the word that a question begins with, "" if the words are not one.
func (t *turn) questionWord(toks []value.Token) string {
	l := t.a.def.Lang
	for len(toks) > 0 {
		_, wanted := l.Soft.At(toks, 0) // "is there"
		_, word := l.Interrogatives.At(toks, 0)
		if _, n := l.Polar.At(toks, 0); word > 0 || n > 0 && n >= wanted {
			return toks[0].Text
		}
		rest := l.Weak.TrimLeft(l.Soft.TrimLeft(t.a.core(toks)))
		if len(rest) == len(toks) {
			break
		}
		toks = rest
	}
	return ""
}

// mayAsk reports whether words may ask for a flow: a question does only where a trigger
// is a question. One for a yes or no, and one for a flow that changes something, has to
// begin alike. "How much
// does a visit cost?" cancels no visit, and neither does "did you cancel my visit?".
func (t *turn) mayAsk(f *agent.Flow, toks []value.Token) bool {
	word := t.questionWord(toks)
	_, open := t.a.def.Lang.Interrogatives.At(value.Tokenize(word, nil), 0)
	return word == "" || slices.ContainsFunc(f.Triggers, func(tr agent.Trigger) bool {
		w := t.questionWord(value.Tokenize(tr.Text, nil))
		return w != "" && (open > 0 && !changes(f) || strings.HasPrefix(w, word) || strings.HasPrefix(word, w))
	})
}
