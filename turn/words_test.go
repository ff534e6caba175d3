package turn

import (
	"strings"
	"testing"
	"unicode"
)

func lookup(t testing.TB, language string) *Words {
	t.Helper()
	w, err := Lookup(language)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestLookup(t *testing.T) {
	for tag, want := range map[string]string{
		"": "en", "en": "en", "EN": "en", "en-US": "en", "en_GB": "en", "de": "de", "de-AT": "de", "de-Latn-CH-1996": "de",
	} {
		if got := lookup(t, tag).Language(); got != want {
			t.Errorf("%q: %q, want %q", tag, got, want)
		}
	}
	for _, tag := range []string{"fr", "fr-CA", "english", "-", "../en", "en/../de", "*"} {
		w, err := Lookup(tag)
		if err == nil || w != nil {
			t.Errorf("%q gives %q", tag, w.Language())
			continue
		}
		if !strings.Contains(err.Error(), "de, en") {
			t.Errorf("%q: error %q does not list the languages", tag, err)
		}
	}
}

// TestEveryEntryIsFound checks that each entry of the embedded lists is classified as what
// its list says, also with the case and the punctuation of a recognizer.
func TestEveryEntryIsFound(t *testing.T) {
	kinds := map[wordClass]VerdictKind{classFiller: Filler, classBackchannel: Backchannel, classInterrupt: AlwaysInterrupt}
	for _, language := range Languages() {
		w := lookup(t, language)
		if len(w.phrases) < 50 {
			t.Errorf("%s: %d entries", language, len(w.phrases))
		}
		for entry, class := range w.phrases {
			written := []rune(entry)
			written[0] = unicode.ToUpper(written[0])
			for _, text := range []string{entry, string(written) + "!", " " + strings.ReplaceAll(entry, " ", ", ") + "..."} {
				if got := Classify(text, "", w, FilterOptions{}).Kind; got != kinds[class] {
					t.Errorf("%s: %q is %s, want %s", language, text, got, kinds[class])
				}
			}
		}
	}
}

func TestNewWords(t *testing.T) {
	w, err := NewWords("x", WordLists{Fillers: []string{"Na dann"}, AlwaysInterrupt: []string{"Geht's noch?"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := Classify("na, dann geht’s noch", "", w, FilterOptions{}); got.Kind != AlwaysInterrupt || got.Substantial != 2 {
		t.Errorf("got %+v", got)
	}
	for want, lists := range map[string]WordLists{
		"contains no word": {Fillers: []string{"?!"}},
		"listed twice":     {Fillers: []string{"uh"}, Backchannels: []string{"Uh!"}},
	} {
		if _, err := NewWords("x", lists); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q in it", lists, err, want)
		}
	}
	for _, file := range []string{`{"filler": []}`, `[]`, ``} {
		if _, err := parseWords("x", []byte(file)); err == nil {
			t.Errorf("the file %q is accepted", file)
		}
	}
}
