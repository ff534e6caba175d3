package conv

import "time"

// This file: planned pauses, lost connections and faults. Seed 000, REQ-008,
// REQ-009, PER-003, PAT-004, AC-005, AC-006; seed 001, 4.7, 4.8 and section 6.

// handleSessionRenewal begins a planned pause: time stops, the phase is kept.
func (c *Conversation) handleSessionRenewal(e SessionRenewal) {
	st := &c.st
	if !st.Phase.Active() {
		return // No op. There is nothing to pause, or it is paused.
	}
	// A voice that was not yet an interruption will not become one.
	st.Barge.Reset()
	st.Over = UserTurn{}
	c.armDerived()
	st.Playout.Heard, st.Playout.At = c.heardSoFar(), c.st.Now
	source := e.Source
	if source == "" {
		source = "renewal"
	}
	st.Before = st.Phase
	st.Suspended = Suspension{Source: source, At: c.st.Now, Timers: st.Timers}
	for t := range st.Timers {
		if Timer(t).runsWhileSuspended() {
			st.Suspended.Timers[t] = time.Time{}
		} else {
			st.Timers[t] = time.Time{}
		}
	}
	c.record(Suspended, c.event)
	c.arm(TimerSuspended, c.opts.Limits.Suspended)
	c.emit(PauseAudio{})
}

// handleSessionRenewed returns to the phase before, its time shifted by the
// pause, and takes what came in meanwhile in its order. Outside a suspension
// the session was renewed without a gap.
func (c *Conversation) handleSessionRenewed(e SessionRenewed) {
	st := &c.st
	if st.Phase != Suspended {
		if st.Session.Alive {
			c.sessionLives(e.ID)
		}
		return
	}
	if st.Suspended.Source == "renewal" || !st.Session.Alive {
		c.sessionLives(e.ID)
	}
	kept := st.Suspended
	st.Suspended = Suspension{}
	shift := c.st.Now.Sub(kept.At)
	for t := range st.Timers {
		if at := kept.Timers[t]; !at.IsZero() {
			st.Timers[t] = at.Add(shift)
		}
	}
	st.Timers[TimerSuspended] = time.Time{}
	for i := range st.Calls {
		if !st.Calls[i].Deadline.IsZero() {
			st.Calls[i].Deadline = st.Calls[i].Deadline.Add(shift)
		}
	}
	st.Playout.At = c.st.Now
	if st.Before == ListeningReady {
		st.DeadAir.Stop()
		st.DeadAir.Start(c.st.Now)
	}
	c.record(st.Before, c.event)
	c.emit(ResumeAudio{})
	if !st.Reply.Held {
		c.resumePlayout()
	}
	event := c.event
	for _, fact := range kept.Facts {
		c.event = fact.EventType()
		if !c.stale(fact) {
			c.handle(fact)
			c.settle()
		}
	}
	c.event = event
}

// deferrable reports whether a fact waits for the end of a suspension. Facts
// about the suspension, the session and the connection do not.
func deferrable(ev Event) bool {
	switch ev.(type) {
	case SpeechStarted, SpeechStopped, STTPartial, STTFinal, TurnEnded, UserText, UserInterrupt,
		UserCancel, ReplyRequested, ReplyDelta, ReplyDone, ReplyFailed, ToolCalled, ToolDone,
		ToolFailed, TaskProgress, TaskDone, TaskFailed, PlayoutStarted, PlayoutProgress,
		PlayoutFinished, PlayoutFailed, PlayoutFlushed, AudioReady:
		return true
	default:
		return false
	}
}

// deferFact keeps a fact. What replaces or continues the one before it is
// merged with it; when the queue is full the oldest that is only news of
// progress makes room, and if there is none the fact is refused and the person
// told.
func (c *Conversation) deferFact(ev Event) {
	q := &c.st.Suspended.Facts
	c.out.Deferred = true
	if n := len(*q); n > 0 {
		if merged, ok := mergeFacts((*q)[n-1], ev); ok {
			(*q)[n-1] = merged
			return
		}
	}
	if len(*q) >= c.opts.Limits.Queue {
		i := 0
		for i < len(*q) && !transient((*q)[i]) {
			i++
		}
		if i == len(*q) {
			c.out.Deferred = false
			c.notify(LevelError, "queue.full")
			return
		}
		*q = append((*q)[:i], (*q)[i+1:]...)
	}
	*q = append(*q, ev)
}

