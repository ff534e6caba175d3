package realtime

import (
	"encoding/json"
	"slices"
)

// The kinds of sessions.
const (
	TypeRealtime      = "realtime"
	TypeTranscription = "transcription"
)

// The formats of sound.
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

// Session is a session's configuration, whole: what is in effect.
type Session struct {
	Type      string
	ID        string
	Model     string
	ExpiresAt int64 // Unix seconds

	OutputModalities  []string // ["audio"] or ["text"]
	Instructions      string
	Tools             []Tool
	ToolChoice        ToolChoice
	ParallelToolCalls *bool // nil: not set
	MaxOutputTokens   Limit
	// Tracing, Truncation, Prompt and Reasoning are kept and shown, nothing more.
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
	TurnDetection  *TurnDetection  `json:"turn_detection"` // nil: the client says when a turn ends
}

// Output is the agent's sound.
type Output struct {
	Format Format  `json:"format"`
	Voice  string  `json:"voice"`
	Speed  float64 `json:"speed"`
}

// Format is how sound is written.
type Format struct {
	Type string `json:"type"`
	Rate int    `json:"rate,omitempty"` // of PCM alone
}

// SampleRate is the samples a second of the format.
func (f Format) SampleRate() int {
	if f.Type == PCM {
		return 24000
	}
	return 8000
}

// Transcription is how the person's speech is written down for the client.
type Transcription struct {
	Model     string   `json:"model,omitempty"`
	Language  string   `json:"language,omitempty"`
	Languages []string `json:"languages,omitempty"`
	Keywords  []string `json:"keywords,omitempty"`
	Prompt    string   `json:"prompt,omitempty"`
	Delay     string   `json:"delay,omitempty"`
}

// NoiseReduction is kept and shown, nothing more.
type NoiseReduction struct {
	Type string `json:"type"`
}

// TurnDetection is who says when the user's turn begins and ends, and what
// follows from it.
type TurnDetection struct {
	Type              string
	Threshold         float64 // ServerVAD: of the probability of speech
	PrefixPaddingMS   int     // ServerVAD
	SilenceDurationMS int     // ServerVAD
	IdleTimeoutMS     int     // ServerVAD; 0: none
	Eagerness         string  // SemanticVAD
	CreateResponse    bool
	InterruptResponse bool
}

// MarshalJSON writes the members of the kind.
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

// DefaultTurnDetection is that of a kind with nothing else said.
func DefaultTurnDetection(kind string) TurnDetection {
	t := TurnDetection{Type: kind, CreateResponse: true, InterruptResponse: true}
	if kind == SemanticVAD {
		t.Eagerness = "auto"
		return t
	}
	t.Threshold, t.PrefixPaddingMS, t.SilenceDurationMS = 0.5, 300, 500
	return t
}

// Tool is a function that the client runs.
type Tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// ToolChoice is a word ("auto", "none", "required") or the name of one function.
type ToolChoice struct {
	Mode string
	Name string // Mode is empty
}

// MarshalJSON is the word, or an object.
func (c ToolChoice) MarshalJSON() ([]byte, error) {
	if c.Name == "" {
		return json.Marshal(c.Mode)
	}
	return json.Marshal(struct {
		Type string `json:"type"`
		Name string `json:"name"`
	}{"function", c.Name})
}

// Limit is a bound on tokens; 0 is none, written "inf".
type Limit int

// MarshalJSON is the number or "inf".
func (l Limit) MarshalJSON() ([]byte, error) {
	if l == 0 {
		return []byte(`"inf"`), nil
	}
	return json.Marshal(int(l))
}

// NewSession is the configuration of a session with nothing said.
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

// MarshalJSON is the session as the general form shows it.
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
