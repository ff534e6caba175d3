package realtime

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// Event is a server event: its members without type and id, which [Marshal] and
// [MarshalBeta] add.
type Event interface {
	// EventType returns the event's type in the general form.
	EventType() string
}

// SessionEvent is "session.created" or "session.updated".
type SessionEvent struct {
	Name    string  `json:"-"`
	Session Session `json:"session"`
}

// ErrorEvent is "error". It does not end the session.
type ErrorEvent struct {
	Error Error `json:"error"`
}

// ItemEvent is "conversation.item.added" or "conversation.item.done".
type ItemEvent struct {
	Name           string  `json:"-"`
	PreviousItemID *string `json:"previous_item_id"`
	Item           Item    `json:"item"`
}

// ItemDeleted is "conversation.item.deleted".
type ItemDeleted struct {
	ItemID string `json:"item_id"`
}

// ItemRetrieved is "conversation.item.retrieved".
type ItemRetrieved struct {
	Item Item `json:"item"`
}

// ItemTruncated is "conversation.item.truncated".
type ItemTruncated struct {
	ItemID       string `json:"item_id"`
	ContentIndex int    `json:"content_index"`
	AudioEndMS   int    `json:"audio_end_ms"`
}

// AudioCommitted is "input_audio_buffer.committed".
type AudioCommitted struct {
	PreviousItemID *string `json:"previous_item_id"`
	ItemID         string  `json:"item_id"`
}

// AudioCleared is "input_audio_buffer.cleared".
type AudioCleared struct{}

// SpeechStarted is "input_audio_buffer.speech_started". Times are positions in the
// appended sound.
type SpeechStarted struct {
	AudioStartMS int    `json:"audio_start_ms"`
	ItemID       string `json:"item_id"`
}

// SpeechStopped is "input_audio_buffer.speech_stopped".
type SpeechStopped struct {
	AudioEndMS int    `json:"audio_end_ms"`
	ItemID     string `json:"item_id"`
}

// TimeoutTriggered is "input_audio_buffer.timeout_triggered".
type TimeoutTriggered struct {
	AudioStartMS int    `json:"audio_start_ms"`
	AudioEndMS   int    `json:"audio_end_ms"`
	ItemID       string `json:"item_id"`
}

// TranscriptionDelta is "conversation.item.input_audio_transcription.delta".
type TranscriptionDelta struct {
	ItemID       string `json:"item_id"`
	ContentIndex int    `json:"content_index"`
	Delta        string `json:"delta"`
}

// TranscriptionCompleted is
// "conversation.item.input_audio_transcription.completed". Seconds is the length of
// the transcribed sound.
type TranscriptionCompleted struct {
	ItemID     string
	Transcript string
	Seconds    float64
}

// MarshalJSON encodes the usage as a duration.
func (e TranscriptionCompleted) MarshalJSON() ([]byte, error) {
	type usage struct {
		Type    string  `json:"type"`
		Seconds float64 `json:"seconds"`
	}
	return json.Marshal(struct {
		ItemID       string `json:"item_id"`
		ContentIndex int    `json:"content_index"`
		Transcript   string `json:"transcript"`
		Usage        usage  `json:"usage"`
	}{e.ItemID, 0, e.Transcript, usage{"duration", e.Seconds}})
}

// TranscriptionFailed is "conversation.item.input_audio_transcription.failed".
type TranscriptionFailed struct {
	ItemID        string
	Code, Message string
}

// MarshalJSON encodes the error without null members, which clients refuse here.
func (e TranscriptionFailed) MarshalJSON() ([]byte, error) {
	type failure struct {
		Type    string `json:"type"`
		Code    string `json:"code"`
		Message string `json:"message"`
		Param   string `json:"param"`
	}
	return json.Marshal(struct {
		ItemID       string  `json:"item_id"`
		ContentIndex int     `json:"content_index"`
		Error        failure `json:"error"`
	}{e.ItemID, 0, failure{"transcription_error", e.Code, e.Message, ""}})
}

// ResponseEvent is "response.created" or "response.done".
type ResponseEvent struct {
	Name     string   `json:"-"`
	Response Response `json:"response"`
}

// OutputItem is "response.output_item.added" or ".done".
type OutputItem struct {
	Name        string `json:"-"`
	ResponseID  string `json:"response_id"`
	OutputIndex int    `json:"output_index"`
	Item        Item   `json:"item"`
}

// Place is a position within a response.
type Place struct {
	ResponseID   string `json:"response_id"`
	ItemID       string `json:"item_id"`
	OutputIndex  int    `json:"output_index"`
	ContentIndex int    `json:"content_index"`
}

// Part is "response.content_part.added" or ".done".
type Part struct {
	Name string `json:"-"`
	Place
	Content PartContent `json:"part"`
}

// PartContent is the content of a part: "text" with its text, or "audio" with its
// transcript.
type PartContent struct {
	Audio bool
	Words string
}

// MarshalJSON encodes the members of the kind.
func (c PartContent) MarshalJSON() ([]byte, error) {
	if c.Audio {
		return json.Marshal(struct {
			Type       string `json:"type"`
			Transcript string `json:"transcript"`
		}{"audio", c.Words})
	}
	return json.Marshal(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{"text", c.Words})
}

// WordsDelta is "response.output_text.delta" or, for a voice,
// "response.output_audio_transcript.delta".
type WordsDelta struct {
	Audio bool `json:"-"`
	Place
	Delta string `json:"delta"`
}