func mergeFacts(last, ev Event) (Event, bool) {
	switch e := ev.(type) {
	case STTPartial:
		_, ok := last.(STTPartial)
		return e, ok
	case PlayoutProgress:
		l, ok := last.(PlayoutProgress)
		return e, ok && l.Turn == e.Turn
	case TaskProgress:
		l, ok := last.(TaskProgress)
		return e, ok && l.ID == e.ID
	case ReplyDelta:
		l, ok := last.(ReplyDelta)
		if !ok || l.Turn != e.Turn || l.Request != e.Request {
			return nil, false
		}
		e.Text = l.Text + e.Text
		return e, true
	default:
		return nil, false
	}
}

func transient(ev Event) bool {
	switch ev.(type) {
	case STTPartial, PlayoutProgress, TaskProgress:
		return true
	default:
		return false
	}
}

// dropSuspension ends a suspension that will not return to its phase. Results
// of calls that came in meanwhile are kept.
func (c *Conversation) dropSuspension() {
	st := &c.st
	if st.Phase != Suspended {
		return
	}
	if st.Before == ListeningReady {
		st.DeadAir.Stop()
	}
	facts := st.Suspended.Facts
	st.Suspended = Suspension{}
	for _, fact := range facts {
		if c.stale(fact) {
			continue
		}
		switch e := fact.(type) {
		case ToolDone:
			c.endInBackground(c.findCall(e.ID, false), result{Text: e.Output})
		case TaskDone:
			c.endInBackground(c.findCall(e.ID, true), result{Text: e.Output})
		case ToolFailed:
			c.endInBackground(c.findCall(e.ID, false), failedResult(e.Code, e.Message, e.Output))
		case TaskFailed:
			c.endInBackground(c.findCall(e.ID, true), failedResult(e.Code, e.Message, e.Output))
		case STTPartial:
			c.noteWords(squeeze(e.Text), e.Confidence, false)
		case STTFinal:
			c.noteWords(squeeze(e.Text), e.Confidence, true)
		case UserText:
			if text := squeeze(e.Text); text != "" {
				c.queueText(text)
			}
		default:
			// It belonged to a moment that is over.
		}
	}
}

// handleConnectionLost reconnects, after a grace if the connection may come
// back by itself (seed 001, section 6: ICE disconnected).
func (c *Conversation) handleConnectionLost(e ConnectionLost) {
	st := &c.st
	switch st.Phase {
	case Idle, Terminating:
		return
	case Reconnecting:
		st.Conn.Lost = true
		return
	default:
	}
	if e.Retryable {
		if !st.Conn.Shaky {
			st.Conn.Shaky = true
			c.arm(TimerGrace, c.opts.Limits.Grace)
			c.notify(LevelInfo, "connection.shaky")
		}
		return
	}
	c.lineLost("connection.lost")
}

// lineLost reconnects where the connection itself is gone, not the session alone.
func (c *Conversation) lineLost(cause string) {
	c.st.Conn.Lost = true
	c.becomeReconnecting(cause)
}

// becomeReconnecting keeps the context and begins to restore connection and
// session (seed 001, 4.8).
func (c *Conversation) becomeReconnecting(cause string) {
	st := &c.st
	running := c.announceLater() // before their results, if those came in meanwhile
	c.dropSuspension()
	c.untold()
	if r := &st.Reply; !running && r.Kind == ReplyAnswer && r.UserTurn != 0 && !c.partHeard() {
		st.Conn.owes(r.UserTurn, c.utteranceText(r.UserTurn), !c.unread(), r.Began)
	}
	rest := ""
	if !running && st.Reply.Turn != 0 && c.partHeard() {
		rest = c.unheard() // it is said when the line is back, unless the user says something first
	}
	c.asksLater(rest)
	c.breakOff(TurnInterrupted)
	st.Pending.Resume = rest
	st.Conn.Attempts = 0
	c.become(Reconnecting, cause)
	c.emit(SaveContext{Reason: cause})
	if st.Conn.Lost {
		c.emit(CloseConnection{})
	}
	c.arm(TimerReconnectLimit, c.opts.Limits.Reconnect)
	c.scheduleReconnect()
}

