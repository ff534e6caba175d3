package explore

import (
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/timers"
	"github.com/hocketvoice/hocket/turn"
)

// monitor contains what the invariants need to know of the past, in addition to the
// state.
type monitor struct {
	sounding        bool // audio of the reply's current part was sent, and neither played to its end nor dropped
	soundingEarlier bool // the same for an earlier part of the reply
	soundingOld     bool // the same for another turn, during which no new turn may sound
	asked           asked
	cut             cut
}

// stepped is a step of the machine as seen by the checks.
type stepped struct {
	before, after *conv.State
	event         conv.Event
	out           *conv.Output
	mon           monitor // before the step; check returns the one after it
	resumes       bool    // a reply that a voice cut off goes on
	advised       bool    // a model understands for the flows
	endpoint      turn.Policy
}

// check checks the invariants of a step and returns the updated monitor.
func (s *stepped) check() (monitor, error) {
	checks := []func(*stepped) error{
		(*stepped).checkLate, (*stepped).checkTurns, (*stepped).checkRequests,
		(*stepped).checkCalls, (*stepped).checkSettled, (*stepped).checkFailureTold, (*stepped).checkSuspension, (*stepped).checkWaiting, (*stepped).checkDialogue,
	}
	for _, f := range checks {
		if err := f(s); err != nil {
			return monitor{}, err
		}
	}
	m, err := s.checkPlayout()
	if err == nil {
		m.asked, err = s.checkAsked(s.mon.asked)
	}
	if err == nil {
		m.cut, err = s.checkCut(s.mon.cut)
	}
	return m, err
}

// checkLate checks that late events change nothing. Which events are late is determined
// by the alphabet, and not by the machine.
func (s *stepped) checkLate() error {
	if old(s.event) && !s.out.Late {
		return fmt.Errorf("%s of a turn, request or call that is over was not dropped", conv.EventType(s.event))
	}
	if !s.out.Late {
		return nil
	}
	if len(s.out.Effects)+len(s.out.Transitions)+len(s.out.Turns) > 0 {
		return fmt.Errorf("%s was late and had effects: %v", conv.EventType(s.event), s.out.Effects)
	}
	if s.after.User != s.before.User || s.after.Reply.Text != s.before.Reply.Text ||
		s.after.Floor != s.before.Floor || s.after.Playout != s.before.Playout || armedTimers(&s.after.Timers) != armedTimers(&s.before.Timers) {
		return fmt.Errorf("%s was late and changed the state", conv.EventType(s.event))
	}
	return nil
}

// old reports whether an event of the alphabet refers to something that is over in
// every state.
func old(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.STTPartial:
		return e.Turn == oldTurn
	case conv.STTFinal:
		return e.Turn == oldTurn
	case conv.TurnEnded:
		return e.Turn == oldTurn
	case conv.ReplyRequested:
		return e.Turn == oldTurn
	case conv.ReplyDelta:
		return e.Turn == oldTurn
	case conv.ReplyDone:
		return e.Turn == oldTurn
	case conv.ReplyFailed:
		return e.Turn == oldTurn
	case conv.ToolCalled:
		return e.Turn == oldTurn
	case conv.PlayoutStarted:
		return e.Turn == oldTurn
	case conv.PlayoutFinished:
		return e.Turn == oldTurn
	case conv.PlayoutFailed:
		return e.Turn == oldTurn
	case conv.PlayoutFlushed:
		return e.Turn == oldTurn
	case conv.ToolDone:
		return e.ID == oldCall
	case conv.TaskDone:
		return e.ID == oldCall
	default:
		return false
	}
}

// checkTurns checks that turn numbers are unique and ascending, that each turn starts
// once and ends once, and that the open turns are those of the state.
func (s *stepped) checkTurns() error {
	if len(s.out.Turns) == 0 && s.before.User.Turn == s.after.User.Turn && s.before.Reply.Turn == s.after.Reply.Turn {
		return nil
	}
	open := map[int]conv.Role{}
	if n := s.before.User.Turn; n != 0 {
		open[n] = conv.RoleUser
	}
	if n := s.before.Reply.Turn; n != 0 {
		open[n] = conv.RoleAgent
	}
	last := s.before.LastTurn
	for _, e := range s.out.Turns {
		if e.Type == conv.TurnStarted {
			if e.Turn <= last {
				return fmt.Errorf("turn %d started, but %d was given before", e.Turn, last)
			}
			last = e.Turn
			open[e.Turn] = e.Role
			continue
		}
		if open[e.Turn] != e.Role {
			return fmt.Errorf("%s for the %s's turn %d, which is not open", e.Type, e.Role, e.Turn)
		}
		delete(open, e.Turn)
	}
	want := map[int]conv.Role{}
	if n := s.after.User.Turn; n != 0 {
		want[n] = conv.RoleUser
	}
	if n := s.after.Reply.Turn; n != 0 {
		want[n] = conv.RoleAgent
	}
	for n, role := range open {
		if want[n] != role {
			return fmt.Errorf("the %s's turn %d disappeared without its last event", role, n)
		}
		delete(want, n)
	}
	for n, role := range want {
		return fmt.Errorf("the %s's turn %d is open without having started", role, n)
	}
	return nil
}

