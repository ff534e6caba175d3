package convtest

import (
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/hocketvoice/hocket/conv"
)

// Checker steps a conversation and holds every step against what is promised of
// all of them, whatever the events are: see the check methods. It is written
// from DESIGN.md section 3 and remembers what it needs itself, so that it shares
// no code with the machine or with package internal/explore. It is not safe for
// concurrent use.
type Checker struct {
	c    *conv.Conversation
	last time.Time // of the last step

	open     map[int]conv.Role // turns that have started and not ended
	lastTurn int
	asked    map[int]bool // user turns that an utterance request was made for
	request  int          // last request number

	started map[string]int // calls run since the conversation began
	results map[string]int

	spoken  map[int]string        // text handed to the voice, by turn
	silent  map[int]bool          // replies without a voice
	heard   map[int]time.Duration // the longest that can have been heard, by turn
	known   map[int]int           // longest text that the playout reported as heard
	flushed map[int]int           // bytes that the exact measure after a flush allows
	closed  bool                  // the connection was closed and not restored
	sound   map[int]int           // the last part of each turn whose audio is out, neither finished nor flushed
}

// NewChecker checks c from now on; it must be in its initial state.
func NewChecker(c *conv.Conversation) *Checker {
	return &Checker{
		c: c, open: map[int]conv.Role{}, asked: map[int]bool{}, started: map[string]int{},
		results: map[string]int{}, spoken: map[int]string{}, silent: map[int]bool{},
		heard: map[int]time.Duration{}, known: map[int]int{}, flushed: map[int]int{}, sound: map[int]int{},
	}
}

// step is one step as the checks see it.
type step struct {
	now           time.Time
	event         conv.Event
	before, after *conv.State
	out           *conv.Output
}

// Step takes the fact as conv.Conversation.Step does, and returns the promise
// that the step broke, if any. A panic of the machine is one.
func (k *Checker) Step(now time.Time, ev conv.Event) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic on %s: %v", ev.EventType(), r)
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
		k.checkDropped, k.checkTransitions, k.checkTurns, k.checkRequests, k.checkAnswered, k.checkCalls,
		k.checkSounding, k.checkHeard, k.checkDeadlines, k.checkWaiting, k.checkArmed, k.checkRest,
	} {
		if err := check(s); err != nil {
			return fmt.Errorf("%s in %v: %w", ev.EventType(), before.Phase, err)
		}
	}
	return nil
}

// listen lets the audio that is audible be heard until now.
func (k *Checker) listen(st *conv.State, now time.Time) {
	p := &st.Playout
	if p.Playing && !p.Paused && st.Phase != conv.Suspended && p.Turn != 0 && p.Turn == st.Reply.Turn {
		k.heard[p.Turn] += now.Sub(k.last)
	}
}

// checkDropped: a late fact changes nothing at all; a deferred one is kept and
// changes nothing else.
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
		return fmt.Errorf("it is %s and has %d effects, transitions and turn events", word, n)
	}
	if !reflect.DeepEqual(before, after) {
		return fmt.Errorf("it is %s and changed the state", word)
	}
	return nil
}

// checkTransitions: the transitions lead from the state before to the one after
// along the phase graph, each with a cause and its event (REQ-010).
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
		return fmt.Errorf("the transitions end in %v, the state is %v", at, s.after.Phase)
	}
	if n := len(k.c.Recent()); n > 20 {
		return fmt.Errorf("%d transitions are kept, expected at most 20", n)
	}
	return nil
}

// checkTurns: turn numbers are unique and rising; each turn starts once and ends
// once; what is open is what the state has open.
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
			return fmt.Errorf("%s of the %s's turn %d, which is not open", e.Type, e.Role, e.Turn)
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
		return fmt.Errorf("open turns by their events: %v, by the state: %v", k.open, want)
	}
	return nil
}

