package explore

import (
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/timers"
	"github.com/hocketvoice/hocket/turn"
)

// The canonical times. Every state is moved to epoch, with armed deadlines in the
// future and everything else in the past. Step only distinguishes whether a time has
// come.
var (
	epoch  = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	past   = epoch.Add(-time.Hour)
	future = epoch.Add(time.Hour)
)

// The canonical turn numbers, above oldTurn.
const (
	turnAnswered = 10 // the user's turn that the reply answers
	turnUser     = 11
	turnAgent    = 12
	turnBarged   = 9
	turnLost     = 8
	turnCut      = 7
	turnLast     = 20
	requestNow   = 5
)

// canonical replaces the times, numbers and texts of a state by canonical ones, so that
// states that behave alike become equal.
func canonical(st *conv.State, o *conv.Options) {
	question := canonicalQuestion(st)
	canonicalTime(st)
	canonicalNumbers(st)
	// Filters only look at words over the agent's audio.
	text := func(s string) string { return presence(s, "book a flight") }
	if o.Endpoint == turn.PolicyAuto {
		text = said // the turn has not ended with these words
	}
	st.User.Text, st.User.Partial = text(st.User.Text), text(st.User.Partial)
	st.User.Confidence = 0
	st.Over.Text, st.Over.Partial = kindOfText(st.Over.Text), kindOfText(st.Over.Partial)
	st.Over.Confidence = 0
	// No text of the alphabet echoes the agent's.
	st.Said, st.SaidCut, st.Floor.Overlap = "", false, false
	st.Floor.Tail, st.Floor.TailUtterance, st.Floor.TailOpen = where(st.Floor.Tail, turnAnswered), 0, 0
	canonicalReply(st)
	canonicalSaying(st, question)
	if st.Phase != conv.Interrupted && (st.Phase != conv.Suspended || st.Before != conv.Interrupted) {
		st.Floor.BrokeIn = false
	}
	if st.Playout.Text != firstSentence {
		st.Playout.Text = ""
	}
	if st.Playout.Heard >= time.Hour {
		st.Playout.Heard = time.Hour // longer than any reply
	} else {
		st.Playout.Heard = min(st.Playout.Heard, time.Second)
	}
	if !o.ResumeAfterFalseInterruption && !asks(st) {
		st.Playout.Heard = 0 // it only determines the history, and what is said after a lost connection
	} else {
		st.Playout.At = epoch // sound not reported as heard was not heard
	}
	canonicalGoing(st)
	st.Conn.Unanswered.Text = text(st.Conn.Unanswered.Text)
	if o.DeadAir.Off {
		st.DeadAir = turn.DeadAir{}
	}
	canonicalDialogue(st)
	st.Session.ID, st.Context = "", conv.Context{}
	st.Faults.Code = ""
	st.Previous = 0
	for i := range st.Suspended.Facts {
		st.Suspended.Facts[i] = canonicalFact(st.Suspended.Facts[i])
	}
}

// canonicalReply removes what the machine does not read any more: the attempt and the
// reason of a request that was answered.
func canonicalReply(st *conv.State) {
	r := &st.Reply
	r.Text = presence(r.Text, "Well. And")
	if r.Turn == 0 {
		reset(r)
		return
	}
	r.Text = "Well. And"
	r.Unsaid = presence(r.Unsaid, "And")
	r.Seq, r.Sealed = 0, 0
	r.Before = where(r.Before, requestNow-1)
	switch r.Kind {
	case conv.ReplyAnswer, conv.ReplyGreeting:
	default:
		r.Kind = conv.ReplyNews
	}
	phase := st.Phase
	if phase == conv.Suspended {
		phase = st.Before
	}
	switch phase {
	case conv.Speaking, conv.ToolRunning, conv.Delegated:
		r.Attempt, r.Why = 0, ""
		r.Came()
	default:
		if r.Why != conv.RequestUnderstanding && r.Why != conv.RequestWording && r.Why != yesWaits {
			r.Why = conv.RequestReason(presence(string(r.Why), string(conv.RequestUtterance)))
		}
	}
	if r.Kind != conv.ReplyAnswer && !asks(st) {
		st.Playout.Heard = 0
	}
}

