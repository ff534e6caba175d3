package realtime

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// This file encodes the events that a client sends.

// SessionParams is the part of a session's configuration that a client sets. Empty
// fields are left out, so that they keep their values, except where their comments say
// otherwise.
type SessionParams struct {
	Instructions string // always sent
	Tools        []Tool // always sent
	Voice        string
	Format       Format // of both directions; always sent
	Speed        float64
	MaxTokens    int
	// TurnDetection is always sent. If it is nil, the client ends the turns.
	TurnDetection  *TurnDetection
	Transcription  *Transcription
	NoiseReduction string
	Truncation     json.RawMessage
}

// general returns the parameters in the general form.
func (p SessionParams) general() any {
	input := tree{"format": p.Format, "turn_detection": p.TurnDetection}
	output := tree{"format": p.Format}
	t := tree{
		"type": TypeRealtime, "instructions": p.Instructions, "tools": p.Tools, "output_modalities": []string{"audio"},
		"audio": tree{"input": input, "output": output},
	}
	if p.Transcription != nil {
		input["transcription"] = p.Transcription
	}
	if p.NoiseReduction != "" {
		input["noise_reduction"] = NoiseReduction{Type: p.NoiseReduction}
	}
	if p.Voice != "" {
		output["voice"] = p.Voice
	}
	if p.Speed != 0 {
		output["speed"] = p.Speed
	}
	if p.MaxTokens != 0 {
		t["max_output_tokens"] = p.MaxTokens
	}
	if p.Truncation != nil {
		t["truncation"] = p.Truncation
	}
	return t
}

// flat returns the parameters in the beta dialect.
func (p SessionParams) flat() any {
	format := betaFormat(p.Format)
	t := tree{
		"instructions": p.Instructions, "tools": p.Tools, "modalities": betaModalities([]string{"audio"}),
		"input_audio_format": format, "output_audio_format": format, "turn_detection": p.TurnDetection,
	}
	if p.Transcription != nil {
		t["input_audio_transcription"] = p.Transcription
	}
	if p.NoiseReduction != "" {
		t["input_audio_noise_reduction"] = NoiseReduction{Type: p.NoiseReduction}
	}
	if p.Voice != "" {
		t["voice"] = p.Voice
	}
	if p.MaxTokens != 0 {
		t["max_response_output_tokens"] = p.MaxTokens
	}
	return t
}

// MarshalUpdate encodes a session.update.
func MarshalUpdate(id string, p SessionParams, beta bool) []byte {
	if p.Tools == nil {
		p.Tools = []Tool{} // so that it is sent as a list
	}
	session := p.general()
	if beta {
		session = p.flat()
	}
	return must(tree{"type": SessionUpdate, "event_id": id, "session": session})
}

// MarshalClient encodes a client event other than a session.update. It returns an error
// if the type is unknown.
func MarshalClient(e ClientEvent, beta bool) ([]byte, error) {
	t := tree{"type": e.Type, "event_id": e.EventID}
	switch e.Type {
	case AudioAppend:
		return appendClient(e), nil
	case AudioClear, AudioCommit:
	case ItemCreate:
		it := e.Item
		if beta {
			it = it.beta()
		}
		t["item"] = it
		if e.PreviousItemID != nil {
			t["previous_item_id"] = *e.PreviousItemID
		}
	case ItemDelete:
		t["item_id"] = e.ItemID
	case ItemTruncate:
		t["item_id"], t["content_index"], t["audio_end_ms"] = e.ItemID, e.ContentIndex, e.AudioEndMS
	case ResponseCancel:
		if e.ResponseID != "" {
			t["response_id"] = e.ResponseID
		}
	case ResponseCreate:
		t["response"] = e.Response.client(beta)
	default:
		return nil, fmt.Errorf("client event %q: unknown type", e.Type)
	}
	return must(t), nil
}

// appendClient encodes the most frequent event. Its id needs no escaping.
func appendClient(e ClientEvent) []byte {
	out := make([]byte, 0, base64.StdEncoding.EncodedLen(len(e.Audio))+96)
	out = fmt.Appendf(out, `{"type":"%s","event_id":"%s","audio":"`, AudioAppend, e.EventID)
	out = base64.StdEncoding.AppendEncode(out, e.Audio)
	return append(out, '"', '}')
}

// client returns the parameters as a client sends them.
func (p CreateParams) client(beta bool) tree {
	t := tree{}
	if p.OutOfBand {
		t["conversation"] = "none"
	}
	if p.OutputModalities != nil {
		t["output_modalities"] = p.OutputModalities
		if beta {
			delete(t, "output_modalities")
			t["modalities"] = betaModalities(p.OutputModalities)
		}
	}
	if p.Instructions != nil {
		t["instructions"] = *p.Instructions
	}
	if p.Tools != nil {
		t["tools"] = p.Tools
	}
	if p.ToolChoice != nil {
		t["tool_choice"] = *p.ToolChoice
	}
	if p.Metadata != nil {
		t["metadata"] = p.Metadata
	}
	if p.InputSet {
		items := make([]Item, 0, len(p.Input))
		for _, it := range p.Input {
			if beta {
				it = it.beta()
			}
			items = append(items, it)
		}
		t["input"] = items
	}
	return t
}
