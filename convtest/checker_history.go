package convtest

import (
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/conv"
)

// checkSummary checks that a summary replaces the beginning of the history without
// the last turns, and that one summary at a time is requested, only while no answer
// is pending.
func (k *Checker) checkSummary(s step) error {
	before, after := &s.before.Summary, &s.after.Summary
	if n := len(s.after.History); after.Items > n || after.Asking > n || after.Items < 0 || after.Asking < 0 {
		return fmt.Errorf("the summary stands for %d entries, and %d are asked for, of %d", after.Items, after.Asking, n)
	}
	_, answered := s.event.(conv.Summarized)
	for _, e := range s.out.Effects {
		e, ok := e.(conv.Summarize)
		if !ok {
			continue
		}
		listened := s.before.Phase == conv.ListeningReady || slices.ContainsFunc(s.out.Transitions, func(t conv.Transition) bool { return t.To == conv.ListeningReady })
		if !listened || before.Asking != 0 && !answered {
			return fmt.Errorf("summary %d is asked for between %v and %v, %d entries are asked for already", e.Request, s.before.Phase, s.after.Phase, before.Asking)
		}
		turns := 0
		for i := range s.after.History[e.Items:] {
			if s.after.History[e.Items+i].Role == conv.RoleUser {
				turns++
			}
		}
		if want := k.c.Options().SummaryTurns; turns < want || e.Items <= after.Items {
			return fmt.Errorf("a summary of %d entries is asked for: %d turns are kept, want %d; %d are in it already", e.Items, turns, want, after.Items)
		}
	}
	if answered && !s.out.Late && after.Items != before.Items && after.Items != before.Asking {
		return fmt.Errorf("behind its answer the summary is %+v", after)
	}
	return nil
}
