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

// Words are the words of a language that mean little, or very much, when they are said
// while somebody else speaks. A Words is immutable and safe for concurrent use. In the zero
// value every word is substantial.
type Words struct {
	language string
	phrases  map[string]wordClass // by the text of its tokens
	longest  int                  // number of words of the longest phrase
	callOff  map[string]bool      // by the text of its tokens
	alone    map[string]bool      // by the text of its tokens
}

type wordClass uint8

const (
	classSubstantial wordClass = iota
	classFiller
	classBackchannel
	classInterrupt
)

// WordLists are the entries of a [Words]: words or phrases. Case, punctuation and
// apostrophes do not matter.
type WordLists struct {
	Fillers         []string `json:"fillers"`          // "um", "you know"
	Backchannels    []string `json:"backchannels"`     // "mhm", "I see": signals of a listener
	AlwaysInterrupt []string `json:"always_interrupt"` // "stop", "hold on": these take the floor
	// Alone are words like "no" and "what", one of which interrupts under the hybrid policy. They
	// may be in another list, too.
	Alone   []string `json:"alone"`
	CallOff []string `json:"call_off"` // "never mind": said alone, they cancel delegated work
}

// Lookup returns the words of a language by its BCP 47 tag. An empty tag stands for
// English. If there are no words for a tag, Lookup removes its last subtag: "de-AT" and
// "de_AT" give "de". For an unknown language it returns an error that lists the known ones;
// new(Words) can be used instead.
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
			return nil, fmt.Errorf("words of language %q: expected one of %s", language, strings.Join(Languages(), ", "))
		}
		tag = tag[:cut]
	}
}

// builtin has the words of each language. All conversations share them.
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

// Languages returns the tags of the languages that have words, in alphabetical order.
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

// NewWords returns the words of a caller's own lists, for another language or domain. It
// returns an error if an entry has no letter or digit, or is in two lists.
func NewWords(language string, lists WordLists) (*Words, error) {
	w := &Words{language: language, phrases: make(map[string]wordClass), callOff: make(map[string]bool), alone: make(map[string]bool)}
	for _, set := range []struct {
		name    string
		of      map[string]bool
		entries []string
	}{{"call_off", w.callOff, lists.CallOff}, {"alone", w.alone, lists.Alone}} {
		for _, entry := range set.entries {
			t := tokens{}.read(entry)
			if len(t.spans) == 0 {
				return nil, fmt.Errorf("words of language %q: %s: entry %q contains no word", language, set.name, entry)
			}
			set.of[string(t.text)] = true
			if set.name == "alone" {
				w.longest = max(w.longest, len(t.spans))
			}
		}
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
				return nil, fmt.Errorf("words of language %q: %s: entry %q contains no word", language, list.name, entry)
			}
			if _, twice := w.phrases[string(t.text)]; twice {
				return nil, fmt.Errorf("words of language %q: %s: entry %q is listed twice", language, list.name, entry)
			}
			w.phrases[string(t.text)] = list.class
			w.longest = max(w.longest, len(t.spans))
		}
	}
	return w, nil
}

// interruptsAlone reports whether an entry of the list Alone starts at token i, and its length.
func (w *Words) interruptsAlone(t *tokens, i int) (n int, ok bool) {
	for n = min(w.longest, len(t.spans)-i); n > 0; n-- {
		if w.alone[string(t.text[t.spans[i].start:t.spans[i+n-1].end])] {
			return n, true
		}
	}
	return 0, false
}

// CallsOff reports whether a text says only that delegated work is cancelled. Fillers and
// backchannels may precede it.
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

// Language returns the language tag, or "" for the zero value.
func (w *Words) Language() string { return w.language }

// at returns the class and length of the longest entry that starts at token i. Without an
// entry it returns classSubstantial and 1.
func (w *Words) at(t *tokens, i int) (class wordClass, n int) {
	for n = min(w.longest, len(t.spans)-i); n > 0; n-- {
		if class, ok := w.phrases[string(t.text[t.spans[i].start:t.spans[i+n-1].end])]; ok {
			return class, n
		}
	}
	return classSubstantial, 1
}
