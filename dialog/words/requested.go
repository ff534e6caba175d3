package words

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file finds the flow that a message asks for, with its values.

// request returns the commands for the flow that the message asks for, with values for its
// slots, or values for the slots of the current flow. If asked is true, the message also
// asks for a slot, and must ask for a flow without doubt.
func (t *Reading) request(asked bool) []command.Command {
	st := t.st
	if f, values := t.byPattern(); f != nil {
		if t.negates(f) {
			return nil
		}
		return t.starting(f, values)
	}
	target, p := t.intent(asked)
	if target != nil && target != t.flow && t.negates(target) {
		return nil
	}
	if t.flow == nil {
		if target == nil && asked {
			return nil
		}
		if target == nil {
			if c := t.byValues(); len(c) > 0 {
				return c
			}
			t.mayOfferTrigger()
			return nil
		}
		given := t.a.extract(t.rd, target.Slots, nil)
		if !t.asksFor(target, given) {
			if p >= intentSure || t.mostlyOf(target, given) {
				t.mayOffer(target, given)
			}
			return nil
		}
		return t.starting(target, given)
	}
	values := t.a.extract(t.rd, t.flow.Slots, t.a.def.SlotIndex[st.WaitingForSlot])
	if target != nil && target != t.flow && p >= intentSure && !t.answers(values) {
		if given := t.a.extract(t.rd, target.Slots, nil); t.asksFor(target, given) {
			return t.starting(target, given)
		}
	}
	if len(values) == 1 && !values[0].cue && !t.answers(values) && t.aboutOther(values[0], 2) {
		return nil // "lovely weather today"
	}
	return t.setting(values)
}

// mayOfferTrigger records the only flow with a trigger with slots whose words the message
// has, if not all its values can be read: "send 50 euros to my landlord".
func (t *Reading) mayOfferTrigger() {
	var only *agent.Flow
	var given []found
	for _, f := range t.a.def.Flows {
		values := t.a.extract(t.rd, f.Slots, nil)
		if !t.a.Startable(f) || len(values) == 0 || !t.mayAsk(f, t.rd.Toks) || t.negates(f) || !t.hasTrigger(f, values, 1) {
			continue
		}
		if only != nil {
			return
		}
		only, given = f, values
	}
	if only != nil {
		t.mayOffer(only, given)
	}
}

// byPattern returns the flow with a trigger with slots that the message matches, and the
// values. Of several triggers it takes the one with most words. It returns nil if two flows
// have as many.
func (t *message) byPattern() (*agent.Flow, []found) {
	var best *agent.Flow
	var given []found
	most, tied := 0, false
	for _, f := range t.a.def.Flows {
		if t.a.closed[f] || !t.mayAsk(f, t.rd.Toks) {
			continue
		}
		for _, tr := range f.Triggers {
			words := 0
			for _, p := range tr.Parts {
				if p.Slot == nil {
					words++
				}
			}
			if !tr.Slots || words < most || f == best && words == most {
				continue
			}
			values, ok := t.a.pattern(t.rd, tr)
			switch {
			case !ok:
			case words == most && best != nil:
				tied = true
			default:
				best, given, most, tied = f, values, words, false
			}
		}
	}
	if best == nil || tied {
		return nil, nil
	}
	for _, m := range t.a.extract(t.rd, best.Slots, nil) {
		if !slices.ContainsFunc(given, func(v found) bool {
			return v.slot == m.slot || v.start < m.end && m.start < v.end
		}) {
			given = append(given, m)
		}
	}
	return best, given
}

// intent returns the flow that the message asks for, as a whole, by one of its sentences,
// or by its words.
func (t *message) intent(asked bool) (*agent.Flow, float64) {
	toks := t.rd.Toks
	for _, part := range [...][]value.Token{t.a.Core(toks), toks} {
		if f, p := t.a.classify(part); f != nil && t.mayAsk(f, part) {
			if p >= intentSure || t.fitsBest(f) {
				return f, p
			}
			break
		}
	}
	sentences := t.rd.Sentences(toks)
	if t.unwanted(toks) && len(sentences) == 1 {
		return nil, 0
	}
	if len(sentences) > 1 {
		for _, s := range sentences {
			if f, p := t.a.classify(t.a.Core(s)); f != nil && t.mayAsk(f, s) {
				return f, p
			}
		}
	}
	var best *agent.Flow
	top := 0.0
	for _, s := range sentences {
		if asked && t.rd.Asks(s) || t.unwanted(s) {
			continue
		}
		if f, p := t.byWords(s); f != nil && p > top && t.mayAsk(f, s) {
			best, top = f, p
		}
	}
	return best, top
}

// fitsBest reports whether no other flow takes more of the message's values.
func (t *message) fitsBest(f *agent.Flow) bool {
	given := t.a.givenTo(t.rd)
	for _, g := range given {
		if g > given[f.Index]+0.3 {
			return false
		}
	}
	return true
}

// unwanted reports whether a sentence refuses something or asks for another result. Such a
// sentence starts no flow.
func (t *message) unwanted(toks []value.Token) bool {
	answer, _ := t.a.def.Lang.LeadingAnswer(toks)
	return answer == value.No || t.a.def.Lang.NotWanted.Within(toks) || t.flow == nil && t.st.Finished != nil && t.a.def.Lang.Others.Within(toks)
}

// negates reports whether the message says not to do what the flow does, or that it was not
// done: "I don't want to cancel my appointment", "never book it".
func (t *message) negates(f *agent.Flow) bool {
	l, toks := t.a.def.Lang, t.rd.Toks
	for i := range toks {
		_, n := l.Denials.At(toks, i)
		if n == 0 {
			continue
		}
		j := i + n
		for {
			_, k := l.Wishes.At(toks, j)
			if k == 0 {
				break
			}
			j += k
		}
		if j >= len(toks) {
			continue
		}
		if w, k := l.Meaning(toks, j); k > 0 && t.a.flowWords[f.Index][w] {
			return true
		}
	}
	return false
}

// byValues starts the only flow for which the message has most values, at least two: "from
// Boston to Denver".
func (t *message) byValues() []command.Command {
	var best []found
	var target *agent.Flow
	for _, f := range t.a.def.Flows {
		if !t.a.Startable(f) {
			continue
		}
		values := t.a.extract(t.rd, f.Slots, nil)
		switch {
		case len(values) > len(best):
			best, target = values, f
		case len(values) == len(best):
			target = nil
		}
	}
	if target == nil || len(best) < 2 || t.negates(target) || !t.mayAsk(target, t.rd.Toks) {
		return nil
	}
	return t.starting(target, best)
}
