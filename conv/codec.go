package conv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// fields is the wire form of every event: its type and its fields, named as on the
// command line of DESIGN. Any event may carry any of the fields, for example a tool's
// result the number of a turn; a field that the event does not use is ignored. An unknown
// name is an error, so that a typo is noticed.
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
	Echo       *bool    `json:"echo,omitempty"`
	Data       *loose   `json:"data,omitempty"`
	BargeIn    *string  `json:"barge_in,omitempty"`
	ListenOnly *bool    `json:"listen_only,omitempty"`
}

// loose is a text. On the wire it may also be any other JSON value; the text is then the
// compact form of that value.
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

// UnmarshalEvent reads an event from one JSON object with its type and fields. An unknown
// type, an unknown field or a value of the wrong kind or range is an error, which names
// the type or field.
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
	k, ok := events[f.Type]
	if !ok {
		return nil, fmt.Errorf("event %q: unknown type; expected one of %v", f.Type, EventTypes())
	}
	x := exchange{fields: f, mode: reading}
	ev := descriptions[k].exchange(&x, descriptions[k].bare)
	if x.err != nil {
		return nil, fmt.Errorf("event %q: %w", f.Type, x.err)
	}
	return ev, nil
}

// describeJSON rewords an error of the JSON decoder for the reader of the message.
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