// breakOff ends what goes on, for a fault or a lost connection; what the user said
// is kept.
func (c *Conversation) breakOff(how TurnEventType) {
	st := &c.st
	c.cutAudio(how)
	c.keepWords()
	st.Floor.Speaking, st.Floor.Barged = false, 0
	st.Pending.Resume = ""
	st.Conn.Shaky = false
	c.disarm(TimerGrace)
}

// scheduleReconnect arms the next attempt, if there is one.
func (c *Conversation) scheduleReconnect() {
	if n := c.st.Conn.Attempts; n < len(c.opts.Retry.Reconnect) {
		c.arm(TimerReconnect, c.opts.Retry.Reconnect[n])
	}
}

func (c *Conversation) attemptReconnect() {
	c.st.Conn.Attempts++
	c.emit(Reconnect{Attempt: c.st.Conn.Attempts})
	c.scheduleReconnect()
}

func (c *Conversation) handleConnectionRestored() {
	st := &c.st
	switch {
	case st.Conn.Shaky:
		st.Conn.Shaky = false
		c.disarm(TimerGrace)
		c.notify(LevelInfo, "connection.restored")
	case st.Phase == Reconnecting:
		st.Conn.Lost = false
		c.restored("connection.restored")
	case st.Phase == Faulted:
		st.Conn.Lost = false // the recovery finds it there
	default:
		// No op. It was not lost.
	}
}

// restored goes on with the conversation. Who reports a restored connection
// has a session and a working audio path (seed 001, 4.8, steps 1 to 4).
func (c *Conversation) restored(cause string) {
	st := &c.st
	if !st.Session.Alive {
		c.sessionLives("")
	}
	st.Session.Audio = true
	st.Conn.Lost, st.Conn.Attempts = false, 0
	c.emit(RestoreContext{})
	if st.Faults.BreakerOpen {
		// The line is back, what kept failing has not been given its rest.
		c.become(Faulted, "breaker.open")
		return
	}
	c.emit(Cue{Code: "reconnected", Text: c.phrase("reconnected")})
	c.become(ListeningReady, cause)
}

// resumeUnanswered asks again for the answer that the loss cut off: the old
// request died with its turn. Where the words were cut off, the user is asked to
// say them again: half a sentence may mean anything.
func (c *Conversation) resumeUnanswered() {
	conn := &c.st.Conn
	number, text, taken, cut, began := conn.Unanswered, conn.UnansweredText, conn.Taken, conn.Cut, conn.Began
	conn.answered()
	if cut != "" {
		c.st.Pending.Apology = "" // it asks for the same
		c.say(ReplyNotice, c.phrase("apology.cut"), "apology.cut", "resumed")
		return
	}
	c.openReply(ReplyAnswer, number)
	c.st.Reply.Began = began
	c.become(Understanding, "resumed")
	if c.opts.Agent != nil && taken {
		c.repeatFromDialogue()
		return
	}
	if c.opts.Agent != nil {
		c.answerFromDialogue(text, 1, "resumed")
		return
	}
	c.request(RequestResumed, text)
}

func (c *Conversation) handleReconnectFailed(e ReconnectFailed) {
	if c.st.Phase != Reconnecting {
		return
	}
	if e.Retryable && c.st.Conn.Attempts < len(c.opts.Retry.Reconnect) {
		return // The next attempt is due already.
	}
	c.fault(codeReconnect, false, "reconnect.failed")
}

// handleFault takes a failure of a service or of the surroundings.
func (c *Conversation) handleFault(e Fault) {
	class := ClassOf(e.Code)
	fatal := e.Fatal || class.Action == ActionEnd
	switch c.st.Phase {
	case Idle:
		if c.st.Pending.Start {
			c.st.Pending.Start = false
			c.disarm(TimerStart)
			c.notify(LevelError, remedy(e.Code, "fault"))
		}
	case Terminating:
	case Faulted:
		if fatal {
			c.notify(LevelError, remedy(e.Code, "fault"))
			c.notify(LevelWarning, "fault.ends")
			c.becomeTerminating("fault")
		}
	default:
		if class.Action == ActionReconnect && !fatal {
			c.sessionDies()
			if c.st.Phase != Reconnecting {
				c.becomeReconnecting("fault")
			}
			return
		}
		c.fault(e.Code, fatal, "fault")
	}
}

