package agent

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/value"
)

// This file collects the names that people use for slots, and the words that point to slots.

// slotNames collects phrases that people may use for the slots of a flow.
type slotNames struct {
	owner   map[string]int  // by folded phrase: the index of the slot, or severalSlots
	given   map[string]bool // phrases from the files, which derived ones do not replace
	phrases []string        // in the order in which they came
}

// severalSlots is the owner of a phrase that could mean more than one slot.
const severalSlots = -1

// claim notes that a phrase may mean slot i. given says that the phrase is from the files.
func (n *slotNames) claim(phrase string, i int, given bool) {
	key := value.FoldText(phrase)
	if key == "" || n.given[key] && !given {
		return
	}
	if o, there := n.owner[key]; there {
		if o != i {
			n.owner[key] = severalSlots
		}
		return
	}
	n.owner[key], n.given[key] = i, given
	n.phrases = append(n.phrases, phrase)
}

// derivedNames returns phrases that are not in the files but may mean the slot: words of its
// label, a short description, and the words of the language for its role and its type.
func (a *Definition) derivedNames(s *Slot) (names []string) {
	if words := strings.Fields(s.Label); len(words) > 1 {
		names = append(names, words[len(words)-1], words[0])
	}
	if d := strings.TrimRight(s.Description, ".?!"); d != "" && len(strings.Fields(d)) <= 4 {
		names = append(names, strings.TrimPrefix(strings.TrimPrefix(d, "the "), "The "))
	}
	if s.Type != value.TypeDate && s.Type != value.TypeTime {
		words := strings.FieldsFunc(strings.ToLower(s.Name), func(r rune) bool { return r == '_' })
		for _, role := range a.Lang.Data.Roles {
			if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(role.Names, w) }) {
				names = append(names, role.Mentions...)
			}
		}
	}
	return append(names, a.Lang.Data.TypeNames[string(s.Type)]...)
}

// nameSlots collects what people call the slots of a flow. A name that could mean two slots
// is dropped.
func (a *Definition) nameSlots(f *Flow) {
	n := slotNames{owner: make(map[string]int), given: make(map[string]bool)}
	for i, s := range f.Slots {
		n.claim(s.Label, i, true)
		n.claim(s.Name, i, true)
		for _, k := range s.Names {
			n.claim(k, i, true)
		}
	}
	for i, s := range f.Slots {
		for _, k := range a.derivedNames(s) {
			n.claim(k, i, false)
		}
	}
	f.Mentions = value.NewPhrases()
	for _, phrase := range n.phrases {
		key := value.FoldText(phrase)
		i := n.owner[key]
		if i == severalSlots {
			continue
		}
		s := f.Slots[i]
		if _, value := s.Lookup.IDs[key]; value {
			continue // a value is not a name
		}
		f.Mentions.Add(phrase, i)
		s.Mentions.Add(phrase, 0)
		if !slices.Contains(s.Names, phrase) && phrase != s.Name {
			s.Names = append(s.Names, phrase)
		}
	}
}

// learnCues makes the word before a slot in a trigger a cue for the slot ("to
// {destination}").
func (a *Definition) learnCues() {
	for _, f := range a.Flows {
		for _, t := range f.Triggers {
			for i, p := range t.Parts {
				if p.Slot == nil || i == 0 || t.Parts[i-1].Slot != nil {
					continue
				}
				w := t.Parts[i-1].Word
				known := false
				for _, role := range a.Lang.Data.Roles {
					known = known || slices.ContainsFunc(role.Cues, func(c string) bool { return value.FoldText(c) == w })
				}
				if known {
					p.Slot.Cues.Add(w, 0)
				}
			}
		}
	}
}

// coreParts returns a trigger without introductory words such as "I want to". It returns
// nil if nothing was removed or if too few words remain.
func (a *Definition) coreParts(t Trigger) []TriggerPart {
	n := 0
	for n < len(t.Parts) && t.Parts[n].Slot == nil {
		n++
	}
	toks := make([]value.Token, n)
	for i := range n {
		toks[i].Text = t.Parts[i].Word
	}
	parts := t.Parts[n-len(a.Lang.Prefixes.TrimLeft(toks)):]
	if len(parts) == len(t.Parts) {
		return nil
	}
	for _, p := range parts {
		if p.Slot == nil {
			if _, light := a.Lang.Light.At([]value.Token{{Text: p.Word}}, 0); light == 0 {
				return parts
			}
		}
	}
	if len(parts) >= 3 && parts[0].Slot == nil && parts[1].Slot == nil {
		return parts // "fly to {destination}"
	}
	return nil
}

// learnYesNo records which slots of free text a step compares with a yes or a no. Such a
// word is a value of the slot and not an answer to something else.
func (a *Definition) learnYesNo(s *Step) {
	var texts, names []string
	for _, c := range s.Cases {
		texts = append(texts, c.Pattern)
	}
	for _, e := range []*expr{s.Evaluate, s.Condition} {
		if e != nil {
			texts, names = append(texts, e.root.texts()...), append(names, e.names...)
		}
	}
	for _, text := range texts {
		answer := a.Lang.YesOrNo(value.Tokenize(text, nil))
		if answer == value.NoAnswer {
			continue
		}
		for _, name := range names {
			if slot := a.SlotIndex[name]; slot != nil && slot.Free() && slot.YesNo[answer] == "" {
				slot.YesNo[answer] = text
			}
		}
	}
}

// texts returns the text literals of an expression.
func (n *exprNode) texts() (out []string) {
	if n == nil {
		return nil
	}
	if text, ok := n.value.(string); ok && n.op == "lit" {
		out = append(out, text)
	}
	for _, arg := range n.args {
		out = append(out, arg.texts()...)
	}
	return out
}

// finish builds what depends on the whole definition: the names of slots, their cues, the
// cores of triggers, and the secret slots.
func (a *Definition) finish() {
	for _, f := range slices.Concat(a.Flows, a.Replaced) {
		a.nameSlots(f)
	}
	a.learnCues()
	for _, f := range a.Flows {
		for i := range f.Triggers {
			f.Triggers[i].Core = a.coreParts(f.Triggers[i])
		}
	}
	for _, f := range slices.Concat(a.Flows, a.Replaced) {
		for _, s := range f.Steps {
			a.learnYesNo(s)
		}
	}
	for _, s := range a.Slots {
		if s.Secret {
			a.Secrets = append(a.Secrets, s)
		}
	}
}
