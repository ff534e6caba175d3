package conv

import (
	"fmt"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/internal/messages"
	"github.com/hocketvoice/hocket/turn"
)

// transitionsKept is CON-003 of seed 000.
const transitionsKept = 20

// Conversation is the machine: a state and the options it was made with. It is
// not safe for concurrent use.
type Conversation struct {
	opts    Options
	words   *turn.Words
	phrases *messages.Catalog
	yes     func(text string) bool // reports a yes, where there is no agent; nil: not made yet
	st      State

	event  string    // type of the event being stepped
	began  time.Time // when what it says was begun to be said
	out    Output
	marked int // how many of out's turns lie before its last transition

	// recent holds the last transitions for diagnostics. It is memory only:
	// CON-003 keeps it out of snapshots.
	recent []Transition
}

// Output is all that one step produced. It is valid until the next Step.
type Output struct {
	Effects     []Effect
	Transitions []Transition
	Turns       []TurnEvent
	// Late: the fact belonged to a turn, request or call that is over; it was
	// dropped.
	Late bool
	// Deferred: the fact is kept until the suspension ends.
	Deferred bool
	// Keep: the state has to be kept before anybody is told what the step did. The phase,
	// the dialogue, the history or a call has changed (seed 003, Checkpoint Strategy).
	Keep bool
}

// New makes a conversation in [Idle]. It fails if an option makes no sense.
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
	return &Conversation{opts: o, words: words, phrases: phrases}, nil
}

// Options returns the options in effect, defaults filled in.
func (c *Conversation) Options() Options { return c.opts }

// State returns the state for reading. It shares memory with the machine and is
// valid until the next Step; [Conversation.Snapshot] copies.
func (c *Conversation) State() *State { return &c.st }

// Phase is the current phase.
func (c *Conversation) Phase() Phase { return c.st.Phase }

// Last returns what the last Step produced.
func (c *Conversation) Last() *Output { return &c.out }

// Recent returns the last transitions, the oldest first, at most 20 (seed 000,
// CON-003).
func (c *Conversation) Recent() []Transition { return c.recent }

// History is what was said and heard, the oldest first. It is valid until the
// next Step.
func (c *Conversation) History() []Item { return c.st.History }

// Step takes a fact and returns the work that follows from it. It never blocks
// and never fails; a fact that means nothing in the current state changes
// nothing (seed 000, GUD-004). now must not go back: an earlier time is taken
// as the time of the last step. The effects are valid until the next Step.
func (c *Conversation) Step(now time.Time, ev Event) []Effect {
	if now.Before(c.st.Now) {
		now = c.st.Now
	}
	c.st.Now = now
	ev = carried(ev)
	c.event, c.began = ev.EventType(), now
	c.out.Effects = c.out.Effects[:0]
	c.out.Transitions = c.out.Transitions[:0]
	c.out.Turns = c.out.Turns[:0]
	c.out.Late, c.out.Deferred, c.out.Keep, c.marked = false, false, false, 0

	switch {
	case c.stale(ev):
		c.out.Late = true
	case c.st.Phase == Suspended && deferrable(ev):
		c.deferFact(ev)
	default:
		c.hearReadBack()
		c.handle(ev)
		c.settle()
	}
	c.armDerived()
	c.out.Keep = c.out.Keep || len(c.out.Transitions) > 0 || slices.ContainsFunc(c.out.Effects, startsWork)
	return c.out.Effects
}

// NextDeadline is when [DeadlinePassed] is due, or the zero time.
func (c *Conversation) NextDeadline() time.Time {
	_, at, _ := c.st.Timers.Next()
	return at
}

