package explore

import (
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/turn"
)

// oldTurn is the number of a turn that is over in every state, since canonical numbers
// are higher.
const oldTurn = 1

// oldCall is the id of a call that no state knows.
const oldCall = "z"

// adoptedCall is the id of an adopted task. It is constant because canonical states do
// not count ids.
const adoptedCall = "earlier-1"

// alphabet returns every event, with one payload for each way in which the machine may
// react to it.
func alphabet() []conv.Event {
	return []conv.Event{
		conv.UserStart{},
		conv.UserStop{},
		conv.UserCancel{},
		conv.UserCancel{ID: "c"},
		conv.UserCancel{ID: adoptedCall},
		conv.UserRecover{},
		conv.UserInterrupt{Source: "vad"},
		conv.UserInterrupt{Source: "button"},
		conv.UserText{Text: "hello"},
		conv.UserKey{},
		conv.SessionEnded{},
		conv.SessionReady{},
		conv.AudioReady{},
		conv.SpeechStarted{Source: "vad"},
		conv.SpeechStopped{},
		conv.STTPartial{Text: "mhm"},
		conv.STTPartial{Text: "boston"},
		conv.STTPartial{Text: "book a flight"},
		conv.STTPartial{Text: "stop", Turn: oldTurn},
		conv.STTFinal{},
		conv.STTFinal{Text: "mhm"},
		conv.STTFinal{Text: "book a flight"},
		conv.STTFinal{Text: "book a flight", Turn: oldTurn},
		conv.TurnEnded{Cause: "easyturn"},
		conv.TurnEnded{Cause: "manual"},
		conv.TurnEnded{Cause: "max_duration"},
		conv.TurnEnded{Cause: "easyturn", Turn: oldTurn},
		conv.ReplyRequested{},
		conv.ReplyRequested{Turn: oldTurn},
		conv.ReplyDelta{Text: "Well. And"}, // a complete sentence and the beginning of another
		conv.ReplyDelta{Text: "Well. "},
		conv.ReplyDelta{Text: "late", Turn: oldTurn},
		conv.ReplyDone{},
		conv.ReplyDone{Silent: true},
		conv.ReplyDone{Turn: oldTurn},
		conv.ReplyFailed{Code: errclass.RateLimit, Retryable: true},
		conv.ReplyFailed{Code: errclass.SessionExpired},
		conv.ReplyFailed{Code: errclass.AuthFailure},
		conv.ReplyFailed{Code: errclass.Unknown},
		conv.ReplyFailed{Code: errclass.Unknown, Turn: oldTurn},
		conv.ToolCalled{ID: "a", Name: "quick"},
		conv.ToolCalled{ID: "c", Name: "agent", Long: true},
		conv.ToolCalled{ID: "z", Name: "quick", Turn: oldTurn},
		conv.ToolDone{ID: "a", Output: "1"},
		conv.ToolDone{ID: oldCall, Output: "1"},
		conv.ToolFailed{ID: "a", Code: errclass.ToolError},
		conv.ToolFailed{ID: "a", Fatal: true},
		conv.TaskProgress{ID: "c", Text: "half"},
		conv.TaskDone{ID: "c", Output: "1"},
		conv.TaskDone{ID: oldCall, Output: "1"},
		conv.TaskFailed{ID: "c"},
		conv.TaskAdopted{Key: "t", Name: "agent"},
		conv.TaskDone{ID: adoptedCall, Output: "1"},
		conv.TaskFailed{ID: adoptedCall},
		conv.Summarized{Request: 1, Text: "so far"}, // late, since canonical states have no history
		conv.STTFinal{Text: "never mind"},
		conv.PlayoutStarted{},
		conv.PlayoutStarted{Turn: oldTurn},
		conv.PlayoutProgress{Heard: time.Second},
		conv.PlayoutFinished{},
		conv.PlayoutFinished{Turn: oldTurn},
		conv.PlayoutFailed{},
		conv.PlayoutFailed{Turn: oldTurn},
		conv.PlayoutFlushed{Turn: oldTurn},
		conv.SessionRenewal{},
		conv.SessionRenewed{},
		conv.SessionConfigured{},
		conv.SessionConfigured{BargeIn: turn.BargeInNone, ListenOnly: true},
		conv.ContextSet{Data: `{"files":{"a":1}}`},
		conv.SessionExpiring{},
		conv.SessionExpired{},
		conv.ConnectionLost{},
		conv.ConnectionLost{Retryable: true},
		conv.ConnectionRestored{},
		conv.ReconnectFailed{},
		conv.ReconnectFailed{Retryable: true},
		conv.Fault{Code: errclass.Unknown},
		conv.Fault{Code: errclass.AuthFailure},
		conv.Fault{Code: errclass.SessionExpired},
		conv.SpeechStarted{Source: "push_to_talk"},
	}
}

// aspect selects a part of the alphabet.
type aspect func(conv.Event) bool

func any_(aspects ...aspect) aspect {
	return func(ev conv.Event) bool {
		for _, a := range aspects {
			if a(ev) {
				return true
			}
		}
		return false
	}
}

// beginning selects the start and end of a conversation.
func beginning(ev conv.Event) bool {
	switch ev.(type) {
	case conv.UserStart, conv.UserStop, conv.SessionReady, conv.AudioReady, conv.SessionEnded:
		return true
	default:
		return false
	}
}