// canonicalGoing reduces a reply that was cut off to how much of it was heard: nothing, its first
// sentence, or all of it. What was said of a question keeps its text.
func canonicalGoing(st *conv.State) {
	g := &st.Going
	if g.Turn == 0 {
		return
	}
	g.Turn, g.UserTurn = turnCut, where(g.UserTurn, turnAnswered)
	if asks(st) {
		return
	}
	whole := "Well. And"
	switch {
	case g.Heard >= len(g.Text):
		g.Heard = len(whole)
	case strings.ContainsAny(g.Text[:g.Heard], "."):
		g.Heard = len("Well.")
	default:
		g.Heard = 0
	}
	g.Text = whole
}

// canonicalFact replaces the text of an event by that of its kind.
func canonicalFact(ev conv.Event) conv.Event {
	if d, ok := ev.(conv.ReplyDelta); ok {
		d.Text = "Well. And"
		return d
	}
	return ev
}

// reset sets a part of the state to its zero value.
func reset[T any](part *T) { *part = *new(T) }

// yesWaits is why the machine keeps what the user has said in the reply: it is a yes to which the
// user may add something.
const yesWaits conv.RequestReason = "yes"

// said returns the canonical form of what the user said. A yes stays a yes unless it has a no.
func said(text string) string {
	switch {
	case strings.Contains(text, "no"):
		return "no"
	case strings.HasPrefix(text, "yes"):
		return "yes"
	}
	return presence(text, "book a flight")
}

func presence(s, canonical string) string {
	if s == "" {
		return ""
	}
	return canonical
}

// kindOfText returns a fixed text that the filters and the machine treat in the same
// way.
func kindOfText(s string) string {
	switch n := len(strings.Fields(strings.ReplaceAll(s, "mhm", ""))); {
	case s == "":
		return ""
	case n == 0:
		return "mhm"
	case n == 1:
		return "boston"
	default:
		return "book a flight"
	}
}

func canonicalTime(st *conv.State) {
	st.Now, st.Entered = epoch, past
	for t := range st.Timers {
		st.Timers[t] = armed(st.Timers[t])
		st.Suspended.Timers[t] = armed(st.Suspended.Timers[t])
	}
	st.User.Started, st.Over.Started = past, time.Time{}
	st.Reply.Started, st.Session.Started = past, past
	if st.Playout.At.IsZero() {
		st.Playout.At = past
	}
	st.Playout.At = past
	st.Suspended.At = armedPast(st.Suspended.At)
	b := &st.Barge
	b.StopAt, b.ResumeAt = armed(b.StopAt), armed(b.ResumeAt)
	b.Onset, b.SpeechAt, b.WordsAt = armedPast(b.Onset), armedPast(b.SpeechAt), armedPast(b.WordsAt)
	if !st.DeadAir.Since.IsZero() {
		st.DeadAir.Since = epoch
	}
	for i := range st.Calls {
		st.Calls[i].Deadline = armed(st.Calls[i].Deadline)
		st.Calls[i].Started = past
	}
	for i := range st.Faults.Expiries {
		st.Faults.Expiries[i] = future
	}
	for i := range st.History {
		st.History[i].At = past
	}
}

func armed(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return future
}

func armedPast(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return past
}

// renaming returns a function that maps a state's turns to their canonical numbers,
// according to their use.
func renaming(st *conv.State) func(turn int) int {
	agent, user, answered, barged, lost := st.Reply.Turn, st.User.Turn, st.Reply.UserTurn, st.Floor.Barged, st.Conn.Unanswered.Turn
	return func(n int) int {
		switch n {
		case 0:
			return 0
		case agent:
			return turnAgent
		case user:
			return turnUser
		case answered:
			return turnAnswered
		case barged:
			return turnBarged
		case lost:
			return turnLost
		default:
			return oldTurn + 1
		}
	}
}

