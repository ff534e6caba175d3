package words

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file finds several requests in one message, and tells questions from requests.

// StartProposed returns the commands that start the proposed flow with the values that were
// given for it before and those of the message.
func (t *Reading) StartProposed(f *agent.Flow) []command.Command {
	values := t.a.extract(t.rd, f.Slots, nil)
	cmds := t.starting(f, values)
	for _, s := range t.a.def.Slots {
		v, given := t.st.ProposedSlots[s.Name]
		if given && !slices.ContainsFunc(values, func(x found) bool { return x.slot == s }) {
			cmds = append(cmds, command.Command{Type: command.SetSlot, Slot: s.Name, Value: v})
		}
	}
	return cmds
}

// twoRequests returns the commands of a message that asks for two flows, each in its own
// words.
func (t *message) twoRequests() []command.Command {
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
			once = command.Again
		}
		cmds := []command.Command{{Type: command.StartFlow, Flow: first.Name}}
		for _, v := range given {
			cmds = append(cmds, command.Command{Type: command.SetSlot, Slot: v.slot.Name, Value: v.value})
		}
		cmds = append(cmds, command.Command{Type: command.StartFlow, Flow: second.Name, Text: once})
		for _, v := range more {
			cmds = append(cmds, command.Command{Type: command.SetSlot, Slot: v.slot.Name, Value: v.value})
		}
		return cmds
	}
	return nil
}

// onceMore returns the values of a request that omits the words of the previous one: "100
// to Bob" after "send 250 to Anna".
func (t *message) onceMore(f *agent.Flow, toks []value.Token) []found {
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

// conflicts reports whether two lists have different values for the same slot.
func conflicts(a, b []found) bool {
	return slices.ContainsFunc(a, func(x found) bool {
		return slices.ContainsFunc(b, func(y found) bool { return x.slot == y.slot && !value.Equal(x.value, y.value) })
	})
}

// another returns the commands of a further request for the current flow: "yes, and also 50
// to Bob". The current run is not changed.
func (t *message) another() []command.Command {
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
	cmds := []command.Command{{Type: command.StartFlow, Flow: t.flow.Name, Text: command.Again}}
	for _, v := range values {
		cmds = append(cmds, command.Command{Type: command.SetSlot, Slot: v.slot.Name, Value: v.value})
	}
	return cmds
}

// joins returns the length of the words at token k that join two requests.
func (t *message) joins(k int) int {
	_, n := t.a.def.Lang.Joins.At(t.rd.Toks, k)
	return n
}

// requestIn returns the flow that a part of a message clearly asks for, or nil, with the
// values that it gives.
func (t *message) requestIn(toks []value.Token) (*agent.Flow, []found) {
	part := *t
	part.rd.Raw = value.SpanText(t.rd.Raw, toks, 0, len(toks))
	part.rd.Toks = value.Tokenize(part.rd.Raw, nil)
	if f, values := part.byPattern(); f != nil {
		return f, values
	}
	f, _ := t.a.classify(t.a.Core(toks))
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

// AsksToBeTold reports whether words ask for information: "how much is it", "did it
// arrive". Words such as "is there a flight" are a request.
func (t *Reading) AsksToBeTold(toks []value.Token) bool { return t.questionWord(toks) != "" }

// AsksOpenly reports whether the message asks for information with a word such as "what" or "how".
func (t *Reading) AsksOpenly() bool {
	word := t.questionWord(t.rd.Toks)
	_, n := t.a.def.Lang.Interrogatives.At(value.Tokenize(word, nil), 0)
	return n > 0
}

// questionWord returns the first word of a question, or "" if the words are not a question.
func (t *message) questionWord(toks []value.Token) string {
	l := t.a.def.Lang
	for len(toks) > 0 {
		_, wanted := l.Soft.At(toks, 0) // "is there"
		_, word := l.Interrogatives.At(toks, 0)
		if _, n := l.Polar.At(toks, 0); word > 0 || n > 0 && n >= wanted {
			return toks[0].Text
		}
		rest := l.Weak.TrimLeft(l.Soft.TrimLeft(t.a.Core(toks)))
		if len(rest) == len(toks) {
			break
		}
		toks = rest
	}
	return ""
}

// tellsDone reports whether words tell what has been done: "I sent 50 euros to Anna".
func (t *message) tellsDone(toks []value.Token) bool {
	_, n := t.a.def.Lang.Reports.At(t.a.def.Lang.Fillers.TrimLeft(toks), 0)
	return n > 0
}

// mayAsk reports whether words may ask for a flow. A question may only if one of the flow's
// triggers is a question. A yes-or-no question, and a question for a flow that changes
// something, must also begin with the same word. What has been done asks for nothing, unless a
// trigger of the flow says so ("I lost my card"). Neither "how much does a visit cost?" nor
// "did you cancel my visit?" cancels a visit.
func (t *message) mayAsk(f *agent.Flow, toks []value.Token) bool {
	if t.tellsDone(toks) && !slices.ContainsFunc(f.Triggers, func(tr agent.Trigger) bool { return t.tellsDone(value.Tokenize(tr.Text, nil)) }) {
		return false
	}
	word := t.questionWord(toks)
	_, open := t.a.def.Lang.Interrogatives.At(value.Tokenize(word, nil), 0)
	return word == "" || slices.ContainsFunc(f.Triggers, func(tr agent.Trigger) bool {
		w := t.questionWord(value.Tokenize(tr.Text, nil))
		return w != "" && (open > 0 && !changes(f) || strings.HasPrefix(w, word) || strings.HasPrefix(word, w))
	})
}
