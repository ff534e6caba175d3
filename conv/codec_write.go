package conv

import (
	"encoding/json"
	"fmt"
	"time"
)

// MarshalEvent writes an event as [UnmarshalEvent] reads it. Fields with their
// zero value are left out.
func MarshalEvent(ev Event) ([]byte, error) {
	b, err := json.Marshal(toFields(ev))
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", ev.EventType(), err)
	}
	return b, nil
}

func some[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func millis(d time.Duration) *float64 { return some(milliseconds(d)) }

// toFields is the inverse of toEvent.
func toFields(ev Event) fields {
	f := fields{Type: ev.EventType()}
	switch e := ev.(type) {
	case UserStart:
		f.Silent = some(e.Silent)
	case SessionEnded, AudioReady, SessionExpiring, SessionExpired,
		ConnectionRestored, DeadlinePassed:
	case UserStop:
		f.Reason = some(e.Reason)
	case SessionReady:
		f.ID = some(e.ID)
	case SpeechStarted:
		f.Turn, f.Utterance, f.Source, f.LagMS = some(e.Turn), some(e.Utterance), some(e.Source), millis(e.Lag)
	case SpeechStopped:
		f.Turn, f.Utterance, f.Source = some(e.Turn), some(e.Utterance), some(e.Source)
	case STTPartial:
		f.Turn, f.Utterance, f.Text = some(e.Turn), some(e.Utterance), some(e.Text)
		f.Confidence, f.Stability = some(e.Confidence), some(e.Stability)
	case STTFinal:
		f.Turn, f.Utterance, f.Text = some(e.Turn), some(e.Utterance), some(e.Text)
		f.Confidence, f.Stability, f.Endpoint = some(e.Confidence), some(e.Stability), some(e.Endpoint)
	case TurnEnded:
		f.Turn, f.Utterance, f.Cause = some(e.Turn), some(e.Utterance), some(e.Cause)
	case UserText:
		f.Text = some(e.Text)
	case UserInterrupt:
		f.Source, f.HeardMS = some(e.Source), millis(e.Heard)
	case UserCancel:
		f.ID = some(e.ID)
	case ReplyRequested:
		f.Turn, f.Request, f.Source = some(e.Turn), some(e.Request), some(e.Source)
	case ReplyDelta:
		f.Turn, f.Request, f.Text = some(e.Turn), some(e.Request), some(e.Text)
	case ReplyDone:
		f.Turn, f.Request, f.Text, f.Silent = some(e.Turn), some(e.Request), some(e.Text), some(e.Silent)
	case ReplyFailed:
		f.Turn, f.Request, f.Code = some(e.Turn), some(e.Request), some(e.Code)
		f.Message, f.Retryable = some(e.Message), some(e.Retryable)
	case ToolCalled:
		f.Turn, f.Request, f.ID, f.Name = some(e.Turn), some(e.Request), some(e.ID), some(e.Name)
		f.Arguments, f.Long, f.Confirm = some(loose(e.Arguments)), some(e.Long), some(e.Confirm)
	case ToolDone:
		f.ID, f.Output = some(e.ID), some(loose(e.Output))
	case ToolFailed:
		f.ID, f.Code, f.Message = some(e.ID), some(e.Code), some(e.Message)
		f.Output, f.Fatal = some(loose(e.Output)), some(e.Fatal)
	case TaskProgress:
		f.ID, f.Text = some(e.ID), some(e.Text)
	case TaskDone:
		f.ID, f.Output = some(e.ID), some(loose(e.Output))
	case TaskFailed:
		f.ID, f.Code, f.Message, f.Output = some(e.ID), some(e.Code), some(e.Message), some(loose(e.Output))
	case TaskAdopted:
		f.ID, f.Name, f.Arguments = some(e.Key), some(e.Name), some(loose(e.Arguments))
	case Summarized:
		f.Request, f.Text = some(e.Request), some(e.Text)
	case PlayoutStarted:
		f.Turn, f.Part = some(e.Turn), some(e.Part)
	case PlayoutProgress:
		f.Turn, f.HeardMS, f.Text = some(e.Turn), millis(e.Heard), some(e.Text)
	case PlayoutFinished:
		f.Turn, f.Part, f.HeardMS, f.Text = some(e.Turn), some(e.Part), millis(e.Heard), some(e.Text)
	case PlayoutFailed:
		f.Turn, f.Code, f.Message = some(e.Turn), some(e.Code), some(e.Message)
	case PlayoutFlushed:
		f.Turn, f.Part, f.HeardMS, f.Text = some(e.Turn), some(e.Part), millis(e.Heard), some(e.Text)
	case SessionRenewal:
		f.Source = some(e.Source)
	case SessionRenewed:
		f.ID = some(e.ID)
	case SessionConfigured:
		f.BargeIn, f.ListenOnly = some(string(e.BargeIn)), some(e.ListenOnly)
	case ConnectionLost:
		f.Retryable = some(e.Retryable)
	case ReconnectFailed:
		f.Retryable = some(e.Retryable)
	case Fault:
		f.Code, f.Message, f.Fatal = some(e.Code), some(e.Message), some(e.Fatal)
	default:
		panic(fmt.Sprintf("conv: unexpected event %T", ev))
	}
	return f
}
