package value

import (
	"strconv"
	"strings"
)

// This file determines the meaning of words. The words of a class ("find", "search", "look for")
// have one meaning. The meaning of any other word is its stem.

// compileSynonyms builds the tables of the word classes. A word in two classes belongs to
// the first.
func (l *Language) compileSynonyms() {
	l.synonyms, l.classes = NewPhrases(), make(map[string]int)
	for id, list := range l.Data.Synonyms {
		l.classNames = append(l.classNames, "~"+strconv.Itoa(id))
		for _, p := range list {
			if key := FoldText(p); strings.Contains(key, " ") {
				l.synonyms.Add(key, id)
			} else if _, there := l.classes[Stem(key)]; !there {
				l.classes[Stem(key)] = id
			}
		}
	}
}

// Meaning returns the class or the stem of the word at token i, and its length in tokens.
func (l *Language) Meaning(toks []Token, i int) (string, int) {
	if id, n := l.synonyms.At(toks, i); n > 0 {
		return l.classNames[id], n
	}
	w := Stem(toks[i].Text)
	if id, ok := l.classes[w]; ok {
		return l.classNames[id], 1
	}
	return w, 1
}

// Contents appends the content words of tokens, without common words, to out.
func (l *Language) Contents(toks []Token, out []string) []string {
	for i := 0; i < len(toks); {
		w, n := l.Meaning(toks, i)
		if n == 1 && w[0] != '~' {
			if _, m := l.Light.At(toks, i); m > 0 {
				i += m
				continue
			}
			if _, m := l.Prefixes.At(toks, i); m > 0 {
				i += m
				continue
			}
			if _, m := l.Fillers.At(toks, i); m > 0 {
				i += m
				continue
			}
			if _, m := l.Questions.At(toks, i); m > 0 {
				i += m
				continue
			}
		}
		out = append(out, w)
		i += n
	}
	return out
}

// Stem removes endings of number and tense, so that "flights" matches "flight" and
// "booking" matches "book". It is deliberately simple.
func Stem(w string) string {
	if len(w) > 5 {
		for _, suffix := range [...]string{"ing", "ed"} {
			if h, ok := strings.CutSuffix(w, suffix); ok && len(h) >= 3 {
				return strings.TrimSuffix(h, "e")
			}
		}
	}
	if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
		w = w[:len(w)-1]
	}
	if len(w) > 3 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}
