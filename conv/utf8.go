package conv

import "unicode/utf8"

// carried is the event as its JSON carries it: bytes that are no UTF-8, in what
// comes from services and people, are replaced. The machine works on what a
// trace can tell, so that the trace of any call replays bit for bit. A piece that
// was cut in the middle of a letter loses the letter; who cuts pieces keeps
// letters whole.
func carried(ev Event) Event {
	if wellFormed(ev) {
		return ev
	}
	b, err := MarshalEvent(ev)
	if err != nil {
		return ev
	}
	clean, err := UnmarshalEvent(b)
	if err != nil {
		return ev // it is refused for something else, and cannot be in a trace
	}
	return clean
}

func valid(texts ...string) bool {
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return false
		}
	}
	return true
}

// wellFormed reports whether the texts of an event are UTF-8.
func wellFormed(ev Event) bool {
	switch e := ev.(type) {
	case UserStop:
		return valid(e.Reason)
	case SessionReady:
		return valid(e.ID)
	case SpeechStarted:
		return valid(e.Source)
	case SpeechStopped:
		return valid(e.Source)
	case STTPartial:
		return valid(e.Text)
	case STTFinal:
		return valid(e.Text)
	case TurnEnded:
		return valid(e.Cause)
	case UserText:
		return valid(e.Text)
	case UserInterrupt:
		return valid(e.Source)
	case UserCancel:
		return valid(e.ID)
	case ReplyRequested:
		return valid(e.Source)
	case ReplyDelta:
		return valid(e.Text)
	case ReplyDone:
		return valid(e.Text)
	case ReplyFailed:
		return valid(e.Code, e.Message)
	case ToolCalled:
		return valid(e.ID, e.Name, e.Arguments)
	case ToolDone:
		return valid(e.ID, e.Output)
	case ToolFailed:
		return valid(e.ID, e.Code, e.Message, e.Output)
	case TaskProgress:
		return valid(e.ID, e.Text)
	case TaskDone:
		return valid(e.ID, e.Output)
	case TaskFailed:
		return valid(e.ID, e.Code, e.Message, e.Output)
	case TaskAdopted:
		return valid(e.Key, e.Name, e.Arguments)
	case Summarized:
		return valid(e.Text)
	case PlayoutProgress:
		return valid(e.Text)
	case PlayoutFinished:
		return valid(e.Text)
	case PlayoutFailed:
		return valid(e.Code, e.Message)
	case PlayoutFlushed:
		return valid(e.Text)
	case SessionRenewal:
		return valid(e.Source)
	case SessionRenewed:
		return valid(e.ID)
	case SessionConfigured:
		return valid(string(e.BargeIn))
	case Fault:
		return valid(e.Code, e.Message)
	default:
		return true // it has no text
	}
}
