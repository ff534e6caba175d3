package realtime

import (
	"bytes"
	"encoding/json"
	"slices"
)

// The kinds of sessions.
const (
	TypeRealtime      = "realtime"
	TypeTranscription = "transcription"
)

// The audio formats.
const (
	PCM  = "audio/pcm" // 16 bits, little endian, mono, 24 kHz
	PCMU = "audio/pcmu"
	PCMA = "audio/pcma"
)

// The kinds of turn detection.
const (
	ServerVAD   = "server_vad"
	SemanticVAD = "semantic_vad"
)

// Session is the complete configuration of a session.
type Session struct {
	Type      string
	ID        string
	Model     string
	ExpiresAt int64 // Unix seconds

	OutputModalities  []string // ["audio"] or ["text"]
	Instructions      string
	Tools             []Tool
	ToolChoice        ToolChoice
	ParallelToolCalls *bool // nil if not set
	MaxOutputTokens   Limit
	// Tracing, Truncation, Prompt and Reasoning are stored and returned, but have
	// no effect.
	Tracing, Truncation, Prompt, Reasoning json.RawMessage
	Include                                []string

	Input  Input
	Output Output
}

// Input is the person's sound.
type Input struct {
	Format         Format          `json:"format"`
	Transcription  *Transcription  `json:"transcription"`
	NoiseReduction *NoiseReduction `json:"noise_reduction"`
	TurnDetection  *TurnDetection  `json:"turn_detection"` // nil if the client ends the turns
}

// Output is the agent's sound.
type Output struct {
	Format Format  `json:"format"`
	Voice  string  `json:"voice"`
	Speed  float64 `json:"speed"`
}

// Format is an audio format.
type Format struct {
	Type string `json:"type"`
	Rate int    `json:"rate,omitempty"` // for PCM only
}

// SampleRate returns the sampling rate of the format in hertz.
func (f Format) SampleRate() int {
	if f.Type == PCM {
		return 24000
	}
	return 8000
}

// Transcription configures the transcription of the person's speech for the client.
type Transcription struct {
	Model     string   `json:"model,omitempty"`
	Language  string   `json:"language,omitempty"`
	Languages []string `json:"languages,omitempty"`
	Keywords  []string `json:"keywords,omitempty"`
	Prompt    string   `json:"prompt,omitempty"`
	Delay     string   `json:"delay,omitempty"`
}

// NoiseReduction is stored and returned, but has no effect.
type NoiseReduction struct {
	Type string `json:"type"`
}

// TurnDetection configures how turns of the user are detected, and what follows.
type TurnDetection struct {
	Type              string
	Threshold         float64 // ServerVAD: threshold of the probability of speech
	PrefixPaddingMS   int     // ServerVAD
	SilenceDurationMS int     // ServerVAD
	IdleTimeoutMS     int     // ServerVAD; 0 means none
	Eagerness         string  // SemanticVAD
	CreateResponse    bool
	InterruptResponse bool
}

// MarshalJSON encodes the members of the kind.
func (t TurnDetection) MarshalJSON() ([]byte, error) {
	if t.Type == SemanticVAD {
		return json.Marshal(struct {
			Type      string `json:"type"`
			Eagerness string `json:"eagerness"`
			Create    bool   `json:"create_response"`
			Interrupt bool   `json:"interrupt_response"`
		}{t.Type, t.Eagerness, t.CreateResponse, t.InterruptResponse})
	}
	var idle *int
	if t.IdleTimeoutMS > 0 {
		idle = &t.IdleTimeoutMS
	}
	return json.Marshal(struct {
		Type      string  `json:"type"`
		Threshold float64 `json:"threshold"`
		Prefix    int     `json:"prefix_padding_ms"`
		Silence   int     `json:"silence_duration_ms"`
		Idle      *int    `json:"idle_timeout_ms"`
		Create    bool    `json:"create_response"`
		Interrupt bool    `json:"interrupt_response"`
	}{t.Type, t.Threshold, t.PrefixPaddingMS, t.SilenceDurationMS, idle, t.CreateResponse, t.InterruptResponse})
}

