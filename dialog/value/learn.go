package value

import (
	"slices"
	"strings"
)

// This file collects the words by which the values of a slot are found.

// Naming has the texts with which a slot is named and asked for.
type Naming struct {
	Name, Label, Description string
	Prompts                  []string // the questions for it
	Cues                     []string // words before a value, in addition to those of the language
	Aliases                  []string // other names
}

// Learn collects the words by which values of the slot are found. It must be called once,
// after the type, the values and the limits are set.
func (s *Spec) Learn(l *Language, n Naming) {
	s.index(l)
	s.Trailing, s.TypeCues = l.trailingLight[string(s.Type)], l.TypeCues[string(s.Type)]
	s.nouns = NewPhrases(l.Data.TypeNames[string(s.Type)])
	s.PromptWords = make(map[string]bool)
	var buf [40]Token
	for _, text := range n.Prompts {
		for _, tok := range Tokenize(text, buf[:0]) {
			s.PromptWords[Stem(tok.Text)] = true
		}
	}
	s.learnWords(l, n.Label, n.Description)
	s.findCues(l, n)
	s.Mentions = NewPhrases(append([]string{n.Label, n.Name}, n.Aliases...))
}

// index builds the tables of the slot's values.
func (s *Spec) index(l *Language) {
	s.Lookup = NewPhrases()
	known := make(map[string]bool)
	for i, v := range s.Values {
		for _, name := range append([]string{v.Value}, v.Synonyms...) {
			s.Lookup.Add(name, i)
			text := FoldText(name)
			if len(text) >= 3 && !known[text] {
				known[text] = true
				s.entries = append(s.entries, fuzzyEntry{text: text, code: l.phoneticCode(text), value: i})
			}
		}
	}
}

// learnWords collects the content words of the slot's name and description.
func (s *Spec) learnWords(l *Language, label, description string) {
	s.Words, s.Keys = make(map[string]bool), make(map[string]bool)
	for _, w := range l.Contents(Tokenize(label, nil), nil) {
		s.Words[w], s.Keys[w] = true, true
	}
	for _, w := range l.Contents(Tokenize(description, nil), nil) {
		s.Words[w] = true
	}
	allowed, _ := l.Meaning([]Token{{Text: "allowed"}}, 0)
	delete(s.Keys, allowed)
}

// ends reports whether a word of a name says which end of a stretch of time a date or time is.
func ends(w string) bool {
	switch w {
	case "return", "checkout", "checkin", "start", "begin", "end", "until", "since":
		return true
	}
	return false
}

// findCues collects the words that point to the slot before a value: the given ones, those
// that the words of its name imply, and the last words of its prompts.
func (s *Spec) findCues(l *Language, n Naming) {
	s.Cues = NewPhrases(n.Cues)
	words := strings.FieldsFunc(strings.ToLower(n.Name), func(r rune) bool { return r == '_' || r == '-' })
	for _, role := range l.Data.Roles {
		for _, w := range words {
			if slices.Contains(role.Names, w) && s.Type != TypeDate && s.Type != TypeTime || slices.Contains(role.Names, w) && ends(w) {
				for _, cue := range role.Cues {
					s.Cues.Add(cue, 0)
				}
			}
		}
	}
	for _, p := range n.Prompts {
		var buf [40]Token
		toks := Tokenize(p, buf[:0])
		if len(toks) == 0 {
			continue
		}
		last := toks[len(toks)-1].Text
		for _, role := range l.Data.Roles {
			if slices.ContainsFunc(role.Cues, func(cue string) bool { return FoldText(cue) == last }) {
				s.Cues.Add(last, 0)
			}
		}
	}
}
