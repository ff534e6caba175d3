//go:build pocketsphinx && flite && silero_embed && cgo

package eval

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/provider/flite"
	"github.com/hocketvoice/hocket/turn"
)

var digitNames = []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}

// unseen are the speakers on whose recordings no threshold may be chosen.
var unseen = []string{"nicolas", "theo", "yweweler"}

// TestEvalDigits prints what becomes of a single digit where a digit is asked for.
func TestEvalDigits(t *testing.T) {
	evaluate(t)
	s := services(t)
	all := recordings(t)
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, slot := range slots() {
		sums := map[string]*[5]int{} // right, wrong, asked, not heard, all
		give := func(group, want string, a Answer) {
			o, err := Fill(t.Context(), s, trained(turn.Options{}), a)
			if err != nil {
				t.Fatal(err)
			}
			if sums[group] == nil {
				sums[group] = new([5]int)
			}
			k := 3
			switch {
			case o.Right(want):
				k = 0
			case o.Wrong(want):
				k = 1
			case o.Asked:
				k = 2
			}
			sums[group][k]++
			sums[group][4]++
			if k != 0 {
				t.Logf("%s %-8s %s: %s, heard %q (%.2f), taken %q", slot, a.Voice, want, [...]string{"", "WRONG", "asked", "not heard"}[k], o.Words, o.Sure, o.Taken)
			}
		}
		for _, name := range names {
			speaker := strings.Split(name, "_")[1]
			a := Answer{Slot: slot, Voice: speaker, PCM: all[name]}
			a.End = time.Duration(len(a.PCM)) * time.Second / Rate
			group := "recorded, seen"
			if slices.Contains(unseen, speaker) {
				group = "recorded, unseen"
			}
			give(group, name[:1], a)
		}
		for _, voice := range flite.Voices() {
			for digit, text := range digitNames {
				pcm, err := speak(t.Context(), s.Synthesizer, voice, text)
				if err != nil {
					t.Fatal(err)
				}
				a := Answer{Slot: slot, Voice: voice, PCM: pcm}
				a.End = time.Duration(len(a.PCM)) * time.Second / Rate
				give("voice "+voice, fmt.Sprint(digit), a)
			}
		}
		var groups []string
		for g := range sums {
			groups = append(groups, g)
		}
		slices.Sort(groups)
		for _, g := range groups {
			n := sums[g]
			t.Logf("slot %-7s %-17s of %3d: right %5.1f %%, wrong %4.1f %%, asked %5.1f %%, not heard %4.1f %%", slot, g, n[4],
				share(n[0], n[4]), share(n[1], n[4]), share(n[2], n[4]), share(n[3], n[4]))
		}
	}
}

// slots are the slots of TestEvalDigits: those that HOCKET_EVAL names, or both.
func slots() []string {
	if one := os.Getenv("HOCKET_EVAL"); one == "digit" || one == "number" {
		return []string{one}
	}
	return []string{"digit", "number"}
}
