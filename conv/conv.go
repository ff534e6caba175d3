package conv

import (
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/internal/messages"
	"github.com/hocketvoice/hocket/internal/timers"
	"github.com/hocketvoice/hocket/turn"
)

// transitionsKept is the number of transitions that [Conversation.Recent] returns (seed 000,
// CON-003).
const transitionsKept = 20

// Conversation is the state machine of one conversation. [New] and [Restore] make one. It is
// not safe for concurrent use.
type Conversation struct {
	opts    Options
	ear     ear
	phrases *messages.Catalog
	st      State

	check exchange  // checks the texts of the event; a field, so that it is allocated once
	event Cause     // type of the event of this step
	began time.Time // when the voice began that said the words of the event
	out   Output

	// recent holds the last transitions for diagnostics. Snapshots do not contain it (seed
	// 000, CON-003).
	recent []Transition
}

// New returns a conversation in the phase [Idle]. It returns an error if an option is
// invalid.
func New(o Options) (*Conversation, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("conversation options: %w", err)
	}
	words, err := turn.Lookup(o.Language)
	if err != nil {
		return nil, fmt.Errorf("conversation options: %w", err)
	}
	phrases, err := messages.Lookup(o.Language)
	if err != nil {
		return nil, fmt.Errorf("conversation options: %w", err)
	}
	e := ear{language: o.Language, words: words, filter: o.Filter, agent: o.Agent}
	return &Conversation{opts: o, ear: e, phrases: phrases}, nil
}

// Options returns the options in effect, with all defaults filled in.
func (c *Conversation) Options() Options { return c.opts }

// State returns the state, which the caller must not change. It shares memory with the
// conversation and is valid until the next Step; [Conversation.Snapshot] makes a copy.
func (c *Conversation) State() *State { return &c.st }

// Phase returns the current phase.
func (c *Conversation) Phase() Phase { return c.st.Phase }

// Last returns everything that the last Step produced. It is valid until the next Step.
func (c *Conversation) Last() *Output { return &c.out }

// Recent returns the last transitions, the oldest first, at most 20 (seed 000,
// CON-003).
func (c *Conversation) Recent() []Transition { return c.recent }

// History returns what was said, heard, called and returned, the oldest first. It is valid
// until the next Step.
func (c *Conversation) History() []Item { return c.st.History }

// Step takes an event that happened at the time now and returns the effects that the caller
// must carry out, in order. It never blocks and never fails: an event that means nothing in
// the current state changes nothing (seed 000, GUD-004). If now is before the time of the
// last step, Step uses that time instead. The effects are valid until the next Step;
// [Conversation.Last] returns what else the step produced.
func (c *Conversation) Step(now time.Time, ev Event) []Effect {
	if now.Before(c.st.Now) {
		now = c.st.Now
	}
	c.st.Now = now
	d := describe(ev)
	late := d.late(&c.check, &c.st, ev)
	if c.check.malformed {
		c.check.malformed = false
		ev = carried(ev)
		late = d.late(&c.check, &c.st, ev)
	}
	c.event, c.began = Cause(d.name), now
	c.out.reset()

	switch {
	case late:
		c.out.Late = true
	case c.st.Phase == Suspended && d.deferred:
		c.st.Suspended.put(&c.out, &c.opts, ev)
	default:
		if c.st.ReadBack.Turn != 0 {
			c.st.hearReadBack()
		}
		text, partial := c.st.User.Text, c.st.User.Partial
		c.handle(ev)
		c.settle()
		if u := &c.st.User; u.Text != text || u.Partial != partial {
			c.noteAnswer(joinWords(text, partial))
		}
	}
	c.st.armDerived(&c.opts)
	if c.out.asks {
		c.out.context = c.st.Summary.context(c.st.History)
	}
	c.out.Keep = c.out.Keep || c.st.changed || len(c.out.Transitions) > 0
	c.st.changed = false
	return c.out.Effects
}

// NextDeadline returns the time at which the caller must step [DeadlinePassed], or the zero
// time if no deadline is set.
func (c *Conversation) NextDeadline() time.Time {
	_, at, _ := c.st.Timers.Next()
	return at
}

