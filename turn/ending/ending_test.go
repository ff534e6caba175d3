package ending

import (
	"math"
	"strings"
	"testing"
)

// TestComplete: beginnings that must go on are less complete than the whole.
func TestComplete(t *testing.T) {
	for _, text := range []string{
		"i would like to | book a table for four people tomorrow",
		"can you | help me",
		"my parcel has not arrived and | i need it on friday",
		"we want to fly from | denver",
		"the | second one",
		"um | i do not know",
		"what is the | price of a single room",
	} {
		head, _, _ := strings.Cut(text, " |")
		whole := strings.ReplaceAll(text, " |", "")
		if a, b := Complete(head), Complete(whole); !(a < 0.3) || !(b > a) {
			t.Errorf("%q %.2f, %q %.2f: expected the first below 0.3 and the second above it", head, a, whole, b)
		}
	}
}

// TestCompleteReadsWords: case, punctuation and spaces do not matter; a text without words is
// unknown.
func TestCompleteReadsWords(t *testing.T) {
	if a, b := Complete("I'd like to fly to Boston."), Complete("  id like to FLY to boston"); a != b {
		t.Errorf("%v and %v", a, b)
	}
	for _, text := range []string{"", " ", "...", "?!"} {
		if p := Complete(text); !math.IsNaN(p) {
			t.Errorf("%q: %v, expected NaN", text, p)
		}
	}
	if p := Complete(strings.Repeat("very long ", 1e5)); !(p >= 0 && p <= 1) {
		t.Errorf("a long text: %v", p)
	}
}

// TestAllocations: the words are read while frames arrive.
func TestAllocations(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Complete("i would like to fly from boston to denver on the twelfth of may") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzComplete: every text has a probability, or no words.
func FuzzComplete(f *testing.F) {
	f.Add("i'd like to")
	f.Add("\xff'' 12-3 é")
	f.Fuzz(func(t *testing.T, text string) {
		if p := Complete(text); !(p >= 0 && p <= 1) && Read(text).Words > 0 {
			t.Errorf("%q: %v", text, p)
		}
	})
}

func BenchmarkComplete(b *testing.B) {
	for b.Loop() {
		Complete("i would like to fly from boston to denver on the twelfth of may")
	}
}
