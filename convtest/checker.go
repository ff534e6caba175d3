package convtest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/conv"
)

// Checker steps a conversation and checks every step against the invariants that
// hold for all events: see the check methods. It is written from DESIGN.md section
// 3 and keeps its own state, so that it shares no code with the machine or with
// package internal/explore. It is not safe for concurrent use.
type Checker struct {
	c    *conv.Conversation
	last time.Time // of the last step

	open     map[int]conv.Role // turns that have started and not ended
	lastTurn int
	asked    map[int]bool // user turns for which an utterance request was made
	request  int          // last request number

	started map[string]int // how often each call was run
	results map[string]int

	spoken   map[int]string        // text passed to the voice, by turn
	silent   map[int]bool          // replies without a voice
	heard    map[int]time.Duration // upper bound of the time heard, by turn
	known    map[int]int           // longest text that the playout reported as heard, in bytes
	flushed  map[int]int           // bytes allowed by the exact measurement after a flush
	closed   bool                  // the connection was closed and not restored
	question question
	consents consents
	sound    map[int]int // the last part of each turn whose audio was sent and neither finished nor flushed
}

// NewChecker returns a checker for c, which must be in its initial state.
func NewChecker(c *conv.Conversation) *Checker {
	return &Checker{
		c: c, open: map[int]conv.Role{}, asked: map[int]bool{}, started: map[string]int{},
		results: map[string]int{}, spoken: map[int]string{}, silent: map[int]bool{},
		heard: map[int]time.Duration{}, known: map[int]int{}, flushed: map[int]int{}, sound: map[int]int{},
	}
}

// step is one step as seen by the checks.
type step struct {
	now           time.Time
	event         conv.Event
	before, after *conv.State
	out           *conv.Output
}

// Step calls conv.Conversation.Step and returns the first invariant that the step
// violates, or a panic of the machine, as an error.
func (k *Checker) Step(now time.Time, ev conv.Event) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic on %s: %v", conv.EventType(ev), r)
		}
	}()
	before := k.c.Fork().State()
	if now.Before(before.Now) {
		now = before.Now
	}
	k.listen(before, now)
	k.c.Step(now, ev)
	s := step{now: now, event: ev, before: before, after: k.c.Fork().State(), out: k.c.Last()}
	k.last = now
	for _, check := range []func(step) error{
		k.checkDropped, k.checkKept, k.checkTransitions, k.checkTurns, k.checkRequests, k.checkAnswered, k.checkCalls,
		k.checkSounding, k.checkHeard, k.checkDeadlines, k.checkWaiting, k.checkArmed, k.checkRest, k.checkSummary, k.checkContext, k.checkConfirmed, k.checkConsented,
	} {
		if err := check(s); err != nil {
			return fmt.Errorf("%s in %v: %w", conv.EventType(ev), before.Phase, err)
		}
	}
	return nil
}

// listen advances the time heard of audible audio to now.
func (k *Checker) listen(st *conv.State, now time.Time) {
	p := &st.Playout
	if p.Playing && !p.Paused() && st.Phase != conv.Suspended && p.Turn != 0 && p.Turn == st.Reply.Turn {
		k.heard[p.Turn] += now.Sub(k.last)
	}
}

// checkDropped checks that a late event changes nothing, and that a deferred event
// is stored and changes nothing else.
func (k *Checker) checkDropped(s step) error {
	if !s.out.Late && !s.out.Deferred {
		return nil
	}
	word := "late"
	before, after := *s.before, *s.after
	before.Now, after.Now = time.Time{}, time.Time{}
	if s.out.Deferred {
		word = "deferred"
		before.Suspended.Facts, after.Suspended.Facts = nil, nil
	}
	if n := len(s.out.Effects) + len(s.out.Transitions) + len(s.out.Turns); n > 0 {
		return fmt.Errorf("the event is %s, but has %d effects, transitions and turn events", word, n)
	}
	if !reflect.DeepEqual(before, after) {
		return fmt.Errorf("the event is %s, but changed the state", word)
	}
	return nil
}

// checkKept checks that a step that changed the restorable state sets Keep (seed 003,
// Checkpoint Strategy).
func (k *Checker) checkKept(s step) error {
	if s.out.Keep {
		return nil
	}
	before, after := s.before.Dialogue, s.after.Dialogue
	before.Cache, after.Cache = nil, nil // a guess that can be made again
	calls := func(st *conv.State) (list []string) {
		for i := range st.Calls {
			list = append(list, fmt.Sprint(st.Calls[i].ID, st.Calls[i].State))
		}
		return list
	}
	switch {
	case s.before.Phase != s.after.Phase:
		return errors.New("the phase has changed, but Keep is not set")
	case !reflect.DeepEqual(s.before.History, s.after.History):
		return errors.New("the history has changed, but Keep is not set")
	case !reflect.DeepEqual(before, after):
		return errors.New("the dialogue has changed, but Keep is not set")
	case !slices.Equal(calls(s.before), calls(s.after)):
		return errors.New("a call has changed, but Keep is not set")
	default:
		return nil
	}
}

// checkTransitions checks that the transitions lead from the state before to the
// state after along the phase graph, each with a cause and its event (REQ-010).
func (k *Checker) checkTransitions(s step) error {
	at := s.before.Phase
	for _, t := range s.out.Transitions {
		if t.From != at || !t.From.CanFollow(t.To) {
			return fmt.Errorf("transition %v -> %v from %v", t.From, t.To, at)
		}
		if t.Cause == "" || t.Event == "" || !t.At.Equal(s.now) {
			return fmt.Errorf("transition %v -> %v lacks its cause, event or time: %+v", t.From, t.To, t)
		}
		at = t.To
	}
	if at != s.after.Phase {
		return fmt.Errorf("the transitions end in %v, but the state is %v", at, s.after.Phase)
	}
	if n := len(k.c.Recent()); n > 20 {
		return fmt.Errorf("%d recent transitions: expected at most 20", n)
	}
	return nil
}