// checkRequests checks that there is one request per user utterance, and that what is
// requested, spoken or run belongs to the agent's open turn.
func (s *stepped) checkRequests() error {
	completed := map[int]bool{}
	opened := map[int]bool{s.before.Reply.Turn: true, s.after.Reply.Turn: true}
	for _, e := range s.out.Turns {
		if e.Role == conv.RoleUser && e.Type == conv.TurnCompleted {
			completed[e.Turn] = true
		}
		if e.Role == conv.RoleAgent {
			opened[e.Turn] = true
		}
	}
	asked := map[int]bool{}
	for _, e := range s.out.Effects {
		switch e := e.(type) {
		case conv.RequestReply:
			if !opened[e.Turn] || e.Turn == 0 {
				return fmt.Errorf("a reply is requested for turn %d, which is not open", e.Turn)
			}
			if e.Request <= s.before.LastRequest {
				return fmt.Errorf("request number %d is used twice", e.Request)
			}
			first := e.Attempt == 1 && (e.Why == conv.RequestUtterance || e.Why == conv.RequestToolResult && e.Text != "")
			if !first {
				continue
			}
			if !completed[e.UserTurn] || asked[e.UserTurn] {
				return fmt.Errorf("the user's turn %d is answered twice", e.UserTurn)
			}
			asked[e.UserTurn] = true
		case conv.Speak:
			if !opened[e.Turn] {
				return fmt.Errorf("turn %d speaks, which is not open", e.Turn)
			}
		case conv.RunTool:
			if e.Turn != s.after.Reply.Turn && !opened[e.Turn] {
				return fmt.Errorf("tool %s runs for turn %d, which is not open", e.ID, e.Turn)
			}
			if s.after.Reply.Held() && e.Turn == s.after.Reply.Turn {
				return fmt.Errorf("tool %s runs for a turn that may yet be taken back", e.ID)
			}
		default:
			// This effect is not work for a turn.
		}
	}
	return nil
}

// checkCalls checks that each accepted call runs at most once and ends with exactly one
// result.
func (s *stepped) checkCalls() error {
	results := map[string]int{}
	for _, it := range s.after.History {
		if it.Role == conv.RoleTool && !it.At.Before(epoch) {
			results[it.CallID]++
		}
	}
	known := map[string]bool{}
	for _, call := range s.before.Calls {
		known[call.ID] = true
	}
	left := map[string]bool{}
	for _, call := range s.after.Calls {
		left[call.ID] = true
		if results[call.ID] > 0 {
			return fmt.Errorf("call %s has a result and is still open", call.ID)
		}
	}
	if s.after.Phase != conv.Idle {
		for id := range known {
			if !left[id] && results[id] != 1 {
				return fmt.Errorf("call %s ended with %d results: expected one", id, results[id])
			}
		}
	}
	for id, n := range results {
		if n > 1 {
			return fmt.Errorf("call %s has %d results", id, n)
		}
	}
	runs := map[string]int{}
	for _, e := range s.out.Effects {
		var id string
		switch e := e.(type) {
		case conv.RunTool:
			id = e.ID
		case conv.StartTask:
			id = e.ID
		default:
			continue
		}
		runs[id]++
		for _, call := range s.before.Calls {
			if call.ID == id && call.Running() {
				runs[id]++
			}
		}
		if runs[id] > 1 {
			return fmt.Errorf("call %s runs twice", id)
		}
	}
	return nil
}

// checkSettled checks that a task is settled when its result was told, and not before.
func (s *stepped) checkSettled() error {
	p := &s.after.Pending
	if s.after.Phase == conv.ListeningReady && len(p.Settle) > 0 {
		return fmt.Errorf("the result of task %s was told and is not settled", p.Settle[0].ID)
	}
	for _, e := range s.out.Effects {
		settled, ok := e.(conv.SettleTask)
		if !ok {
			continue
		}
		if len(p.News)+len(p.Announcing)+len(p.Tell)+len(p.Telling) > 0 {
			return fmt.Errorf("task %s was settled before its result was told", settled.ID)
		}
		for _, call := range s.after.Calls {
			if call.ID == settled.ID {
				return fmt.Errorf("task %s was settled while it runs", settled.ID)
			}
		}
	}
	return nil
}

