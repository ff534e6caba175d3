package convtest

import (
	"fmt"
	"reflect"

	"github.com/hocketvoice/hocket/conv"
)

// This file checks that turns, requests and calls each occur once.

// checkTurns checks that turn numbers are unique and ascending, that each turn
// starts and ends once, and that the open turns are those of the state.
func (k *Checker) checkTurns(s step) error {
	for _, e := range s.out.Turns {
		if e.Type == conv.TurnStarted {
			if e.Turn <= k.lastTurn {
				return fmt.Errorf("turn %d starts after turn %d", e.Turn, k.lastTurn)
			}
			k.lastTurn, k.open[e.Turn] = e.Turn, e.Role
			continue
		}
		if k.open[e.Turn] != e.Role {
			return fmt.Errorf("%s for turn %[3]d (%[2]s), which is not open", e.Type, e.Role, e.Turn)
		}
		delete(k.open, e.Turn)
	}
	want := map[int]conv.Role{}
	if n := s.after.User.Turn; n != 0 {
		want[n] = conv.RoleUser
	}
	if n := s.after.Reply.Turn; n != 0 {
		want[n] = conv.RoleAgent
	}
	if !reflect.DeepEqual(k.open, want) {
		return fmt.Errorf("open turns according to events: %v, according to the state: %v", k.open, want)
	}
	return nil
}

// checkRequests checks that each utterance is requested once, that request numbers
// rise, and that requests, speech and calls belong to an open turn of the agent.
func (k *Checker) checkRequests(s step) error {
	live := map[int]bool{s.before.Reply.Turn: true}
	for _, e := range s.out.Turns {
		if e.Role == conv.RoleAgent {
			live[e.Turn] = true
		}
	}
	delete(live, 0)
	for _, e := range s.out.Effects {
		var turn int
		switch e := e.(type) {
		case conv.RequestReply:
			turn = e.Turn
			if e.Request <= k.request {
				return fmt.Errorf("request %d follows request %d", e.Request, k.request)
			}
			k.request = e.Request
			if e.Attempt == 1 && (e.Why == conv.RequestUtterance || e.Why == conv.RequestToolResult && e.Text != "") {
				if k.asked[e.UserTurn] || e.UserTurn == 0 {
					return fmt.Errorf("the user's turn %d was requested twice", e.UserTurn)
				}
				k.asked[e.UserTurn] = true
			}
		case conv.Speak:
			turn = e.Turn
		case conv.RunTool:
			turn = e.Turn
		case conv.StartTask:
			turn = e.Turn
		default:
			continue
		}
		if !live[turn] {
			return fmt.Errorf("%s for a turn that is not open", RenderEffect(e))
		}
	}
	return nil
}

// checkAnswered checks that a complete user turn is answered in the same step, or
// deferred until the connection is restored, or is the last one, or that the mode
// is to listen only.
func (k *Checker) checkAnswered(s step) error {
	if p := s.after.Phase; p == conv.Terminating || p == conv.Idle || s.after.Rules.ListenOnly {
		return nil
	}
	for _, e := range s.out.Turns {
		if e.Role != conv.RoleUser || e.Type != conv.TurnCompleted || s.after.Conn.Unanswered.Turn == e.Turn {
			continue
		}
		answered := false
		for _, x := range s.out.Effects {
			request, ok := x.(conv.RequestReply)
			answered = answered || ok && request.UserTurn == e.Turn
		}
		for _, x := range s.out.Turns {
			answered = answered || x.Role == conv.RoleAgent && x.Type == conv.TurnStarted
		}
		if !answered {
			return fmt.Errorf("the user's turn %d is complete, but is not answered", e.Turn)
		}
	}
	return nil
}

// checkCalls checks that a call runs at most once and gets exactly one result, and
// that a held call belongs to the held reply.
func (k *Checker) checkCalls(s step) error {
	for _, e := range s.out.Effects {
		switch e := e.(type) {
		case conv.RunTool:
			k.started[e.ID]++
		case conv.StartTask:
			k.started[e.ID]++
		default:
			// The others start no calls.
		}
	}
	full := len(s.before.History) >= k.c.Options().HistoryLimit
	if !full {
		// An utterance may be inserted among them, so they are counted.
		for _, it := range s.before.History {
			if it.Role == conv.RoleTool {
				k.results[it.CallID]--
			}
		}
		for _, it := range s.after.History {
			if it.Role == conv.RoleTool {
				k.results[it.CallID]++
			}
		}
	}
	for id, n := range k.started {
		if n > 1 {
			return fmt.Errorf("call %q ran %d times", id, n)
		}
	}
	for id, n := range k.results {
		if n > 1 {
			return fmt.Errorf("call %q has %d results", id, n)
		}
	}
	open := map[string]bool{}
	for _, call := range s.after.Calls {
		open[call.ID] = true
		if call.Held() && (call.Turn != s.after.Reply.Turn || !s.after.Reply.Held()) {
			return fmt.Errorf("call %q is held for turn %d, which is not held: it will never run", call.ID, call.Turn)
		}
		if k.results[call.ID] > 0 {
			return fmt.Errorf("call %q has its result, but is open", call.ID)
		}
	}
	if s.after.Phase == conv.Idle {
		// The history was cleared, and with it the ids.
		clear(k.started)
		clear(k.results)
		return nil
	}
	for id := range k.started {
		if !full && !open[id] && k.results[id] == 0 {
			return fmt.Errorf("call %q was removed without a result", id)
		}
	}
	return nil
}