// WordsDone is "response.output_text.done" or
// "response.output_audio_transcript.done".
type WordsDone struct {
	Audio bool
	Place
	Words string
}

// MarshalJSON names the member after the kind of words.
func (e WordsDone) MarshalJSON() ([]byte, error) {
	if e.Audio {
		return json.Marshal(struct {
			Place
			Transcript string `json:"transcript"`
		}{e.Place, e.Words})
	}
	return json.Marshal(struct {
		Place
		Text string `json:"text"`
	}{e.Place, e.Words})
}

// AudioDelta is "response.output_audio.delta".
type AudioDelta struct {
	Place
	Delta []byte `json:"delta"` // encoded as base64
}

// AudioDone is "response.output_audio.done".
type AudioDone struct{ Place }

// ArgumentsDelta is "response.function_call_arguments.delta".
type ArgumentsDelta struct {
	ResponseID  string `json:"response_id"`
	ItemID      string `json:"item_id"`
	OutputIndex int    `json:"output_index"`
	CallID      string `json:"call_id"`
	Delta       string `json:"delta"`
}

// ArgumentsDone is "response.function_call_arguments.done".
type ArgumentsDone struct {
	ResponseID  string `json:"response_id"`
	ItemID      string `json:"item_id"`
	OutputIndex int    `json:"output_index"`
	CallID      string `json:"call_id"`
	Name        string `json:"name"`
	Arguments   string `json:"arguments"`
}

// RateLimits is "rate_limits.updated".
type RateLimits struct {
	RateLimits []RateLimit `json:"rate_limits"`
}

// RateLimit is one limit and its remaining amount.
type RateLimit struct {
	Name         string  `json:"name"`
	Limit        int     `json:"limit"`
	Remaining    int     `json:"remaining"`
	ResetSeconds float64 `json:"reset_seconds"`
}

// OutputBuffer is "output_audio_buffer.started", ".stopped" or ".cleared", if the
// server controls the playout.
type OutputBuffer struct {
	Name       string `json:"-"`
	ResponseID string `json:"response_id"`
}

// EventType implements [Event].
func (e SessionEvent) EventType() string     { return "session." + e.Name }
func (ErrorEvent) EventType() string         { return "error" }
func (e ItemEvent) EventType() string        { return "conversation.item." + e.Name }
func (ItemDeleted) EventType() string        { return "conversation.item.deleted" }
func (ItemRetrieved) EventType() string      { return "conversation.item.retrieved" }
func (ItemTruncated) EventType() string      { return "conversation.item.truncated" }
func (AudioCommitted) EventType() string     { return "input_audio_buffer.committed" }
func (AudioCleared) EventType() string       { return "input_audio_buffer.cleared" }
func (SpeechStarted) EventType() string      { return "input_audio_buffer.speech_started" }
func (SpeechStopped) EventType() string      { return "input_audio_buffer.speech_stopped" }
func (TimeoutTriggered) EventType() string   { return "input_audio_buffer.timeout_triggered" }
func (TranscriptionDelta) EventType() string { return transcription + "delta" }
func (TranscriptionCompleted) EventType() string {
	return transcription + "completed"
}
func (TranscriptionFailed) EventType() string { return transcription + "failed" }
func (e ResponseEvent) EventType() string     { return "response." + e.Name }
func (e OutputItem) EventType() string        { return "response.output_item." + e.Name }
func (e Part) EventType() string              { return "response.content_part." + e.Name }
func (e WordsDelta) EventType() string        { return wordsName(e.Audio) + ".delta" }
func (e WordsDone) EventType() string         { return wordsName(e.Audio) + ".done" }
func (AudioDelta) EventType() string          { return "response.output_audio.delta" }
func (AudioDone) EventType() string           { return "response.output_audio.done" }
func (ArgumentsDelta) EventType() string      { return "response.function_call_arguments.delta" }
func (ArgumentsDone) EventType() string       { return "response.function_call_arguments.done" }
func (RateLimits) EventType() string          { return "rate_limits.updated" }
func (e OutputBuffer) EventType() string      { return "output_audio_buffer." + e.Name }

const transcription = "conversation.item.input_audio_transcription."

func wordsName(audio bool) string {
	if audio {
		return "response.output_audio_transcript"
	}
	return "response.output_text"
}

// Marshal encodes a server event with its id.
func Marshal(id string, e Event) ([]byte, error) {
	if d, ok := e.(AudioDelta); ok {
		return appendAudio(id, d.EventType(), d), nil
	}
	return marshal(id, e.EventType(), e)
}

func marshal(id, name string, body any) ([]byte, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", name, err)
	}
	out := make([]byte, 0, len(b)+len(name)+len(id)+32)
	out = append(out, `{"type":"`...)
	out = append(out, name...)
	out = append(out, `","event_id":"`...)
	out = append(out, id...)
	out = append(out, '"')
	if len(b) > len("{}") {
		out = append(out, ',')
	}
	return append(out, b[1:]...), nil
}

// appendAudio encodes the most frequent event. Its ids need no escaping.
func appendAudio(id, name string, d AudioDelta) []byte {
	out := make([]byte, 0, base64.StdEncoding.EncodedLen(len(d.Delta))+256)
	out = fmt.Appendf(out, `{"type":"%s","event_id":"%s","response_id":"%s","item_id":"%s","output_index":%d,"content_index":%d,"delta":"`,
		name, id, d.ResponseID, d.ItemID, d.OutputIndex, d.ContentIndex)
	out = base64.StdEncoding.AppendEncode(out, d.Delta)
	return append(out, '"', '}')
}