// checkFailureTold checks that a failed call of a model that leads to Faulted is
// reported to the model afterwards, so that it can tell the user.
func (s *stepped) checkFailureTold() error {
	if s.before.Phase == conv.Faulted || s.after.Phase != conv.Faulted {
		return nil
	}
	for i := range s.before.Calls {
		call := &s.before.Calls[i]
		ended := !slices.ContainsFunc(s.after.Calls, func(other conv.Call) bool { return other.ID == call.ID })
		if ended && call.Running() && !call.Action() && !call.Background() && !slices.Contains(s.after.Pending.News, call.ID) {
			return fmt.Errorf("the failure of call %s is told to nobody", call.ID)
		}
	}
	return nil
}

// checkSuspension checks that a suspended conversation returns to its phase and turn,
// and does not change meanwhile.
func (s *stepped) checkSuspension() error {
	if s.before.Phase != conv.Suspended {
		return nil
	}
	if s.after.Phase == conv.Suspended {
		if s.after.User != s.before.User || s.after.Reply.Turn != s.before.Reply.Turn ||
			s.after.Reply.Text != s.before.Reply.Text || s.after.Before != s.before.Before {
			return fmt.Errorf("the turn's context changed during a suspension")
		}
		return nil
	}
	switch first := s.out.Transitions[0].To; first {
	case s.before.Before, conv.Reconnecting, conv.Faulted, conv.Terminating:
		return nil
	default:
		return fmt.Errorf("a suspension from %v returned to %v", s.before.Before, first)
	}
}

// checkWaiting checks that in every waiting phase a deadline is armed or the microphone
// is open.
func (s *stepped) checkWaiting() error {
	st := s.after
	anyArmed := func(timers ...timers.Timer) error {
		for _, t := range timers {
			if !st.Timers[t].IsZero() {
				return nil
			}
		}
		return fmt.Errorf("%v waits without a deadline", st.Phase)
	}
	switch st.Phase {
	case conv.Idle:
		if st.Starting() {
			return anyArmed(timers.Start)
		}
		return nil
	case conv.ListeningReady:
		if !st.Session.Audio {
			return fmt.Errorf("listening, but the microphone is closed")
		}
		return nil
	case conv.Preparing:
		return anyArmed(timers.Start)
	case conv.ListeningCapturing:
		return anyArmed(timers.Listening)
	case conv.Understanding:
		return anyArmed(timers.Final, timers.AfterYes, timers.Processing, timers.Try)
	case conv.Waiting, conv.Generating:
		return anyArmed(timers.Processing)
	case conv.ToolRunning, conv.Delegated:
		return anyArmed(timers.Tool, timers.Task)
	case conv.Speaking:
		return anyArmed(timers.Playout)
	case conv.Interrupted:
		return anyArmed(timers.Interrupted)
	case conv.Suspended:
		return anyArmed(timers.Suspended)
	case conv.Reconnecting:
		return anyArmed(timers.ReconnectLimit)
	case conv.Faulted:
		return anyArmed(timers.Fault, timers.Breaker)
	case conv.Terminating:
		return anyArmed(timers.Release)
	default:
		return fmt.Errorf("unknown phase %v", st.Phase)
	}
}

// playedToEnd reports whether the event says that the current playout has ended.
func (s *stepped) playedToEnd() bool {
	if !s.before.Playout.Playing || s.out.Late || s.out.Deferred {
		return false
	}
	if s.before.Phase == conv.Suspended && s.after.Phase != conv.Suspended {
		for _, fact := range s.before.Suspended.Facts {
			if e, ok := fact.(conv.PlayoutFinished); ok && e.Turn == 0 {
				return true
			}
		}
	}
	_, ok := s.event.(conv.PlayoutFinished)
	return ok
}

// checkPlayout checks that two turns never sound at the same time, and that a reply is
// complete only when its audio is.
func (s *stepped) checkPlayout() (monitor, error) {
	m := s.mon
	current, part := s.before.Reply.Turn, s.before.Reply.Part
	if s.playedToEnd() {
		m.soundingEarlier = false
		if s.before.Playout.Part >= part {
			m.sounding = false
		}
	}
	for _, e := range s.out.Effects {
		switch e := e.(type) {
		case conv.FlushPlayout:
			if e.Turn == current {
				m.soundingEarlier = false
				m.sounding = m.sounding && e.Part != 0 && e.Part < part
			}
		case conv.Speak:
			if e.Turn != current {
				if m.sounding || m.soundingEarlier || m.soundingOld {
					return m, fmt.Errorf("turn %d sounds over turn %d", e.Turn, current)
				}
				current, part = e.Turn, e.Part
			}
			if e.Part > part {
				m.soundingEarlier = m.soundingEarlier || m.sounding
				part = e.Part
			}
			m.sounding = true
		default:
			// This effect neither starts nor stops sound.
		}
	}
	after := s.after.Reply
	if after.Turn != current {
		if m.sounding || m.soundingEarlier {
			return m, fmt.Errorf("turn %d ended while its audio plays on", current)
		}
	} else if after.Part > part && m.sounding {
		m.sounding, m.soundingEarlier = false, true
	}
	return m, nil
}