// checkRequests: each utterance is asked about once, request numbers rise, and
// what is asked, said or run belongs to a turn of the agent that is open.
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
					return fmt.Errorf("the user's turn %d is asked about twice", e.UserTurn)
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
			return fmt.Errorf("%s of a turn that is not open", RenderEffect(e))
		}
	}
	return nil
}

// checkAnswered: a turn of the user's that is complete is answered in the same step,
// or remembered for when the line is back, or the last of the conversation, or
// the rules are to listen only.
func (k *Checker) checkAnswered(s step) error {
	if p := s.after.Phase; p == conv.Terminating || p == conv.Idle || s.after.Rules.ListenOnly {
		return nil
	}
	for _, e := range s.out.Turns {
		if e.Role != conv.RoleUser || e.Type != conv.TurnCompleted || s.after.Conn.Unanswered == e.Turn {
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
			return fmt.Errorf("the user's turn %d is complete and nobody answers it", e.Turn)
		}
	}
	return nil
}

// checkCalls: a call runs at most once and comes to exactly one result; one that
// is held back belongs to the reply that is.
func (k *Checker) checkCalls(s step) error {
	for _, e := range s.out.Effects {
		switch e := e.(type) {
		case conv.RunTool:
			k.started[e.ID]++
		case conv.StartTask:
			k.started[e.ID]++
		default:
			// It starts nothing.
		}
	}
	full := len(s.before.History) >= k.c.Options().HistoryLimit
	if !full {
		// An utterance may be put in its place among them, so they are counted.
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
		if call.State == conv.CallHeld && (call.Turn != s.after.Reply.Turn || !s.after.Reply.Held) {
			return fmt.Errorf("call %q is held back for turn %d, which is not: it will never run", call.ID, call.Turn)
		}
		if k.results[call.ID] > 0 {
			return fmt.Errorf("call %q has its result and is open", call.ID)
		}
	}
	if s.after.Phase == conv.Idle {
		// The history is forgotten: so are the ids.
		clear(k.started)
		clear(k.results)
		return nil
	}
	for id := range k.started {
		if !full && !open[id] && k.results[id] == 0 {
			return fmt.Errorf("call %q is gone without a result", id)
		}
	}
	return nil
}

