package messages

import (
	"slices"
	"strings"
	"testing"
)

func TestLanguagesHaveTheSameCodes(t *testing.T) {
	want, err := Lookup("en")
	if err != nil {
		t.Fatal(err)
	}
	if len(Languages()) < 2 {
		t.Fatalf("languages %v: expected at least two", Languages())
	}
	for _, tag := range Languages() {
		got, err := Lookup(tag)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Codes(), want.Codes()) {
			t.Errorf("%s has codes %v\nexpected %v", tag, got.Codes(), want.Codes())
		}
		for _, code := range got.Codes() {
			if strings.TrimSpace(got.Text(code)) == "" {
				t.Errorf("%s: no words for %s", tag, code)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	for _, tag := range []string{"de", "de-AT", "DE_de"} {
		c, err := Lookup(tag)
		if err != nil || c.Language() != "de" {
			t.Errorf("Lookup(%q) = %v, %v", tag, c, err)
		}
	}
	if _, err := Lookup("tlh"); err == nil || !strings.Contains(err.Error(), "[de en]") {
		t.Errorf("Lookup(tlh): %v; expected the languages that there are", err)
	}
}
