package convtest

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/hocketvoice/hocket/conv"
)

// This file checks what is played and what the history says was heard.

// checkSounding checks that a turn speaks only if no other turn's audio is being
// played.
func (k *Checker) checkSounding(s step) error {
	finished := slices.ContainsFunc(s.handled(), func(ev conv.Event) bool { _, ok := ev.(conv.PlayoutFinished); return ok })
	if finished && s.after.Reply.Turn == s.before.Reply.Turn {
		if !s.after.Playout.Playing && !s.after.Reply.Voiced() {
			delete(k.sound, s.after.Reply.Turn)
		}
	}
	// What ends in this step ends before other sound begins.
	for _, e := range s.out.Effects {
		switch e := e.(type) {
		case conv.FlushPlayout:
			if e.Part == 0 || e.Part >= k.sound[e.Turn] {
				delete(k.sound, e.Turn)
			}
		case conv.Speak:
			for turn := range k.sound {
				if turn != e.Turn && k.completed(s, turn) {
					delete(k.sound, turn)
				} else if turn != e.Turn {
					return fmt.Errorf("turn %d speaks over turn %d", e.Turn, turn)
				}
			}
			k.sound[e.Turn] = e.Part
		default:
			// The others do not start or stop sound.
		}
	}
	for _, e := range s.out.Turns {
		switch e.Type {
		case conv.TurnStarted:
		case conv.TurnCompleted:
			delete(k.sound, e.Turn)
		default:
			if k.sound[e.Turn] > 0 {
				return fmt.Errorf("turn %d has ended, but its audio was not dropped", e.Turn)
			}
		}
	}
	return nil
}

func (k *Checker) completed(s step, turn int) bool {
	for _, e := range s.out.Turns {
		if e.Turn == turn && e.Type == conv.TurnCompleted {
			return true
		}
	}
	return false
}

// checkHeard checks that the history contains only words of the agent that were
// passed to the voice, and for an interrupted turn only words that can have been
// heard.
func (k *Checker) checkHeard(s step) error {
	k.noteReports(s)
	for _, e := range s.out.Effects {
		if e, ok := e.(conv.Speak); ok {
			k.spoken[e.Turn] += e.Text
		}
	}
	if r := &s.after.Reply; r.Silent {
		k.silent[r.Turn] = true
	}
	// Events deferred during a suspension are handled at its end.
	for _, ev := range append([]conv.Event{s.event}, s.before.Suspended.Facts...) {
		if e, ok := ev.(conv.ReplyDone); ok && e.Silent && !s.out.Late {
			k.silent[s.before.Reply.Turn] = true
			for _, e := range s.out.Turns {
				k.silent[e.Turn] = true
			}
		}
	}
	if len(s.after.History) >= k.c.Options().HistoryLimit {
		return nil // forgotten text cannot be compared
	}
	for _, e := range s.out.Turns {
		if e.Role != conv.RoleAgent || e.Type == conv.TurnStarted {
			continue
		}
		text := agentWords(s.after.History, e.Turn)
		if !k.silent[e.Turn] && !inOrder(s.after.History, e.Turn, unspaced(k.spoken[e.Turn])) {
			return fmt.Errorf("the history has %q for turn %d, but the voice was given %q", text, e.Turn, k.spoken[e.Turn])
		}
		if e.Type == conv.TurnCompleted {
			continue
		}
		// The machine assumes 12 bytes per second if the playout does not report
		// marks.
		most := max(int(k.heard[e.Turn].Seconds()*12)+1, k.known[e.Turn])
		if len(text) > most {
			return fmt.Errorf("the history says that %q of turn %d was heard, but only %v were played", text, e.Turn, k.heard[e.Turn])
		}
	}
	if e, ok := s.event.(conv.PlayoutFlushed); ok && !s.out.Late && !s.out.Deferred {
		most := max(int(e.Heard.Seconds()*12)+1, len(e.Text), k.known[e.Turn])
		if text := agentWords(s.after.History, e.Turn); e.Heard < time.Hour && len(text) > most {
			return fmt.Errorf("the history says that %q of turn %d was heard, but the exact position is %v", text, e.Turn, e.Heard)
		}
	}
	return nil
}

// handled returns the events that a step handled: its own, and at the end of a suspension
// those that were deferred.
func (s *step) handled() []conv.Event {
	if s.out.Late || s.out.Deferred {
		return nil
	}
	events := []conv.Event{s.event}
	if s.before.Phase == conv.Suspended && s.after.Phase != conv.Suspended {
		events = append(events, s.before.Suspended.Facts...)
	}
	return events
}

// noteReports records the playout's reports about the current turn, including
// deferred ones.
func (k *Checker) noteReports(s step) {
	for _, ev := range s.handled() {
		var heard time.Duration
		var text string
		switch e := ev.(type) {
		case conv.PlayoutProgress:
			heard, text = e.Heard, e.Text
		case conv.PlayoutFinished:
			heard, text = e.Heard, e.Text
		case conv.UserInterrupt:
			heard = e.Heard
		default:
			continue
		}
		turn := s.before.Reply.Turn
		k.heard[turn] = max(k.heard[turn], heard)
		k.known[turn] = max(k.known[turn], len(text))
		if _, ok := ev.(conv.PlayoutFinished); ok {
			// Text that was played completely was heard.
			k.known[turn] = max(k.known[turn], len(agentWords(s.after.History, turn)))
		}
	}
}

// inOrder reports whether the turn's items occur in the spoken text in order. An
// interrupted announcement leaves a gap.
func inOrder(items []conv.Item, turn int, spoken string) bool {
	first := true
	for _, it := range items {
		if it.Turn != turn || it.Role != conv.RoleAgent {
			continue
		}
		before, rest, ok := strings.Cut(spoken, unspaced(it.Text))
		if !ok || first && before != "" {
			return false
		}
		first, spoken = false, rest
	}
	return true
}

func agentWords(items []conv.Item, turn int) string {
	var b strings.Builder
	for _, it := range items {
		if it.Turn == turn && it.Role == conv.RoleAgent {
			b.WriteString(it.Text)
		}
	}
	return b.String()
}

func unspaced(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