// talk selects a simple exchange.
func talk(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.SpeechStarted:
		return e.Source == "vad"
	case conv.SpeechStopped:
		return true
	case conv.STTFinal:
		return e.Turn == 0 && e.Text != "mhm"
	case conv.ReplyRequested:
		return e.Turn == 0
	case conv.ReplyDelta:
		return e.Text == "Well. "
	case conv.ReplyDone:
		return e.Turn == 0 && !e.Silent
	case conv.PlayoutStarted:
		return e.Turn == 0
	case conv.PlayoutFinished:
		return e.Turn == 0
	case conv.UserCancel:
		return e.ID == ""
	default:
		return false
	}
}

// rules selects changes of the rules during a conversation.
func rules(ev conv.Event) bool {
	_, ok := ev.(conv.SessionConfigured)
	return ok
}

// typed selects an exchange in which the user types.
func typed(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.UserText:
		return true
	case conv.UserCancel:
		return e.ID == ""
	case conv.ReplyDelta:
		return e.Text == "Well. "
	case conv.ReplyDone:
		return e.Turn == 0 && !e.Silent
	case conv.PlayoutStarted:
		return e.Turn == 0
	case conv.PlayoutFinished:
		return e.Turn == 0
	default:
		return false
	}
}

// floor selects everything about who speaks.
func floor(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.ReplyDelta:
		return e.Text != "Well. "
	case conv.UserCancel:
		return e.ID == ""
	case conv.UserInterrupt, conv.UserText, conv.UserKey, conv.SpeechStarted, conv.SpeechStopped,
		conv.STTPartial, conv.STTFinal, conv.TurnEnded, conv.ReplyRequested, conv.ReplyDone, conv.PlayoutStarted, conv.PlayoutProgress, conv.PlayoutFinished,
		conv.PlayoutFailed, conv.PlayoutFlushed:
		return true
	case conv.ReplyFailed:
		return true
	default:
		return false
	}
}

// tools selects quick tools and delegated agents.
func tools(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.TaskDone:
		return e.ID != adoptedCall
	case conv.TaskFailed:
		return e.ID != adoptedCall
	case conv.UserCancel:
		return e.ID == "c"
	case conv.ToolCalled, conv.ToolDone, conv.ToolFailed, conv.TaskProgress:
		return true
	default:
		return false
	}
}

// failures selects failures of quick tools and delegated agents that lead to Faulted.
func failures(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.ToolCalled:
		return e.Turn == 0
	case conv.ToolFailed:
		return e.Fatal
	case conv.TaskFailed:
		return e.ID == "c"
	default:
		return false
	}
}

// tasks selects delegated agents of this conversation and of an earlier one.
func tasks(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.ToolCalled:
		return e.Long
	case conv.STTFinal:
		return e.Text == "never mind"
	case conv.UserCancel:
		return e.ID != ""
	case conv.TaskAdopted, conv.TaskDone, conv.TaskFailed:
		return true
	default:
		return false
	}
}

// disturbances selects failures of the session, the connection and the services.
func disturbances(ev conv.Event) bool {
	switch ev.(type) {
	case conv.SessionRenewal, conv.SessionRenewed, conv.SessionExpiring, conv.SessionExpired,
		conv.ConnectionLost, conv.ConnectionRestored, conv.ReconnectFailed, conv.Fault,
		conv.PlayoutFailed:
		return true
	default:
		return false
	}
}

// blows selects the simplest forms of the disturbances, to test their effect on work in
// progress.
func blows(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.SessionRenewal, conv.SessionRenewed, conv.SessionExpired, conv.ConnectionRestored:
		return true
	case conv.ConnectionLost:
		return !e.Retryable
	case conv.Fault:
		return e.Code == errclass.Unknown
	default:
		return false
	}
}

// keptWhileSuspended selects the events tried during a suspension: one for each kind of
// change that they can cause afterwards. The others would be stepped right after the
// suspension, as in any other state.
func keptWhileSuspended(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.PlayoutFinished:
		return e.Turn == 0
	case conv.ToolDone:
		return e.ID == "a"
	case conv.TaskDone:
		return e.ID == "c" || e.ID == adoptedCall
	case conv.UserText, conv.SpeechStarted, conv.STTFinal, conv.ReplyDone, conv.STTPartial,
		conv.TurnEnded, conv.UserKey, conv.UserInterrupt, conv.UserCancel, conv.UserRecover, conv.ReplyRequested, conv.ReplyDelta, conv.ReplyFailed, conv.ToolCalled, conv.ToolFailed, conv.TaskProgress,
		conv.TaskFailed, conv.PlayoutStarted, conv.PlayoutProgress, conv.PlayoutFailed,
		conv.PlayoutFlushed, conv.SpeechStopped:
		return false
	default:
		return true
	}
}

// faults selects repeated failures, and what resets their count.
func faults(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.Fault, conv.ConnectionLost, conv.ConnectionRestored, conv.ReconnectFailed,
		conv.SessionExpired:
		return true
	case conv.UserCancel:
		return e.ID == ""
	case conv.UserText, conv.UserRecover:
		return true
	case conv.ReplyDone:
		return e.Silent
	case conv.PlayoutStarted:
		return e.Turn == 0
	case conv.PlayoutFinished:
		return e.Turn == 0
	default:
		return false
	}
}