// checkSounding: a turn speaks only when no other's audio is out.
func (k *Checker) checkSounding(s step) error {
	if _, ok := s.event.(conv.PlayoutFinished); ok && !s.out.Late && !s.out.Deferred && s.after.Reply.Turn == s.before.Reply.Turn {
		if !s.after.Playout.Playing && !s.after.Reply.Voiced {
			delete(k.sound, s.after.Reply.Turn)
		}
	}
	// What ends in this step ends before what begins in it.
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
			// It makes no sound and stops none.
		}
	}
	for _, e := range s.out.Turns {
		switch e.Type {
		case conv.TurnStarted:
		case conv.TurnCompleted:
			delete(k.sound, e.Turn)
		default:
			if k.sound[e.Turn] > 0 {
				return fmt.Errorf("turn %d is over and its audio is not dropped", e.Turn)
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

// checkHeard: the history holds no word of the agent's that was not handed to
// the voice, and of a turn that was cut off none beyond what can have been heard.
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
	// Facts that were kept during a suspension are taken in with its end.
	for _, ev := range append([]conv.Event{s.event}, s.before.Suspended.Facts...) {
		if e, ok := ev.(conv.ReplyDone); ok && e.Silent && !s.out.Late {
			k.silent[s.before.Reply.Turn] = true
			for _, e := range s.out.Turns {
				k.silent[e.Turn] = true
			}
		}
	}
	if len(s.after.History) >= k.c.Options().HistoryLimit {
		return nil // what is forgotten cannot be compared
	}
	for _, e := range s.out.Turns {
		if e.Role != conv.RoleAgent || e.Type == conv.TurnStarted {
			continue
		}
		text := agentWords(s.after.History, e.Turn)
		if !k.silent[e.Turn] && !inOrder(s.after.History, e.Turn, unspaced(k.spoken[e.Turn])) {
			return fmt.Errorf("the history says %q of turn %d, the voice was given %q", text, e.Turn, k.spoken[e.Turn])
		}
		if e.Type == conv.TurnCompleted {
			continue
		}
		// The machine takes 12 bytes a second where the playout does not tell.
		most := max(int(k.heard[e.Turn].Seconds()*12)+1, k.known[e.Turn])
		if len(text) > most {
			return fmt.Errorf("the history says that %q of turn %d was heard, but only %v were played", text, e.Turn, k.heard[e.Turn])
		}
	}
	if e, ok := s.event.(conv.PlayoutFlushed); ok && !s.out.Late && !s.out.Deferred {
		most := max(int(e.Heard.Seconds()*12)+1, len(e.Text), k.known[e.Turn])
		if text := agentWords(s.after.History, e.Turn); e.Heard < time.Hour && len(text) > most {
			return fmt.Errorf("the history says that %q of turn %d was heard, the exact measure is %v", text, e.Turn, e.Heard)
		}
	}
	return nil
}

// noteReports takes what the playout says of the current turn, now or in facts
// that were kept.
func (k *Checker) noteReports(s step) {
	if s.out.Late || s.out.Deferred {
		return
	}
	events := []conv.Event{s.event}
	if s.before.Phase == conv.Suspended && s.after.Phase != conv.Suspended {
		events = append(events, s.before.Suspended.Facts...)
	}
	for _, ev := range events {
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
			// What has played to its end was heard.
			k.known[turn] = max(k.known[turn], len(agentWords(s.after.History, turn)))
		}
	}
}

// inOrder reports whether the turn's items are found in what was spoken, one
// behind the other. An announcement that was cut off leaves a gap.
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

// checkDeadlines: what is due has fired; a driver that steps every deadline at
// its time never spins.
func (k *Checker) checkDeadlines(s step) error {
	if _, ok := s.event.(conv.DeadlinePassed); !ok {
		return nil
	}
	if next := k.c.NextDeadline(); !next.IsZero() && !next.After(s.now) {
		return fmt.Errorf("the next deadline is due at once: the driver would spin")
	}
	return nil
}

// checkWaiting: every phase that waits has a deadline of its own armed, or the
// microphone open.
func (k *Checker) checkWaiting(s step) error {
	var armed []conv.Timer
	st := s.after
	switch st.Phase {
	case conv.Idle:
		if !st.Pending.Start {
			return nil
		}
		armed = []conv.Timer{conv.TimerStart}
	case conv.Preparing:
		armed = []conv.Timer{conv.TimerStart}
	case conv.ListeningReady:
		if !st.Session.Audio {
			return fmt.Errorf("it listens and the microphone is closed")
		}
		armed = []conv.Timer{conv.TimerSession, conv.TimerDeadAir, conv.TimerInactivity}
	case conv.ListeningCapturing:
		armed = []conv.Timer{conv.TimerListening}
	case conv.Understanding:
		armed = []conv.Timer{conv.TimerFinal, conv.TimerProcessing, conv.TimerTry}
	case conv.Waiting, conv.Generating:
		armed = []conv.Timer{conv.TimerProcessing}
	case conv.ToolRunning, conv.Delegated:
		armed = []conv.Timer{conv.TimerTool, conv.TimerTask}
	case conv.Speaking:
		armed = []conv.Timer{conv.TimerPlayout}
	case conv.Interrupted:
		armed = []conv.Timer{conv.TimerInterrupted}
	case conv.Suspended:
		armed = []conv.Timer{conv.TimerSuspended}
	case conv.Reconnecting:
		armed = []conv.Timer{conv.TimerReconnectLimit}
	case conv.Faulted:
		armed = []conv.Timer{conv.TimerFault, conv.TimerBreaker}
	case conv.Terminating:
		armed = []conv.Timer{conv.TimerRelease}
	}
	for _, t := range armed {
		if !st.Timers[t].IsZero() {
			return nil
		}
	}
	return fmt.Errorf("%v waits without a deadline", st.Phase)
}

// checkArmed: no deadline outlives what it was armed for, and no mark outlives what
// it says.
func (k *Checker) checkArmed(s step) error {
	st := s.after
	r := &st.Reply
	switch s.event.(type) {
	case conv.ConnectionRestored, conv.SessionReady, conv.SessionRenewed:
		k.closed = false
	default:
		// It opens no connection.
	}
	for _, e := range s.out.Effects {
		if _, ok := e.(conv.CloseConnection); ok {
			k.closed = true
		}
	}
	if st.Phase == conv.Idle {
		k.closed = false
	}
	armed := func(t conv.Timer) bool { return !st.Timers[t].IsZero() }
	frozen := func(t conv.Timer) bool {
		return st.Phase == conv.Suspended && !st.Suspended.Timers[t].IsZero()
	}
	awaiting := st.Phase == conv.Understanding && st.User.Turn != 0
	for _, c := range []struct {
		broken bool
		what   string
	}{
		{(armed(conv.TimerGrace) || frozen(conv.TimerGrace)) && !st.Conn.Shaky, "the grace of a connection runs that is not shaky"},
		{st.Conn.Shaky && !armed(conv.TimerGrace) && !frozen(conv.TimerGrace), "the connection is shaky and its grace does not run"},
		{armed(conv.TimerFinal) && !awaiting, "the final transcript is waited for after the turn"},
		{armed(conv.TimerEndpoint) && st.Phase != conv.ListeningCapturing, "the end of a turn is waited for outside of it"},
		{armed(conv.TimerTry) && (r.Turn == 0 || r.Request == 0), "a try runs and nothing is asked"},
		{armed(conv.TimerProcessing) && r.Turn == 0, "the making of a reply runs and there is none"},
		{armed(conv.TimerSession) != st.Session.Alive, "the session's clock and its life disagree"},
		{st.Session.Expiring && !st.Session.Alive, "a dead session expires"},
		{st.Faults.BreakerOpen && st.Phase != conv.Faulted && st.Phase != conv.Reconnecting && st.Phase != conv.Terminating, "the circuit breaker is open and the conversation goes on"},
		{st.Playout.Playing && (r.Turn == 0 || st.Playout.Turn != r.Turn), "audio plays of a turn that is not open"},
		{r.Held && r.Turn == 0, "a reply is held and there is none"},
		{st.Pending.Ending && st.Phase == conv.Idle, "a conversation that is over is ending"},
		{k.closed && st.Phase == conv.ListeningReady, "it listens on a connection that it closed and nobody restored"},
	} {
		if c.broken {
			return fmt.Errorf("%s", c.what)
		}
	}
	return nil
}

// checkRest: what would be a silent dead end or a contradiction of two regions.
func (k *Checker) checkRest(s step) error {
	st := s.after
	r := &st.Reply
	switch st.Phase {
	case conv.Waiting, conv.Generating:
		if r.Done && !r.Held && !r.Voiced && !r.Earlier && !st.Playout.Playing {
			return fmt.Errorf("the reply has nothing more to say and is not over")
		}
	case conv.Speaking:
		if r.Turn == 0 || r.Held {
			return fmt.Errorf("it speaks without a reply, or with one that is held")
		}
	case conv.ListeningReady:
		if r.Turn != 0 || st.User.Turn != 0 {
			return fmt.Errorf("it is ready with turn %d and turn %d open", r.Turn, st.User.Turn)
		}
		if st.Floor.Speaking && k.c.Options().Endpoint != "manual" {
			return fmt.Errorf("a voice is heard and has not the floor")
		}
	default:
		// Their rest is in checkWaiting.
	}
	if v := st.Views().Interaction; v.IsSpeaking() && v.Interrupted() {
		return fmt.Errorf("the flags of seed 004 contradict each other")
	}
	return nil
}
