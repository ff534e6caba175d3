package realtime

import (
	"encoding/json"
	"maps"
	"slices"
)

// This file translates between the beta dialect and the general form. The beta
// session is flat and has no type, sound and text have other names, and an item is
// announced once.

// FromBeta converts a client event of the beta dialect to the general form. It
// returns an event that it cannot convert unchanged; [Parse] then reports the
// error.
func FromBeta(b []byte) []byte {
	var m map[string]json.RawMessage
	if json.Unmarshal(b, &m) != nil || m == nil {
		return b
	}
	var name string
	if json.Unmarshal(m["type"], &name) != nil {
		return b
	}
	switch name {
	case SessionUpdate, TranscriptionSessionUpdate:
		replace(m, "session", func(s map[string]json.RawMessage) map[string]json.RawMessage {
			return SessionFromBeta(s, name == TranscriptionSessionUpdate)
		})
		m["type"] = json.RawMessage(`"session.update"`)
	case ResponseCreate:
		replace(m, "response", responseFromBeta)
	case ItemCreate:
		replace(m, "item", itemFromBeta)
	default:
		return b
	}
	return must(m)
}

// replace replaces an object member by the result of f.
func replace(m map[string]json.RawMessage, name string, f func(map[string]json.RawMessage) map[string]json.RawMessage) {
	var inner map[string]json.RawMessage
	if json.Unmarshal(m[name], &inner) == nil && inner != nil {
		m[name] = must(f(inner))
	}
}

// must encodes a value that was decoded before.
func must(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("realtime: encode decoded JSON: " + err.Error())
	}
	return b
}

// tree builds nested objects.
type tree map[string]any

func (t tree) set(value any, path ...string) {
	for _, name := range path[:len(path)-1] {
		next, ok := t[name].(tree)
		if !ok {
			next = tree{}
			t[name] = next
		}
		t = next
	}
	t[path[len(path)-1]] = value
}

// members returns the tree's first level with each value as JSON.
func (t tree) members() map[string]json.RawMessage {
	out := make(map[string]json.RawMessage, len(t))
	for name, v := range t {
		out[name] = must(v)
	}
	return out
}

// SessionFromBeta converts a flat session to the general form.
func SessionFromBeta(s map[string]json.RawMessage, transcription bool) map[string]json.RawMessage {
	t := tree{}
	kind := TypeRealtime
	if transcription {
		kind = TypeTranscription
	}
	t["type"] = kind
	for _, name := range slices.Sorted(maps.Keys(s)) {
		raw := s[name]
		switch name {
		case "modalities":
			t.set(modalitiesFromBeta(raw), "output_modalities")
		case "voice", "speed":
			t.set(raw, "audio", "output", name)
		case "input_audio_format":
			t.set(formatFromBeta(raw), "audio", "input", "format")
		case "output_audio_format":
			t.set(formatFromBeta(raw), "audio", "output", "format")
		case "input_audio_transcription":
			t.set(raw, "audio", "input", "transcription")
		case "input_audio_noise_reduction":
			t.set(raw, "audio", "input", "noise_reduction")
		case "turn_detection":
			t.set(turnDetectionFromBeta(raw), "audio", "input", "turn_detection")
		case "max_response_output_tokens":
			t.set(raw, "max_output_tokens")
		case "temperature", "client_secret", "type", "id", "object", "expires_at":
			// The model's own temperature is used; the others are unchanged.
		default:
			t.set(raw, name)
		}
	}
	return t.members()
}

func modalitiesFromBeta(raw json.RawMessage) any {
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return raw
	}
	if slices.Contains(list, "audio") {
		return []string{"audio"}
	}
	return list
}

func turnDetectionFromBeta(raw json.RawMessage) any {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return raw
	}
	var kind string
	if json.Unmarshal(m["type"], &kind) == nil && kind == "none" {
		return nil // an early form of null
	}
	return m
}

func formatFromBeta(raw json.RawMessage) any {
	var name string
	if json.Unmarshal(raw, &name) != nil {
		return raw
	}
	switch name {
	case "pcm16":
		return Format{Type: PCM, Rate: 24000}
	case "g711_ulaw":
		return Format{Type: PCMU}
	case "g711_alaw":
		return Format{Type: PCMA}
	default:
		return map[string]string{"type": name} // [Parse] refuses it by name
	}
}

func responseFromBeta(r map[string]json.RawMessage) map[string]json.RawMessage {
	t := tree{}
	for _, name := range slices.Sorted(maps.Keys(r)) {
		raw := r[name]
		switch name {
		case "modalities":
			t.set(modalitiesFromBeta(raw), "output_modalities")
		case "voice":
			t.set(raw, "audio", "output", "voice")
		case "output_audio_format":
			t.set(formatFromBeta(raw), "audio", "output", "format")
		case "max_response_output_tokens":
			t.set(raw, "max_output_tokens")
		case "temperature", "commit", "cancel_previous":
		case "input":
			var items []map[string]json.RawMessage
			if json.Unmarshal(raw, &items) != nil {
				t.set(raw, name)
				continue
			}
			for i := range items {
				items[i] = itemFromBeta(items[i])
			}
			t.set(items, name)
		default:
			t.set(raw, name)
		}
	}
	return t.members()
}

// itemFromBeta renames the content of the agent's messages.
func itemFromBeta(it map[string]json.RawMessage) map[string]json.RawMessage {
	var role string
	var content []map[string]json.RawMessage
	if json.Unmarshal(it["role"], &role) != nil || json.Unmarshal(it["content"], &content) != nil {
		return it
	}
	for _, c := range content {
		var kind string
		if json.Unmarshal(c["type"], &kind) != nil {
			continue
		}
		switch {
		case role == "assistant" && (kind == "text" || kind == "audio"):
			c["type"] = must("output_" + kind)
		case role != "assistant" && kind == "text":
			c["type"] = must(InputText)
		}
	}
	it["content"] = must(content)
	return it
}

