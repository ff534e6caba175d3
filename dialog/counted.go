package dialog

import (
	"math"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file makes phrases for numbers from the limits of a slot, so that a recognizer does not
// hear a number that cannot be.

const (
	maxSpelled = 24  // greatest length of digits that a phrase counts
	maxNumbers = 100 // numbers that a phrase lists
)

// counted returns a phrase for 1 to n repetitions: of a value that is not complete yet, a
// recognizer needs the words too. The slot refuses it.
func counted(one string, n int) string {
	return one + strings.Repeat(" ["+one, n-1) + strings.Repeat("]", n-1)
}

// digits returns phrases for digits, as many as the slot takes.
func (g *grammar) digits(s *agent.Slot) []string {
	d := &g.l.Data.Grammar
	n := s.Length[1]
	if s.Type == value.TypePhone || n == 0 || n > maxSpelled {
		return filled(d, d.Digits)
	}
	if n == 1 {
		return []string{g.listed(0, 9)} // not "oh", which is a digit among others only
	}
	out := []string{counted(d.DigitNames, n)}
	for _, p := range d.Digits {
		if !strings.HasPrefix(p, "{digit}") { // "double five"
			out = append(out, fillIn(d, p))
		}
	}
	return out
}

// numbers returns phrases for the numbers within the slot's limits.
func (g *grammar) numbers(s *agent.Slot) []string {
	d := &g.l.Data.Grammar
	low := 0.0
	if s.Low != nil {
		low = math.Ceil(*s.Low)
	}
	if s.High == nil || low < 0 || *s.High > 99 || *s.High-low >= maxNumbers || *s.High < low {
		return filled(d, d.Integer)
	}
	number := g.listed(int64(low), int64(*s.High))
	out := make([]string, len(d.Integer))
	for i, p := range d.Integer {
		out[i] = fillIn(d, strings.ReplaceAll(p, "{number}", number))
	}
	return out
}

// listed returns a phrase for the numbers from low to high, at most 99.
func (g *grammar) listed(low, high int64) string {
	var list []string
	for v := low; v <= high; v++ {
		list = append(list, strings.Join(sayNumber(g.l, v), " "))
	}
	return "(" + strings.Join(list, " | ") + ")"
}

// filled puts the lists of the language into phrases.
func filled(d *value.GrammarData, list []string) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = fillIn(d, p)
	}
	return out
}
