package realtime

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The types of client events.
const (
	SessionUpdate              = "session.update"
	TranscriptionSessionUpdate = "transcription_session.update"
	ItemCreate                 = "conversation.item.create"
	ItemDelete                 = "conversation.item.delete"
	ItemRetrieve               = "conversation.item.retrieve"
	ItemTruncate               = "conversation.item.truncate"
	AudioAppend                = "input_audio_buffer.append"
	AudioClear                 = "input_audio_buffer.clear"
	AudioCommit                = "input_audio_buffer.commit"
	OutputClear                = "output_audio_buffer.clear"
	ResponseCancel             = "response.cancel"
	ResponseCreate             = "response.create"
)

// MaxAppend is the maximum size of the sound in one append, in bytes.
const MaxAppend = 15 << 20

// ClientEvent is an event sent by the client. Type determines which fields are set.
type ClientEvent struct {
	Type    string
	EventID string

	Session json.RawMessage // session.update; see [Session.Update]

	Item           Item    // conversation.item.create
	PreviousItemID *string // previous item; nil if absent

	ItemID       string // conversation.item.delete, .retrieve, .truncate
	ContentIndex int    // .truncate
	AudioEndMS   int    // .truncate

	Audio []byte // input_audio_buffer.append

	ResponseID string       // response.cancel; empty for the active response
	Response   CreateParams // response.create
}

// CreateParams are the parameters of a response.create, which apply to its response
// only. Fields that are nil or not set are taken from the session.
type CreateParams struct {
	OutOfBand        bool // conversation "none"
	OutputModalities []string
	Instructions     *string
	Tools            []Tool
	ToolChoice       *ToolChoice
	MaxOutputTokens  *Limit
	Voice            string
	Format           *Format
	Metadata         json.RawMessage
	Input            []Item // replaces the conversation if InputSet
	InputSet         bool
}

// clientWire is the JSON form of an event.
type clientWire struct {
	Type           *string         `json:"type"`
	EventID        string          `json:"event_id"`
	Session        json.RawMessage `json:"session"`
	Item           json.RawMessage `json:"item"`
	PreviousItemID *string         `json:"previous_item_id"`
	ItemID         *string         `json:"item_id"`
	ContentIndex   *int            `json:"content_index"`
	AudioEndMS     *int            `json:"audio_end_ms"`
	Audio          *string         `json:"audio"`
	ResponseID     string          `json:"response_id"`
	Response       json.RawMessage `json:"response"`
}

// Parse decodes a client event. On error, the event contains its type and id as far
// as they are known, and the error contains the id.
func Parse(b []byte) (ClientEvent, *Error) {
	var w clientWire
	var e ClientEvent
	if !json.Valid(b) {
		return e, Invalid(CodeInvalidJSON, "", "We could not parse the JSON body of your event.")
	}
	if err := json.Unmarshal(b, &w); err != nil {
		// Decode the id first, whatever else is wrong.
		var head struct {
			EventID string `json:"event_id"`
		}
		_ = json.Unmarshal(b, &head) // it may itself be invalid
		bad := Invalid("invalid_type", "", "The event is malformed: %s.", describe(err))
		bad.EventID = head.EventID
		return e, bad
	}
	e.EventID = w.EventID
	if w.Type == nil || *w.Type == "" {
		bad := missing("type")
		bad.EventID = w.EventID
		return e, bad
	}
	e.Type = *w.Type
	if err := e.fill(&w); err != nil {
		err.EventID = w.EventID
		return e, err
	}
	return e, nil
}

// describe returns a decoding error without Go terms.
func describe(err error) string {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && t.Field != "" {
		return fmt.Sprintf("'%s' must not be a %s", t.Field, t.Value)
	}
	return "expected an object"
}

// fill sets the fields that belong to the event's type.
func (e *ClientEvent) fill(w *clientWire) *Error {
	switch e.Type {
	case SessionUpdate, TranscriptionSessionUpdate:
		if w.Session == nil {
			return missing("session")
		}
		e.Session = w.Session
	case ItemCreate:
		if w.Item == nil {
			return missing("item")
		}
		e.PreviousItemID = w.PreviousItemID
		var err *Error
		e.Item, err = readItem("item", w.Item, false)
		return err
	case ItemDelete, ItemRetrieve:
		if w.ItemID == nil {
			return missing("item_id")
		}
		e.ItemID = *w.ItemID
	case ItemTruncate:
		switch {
		case w.ItemID == nil:
			return missing("item_id")
		case w.AudioEndMS == nil:
			return missing("audio_end_ms")
		case *w.AudioEndMS < 0:
			return Invalid(CodeInvalidValue, "audio_end_ms", "Invalid 'audio_end_ms': expected 0 or more, but got %d instead.", *w.AudioEndMS)
		}
		e.ItemID, e.AudioEndMS = *w.ItemID, *w.AudioEndMS
		if w.ContentIndex != nil {
			e.ContentIndex = *w.ContentIndex
		}
	case AudioAppend:
		return e.fillAudio(w.Audio)
	case AudioClear, AudioCommit, OutputClear:
	case ResponseCancel:
		e.ResponseID = w.ResponseID
	case ResponseCreate:
		return e.Response.read(w.Response)
	default:
		return notOneOf("type", e.Type, clientTypes()...)
	}
	return nil
}

