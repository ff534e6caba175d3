package conv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/turn"
)

// fields is the wire form of every event: its type and its fields under the
// names of DESIGN's command line. Every event may carry every one of them (a
// turn on a tool's result, say): what it has no use for is passed over. A name
// that no event knows is an error, so that a typo is noticed.
type fields struct {
	Type       string   `json:"type"`
	Turn       *int     `json:"turn,omitempty"`
	Utterance  *int     `json:"utterance,omitempty"`
	Request    *int     `json:"request,omitempty"`
	Part       *int     `json:"part,omitempty"`
	ID         *string  `json:"id,omitempty"`
	Source     *string  `json:"source,omitempty"`
	Cause      *string  `json:"cause,omitempty"`
	Reason     *string  `json:"reason,omitempty"`
	Text       *string  `json:"text,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	Stability  *float64 `json:"stability,omitempty"`
	Endpoint   *bool    `json:"endpoint,omitempty"`
	Silent     *bool    `json:"silent,omitempty"`
	Name       *string  `json:"name,omitempty"`
	Arguments  *loose   `json:"arguments,omitempty"`
	Long       *bool    `json:"long,omitempty"`
	Confirm    *bool    `json:"confirm,omitempty"`
	Output     *loose   `json:"output,omitempty"`
	Code       *string  `json:"code,omitempty"`
	Message    *string  `json:"message,omitempty"`
	Retryable  *bool    `json:"retryable,omitempty"`
	Fatal      *bool    `json:"fatal,omitempty"`
	HeardMS    *float64 `json:"heard_ms,omitempty"`
	LagMS      *float64 `json:"lag_ms,omitempty"`
	BargeIn    *string  `json:"barge_in,omitempty"`
	ListenOnly *bool    `json:"listen_only,omitempty"`
}

// loose is a text that may also be given as a JSON value, whose compact form it
// then is.
type loose string

// UnmarshalJSON implements json.Unmarshaler.
func (l *loose) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*l = loose(s)
		return nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, b); err != nil {
		return err
	}
	*l = loose(compact.String())
	return nil
}

// EventTypes are the types of all events in their fixed order.
func EventTypes() []string {
	var types []string
	for _, ev := range allEvents {
		types = append(types, ev.EventType())
	}
	return types
}

// allEvents has one zero value of each event.
var allEvents = []Event{
	UserStart{},
	UserStop{},
	SessionEnded{},
	SessionReady{},
	AudioReady{},
	SpeechStarted{},
	SpeechStopped{},
	STTPartial{},
	STTFinal{},
	TurnEnded{},
	UserText{},
	UserInterrupt{},
	UserCancel{},
	ReplyRequested{},
	ReplyDelta{},
	ReplyDone{},
	ReplyFailed{},
	ToolCalled{},
	ToolDone{},
	ToolFailed{},
	TaskProgress{},
	TaskDone{},
	TaskFailed{},
	TaskAdopted{},
	Summarized{},
	PlayoutStarted{},
	PlayoutProgress{},
	PlayoutFinished{},
	PlayoutFailed{},
	PlayoutFlushed{},
	SessionRenewal{},
	SessionRenewed{},
	SessionConfigured{},
	SessionExpiring{},
	SessionExpired{},
	ConnectionLost{},
	ConnectionRestored{},
	ReconnectFailed{},
	Fault{},
	DeadlinePassed{},
}

// UnmarshalEvent reads an event from a JSON object with its type and fields. An
// unknown type, an unknown field and a value of the wrong kind are errors that
// name it.
func UnmarshalEvent(b []byte) (Event, error) {
	var f fields
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, describeJSON(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	if f.Type == "" {
		return nil, errors.New("no type: expected an event such as {\"type\": \"user.start\"}")
	}
	return f.toEvent()
}

// describeJSON rewords the decoder's errors for people.
func describeJSON(err error) error {
	var typeErr *json.UnmarshalTypeError
	if errors.As(err, &typeErr) && typeErr.Field != "" {
		return fmt.Errorf("field %s is a JSON %s: expected %s", typeErr.Field, typeErr.Value, typeErr.Type)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON ends early")
	}
	return err
}

// taker takes fields one by one and keeps the first error.
type taker struct {
	f   *fields
	err error
}

func take[T any](field *T) (value T) {
	if field != nil {
		value = *field
	}
	return value
}

func (t *taker) number(field *int, name string) int {
	n := take(field)
	if n < 0 && t.err == nil {
		t.err = fmt.Errorf("field %s is %d: expected 0 or more", name, n)
	}
	return n
}

func (t *taker) share(field *float64, name string) float64 {
	v := take(field)
	if (v < 0 || v > 1) && t.err == nil {
		t.err = fmt.Errorf("field %s is %v: expected 0 to 1", name, v)
	}
	return v
}

func (t *taker) turn() int      { return t.number(t.f.Turn, "turn") }
func (t *taker) utterance() int { return t.number(t.f.Utterance, "utterance") }
func (t *taker) request() int   { return t.number(t.f.Request, "request") }
func (t *taker) part() int      { return t.number(t.f.Part, "part") }

func (t *taker) duration(field *float64, name string) time.Duration {
	ms := take(field)
	if (ms < 0 || ms > float64(math.MaxInt64)/float64(time.Millisecond)/2) && t.err == nil {
		t.err = fmt.Errorf("field %s is %v: expected 0 or more", name, ms)
		return 0
	}
	return time.Duration(math.Round(ms * float64(time.Millisecond)))
}

// toEvent builds the event.
func (f *fields) toEvent() (Event, error) {
	t := &taker{f: f}
	ev, err := t.build()
	if err == nil {
		err = t.err
	}
	if err != nil {
		return nil, fmt.Errorf("event %q: %w", f.Type, err)
	}
	return ev, nil
}

// build makes the event of the fields' type.
func (t *taker) build() (Event, error) {
	f := t.f
	switch f.Type {
	case "user.start":
		return UserStart{Silent: take(f.Silent)}, nil
	case "user.stop":
		return UserStop{Reason: take(f.Reason)}, nil
	case "session.ended":
		return SessionEnded{}, nil
	case "session.ready":
		return SessionReady{ID: take(f.ID)}, nil
	case "audio.ready":
		return AudioReady{}, nil
	case "speech.started":
		return SpeechStarted{Turn: t.turn(), Utterance: t.utterance(), Source: take(f.Source), Lag: t.duration(f.LagMS, "lag_ms")}, nil
	case "speech.stopped":
		return SpeechStopped{Turn: t.turn(), Utterance: t.utterance(), Source: take(f.Source)}, nil
	case "stt.partial":
		return STTPartial{
			Turn: t.turn(), Utterance: t.utterance(), Text: take(f.Text),
			Confidence: t.share(f.Confidence, "confidence"), Stability: t.share(f.Stability, "stability"),
		}, nil
	case "stt.final":
		return STTFinal{
			Turn: t.turn(), Utterance: t.utterance(), Text: take(f.Text),
			Confidence: t.share(f.Confidence, "confidence"), Stability: t.share(f.Stability, "stability"),
			Endpoint: take(f.Endpoint),
		}, nil
	case "turn.ended":
		return t.turnEnded()
	case "user.text":
		return UserText{Text: take(f.Text)}, nil
	case "user.interrupt":
		return UserInterrupt{Source: take(f.Source), Heard: t.duration(f.HeardMS, "heard_ms")}, nil
	case "user.cancel":
		return UserCancel{ID: take(f.ID)}, nil
	case "reply.requested":
		return ReplyRequested{Turn: t.turn(), Request: t.request(), Source: take(f.Source)}, nil
	case "reply.delta":
		return ReplyDelta{Turn: t.turn(), Request: t.request(), Text: take(f.Text)}, nil
	case "reply.done":
		return ReplyDone{Turn: t.turn(), Request: t.request(), Text: take(f.Text), Silent: take(f.Silent)}, nil
	case "reply.failed":
		return ReplyFailed{
			Turn: t.turn(), Request: t.request(), Code: take(f.Code), Message: take(f.Message),
			Retryable: take(f.Retryable),
		}, nil
	case "tool.called":
		return ToolCalled{
			Turn: t.turn(), Request: t.request(), ID: take(f.ID), Name: take(f.Name),
			Arguments: string(take(f.Arguments)), Long: take(f.Long), Confirm: take(f.Confirm),
		}, nil
	case "tool.done":
		return ToolDone{ID: take(f.ID), Output: string(take(f.Output))}, nil
	case "tool.failed":
		return ToolFailed{
			ID: take(f.ID), Code: take(f.Code), Message: take(f.Message),
			Output: string(take(f.Output)), Fatal: take(f.Fatal),
		}, nil
	case "task.progress":
		return TaskProgress{ID: take(f.ID), Text: take(f.Text)}, nil
	case "task.done":
		return TaskDone{ID: take(f.ID), Output: string(take(f.Output))}, nil
	case "task.failed":
		return TaskFailed{
			ID: take(f.ID), Code: take(f.Code), Message: take(f.Message), Output: string(take(f.Output)),
		}, nil
	case "task.adopted":
		return TaskAdopted{Key: take(f.ID), Name: take(f.Name), Arguments: string(take(f.Arguments))}, nil
	case "history.summarized":
		return Summarized{Request: t.request(), Text: take(f.Text)}, nil
	default:
		return t.buildMore()
	}
}

// buildMore goes on with the playout, the session and the connection.
func (t *taker) buildMore() (Event, error) {
	f := t.f
	switch f.Type {
	case "playout.started":
		return PlayoutStarted{Turn: t.turn(), Part: t.part()}, nil
	case "playout.progress":
		return PlayoutProgress{Turn: t.turn(), Heard: t.duration(f.HeardMS, "heard_ms"), Text: take(f.Text)}, nil
	case "playout.finished":
		return PlayoutFinished{Turn: t.turn(), Part: t.part(), Heard: t.duration(f.HeardMS, "heard_ms"), Text: take(f.Text)}, nil
	case "playout.failed":
		return PlayoutFailed{Turn: t.turn(), Code: take(f.Code), Message: take(f.Message)}, nil
	case "playout.flushed":
		return PlayoutFlushed{Turn: t.turn(), Part: t.part(), Heard: t.duration(f.HeardMS, "heard_ms"), Text: take(f.Text)}, nil
	case "session.renewal":
		return SessionRenewal{Source: take(f.Source)}, nil
	case "session.renewed":
		return SessionRenewed{ID: take(f.ID)}, nil
	case "session.configured":
		return t.sessionConfigured()
	case "session.expiring":
		return SessionExpiring{}, nil
	case "session.expired":
		return SessionExpired{}, nil
	case "connection.lost":
		return ConnectionLost{Retryable: take(f.Retryable)}, nil
	case "connection.restored":
		return ConnectionRestored{}, nil
	case "reconnect.failed":
		return ReconnectFailed{Retryable: take(f.Retryable)}, nil
	case "fault":
		return Fault{Code: take(f.Code), Message: take(f.Message), Fatal: take(f.Fatal)}, nil
	case "deadline":
		return DeadlinePassed{}, nil
	default:
		return nil, fmt.Errorf("unknown type; expected one of %v", EventTypes())
	}
}

// turnCauses are the ends of a user's turn that an event may tell.
var turnCauses = []string{"", "silence", "easyturn", "semantic", "manual", "max_duration"}

func (t *taker) turnEnded() (Event, error) {
	cause := take(t.f.Cause)
	if !slices.Contains(turnCauses, cause) {
		return nil, fmt.Errorf("field cause is %q: expected one of %v", cause, turnCauses[1:])
	}
	return TurnEnded{Turn: t.turn(), Utterance: t.utterance(), Cause: cause}, nil
}

// sessionConfigured takes no policy that there is not.
func (t *taker) sessionConfigured() (Event, error) {
	policies := []turn.BargeInPolicy{"", turn.BargeInHybrid, turn.BargeInEnergy, turn.BargeInWords, turn.BargeInNone}
	policy := turn.BargeInPolicy(take(t.f.BargeIn))
	if !slices.Contains(policies, policy) {
		return nil, fmt.Errorf("field barge_in is %q: expected one of %v", policy, policies[1:])
	}
	return SessionConfigured{BargeIn: policy, ListenOnly: take(t.f.ListenOnly)}, nil
}