// DefaultTurnDetection returns the default configuration of a kind.
func DefaultTurnDetection(kind string) TurnDetection {
	t := TurnDetection{Type: kind, CreateResponse: true, InterruptResponse: true}
	if kind == SemanticVAD {
		t.Eagerness = "auto"
		return t
	}
	t.Threshold, t.PrefixPaddingMS, t.SilenceDurationMS = 0.5, 300, 500
	return t
}

// Tool is a function run by the client.
type Tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// ToolChoice is a word ("auto", "none", "required") or the name of one function.
type ToolChoice struct {
	Mode string
	Name string // if Mode is empty
}

// MarshalJSON encodes the word, or an object.
func (c ToolChoice) MarshalJSON() ([]byte, error) {
	if c.Name == "" {
		return json.Marshal(c.Mode)
	}
	return json.Marshal(struct {
		Type string `json:"type"`
		Name string `json:"name"`
	}{"function", c.Name})
}

// Limit is a limit on tokens. 0 means none and is encoded as "inf".
type Limit int

// MarshalJSON encodes the number or "inf".
func (l Limit) MarshalJSON() ([]byte, error) {
	if l == 0 {
		return []byte(`"inf"`), nil
	}
	return json.Marshal(int(l))
}

// NewSession returns the default configuration of a kind of session.
func NewSession(kind string) Session {
	vad := DefaultTurnDetection(ServerVAD)
	return Session{
		Type: kind, OutputModalities: []string{"audio"}, Tools: []Tool{},
		ToolChoice: ToolChoice{Mode: "auto"}, Truncation: json.RawMessage(`"auto"`),
		Input:  Input{Format: Format{Type: PCM, Rate: 24000}, TurnDetection: &vad},
		Output: Output{Format: Format{Type: PCM, Rate: 24000}, Speed: 1},
	}
}

// Audio reports whether answers are spoken.
func (s *Session) Audio() bool { return slices.Contains(s.OutputModalities, "audio") }

// Equal reports whether two configurations have the same JSON.
func (s Session) Equal(other Session) bool { return bytes.Equal(must(s), must(other)) }

// MarshalJSON encodes the session in the general form.
func (s Session) MarshalJSON() ([]byte, error) {
	if s.Type == TypeTranscription {
		return json.Marshal(struct {
			Type      string   `json:"type"`
			ID        string   `json:"id"`
			Object    string   `json:"object"`
			ExpiresAt int64    `json:"expires_at,omitempty"`
			Include   []string `json:"include"`
			Audio     any      `json:"audio"`
		}{s.Type, s.ID, "realtime.transcription_session", s.ExpiresAt, s.Include, map[string]any{"input": s.Input}})
	}
	return json.Marshal(struct {
		Type             string          `json:"type"`
		Object           string          `json:"object"`
		ID               string          `json:"id"`
		Model            string          `json:"model"`
		ExpiresAt        int64           `json:"expires_at,omitempty"`
		OutputModalities []string        `json:"output_modalities"`
		Instructions     string          `json:"instructions"`
		Tools            []Tool          `json:"tools"`
		ToolChoice       ToolChoice      `json:"tool_choice"`
		Parallel         *bool           `json:"parallel_tool_calls,omitempty"`
		MaxOutputTokens  Limit           `json:"max_output_tokens"`
		Tracing          json.RawMessage `json:"tracing"`
		Truncation       json.RawMessage `json:"truncation"`
		Prompt           json.RawMessage `json:"prompt"`
		Reasoning        json.RawMessage `json:"reasoning,omitempty"`
		Include          []string        `json:"include"`
		Audio            any             `json:"audio"`
	}{
		s.Type, "realtime.session", s.ID, s.Model, s.ExpiresAt, s.OutputModalities, s.Instructions, s.Tools,
		s.ToolChoice, s.ParallelToolCalls, s.MaxOutputTokens, s.Tracing, s.Truncation, s.Prompt, s.Reasoning,
		s.Include,
		map[string]any{"input": s.Input, "output": s.Output},
	})
}