// canonicalNumbers renames turns and requests.
func canonicalNumbers(st *conv.State) {
	rename := renaming(st)
	// The machine only reads the history for the context of requests and to know which
	// calls were answered. Without it, an id may occur again as that of a new call.
	st.History = st.History[:0]
	for i := range st.Calls {
		st.Calls[i].Turn = rename(st.Calls[i].Turn)
	}
	st.ReadBack.Turn = rename(st.ReadBack.Turn)
	st.Consent.Turn, st.Consent.UserTurn = rename(st.Consent.Turn), rename(st.Consent.UserTurn)
	st.Consent.Calls = slices.Clone(st.Consent.Calls)
	for i := range st.Consent.Calls {
		st.Consent.Calls[i].Yes = rename(st.Consent.Calls[i].Yes)
	}
	st.Playout.Turn = rename(st.Playout.Turn)
	if st.Playout.Turn != turnAgent {
		st.Playout.Turn, st.Playout.Part, st.Playout.Heard = 0, 0, 0
	}
	st.Floor.Barged = where(st.Floor.Barged, turnBarged)
	st.Conn.Unanswered.Turn = where(st.Conn.Unanswered.Turn, turnLost)
	st.Reply.UserTurn = where(st.Reply.UserTurn, turnAnswered)
	st.User.Turn = where(st.User.Turn, turnUser)
	st.Reply.Turn = where(st.Reply.Turn, turnAgent)
	st.Reply.Request = where(st.Reply.Request, requestNow)
	st.LastTurn, st.LastRequest, st.LastCall = turnLast, requestNow, 0
	if st.Reply.Part > 2 {
		st.Playout.Part = max(0, st.Playout.Part-(st.Reply.Part-2))
		st.Reply.Part = 2
	}
	st.Floor.Utterance, st.Floor.Worded, st.Floor.Closed = 0, 0, 0
}

func where(n, canonical int) int {
	if n == 0 {
		return 0
	}
	return canonical
}

// clocks returns the deadlines that may pass next. Each entry makes one of them due and
// leaves the others in the future.
func clocks(st *conv.State, o *conv.Options) []clock {
	var due []clock
	add := func(t timers.Timer, set func(*conv.State)) { due = append(due, clock{timer: t, set: set}) }
	for t := range st.Timers {
		timer := timers.Timer(t)
		switch timer {
		case timers.Barge, timers.DeadAir, timers.Tool, timers.Task, timers.Forget:
			continue // derived from others below
		default:
		}
		if !st.Timers[t].IsZero() {
			add(timer, func(s *conv.State) { s.Timers[timer] = epoch })
		}
	}
	if !st.Timers[timers.Barge].IsZero() {
		if !st.Barge.StopAt.IsZero() {
			add(timers.Barge, func(s *conv.State) {
				s.Barge.StopAt, s.Timers[timers.Barge] = epoch, epoch
			})
		}
		if !st.Barge.ResumeAt.IsZero() {
			add(timers.Barge, func(s *conv.State) {
				s.Barge.ResumeAt, s.Timers[timers.Barge] = epoch, epoch
			})
		}
	}
	if !st.Timers[timers.DeadAir].IsZero() {
		steps := o.DeadAir.Steps
		if len(steps) == 0 {
			steps = turn.DefaultDeadAir()
		}
		after := steps[st.DeadAir.Next].After
		add(timers.DeadAir, func(s *conv.State) {
			s.DeadAir.Since, s.Timers[timers.DeadAir] = epoch.Add(-after), epoch
		})
	}
	if st.Phase != conv.Suspended {
		for i := range st.Calls {
			if !st.Calls[i].Running() {
				continue
			}
			timer := timers.Tool
			if st.Calls[i].Long {
				timer = timers.Task
			}
			add(timer, func(s *conv.State) { s.Calls[i].Deadline, s.Timers[timer] = epoch, epoch })
		}
	}
	if !st.Timers[timers.Forget].IsZero() {
		add(timers.Forget, func(s *conv.State) {
			s.Faults.Expiries[0], s.Timers[timers.Forget] = epoch, epoch
		})
	}
	return due
}

type clock struct {
	timer timers.Timer
	set   func(*conv.State)
}
