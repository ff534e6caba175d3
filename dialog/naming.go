package dialog

import (
	"slices"
	"strings"
)

// This file: what people call slots, and the words that point to them.

// nameSlots collects what people call the slots of a flow; what could mean two
// of them means none.
func (a *Agent) nameSlots(f *flow) {
	const several = -1
	owner := make(map[string]int)
	own := make(map[string]bool) // names that a file gives: derived ones do not touch them
	var order []string
	claim := func(phrase string, i int, given bool) {
		key := foldText(phrase)
		if key == "" || own[key] && !given {
			return
		}
		if o, there := owner[key]; there {
			if o != i {
				owner[key] = several
			}
			return
		}
		owner[key], own[key] = i, given
		order = append(order, phrase)
	}
	for i, s := range f.slots {
		claim(s.label, i, true)
		claim(s.name, i, true)
		for _, k := range s.names {
			claim(k, i, true)
		}
	}
	for i, s := range f.slots {
		words := strings.Fields(s.label)
		if len(words) > 1 {
			claim(words[len(words)-1], i, false)
			claim(words[0], i, false)
		}
		if d := strings.TrimRight(s.description, ".?!"); d != "" && len(strings.Fields(d)) <= 4 {
			claim(strings.TrimPrefix(strings.TrimPrefix(d, "the "), "The "), i, false)
		}
		for _, role := range a.lang.data.Roles {
			if slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(s.name), func(r rune) bool { return r == '_' }), func(w string) bool { return slices.Contains(role.Names, w) }) && s.typ != TypeDate && s.typ != TypeTime {
				for _, m := range role.Mentions {
					claim(m, i, false)
				}
			}
		}
		for _, n := range a.lang.data.TypeNames[string(s.typ)] {
			claim(n, i, false)
		}
	}
	f.mentions = newPhraseTable()
	for _, phrase := range order {
		key := foldText(phrase)
		i := owner[key]
		if i < 0 {
			continue
		}
		s := f.slots[i]
		if _, value := s.lookup.ids[key]; value {
			continue // a value is not a name
		}
		f.mentions.add(phrase, i)
		s.mentions.add(phrase, 0)
		if !slices.Contains(s.names, phrase) && phrase != s.name {
			s.names = append(s.names, phrase)
		}
	}
}

// learnCues takes the word before a slot in a trigger as a cue for it ("to
// {destination}").
func (a *Agent) learnCues() {
	for _, f := range a.flows {
		for _, t := range f.triggers {
			for i, p := range t.parts {
				if p.slot == nil || i == 0 || t.parts[i-1].slot != nil {
					continue
				}
				w := t.parts[i-1].word
				known := false
				for _, role := range a.lang.data.Roles {
					known = known || slices.ContainsFunc(role.Cues, func(c string) bool { return foldText(c) == w })
				}
				if known {
					p.slot.cues.add(w, 0)
				}
			}
		}
	}
}
