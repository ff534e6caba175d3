package conv

import (
	"time"

	"github.com/hocketvoice/hocket/internal/timers"
	"github.com/hocketvoice/hocket/port/errclass"
)

// This file handles faults and recovers from them. Sources: seed 000, PAT-004, AC-006; seed
// 001, 4.7.

// faults records the recent faults of a conversation.
type faults struct {
	Code       string      `json:"code,omitempty"`     // of the fault that the machine has not recovered from
	Recoveries int         `json:"recoveries"`         // how many since the last completed reply
	Expiries   []time.Time `json:"expiries,omitempty"` // when each recent fault is forgotten, in rising order
}

// BreakerOpen reports whether the circuit breaker is open. The machine then stays in [Faulted]
// for [Limits.BreakerCooldown], unless a person asks to try again.
func (s *State) BreakerOpen() bool { return s.Timers.Armed(timers.Breaker) }

// handleFault handles the failure of a service or of something else around the machine.
func (c *Conversation) handleFault(e Fault) {
	class := errclass.Of(e.Code)
	fatal := e.Fatal || class.Action == errclass.End
	switch c.st.Phase {
	case Idle:
		if c.st.Starting() {
			c.st.disarm(timers.Start)
			c.out.notify(LevelError, faultMessage(e.Code, "fault"))
		}
	case Terminating:
	case Faulted:
		if fatal {
			c.out.notify(LevelError, faultMessage(e.Code, "fault"))
			c.out.notify(LevelWarning, "fault.ends")
			c.becomeTerminating(causeFault)
		}
	default:
		if class.Action == errclass.Reconnect && !fatal {
			c.st.sessionDies()
			if c.st.Phase != Reconnecting {
				c.becomeReconnecting(causeFault)
			}
			return
		}
		c.fault(e.Code, fatal, causeFault)
	}
}

// faultMessage returns the code of the message for a failure. The message says what has
// happened and, if the person can do something about it, what to do. It depends on the code
// and the class of the failure, never on its text, so that no credential can get into a
// message (SEC-003).
func faultMessage(code string, cause Cause) string {
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
	switch errclass.Of(code).Name {
	case errclass.AuthFailure:
		return "fault.auth"
	case errclass.RateLimit:
		return "fault.rate_limit"
	case errclass.NetworkTimeout:
		return "fault.network"
	case errclass.ServerError:
		return "fault.server"
	}
	switch cause {
	case causeTaskFailed:
		return "fault.task"
	case causePlayoutFailed:
		return "fault.playback"
	default:
		return "fault.unknown"
	}
}

// apology returns the code of the message with which the agent apologizes for a question that
// it could not answer. code is that of the failure.
func apology(code string) string {
	switch class := errclass.Of(code).Name; {
	case code == "LLM_TIMEOUT" || class == errclass.NetworkTimeout:
		return "apology.timeout"
	case class == errclass.RateLimit:
		return "apology.busy"
	default:
		return "apology.fault"
	}
}

// fault enters Faulted. After a fatal fault, or too many recoveries without a completed reply,
// the conversation ends. Otherwise the machine recovers after a time that is longer if the
// circuit breaker opens (PAT-004).
func (c *Conversation) fault(code string, fatal bool, cause Cause) {
	c.faulted(code, fatal, cause, c.st.Reply.Kind == ReplyAnswer)
}

// faulted is like fault. lost says whether the user's question stays without an answer because
// of the fault; the person is then told so.
func (c *Conversation) faulted(code string, fatal bool, cause Cause, lost bool) {
	st := &c.st
	l := &c.opts.Limits
	told := "unanswered"
	if c.st.partHeard() {
		told = "reply.incomplete"
	}
	c.st.Calls.announce(c.st.Reply.Turn)
	c.dropSuspension()
	c.st.untold(&c.opts)
	c.breakOff(TurnFailed)
	st.Faults.Code = code
	if lost && c.opts.SpeakNotices {
		st.Pending.Apology = apology(code)
	}
	c.become(Faulted, cause)
	c.out.notify(LevelError, faultMessage(code, cause))
	if lost {
		c.out.notify(LevelWarning, told)
	}
	if fatal || st.Faults.Recoveries >= c.opts.Retry.Recover {
		c.out.notify(LevelWarning, "fault.ends")
		c.becomeTerminating(cause)
		return
	}
	if code == codeReconnect {
		c.out.notify(LevelWarning, "reconnect.manual") // seed 001, 4.8: offer manual retry option
	}
	st.Faults.Expiries = append(st.Faults.Expiries, c.st.Now.Add(l.BreakerWindow))
	if over := len(st.Faults.Expiries) - l.BreakerFaults; over > 0 {
		st.Faults.Expiries = append(st.Faults.Expiries[:0], st.Faults.Expiries[over:]...)
	}
	if len(st.Faults.Expiries) >= l.BreakerFaults {
		c.st.arm(timers.Breaker, l.BreakerCooldown)
		c.out.notify(LevelError, "breaker.open")
		return
	}
	c.st.arm(timers.Fault, l.Error)
	c.out.notify(LevelInfo, "fault.recovers")
}

// recoverFromFault leaves Faulted and prepares the conversation again, with its context.
func (c *Conversation) recoverFromFault(cause Cause) {
	f := &c.st.Faults
	f.Recoveries++
	f.Code = ""
	if c.st.Conn.Lost {
		c.becomeReconnecting(cause)
		return
	}
	c.becomePreparing(cause)
}
