package realtime

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// This file decodes the events that a client receives. It is tolerant: servers differ in
// the members that they add, leave out or set to null.

// Received is a server event as a client sees it. Type determines which fields are set.
// Names of the beta dialect are those of the general form.
type Received struct {
	Type    string
	EventID string

	ItemID, ResponseID, CallID string
	Words                      string // the delta, text, transcript or arguments of the event
	Audio                      []byte // response.output_audio.delta
	AudioStartMS, AudioEndMS   int

	SessionID string
	ExpiresAt int64 // session.created, session.updated: in Unix seconds; 0 if not known

	Item     ReceivedItem     // the events about an item
	Response ReceivedResponse // response.created, response.done
	Error    Error            // error, and a failed transcription
	Limits   []RateLimit      // rate_limits.updated
}

// ReceivedItem is an item of the conversation.
type ReceivedItem struct {
	ID, Type, Role, Status  string
	CallID, Name, Arguments string
}

// ReceivedResponse is a response.
type ReceivedResponse struct {
	ID, Status string
	Aside      bool   // it belongs to no conversation
	Reason     string // why it is cancelled or incomplete
	Error      Error  // why it failed
	Metadata   map[string]string
	Output     []ReceivedItem
}

// receivedWire is the JSON form of a server event.
type receivedWire struct {
	Type         string          `json:"type"`
	EventID      string          `json:"event_id"`
	ItemID       string          `json:"item_id"`
	ResponseID   string          `json:"response_id"`
	CallID       string          `json:"call_id"`
	Delta        string          `json:"delta"`
	Text         string          `json:"text"`
	Transcript   string          `json:"transcript"`
	Arguments    string          `json:"arguments"`
	AudioStartMS int             `json:"audio_start_ms"`
	AudioEndMS   int             `json:"audio_end_ms"`
	Session      json.RawMessage `json:"session"`
	Item         json.RawMessage `json:"item"`
	Response     json.RawMessage `json:"response"`
	Error        json.RawMessage `json:"error"`
	RateLimits   []RateLimit     `json:"rate_limits"`
}

// Receive decodes a server event. It returns an event of an unknown type with the fields
// that it knows.
func Receive(b []byte) (Received, error) {
	var w receivedWire
	if err := json.Unmarshal(b, &w); err != nil {
		if !json.Valid(b) {
			return Received{}, errors.New("the event is not JSON")
		}
		return Received{}, fmt.Errorf("the event is malformed: %s", describe(err))
	}
	if w.Type == "" {
		return Received{}, errors.New("the event has no type")
	}
	r := Received{
		Type: generalName(w.Type), EventID: w.EventID, ItemID: w.ItemID, ResponseID: w.ResponseID, CallID: w.CallID,
		Words: w.Delta + w.Text + w.Transcript + w.Arguments, AudioStartMS: w.AudioStartMS, AudioEndMS: w.AudioEndMS,
		Limits: w.RateLimits,
	}
	if r.Type == (AudioDelta{}).EventType() {
		r.Words = ""
		var err error
		if r.Audio, err = base64.StdEncoding.DecodeString(w.Delta); err != nil {
			return r, errors.New("the event has a delta that is not base64")
		}
	}
	if w.Session != nil {
		var s struct {
			ID        string  `json:"id"`
			ExpiresAt float64 `json:"expires_at"`
		}
		_ = json.Unmarshal(w.Session, &s) // an unusable session has no id and no end
		r.SessionID = s.ID
		if s.ExpiresAt > 0 && s.ExpiresAt < 1<<40 {
			r.ExpiresAt = int64(s.ExpiresAt)
		}
	}
	r.Item = receivedItem(w.Item)
	if w.Response != nil {
		r.Response = receivedResponse(w.Response)
	}
	if w.Error != nil {
		r.Error = receivedError(w.Error)
	}
	return r, nil
}

// generalName returns the name of an event in the general form.
func generalName(name string) string {
	switch {
	case name == "conversation.item.created":
		return "conversation.item.added"
	case strings.HasPrefix(name, "response.audio."), strings.HasPrefix(name, "response.audio_transcript."), strings.HasPrefix(name, "response.text."):
		return "response.output_" + strings.TrimPrefix(name, "response.")
	default:
		return name
	}
}

func receivedItem(raw json.RawMessage) (it ReceivedItem) {
	if raw == nil {
		return it
	}
	var w struct {
		ID        string `json:"id"`
		Type      string `json:"type"`
		Role      string `json:"role"`
		Status    string `json:"status"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	_ = json.Unmarshal(raw, &w) // what cannot be read is empty
	return ReceivedItem(w)
}

func receivedResponse(raw json.RawMessage) (r ReceivedResponse) {
	var w struct {
		ID       string            `json:"id"`
		Status   string            `json:"status"`
		Details  json.RawMessage   `json:"status_details"`
		Metadata json.RawMessage   `json:"metadata"`
		Output   []json.RawMessage `json:"output"`
		Of       json.RawMessage   `json:"conversation_id"`
	}
	_ = json.Unmarshal(raw, &w) // what cannot be read is empty
	r.ID, r.Status, r.Aside = w.ID, w.Status, w.Of != nil && isNull(w.Of)
	var details struct {
		Reason string          `json:"reason"`
		Error  json.RawMessage `json:"error"`
	}
	if json.Unmarshal(w.Details, &details) == nil {
		r.Reason = details.Reason
		if details.Error != nil {
			r.Error = receivedError(details.Error)
		}
	} else {
		_ = json.Unmarshal(w.Details, &r.Reason) // some servers send a word
	}
	_ = json.Unmarshal(w.Metadata, &r.Metadata) // null, or what this package has sent
	for _, raw := range w.Output {
		r.Output = append(r.Output, receivedItem(raw))
	}
	return r
}

// receivedError decodes an error, which some servers send as a text.
func receivedError(raw json.RawMessage) (e Error) {
	var w struct {
		Type    any    `json:"type"`
		Code    any    `json:"code"`
		Message string `json:"message"`
		Param   any    `json:"param"`
		EventID any    `json:"event_id"`
	}
	if json.Unmarshal(raw, &w) != nil {
		_ = json.Unmarshal(raw, &e.Message) // otherwise the error has no words
		return e
	}
	word := func(v any) string {
		switch v := v.(type) {
		case string:
			return v
		case float64:
			return fmt.Sprint(v)
		default:
			return ""
		}
	}
	return Error{Type: word(w.Type), Code: word(w.Code), Message: w.Message, Param: word(w.Param), EventID: word(w.EventID)}
}