// stale is the one guard against late results: it reports whether the fact
// belongs to a turn, a request, a stretch of speech or a call that is over.
func (c *Conversation) stale(ev Event) bool {
	switch e := ev.(type) {
	case SpeechStarted:
		return c.staleSpeech(0, e.Utterance)
	case SpeechStopped:
		return c.staleSpeech(e.Turn, e.Utterance)
	case STTPartial:
		return c.staleWords(e.Turn, e.Utterance, squeeze(e.Text), false)
	case STTFinal:
		return c.staleWords(e.Turn, e.Utterance, squeeze(e.Text), true)
	case TurnEnded:
		return c.staleSpeech(e.Turn, e.Utterance)
	case ReplyRequested:
		return c.staleReply(e.Turn, e.Request)
	case ReplyDelta:
		return c.staleReply(e.Turn, e.Request) || !c.replyExpected()
	case ReplyDone:
		return c.staleReply(e.Turn, e.Request) || !c.replyExpected()
	case ReplyFailed:
		return c.staleReply(e.Turn, e.Request) || !c.replyExpected()
	case ToolCalled:
		return !c.belated(e) && (c.staleReply(e.Turn, e.Request) || !c.replyExpected())
	case ToolDone:
		return c.findCall(e.ID, false) < 0
	case ToolFailed:
		return c.findCall(e.ID, false) < 0
	case TaskProgress:
		return c.findCall(e.ID, true) < 0
	case TaskDone:
		return c.findCall(e.ID, true) < 0
	case TaskFailed:
		return c.findCall(e.ID, true) < 0
	case TaskAdopted:
		return c.adopted(e.Key)
	case Summarized:
		return e.Request != c.st.Summary.Request || c.st.Summary.Asking == 0
	case UserCancel:
		return e.ID != "" && c.findTask(e.ID) < 0
	case PlayoutStarted:
		return c.stalePlayout(e.Turn)
	case PlayoutProgress:
		return c.stalePlayout(e.Turn)
	case PlayoutFinished:
		return c.stalePlayout(e.Turn)
	case PlayoutFailed:
		return c.stalePlayout(e.Turn)
	case PlayoutFlushed:
		return c.staleFlush(e)
	case UserStart, UserStop, SessionEnded, SessionReady, AudioReady, UserText,
		UserInterrupt, SessionRenewal, SessionRenewed, SessionConfigured, SessionExpiring,
		SessionExpired, ConnectionLost, ConnectionRestored, ReconnectFailed, Fault,
		DeadlinePassed:
		return false
	default:
		panic(fmt.Sprintf("conv: unexpected event %T", ev))
	}
}

// handle gives the event to the part of the machine that it concerns.
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
	case UserInterrupt:
		c.handleUserInterrupt(e)
	case UserCancel:
		c.handleUserCancel(e)
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
		c.handleCallEnded(c.findCall(e.ID, false), result{Text: e.Output})
	case ToolFailed:
		c.handleToolFailed(e)
	case TaskProgress:
		c.handleTaskProgress(e)
	case TaskDone:
		c.handleCallEnded(c.findCall(e.ID, true), result{Text: e.Output})
	case TaskFailed:
		c.handleTaskFailed(e)
	case TaskAdopted:
		c.handleTaskAdopted(e)
	case Summarized:
		c.handleSummarized(e)
	case PlayoutStarted:
		c.handlePlayoutStarted(e)
	case PlayoutProgress:
		c.notePlayout(e.Heard, e.Text)
	case PlayoutFinished:
		c.handlePlayoutFinished(e)
	case PlayoutFailed:
		c.handlePlayoutFailed(e)
	case PlayoutFlushed:
		c.handlePlayoutFlushed(e)
	case SessionRenewal:
		c.handleSessionRenewal(e)
	case SessionRenewed:
		c.handleSessionRenewed(e)
	case SessionConfigured:
		c.handleSessionConfigured(e)
	case SessionExpiring:
		c.handleSessionExpiring()
	case SessionExpired:
		c.handleSessionExpired(e.EventType())
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