// remedy is the code of the words for a failure: what has happened and, where a person
// can do something about it, what. It is made of the machine's own codes and of the
// class alone, so that no credential can reach a message (SEC-003).
func remedy(code, cause string) string {
	switch code {
	case "LLM_TIMEOUT":
		return "fault.stalled"
	case "VOICE_TIMEOUT":
		return "fault.voice"
	case "PLAYOUT_STALLED":
		return "fault.playback"
	case "TOOL_TIMEOUT":
		return "fault.tool_timeout"
	case "TASK_TIMEOUT":
		return "fault.task_timeout"
	case "EXECUTOR_FAILED":
		return "fault.tool"
	case "START_TIMEOUT":
		return "start.timeout"
	case codeReconnect:
		return "fault.reconnect"
	}
	switch ClassOf(code).Name {
	case ClassAuthFailure:
		return "fault.auth"
	case ClassRateLimit:
		return "fault.rate_limit"
	case ClassNetworkTimeout:
		return "fault.network"
	case ClassServerError:
		return "fault.server"
	}
	switch cause {
	case "task.failed":
		return "fault.task"
	case "playout.failed":
		return "fault.playback"
	}
	return "fault.unknown"
}

// apology is the code of what the agent says to a question that it could not answer.
func apology(code string) string {
	switch class := ClassOf(code).Name; {
	case code == "LLM_TIMEOUT" || class == ClassNetworkTimeout:
		return "apology.timeout"
	case class == ClassRateLimit:
		return "apology.busy"
	default:
		return "apology.fault"
	}
}

// codeReconnect is the fault of a connection that could not be restored.
const codeReconnect = "RECONNECT_FAILED"

// fault enters Faulted; a fatal one goes on to Terminating, any other recovers
// by itself, unless the circuit breaker is open (PAT-004).
func (c *Conversation) fault(code string, fatal bool, cause string) {
	c.faulted(code, fatal, cause, c.st.Reply.Kind == ReplyAnswer)
}

// faulted is fault, and lost says that a question goes without its answer: the person
// is told.
func (c *Conversation) faulted(code string, fatal bool, cause string, lost bool) {
	st := &c.st
	l := &c.opts.Limits
	told := "unanswered"
	if c.partHeard() {
		told = "reply.incomplete"
	}
	c.announceLater()
	c.dropSuspension()
	c.untold()
	c.breakOff(TurnFailed)
	st.Faults.Code = code
	if lost && c.opts.SpeakNotices {
		st.Pending.Apology = apology(code)
	}
	c.become(Faulted, cause)
	c.notify(LevelError, remedy(code, cause))
	if lost {
		c.notify(LevelWarning, told)
	}
	if fatal || st.Faults.Recoveries >= c.opts.Retry.Recover {
		c.notify(LevelWarning, "fault.ends")
		c.becomeTerminating(cause)
		return
	}
	if code == codeReconnect {
		c.notify(LevelWarning, "reconnect.manual") // seed 001, 4.8: offer manual retry option
	}
	st.Faults.Expiries = append(st.Faults.Expiries, c.st.Now.Add(l.BreakerWindow))
	if over := len(st.Faults.Expiries) - l.BreakerFaults; over > 0 {
		st.Faults.Expiries = append(st.Faults.Expiries[:0], st.Faults.Expiries[over:]...)
	}
	if len(st.Faults.Expiries) >= l.BreakerFaults {
		st.Faults.BreakerOpen = true
		c.arm(TimerBreaker, l.BreakerCooldown)
		c.notify(LevelError, "breaker.open")
		return
	}
	c.arm(TimerFault, l.Error)
	c.notify(LevelInfo, "fault.recovers")
}

// closeBreaker lets the next recovery through.
func (c *Conversation) closeBreaker() {
	c.st.Faults.BreakerOpen = false
	c.disarm(TimerBreaker)
}

// breakerCooled: the failures have been given their rest.
func (c *Conversation) breakerCooled() {
	c.closeBreaker()
	if c.st.Phase == Faulted {
		c.recoverFromFault("fault.timeout")
	}
}

// recoverFromFault tries again from the beginning, the context kept.
func (c *Conversation) recoverFromFault(cause string) {
	f := &c.st.Faults
	f.Recoveries++
	f.Code = ""
	if c.st.Conn.Lost {
		c.becomeReconnecting(cause)
		return
	}
	c.becomePreparing(cause)
}