func clientTypes() []string {
	return []string{
		SessionUpdate, TranscriptionSessionUpdate, AudioAppend, AudioCommit, AudioClear, ItemCreate, ItemRetrieve,
		ItemTruncate, ItemDelete, ResponseCreate, ResponseCancel, OutputClear,
	}
}

func (e *ClientEvent) fillAudio(s *string) *Error {
	if s == nil {
		return missing("audio")
	}
	pcm, err := DecodeAudio("audio", *s)
	e.Audio = pcm
	return err
}

// DecodeAudio decodes base64 sound.
func DecodeAudio(path, s string) ([]byte, *Error) {
	if base64.StdEncoding.DecodedLen(len(s)) > MaxAppend+3 {
		return nil, Invalid(CodeTooLarge, path, "Invalid '%s': expected at most %d bytes of audio.", path, MaxAppend)
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		// Some clients omit the padding.
		if b, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "=")); err != nil {
			return nil, Invalid(CodeInvalidValue, path, "Invalid '%s'. Expected base64-encoded audio bytes (mono PCM16 at 24kHz, or G.711) but got an invalid value.", path)
		}
	}
	return b, nil
}

// read decodes the parameters of a response.
func (p *CreateParams) read(raw json.RawMessage) *Error {
	if raw == nil || isNull(raw) {
		return nil
	}
	o, err := readObject("response", raw)
	if err != nil {
		return err
	}
	for _, name := range o.names() {
		if err := p.member(o, name); err != nil {
			return err
		}
	}
	return nil
}

func (p *CreateParams) member(o object, name string) *Error {
	raw, path := o.members[name], o.at(name)
	if isNull(raw) {
		return nil
	}
	switch name {
	case "conversation":
		var s string
		if err := readText(path, raw, &s); err != nil {
			return err
		}
		p.OutOfBand = s == "none"
	case "output_modalities":
		return readModalities(path, raw, &p.OutputModalities)
	case "instructions":
		return read(path, raw, "a string", &p.Instructions)
	case "tools":
		return readTools(path, raw, &p.Tools, nil)
	case "tool_choice":
		p.ToolChoice = &ToolChoice{}
		return readToolChoice(path, raw, p.ToolChoice)
	case "max_output_tokens":
		p.MaxOutputTokens = new(Limit)
		return readLimit(path, raw, p.MaxOutputTokens)
	case "metadata":
		return readMetadata(path, raw, &p.Metadata)
	case "input":
		return p.readInput(path, raw)
	case "audio":
		return p.readAudio(path, raw)
	case "parallel_tool_calls", "reasoning", "prompt":
		// Accepted without effect.
	default:
		return unknownParameter(path)
	}
	return nil
}

func (p *CreateParams) readInput(path string, raw json.RawMessage) *Error {
	var list []json.RawMessage
	if err := read(path, raw, "an array of items", &list); err != nil {
		return err
	}
	p.InputSet = true
	for i, raw := range list {
		it, err := readItem(fmt.Sprintf("%s[%d]", path, i), raw, true)
		if err != nil {
			return err
		}
		p.Input = append(p.Input, it)
	}
	return nil
}

func (p *CreateParams) readAudio(path string, raw json.RawMessage) *Error {
	o, err := readObject(path, raw)
	if err != nil {
		return err
	}
	raw, ok := o.members["output"]
	if !ok {
		return nil
	}
	if o, err = readObject(o.at("output"), raw); err != nil {
		return err
	}
	if raw, ok := o.members["voice"]; ok {
		if p.Voice, err = readVoice(o.at("voice"), raw); err != nil {
			return err
		}
	}
	if raw, ok := o.members["format"]; ok {
		p.Format = &Format{Type: PCM, Rate: 24000}
		return readFormat(o.at("format"), raw, p.Format, nil)
	}
	return nil
}

// Limits of a response's metadata.
const (
	maxPairs     = 16
	maxPairKey   = 64
	maxPairValue = 512
)

func readMetadata(path string, raw json.RawMessage, to *json.RawMessage) *Error {
	var pairs map[string]string
	if err := read(path, raw, "an object of strings", &pairs); err != nil {
		return err
	}
	if len(pairs) > maxPairs {
		return Invalid(CodeInvalidValue, path, "Invalid '%s': expected at most %d pairs.", path, maxPairs)
	}
	for _, k := range slices.Sorted(maps.Keys(pairs)) {
		if len([]rune(k)) > maxPairKey || len([]rune(pairs[k])) > maxPairValue {
			return Invalid(CodeInvalidValue, path, "Invalid '%s': expected keys of at most %d and values of at most %d characters.", path, maxPairKey, maxPairValue)
		}
	}
	readRaw(raw, to)
	return nil
}
