package words

import (
	"maps"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file finds questions for values: "what is the address?", "do they have outdoor seating,
// and how expensive is it?".

// askable is what a user may ask for: a slot, or an output of an action.
type askable struct {
	name  string
	words map[string]bool
}

const (
	askAccept = 0.55 // least weight of the words of a slot in a question
	maxAsked  = 3    // maximum number of slots that one message asks for
)

// learnAskables collects the words with which users ask for slots and variables.
func (a *Words) learnAskables() {
	var sets []map[string]bool
	add := func(name string, words map[string]bool) {
		a.askables = append(a.askables, askable{name, words})
		sets = append(sets, words)
	}
	for _, s := range a.def.Slots {
		add(s.Name, s.Words)
	}
	for _, name := range slices.Sorted(maps.Keys(a.def.Vars)) {
		if a.def.SlotIndex[name] != nil {
			continue
		}
		words := make(map[string]bool)
		for _, w := range a.def.Lang.Contents(value.Tokenize(strings.ReplaceAll(name, "_", " "), nil), nil) {
			words[w] = true
		}
		add(name, words)
	}
	a.askWeights = weights(sets)
}

// questions returns commands for the slots that the message asks for. A slot without a
// value counts only if it belongs to the flow.
func (t *message) questions() []command.Command {
	if t.flow == nil && t.st.Finished == nil {
		return nil
	}
	var cmds []command.Command
	for _, part := range t.rd.Sentences(t.rd.Toks) {
		if t.flow == nil && t.a.def.Lang.Others.Within(part) {
			continue
		}
		asks := t.rd.Asks(part)
		for _, clause := range t.clauses(part) {
			if !asks && !t.rd.Asks(clause) {
				continue
			}
			if name := t.askedFor(clause); name != "" && len(cmds) < maxAsked &&
				!slices.ContainsFunc(cmds, func(c command.Command) bool { return c.Slot == name }) {
				cmds = append(cmds, command.Command{Type: command.AskSlot, Slot: name})
			}
		}
	}
	return cmds
}

// clauses splits a question at its conjunctions: "what is the address and the phone
// number".
func (t *message) clauses(part []value.Token) [][]value.Token {
	var out [][]value.Token
	start := 0
	for i, tok := range part {
		comma := i > start && strings.ContainsRune(t.rd.Raw[part[i-1].End:tok.Start], ',')
		if tok.Text == "and" || tok.Text == "und" || comma {
			out = append(out, part[start:i])
			start = i
			if !comma {
				start++
			}
		}
	}
	return append(out, part[start:])
}

// askedFor returns the slot or variable that a question is about, or "".
func (t *message) askedFor(toks []value.Token) string {
	var buf [24]string
	words := t.a.def.Lang.Contents(toks, buf[:0])
	best, second, name := 0.0, 0.0, ""
	for _, x := range t.a.askables {
		score := 0.0
		for k, w := range words {
			if x.words[w] && !slices.Contains(words[:k], w) && !t.justRequest(x.name, w) {
				score += t.a.askWeights[w]
			}
		}
		if score == 0 {
			continue
		}
		if s := t.a.def.SlotIndex[x.name]; s != nil {
			if slices.Contains(t.st.Recent, x.name) { // users rarely ask for what they have said
				score -= 0.4
			}
			for _, w := range words { // the name says more than the description
				if s.Keys[w] {
					score += 0.3
				}
			}
		}
		if !t.relevant(x.name) && (score < 0.9 || t.a.def.SlotIndex[x.name] == nil) {
			continue
		}
		switch {
		case score > best:
			best, second, name = score, best, x.name
		case score > second:
			second = score
		}
	}
	if best < askAccept || best-second < 0.05 || t.ofAnother(toks) {
		return ""
	}
	return name
}

// justRequest reports whether a word is one of the request that goes on and not of the slot's
// name: "did you send it?" does not ask for the amount to send.
func (t *message) justRequest(name, word string) bool {
	s := t.a.def.SlotIndex[name]
	return t.flow != nil && s != nil && !s.Keys[word] && t.a.flowWords[t.flow.Index][word]
}

// ofAnother reports whether a question is about something else than what the agent's flows and
// slots are about: what a bag costs is not what the flight costs. It is, if a word behind an
// article or behind "is" is a word neither of them nor of a known value.
func (t *message) ofAnother(toks []value.Token) bool {
	l := t.a.def.Lang
	for i := range toks {
		_, n := l.Articles.At(toks, i)
		if n == 0 {
			if _, n = l.Assign.At(toks, i); n == 0 || i+n+1 < len(toks) {
				continue
			}
		}
		for k := i + n; k < len(toks); {
			if _, light := l.Light.At(toks, k); light > 0 {
				break
			}
			word, m := l.Meaning(toks, k)
			if t.strange(word) {
				return true
			}
			k += m
		}
	}
	return false
}

// strange reports whether a word is unknown: no flow, slot or output of the agent has it, and no
// value that was given.
func (t *message) strange(word string) bool {
	if t.a.knows(word) {
		return false
	}
	for _, v := range t.st.Slots { // order: any of them
		if text, ok := v.(string); ok && slices.Contains(t.a.def.Lang.Contents(value.Tokenize(text, nil), nil), word) {
			return false
		}
	}
	return true
}

// relevant reports whether a name has a value or belongs to the current flow or the one
// that ended last.
func (t *message) relevant(name string) bool {
	if t.st.Slots[name] != nil {
		return true
	}
	f := t.flow
	if f == nil && t.st.Finished != nil {
		f = t.a.def.FlowIndex[t.st.Finished.Flow]
	}
	if f == nil {
		return false
	}
	return slices.Contains(f.Writes, name) || slices.ContainsFunc(f.Slots, func(s *agent.Slot) bool { return s.Name == name })
}
