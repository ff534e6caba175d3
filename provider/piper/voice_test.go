package piper

import (
	"slices"
	"strings"
	"testing"
)

const small = `{"audio": {"sample_rate": 22050}, "espeak": {"voice": "en-us"}, "num_speakers": 1,
	"inference": {"noise_scale": 0.667, "length_scale": 1, "noise_w": 0.8},
	"phoneme_id_map": {"_": [0], "^": [1], "$": [2], "a": [14], "ˈ": [120], ".": [10], "t͡": [7, 8]}}`

func TestNumbers(t *testing.T) {
	s, err := parseSettings([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.numbers("ˈaX\xff."), []int64{1, 0, 120, 0, 14, 0, 10, 0, 2}; !slices.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		" həlˈoʊ\n wˈɜːld\n": "həlˈoʊ wˈɜːld",
		"(de)hˈalo(en) a":    "hˈalo a",
		"a (b":               "a b",
		"":                   "",
	} {
		if got := plain(in); got != want {
			t.Errorf("plain(%q) = %q, expected %q", in, got, want)
		}
	}
}

func TestSettingsRefused(t *testing.T) {
	for name, change := range map[string][2]string{
		"no JSON":          {"{", "["},
		"a rate":           {"22050", "1"},
		"a flag as voice":  {"en-us", "--help"},
		"a scale":          {"0.667", "-1"},
		"no length":        {`"length_scale": 1`, `"length_scale": 0`},
		"many speakers":    {`"num_speakers": 1`, `"num_speakers": 9`},
		"no beginning":     {`"^": [1], `, ""},
		"a negative one":   {"[14]", "[-14]"},
		"a large one":      {"[14]", "[99999]"},
		"another alphabet": {`"num_speakers": 1`, `"phoneme_type": "text"`},
	} {
		if _, err := parseSettings([]byte(strings.Replace(small, change[0], change[1], 1))); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := parseSettings(make([]byte, maxSettings+1)); err == nil {
		t.Error("settings of more than a megabyte are accepted")
	}
}

// FuzzSettings: no settings and no phonemes make numbers that are out of range.
func FuzzSettings(f *testing.F) {
	f.Add([]byte(small), "ˈa.")
	f.Add([]byte(`{"phoneme_id_map": {"a": [1, null]}}`), "(en)a")
	f.Fuzz(func(t *testing.T, data []byte, phonemes string) {
		s, err := parseSettings(data)
		if err != nil {
			return
		}
		for _, n := range s.numbers(plain(phonemes)) {
			if n < 0 || n > 1<<15 {
				t.Fatalf("number %d", n)
			}
		}
	})
}