// handle calls the handler of the event.
func (c *Conversation) handle(ev Event) {
	switch e := ev.(type) {
	case UserStart:
		c.handleUserStart(e)
	case UserStop:
		c.handleUserStop()
	case SessionEnded:
		c.handleSessionEnded()
	case SessionReady:
		c.handleSessionReady(e)
	case AudioReady:
		c.handleAudioReady()
	case SpeechStarted:
		c.handleSpeechStarted(e)
	case SpeechStopped:
		c.handleSpeechStopped(e)
	case STTPartial:
		c.handlePartial(e)
	case STTFinal:
		c.handleFinal(e)
	case TurnEnded:
		c.handleTurnEnded(e)
	case UserText:
		c.handleUserText(e)
	case UserKey:
		c.handleUserKey()
	case UserInterrupt:
		c.handleUserInterrupt(e)
	case UserCancel:
		c.handleUserCancel(e)
	case UserRecover:
		c.handleUserRecover()
	case ReplyRequested:
		c.handleReplyRequested()
	case ReplyDelta:
		c.handleReplyDelta(e.Text)
	case ReplyDone:
		c.handleReplyDone(e)
	case ReplyFailed:
		c.handleReplyFailed(e)
	case ToolCalled:
		c.handleToolCalled(e)
	case ToolDone:
		c.handleCallEnded(c.st.Calls.find(e.ID, false), result{Text: e.Output})
	case ToolFailed:
		c.handleToolFailed(e)
	case TaskProgress:
		c.st.handleTaskProgress(&c.out, &c.opts, e)
	case TaskDone:
		c.handleCallEnded(c.st.Calls.find(e.ID, true), result{Text: e.Output})
	case TaskFailed:
		c.handleTaskFailed(e)
	case TaskAdopted:
		c.st.handleTaskAdopted(&c.out, &c.opts, e)
	case Summarized:
		c.st.Summary.take(&c.opts, e, c.st.LastTurn)
	case PlayoutStarted:
		c.handlePlayoutStarted(e)
	case PlayoutProgress:
		c.st.notePlayout(&c.opts, e.Heard, e.Text)
	case PlayoutFinished:
		c.handlePlayoutFinished(e)
	case PlayoutFailed:
		c.handlePlayoutFailed(e)
	case PlayoutFlushed:
		c.st.handlePlayoutFlushed(e)
	case SessionRenewal:
		c.handleSessionRenewal(e)
	case SessionRenewed:
		c.handleSessionRenewed(e)
	case SessionConfigured:
		c.st.handleSessionConfigured(e)
	case ContextSet:
		c.st.handleContextSet(&c.out, e)
	case SessionExpiring:
		c.st.handleSessionExpiring(&c.out, &c.opts)
	case SessionExpired:
		c.handleSessionExpired(c.event)
	case ConnectionLost:
		c.handleConnectionLost(e)
	case ConnectionRestored:
		c.handleConnectionRestored()
	case ReconnectFailed:
		c.handleReconnectFailed(e)
	case Fault:
		c.handleFault(e)
	case DeadlinePassed:
		c.handleDeadline()
	default:
		panic(fmt.Sprintf("conv: unexpected event %T", ev))
	}
}

// handleDeadline fires the timers that are due, the earliest first and those of the same
// time in the order of [timers.Timer]. A timer that fires may arm another one that is already due,
// but never itself for the same time.
func (c *Conversation) handleDeadline() {
	for range 4 * timers.Count {
		which, at, ok := c.st.Timers.Next()
		if !ok || c.st.Now.Before(at) {
			return
		}
		c.st.Timers[which] = time.Time{}
		c.fire(which)
		c.settle()
		c.st.armDerived(&c.opts)
	}
	panic("conv: timers arm each other without end")
}

func (c *Conversation) fire(which timers.Timer) {
	switch which {
	case timers.Start:
		c.startTimedOut()
	case timers.Listening:
		c.endTurn(causeMaxDuration, true)
	case timers.Endpoint:
		cause := causeNoEndpoint
		if c.st.User.Words() == "" {
			cause = causeNoTranscript
		}
		c.endTurn(cause, false)
	case timers.Final:
		c.transcriptTimedOut()
	case timers.AfterYes:
		c.yesStands()
	case timers.Try:
		c.tryTimedOut()
	case timers.Processing:
		c.processingTimedOut()
	case timers.Tool, timers.Task:
		c.callTimedOut(which == timers.Task)
	case timers.Feedback:
		c.st.giveFeedback(&c.out, &c.opts, c.phrases)
	case timers.Heartbeat:
		c.out.notify(LevelWarning, "task.no_heartbeat")
	case timers.Speaking:
		c.out.notify(LevelWarning, "speaking.long")
	case timers.Playout:
		c.fault("PLAYOUT_STALLED", false, causePlayoutTimeout)
	case timers.Interrupted:
		c.leaveInterrupted()
	case timers.Barge:
		c.actOnBarge(c.st.Barge.Passed(c.st.profile(&c.opts), c.st.Now), causeSpeechSustained)
	case timers.DeadAir:
		c.deadAirPassed()
	case timers.Inactivity:
		c.out.notify(LevelInfo, "inactive")
	case timers.Suspended:
		c.st.Conn.Lost = true
		c.becomeReconnecting(causeSuspendedTimeout)
	case timers.Grace:
		c.st.Conn.Lost = true
		c.becomeReconnecting(causeConnectionLost)
	case timers.Reconnect:
		c.st.attemptReconnect(&c.out, &c.opts)
	case timers.ReconnectLimit:
		c.fault(codeReconnect, false, causeReconnectTimeout)
	case timers.Fault:
		c.recoverFromFault(causeFaultTimeout)
	case timers.Breaker:
		if c.st.Phase == Faulted {
			c.recoverFromFault(causeFaultTimeout)
		}
	case timers.Forget:
		c.st.Faults.Expiries = c.st.Faults.Expiries[1:]
	case timers.Warning:
		c.st.handleSessionExpiring(&c.out, &c.opts)
	case timers.Session:
		c.handleSessionExpired(causeSessionTimeout)
	case timers.Release:
		c.becomeIdle(causeReleaseTimeout)
	default:
		panic(fmt.Sprintf("conv: unexpected timer %v", which))
	}
}