// handleDeadline fires what is due, the earliest first, ties in the timers'
// order. A deadline that fires may arm another that is due already, but never
// itself for the same instant.
func (c *Conversation) handleDeadline() {
	for range 4 * numTimers {
		which, at, ok := c.st.Timers.Next()
		if !ok || c.st.Now.Before(at) {
			return
		}
		c.st.Timers[which] = time.Time{}
		c.fire(which)
		c.settle()
		c.armDerived()
	}
	panic("conv: deadlines re-arm themselves")
}

func (c *Conversation) fire(which Timer) {
	switch which {
	case TimerStart:
		c.startTimedOut()
	case TimerListening:
		c.endTurn("max_duration", true)
	case TimerEndpoint:
		c.endpointMissing()
	case TimerFinal:
		c.commit("transcript.timeout")
	case TimerTry:
		c.tryTimedOut()
	case TimerProcessing:
		c.processingTimedOut()
	case TimerTool, TimerTask:
		c.callTimedOut(which == TimerTask)
	case TimerFeedback:
		c.giveFeedback()
	case TimerHeartbeat:
		c.notify(LevelWarning, "task.no_heartbeat")
	case TimerSpeaking:
		c.notify(LevelWarning, "speaking.long")
	case TimerPlayout:
		c.fault("PLAYOUT_STALLED", false, "playout.timeout")
	case TimerInterrupted:
		c.leaveInterrupted()
	case TimerBarge:
		c.actOnBarge(c.st.Barge.Passed(c.profile(), c.st.Now), "speech.sustained")
	case TimerDeadAir:
		c.deadAirPassed()
	case TimerInactivity:
		c.notify(LevelInfo, "inactive")
	case TimerSuspended:
		c.lineLost("suspended.timeout")
	case TimerGrace:
		c.lineLost("connection.lost")
	case TimerReconnect:
		c.attemptReconnect()
	case TimerReconnectLimit:
		c.fault(codeReconnect, false, "reconnect.timeout")
	case TimerFault:
		c.recoverFromFault("fault.timeout")
	case TimerBreaker:
		c.breakerCooled()
	case TimerForget:
		c.st.Faults.Expiries = c.st.Faults.Expiries[1:]
	case TimerWarning:
		c.handleSessionExpiring()
	case TimerSession:
		c.handleSessionExpired("session.timeout")
	case TimerRelease:
		c.becomeIdle("release.timeout")
	default:
		panic(fmt.Sprintf("conv: unexpected timer %v", which))
	}
}

func (c *Conversation) emit(e Effect) { c.out.Effects = append(c.out.Effects, e) }

func (c *Conversation) notify(level NotifyLevel, code string) {
	c.emit(Notify{Level: level, Code: code})
}

func (c *Conversation) arm(t Timer, after time.Duration) { c.st.Timers[t] = c.st.Now.Add(after) }

func (c *Conversation) disarm(timers ...Timer) {
	for _, t := range timers {
		c.st.Timers[t] = time.Time{}
	}
}

// armDerived sets the deadlines that follow from sub-states, so that no part of
// the machine has to remember to.
func (c *Conversation) armDerived() {
	st := &c.st
	if st.Phase == Suspended {
		return // time stands still; the frozen timers are in st.Suspended
	}
	st.Timers[TimerBarge] = st.Barge.Deadline()
	st.Timers[TimerDeadAir] = time.Time{}
	if st.Phase == ListeningReady && !st.Floor.Speaking {
		st.Timers[TimerDeadAir] = st.DeadAir.Deadline(c.opts.DeadAir)
	}
	st.Timers[TimerTool], st.Timers[TimerTask] = time.Time{}, time.Time{}
	for i := range st.Calls {
		call := &st.Calls[i]
		if call.State != CallRunning {
			continue
		}
		t := TimerTool
		if call.Long {
			t = TimerTask
		}
		if st.Timers[t].IsZero() || call.Deadline.Before(st.Timers[t]) {
			st.Timers[t] = call.Deadline
		}
	}
	st.Timers[TimerForget] = time.Time{}
	if len(st.Faults.Expiries) > 0 {
		st.Timers[TimerForget] = st.Faults.Expiries[0]
	}
}
