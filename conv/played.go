package conv

import (
	"time"

	"github.com/hocketvoice/hocket/internal/timers"
)

// This file handles the reports of the playout. The history contains what was heard. Sources:
// seed 001, 4.4; DESIGN rule 8.

// stalePlayout reports whether a report about the audio of a turn comes too late: the audio
// was dropped, or the turn has ended.
func (s *State) stalePlayout(number int) bool {
	if s.Reply.agrees() {
		return true // nothing has been said
	}
	switch s.Phase {
	case Idle, Preparing, ListeningReady, Interrupted, Reconnecting, Faulted, Terminating:
		return true
	case ListeningCapturing:
		if !s.Reply.Held() {
			return true
		}
	default:
	}
	if number != 0 && number != s.Reply.Turn {
		return true
	}
	if s.Reply.consulting() && !s.Reply.Earlier {
		return true // the reply has no audio before the advice comes
	}
	return s.Reply.Turn == 0 && !s.replyExpected()
}

func (c *Conversation) handlePlayoutStarted(e PlayoutStarted) {
	c.adoptReply()
	st := &c.st
	p := &st.Playout
	p.of(st.Reply.Turn)
	part := e.Part
	switch {
	case c.st.Reply.consulting():
		part = st.Reply.Part - 1 // only the part before the tool has audio
	case part == 0:
		part = st.Reply.Part
	}
	p.started(part, st.Now)
	if part == st.Reply.Part {
		st.Reply.voiced()
	}
	st.Floor.Barged = 0
	st.DeadAir.AgentSpoke()
	if st.Reply.Held() {
		return // the audio began to play before the pause took effect
	}
	switch st.Phase {
	case Understanding, Waiting, Generating:
		if part < st.Reply.Part {
			return // the announcement before a tool plays late; the answer follows it
		}
		c.st.disarm(timers.Try, timers.Processing)
		c.become(Speaking, c.event)
		c.st.armStall(&c.opts)
		if st.Floor.Speaking {
			// The voice that is still heard is now a voice over the agent.
			st.Floor.Overlap = true
			c.speechOverAgent(c.event)
		}
	default:
		// In Speaking nothing changes. While a tool runs, the phase stays that of the tool.
	}
}

// notePlayout notes how much of the open reply has been heard.
func (s *State) notePlayout(o *Options, heard time.Duration, text string) {
	p := &s.Playout
	if p.Turn != s.Reply.Turn {
		return // no audio of the reply has started to play
	}
	p.report(heard, text, s.Now)
	s.hearReadBack()
	if s.Phase == Speaking {
		s.arm(timers.Playout, o.Limits.PlayoutStall)
	}
}

func (c *Conversation) handlePlayoutFinished(e PlayoutFinished) {
	if e.Heard == 0 {
		e.Heard = c.st.heardSoFar() // the playout does not know
	}
	c.st.notePlayout(&c.opts, e.Heard, e.Text)
	st := &c.st
	p := &st.Playout
	if !p.Playing || e.Part != 0 && e.Part < p.Part {
		return // the part has not started, or its end was reported before
	}
	p.stopped()
	c.st.ReadBack.partPlayed(&c.st.Reply, p.Part, c.st.Now)
	switch {
	case st.Phase == Speaking && p.Part == st.Reply.Part:
		if !st.Reply.Complete() {
			// The model did not say that the reply is complete, but the playout is at its end.
			c.out.emit(CancelTurn{Turn: st.Reply.Turn})
		}
		c.st.overIsOver(&c.ear)
		c.endReply(TurnCompleted)
		c.become(ListeningReady, causePlayoutFinished)
	case p.Part == st.Reply.Part && st.Reply.Held() && st.Reply.Complete() && !c.st.Calls.held(c.st.Reply.Turn):
		// The reply played to its end before the pause took effect, so nothing is left to hold.
		c.endReply(TurnCompleted)
	default:
		c.announcementEnded(p.Part)
	}
}

// announcementEnded continues after a part has played to its end while the reply goes on: an
// announcement before a tool, or a part of a held reply that played before the pause took
// effect.
func (c *Conversation) announcementEnded(part int) {
	r := &c.st.Reply
	// The part was heard to its end, even if by the estimate it would last longer.
	c.st.changed = true
	c.st.History.measured(r.Turn, part)
	r.Earlier = false
	if part == r.Part {
		r.unvoiced()
	}
	c.st.overIsOver(&c.ear)
	if !c.st.thinking() {
		return
	}
	if c.st.Floor.Speaking || c.st.User.Words() != "" {
		c.speechWhileThinking(c.event)
		return
	}
	c.maybeEndReply(c.event)
}

// holdPlayout pauses the audio of a held reply, if it has any.
func (s *State) holdPlayout(out *Output) {
	if r := &s.Reply; r.sounding() || s.Playout.Playing {
		s.pausePlayout(out)
	}
}

// pausePlayout pauses the audio of the reply.
func (s *State) pausePlayout(out *Output) {
	heard := s.heardSoFar()
	s.Playout.of(s.Reply.Turn)
	s.Playout.pause(out, heard, s.Now)
}

// cutAnnouncement drops the audio of the parts before the current one, because the user spoke
// over it. While a tool runs it also drops the current part, which announces the tool.
// Otherwise the current part is the answer and stays.
func (s *State) cutAnnouncement(out *Output) {
	r, p := &s.Reply, &s.Playout
	heard, part := s.heardSoFar(), r.Part-1
	if (s.Phase == ToolRunning || s.Phase == Delegated) && r.Voice != voiceUnused {
		part = r.Part
	}
	part = max(part, p.Part, 1)
	s.Said, s.SaidCut = r.Text, true
	out.emit(FlushPlayout{Turn: r.Turn, Part: part, Heard: heard})
	s.changed = true
	s.History.markHeard(r.Turn, part, heard, p.Text)
	s.History.measured(r.Turn, part)
	p.measure(heard, s.Now)
	p.stopped()
	if part == r.Part {
		r.unvoiced()
	}
	if b := &s.ReadBack; part >= b.Part {
		b.Turn = 0 // later reports are about audio that was dropped
	}
	if s.Consent.asking(&s.Reply) {
		s.Consent.open() // a part of the question may have been dropped
	}
	r.Earlier = false
	s.Barge.Reset()
}

func (c *Conversation) handlePlayoutFailed(e PlayoutFailed) {
	code := e.Code
	if code == "" {
		code = "PLAYBACK_ERROR"
	}
	if c.st.Reply.Held() {
		c.out.notify(LevelWarning, "reply.failed")
		c.cancelReply(TurnFailed)
		return
	}
	c.fault(code, false, causePlayoutFailed)
}

// handlePlayoutFlushed corrects the history of a turn that was cut off to the exact measure.
func (s *State) handlePlayoutFlushed(e PlayoutFlushed) {
	s.flushedReadBack(e)
	s.Going.flushed(e, &s.Playout)
	part := e.Part
	if part == 0 { // all of the turn; by the estimate the last part may have been heard
		part = s.History.lastPart(e.Turn)
		s.History.shorten(e.Turn, part, e.Heard, e.Text)
	}
	s.changed = true
	if p := &s.Playout; s.History.remeasure(e.Turn, part, e.Heard, e.Text) && p.Turn == e.Turn {
		p.Heard, p.Text = e.Heard, e.Text
	}
}