// MarshalBeta encodes a server event in the beta dialect. It returns nil if the
// dialect has no such event.
func MarshalBeta(id string, e Event) ([]byte, error) {
	name := e.EventType()
	switch e := e.(type) {
	case SessionEvent:
		if e.Session.Type == TypeTranscription {
			name = "transcription_" + name
		}
		return marshal(id, name, struct {
			Session any `json:"session"`
		}{e.Session.beta()})
	case ItemEvent:
		if e.Name != "added" {
			return nil, nil
		}
		e.Item = e.Item.beta()
		return marshal(id, "conversation.item.created", e)
	case ItemRetrieved:
		e.Item = e.Item.beta()
		return marshal(id, name, e)
	case OutputItem:
		e.Item = e.Item.beta()
		return marshal(id, name, e)
	case ResponseEvent:
		return marshal(id, name, struct {
			Response any `json:"response"`
		}{e.Response.beta()})
	case WordsDelta:
		return marshal(id, betaWords(e.Audio)+".delta", e)
	case WordsDone:
		return marshal(id, betaWords(e.Audio)+".done", e)
	case AudioDelta:
		return appendAudio(id, "response.audio.delta", e), nil
	case AudioDone:
		return marshal(id, "response.audio.done", e)
	case TimeoutTriggered, OutputBuffer, TranscriptionDelta:
		return nil, nil // clients of the beta dialect may fail on unknown events
	default:
		return marshal(id, name, e)
	}
}

func betaWords(audio bool) string {
	if audio {
		return "response.audio_transcript"
	}
	return "response.text"
}

// beta renames the content of the agent's messages.
func (it Item) beta() Item {
	it = it.Clone()
	for i := range it.Content {
		switch c := &it.Content[i]; c.Type {
		case OutputText:
			c.Type = "text"
		case OutputAudio:
			c.Type = "audio"
		}
	}
	return it
}

func betaFormat(f Format) string {
	switch f.Type {
	case PCMU:
		return "g711_ulaw"
	case PCMA:
		return "g711_alaw"
	default:
		return "pcm16"
	}
}

func betaModalities(list []string) []string {
	if slices.Contains(list, "audio") {
		return []string{"audio", "text"}
	}
	return list
}

// BetaSession returns a session in the beta dialect, with the client secret of the
// REST endpoints if it is not nil.
func BetaSession(s Session, secret any) any {
	b := s.beta()
	b.ClientSecret = secret
	return b
}

// betaSession is the flat session.
type betaSession struct {
	ID             string          `json:"id"`
	Object         string          `json:"object"`
	Model          string          `json:"model"`
	ExpiresAt      int64           `json:"expires_at,omitempty"`
	Modalities     []string        `json:"modalities"`
	Instructions   string          `json:"instructions"`
	Voice          string          `json:"voice"`
	InputFormat    string          `json:"input_audio_format"`
	OutputFormat   string          `json:"output_audio_format"`
	Transcription  *Transcription  `json:"input_audio_transcription"`
	NoiseReduction *NoiseReduction `json:"input_audio_noise_reduction"`
	TurnDetection  *TurnDetection  `json:"turn_detection"`
	Tools          []Tool          `json:"tools"`
	ToolChoice     ToolChoice      `json:"tool_choice"`
	Temperature    float64         `json:"temperature"`
	MaxTokens      Limit           `json:"max_response_output_tokens"`
	Speed          float64         `json:"speed"`
	Tracing        json.RawMessage `json:"tracing"`
	ClientSecret   any             `json:"client_secret"`
}

func (s Session) beta() betaSession {
	return betaSession{
		ID: s.ID, Object: "realtime.session", Model: s.Model, ExpiresAt: s.ExpiresAt,
		Modalities: betaModalities(s.OutputModalities), Instructions: s.Instructions, Voice: s.Output.Voice,
		InputFormat: betaFormat(s.Input.Format), OutputFormat: betaFormat(s.Output.Format),
		Transcription: s.Input.Transcription, NoiseReduction: s.Input.NoiseReduction,
		TurnDetection: s.Input.TurnDetection, Tools: s.Tools, ToolChoice: s.ToolChoice,
		Temperature: 0.8, MaxTokens: s.MaxOutputTokens, Speed: s.Output.Speed, Tracing: s.Tracing,
	}
}

// beta returns the response in the beta dialect.
func (r Response) beta() any {
	output := make([]Item, 0, len(r.Output))
	for _, it := range r.Output {
		output = append(output, it.beta())
	}
	return struct {
		Object         string          `json:"object"`
		ID             string          `json:"id"`
		Status         string          `json:"status"`
		Details        *StatusDetails  `json:"status_details"`
		Output         []Item          `json:"output"`
		ConversationID *string         `json:"conversation_id"`
		Modalities     []string        `json:"modalities"`
		Voice          string          `json:"voice"`
		Format         string          `json:"output_audio_format"`
		Temperature    float64         `json:"temperature"`
		MaxTokens      Limit           `json:"max_output_tokens"`
		Usage          *Usage          `json:"usage"`
		Metadata       json.RawMessage `json:"metadata"`
	}{
		"realtime.response", r.ID, r.Status, r.Details, output, filled(r.ConversationID),
		betaModalities(r.OutputModalities), r.Voice, betaFormat(r.Format), 0.8, r.MaxOutputTokens, r.Usage, r.Metadata,
	}
}
