package dialog

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/value"
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
		key := value.FoldText(phrase)
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
		for _, role := range a.lang.Data.Roles {
			if slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(s.name), func(r rune) bool { return r == '_' }), func(w string) bool { return slices.Contains(role.Names, w) }) && s.Type != value.TypeDate && s.Type != value.TypeTime {
				for _, m := range role.Mentions {
					claim(m, i, false)
				}
			}
		}
		for _, n := range a.lang.Data.TypeNames[string(s.Type)] {
			claim(n, i, false)
		}
	}
	f.mentions = value.NewPhrases()
	for _, phrase := range order {
		key := value.FoldText(phrase)
		i := owner[key]
		if i < 0 {
			continue
		}
		s := f.slots[i]
		if _, value := s.Lookup.IDs[key]; value {
			continue // a value is not a name
		}
		f.mentions.Add(phrase, i)
		s.Mentions.Add(phrase, 0)
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
				for _, role := range a.lang.Data.Roles {
					known = known || slices.ContainsFunc(role.Cues, func(c string) bool { return value.FoldText(c) == w })
				}
				if known {
					p.slot.Cues.Add(w, 0)
				}
			}
		}
	}
}
