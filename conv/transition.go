package conv

import (
	"fmt"

	"github.com/hocketvoice/hocket/internal/timers"
)

// become changes the phase, with the exit action of the old one and the entry action of the new
// one.
func (c *Conversation) become(next Phase, cause Cause) {
	c.st.disarm(phaseTimers[c.st.Phase]...)
	if c.st.Phase == ListeningReady {
		c.st.DeadAir.Stop()
	}
	c.record(next, cause)
	c.enter(next)
}

// record changes the phase without exit and entry actions and notes the transition. It panics
// on a transition that is not in the graph of the phases.
func (c *Conversation) record(next Phase, cause Cause) {
	st := &c.st
	if !st.Phase.CanFollow(next) {
		panic(fmt.Sprintf("conv: %v -> %v on %s is not an edge of the phase graph", st.Phase, next, cause))
	}
	from := st.Phase
	st.Previous, st.Phase, st.Entered = from, next, c.st.Now
	t := Transition{
		From: from, To: next, Cause: cause, Event: string(c.event),
		Turn: c.out.turnOfChange(st), At: c.st.Now, Views: st.Views(),
	}
	c.out.Transitions = append(c.out.Transitions, t)
	if len(c.recent) == transitionsKept {
		copy(c.recent, c.recent[1:])
		c.recent = c.recent[:transitionsKept-1]
	}
	c.recent = append(c.recent, t)
}

// enter carries out the entry action of a phase.
func (c *Conversation) enter(p Phase) {
	switch p {
	case ListeningReady:
		c.st.Barge.Reset()
		c.st.arm(timers.Inactivity, c.opts.Limits.Inactivity)
		c.st.DeadAir.Start(c.st.Now)
		c.out.emit(Listen{})
	case ListeningCapturing:
		c.st.arm(timers.Listening, c.opts.Limits.Listening)
	case Delegated:
		c.st.startFeedback(&c.out, &c.opts, c.phrases)
	case Speaking:
		c.st.arm(timers.Speaking, c.opts.Limits.Speaking)
		c.st.arm(timers.Playout, c.opts.Limits.PlayoutStall)
	case Interrupted:
		c.st.arm(timers.Interrupted, c.opts.Limits.Interrupted)
	case Idle, Preparing, Understanding, Waiting, Generating, ToolRunning, Suspended,
		Reconnecting, Faulted, Terminating:
		// These phases have no entry action: it depends on the caller of become.
	default:
		panic(fmt.Sprintf("conv: unexpected phase %v", p))
	}
}
