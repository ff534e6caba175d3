package turn

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed words/*.json
var wordFiles embed.FS

// Words are the words of one language that mean little while somebody else
// speaks, or very much. They never change after Lookup, so that a *Words is
// safe for concurrent use. The zero value knows no words: then every word is
// substantial.
type Words struct {
	language string
	phrases  map[string]wordClass // by the text as tokens writes it
	longest  int                  // words of the longest phrase
	callOff  map[string]bool      // by the text as tokens writes it
}

type wordClass uint8

const (
	classSubstantial wordClass = iota
	classFiller
	classBackchannel
	classInterrupt
)

// WordLists are the entries of a [Words]: single words or phrases. Case,
// punctuation and apostrophes do not matter.
type WordLists struct {
	Fillers         []string `json:"fillers"`          // "um", "you know"
	Backchannels    []string `json:"backchannels"`     // "mhm", "I see": go on, I listen
	AlwaysInterrupt []string `json:"always_interrupt"` // "stop", "hold on": the floor, now
	CallOff         []string `json:"call_off"`         // "never mind": said alone, they call delegated work off
}

// Lookup returns the words of a language by its BCP 47 tag; an empty tag is
// English. A tag whose words are not there falls back to the tag without its
// last subtag: "de-AT" and "de_AT" give "de". A language that is not there at
// all is an error that names those which are; new(Words) serves it without
// filters.
func Lookup(language string) (*Words, error) {
	tag := strings.ToLower(strings.ReplaceAll(language, "_", "-"))
	if tag == "" {
		tag = "en"
	}
	for {
		if known, ok := builtin[tag]; ok {
			return known.words, known.err
		}
		cut := strings.LastIndexByte(tag, '-')
		if cut < 0 {
			return nil, fmt.Errorf("words of language %q: want one of %s", language, strings.Join(Languages(), ", "))
		}
		tag = tag[:cut]
	}
}

// builtin are the words of each language, read once: all conversations share them.
var builtin = readWords()

type builtinWords struct {
	words *Words
	err   error
}

func readWords() map[string]builtinWords {
	all := make(map[string]builtinWords)
	for _, tag := range Languages() {
		file, err := wordFiles.ReadFile("words/" + tag + ".json")
		if err != nil {
			all[tag] = builtinWords{err: fmt.Errorf("words of language %q: %w", tag, err)}
			continue
		}
		words, err := parseWords(tag, file)
		all[tag] = builtinWords{words, err}
	}
	return all
}

// Languages lists the tags that have words, in alphabetical order.
func Languages() []string {
	entries, err := wordFiles.ReadDir("words")
	if err != nil {
		return nil // cannot happen: the directory is embedded
	}
	tags := make([]string, 0, len(entries))
	for _, e := range entries {
		tags = append(tags, strings.TrimSuffix(e.Name(), ".json"))
	}
	slices.Sort(tags)
	return tags
}

func parseWords(tag string, file []byte) (*Words, error) {
	var lists WordLists
	d := json.NewDecoder(bytes.NewReader(file))
	d.DisallowUnknownFields()
	if err := d.Decode(&lists); err != nil {
		return nil, fmt.Errorf("words of language %q: %w", tag, err)
	}
	return NewWords(tag, lists)
}

// NewWords makes a set from lists of the caller's own, for another language or
// domain. An entry without a letter or digit, or in two lists, is an error.
func NewWords(language string, lists WordLists) (*Words, error) {
	w := &Words{language: language, phrases: make(map[string]wordClass), callOff: make(map[string]bool)}
	for _, entry := range lists.CallOff {
		t := tokens{}.read(entry)
		if len(t.spans) == 0 {
			return nil, fmt.Errorf("words of language %q: call_off: entry %q has no word in it", language, entry)
		}
		w.callOff[string(t.text)] = true
	}
	for _, list := range []struct {
		name    string
		class   wordClass
		entries []string
	}{
		{"fillers", classFiller, lists.Fillers},
		{"backchannels", classBackchannel, lists.Backchannels},
		{"always_interrupt", classInterrupt, lists.AlwaysInterrupt},
	} {
		for _, entry := range list.entries {
			t := tokens{}.read(entry)
			if len(t.spans) == 0 {
				return nil, fmt.Errorf("words of language %q: %s: entry %q has no word in it", language, list.name, entry)
			}
			if _, twice := w.phrases[string(t.text)]; twice {
				return nil, fmt.Errorf("words of language %q: %s: entry %q stands twice", language, list.name, entry)
			}
			w.phrases[string(t.text)] = list.class
			w.longest = max(w.longest, len(t.spans))
		}
	}
	return w, nil
}

// CallsOff reports whether a text says nothing but that the work is called off. It
// may have fillers before it.
func (w *Words) CallsOff(text string) bool {
	t := tokens{}.read(text)
	rest := string(t.text)
	for rest != "" {
		if w.callOff[rest] {
			return true
		}
		first, more, _ := strings.Cut(rest, " ")
		if w.phrases[first] != classFiller && w.phrases[first] != classBackchannel {
			return false
		}
		rest = more
	}
	return false
}

// Language is the tag of the set, "" for the zero value.
func (w *Words) Language() string { return w.language }

// at finds the longest entry that starts at the i-th token. Without one the
// token is a substantial word by itself.
func (w *Words) at(t *tokens, i int) (class wordClass, n int) {
	for n = min(w.longest, len(t.spans)-i); n > 0; n-- {
		if class, ok := w.phrases[string(t.text[t.spans[i].start:t.spans[i+n-1].end])]; ok {
			return class, n
		}
	}
	return classSubstantial, 1
}
