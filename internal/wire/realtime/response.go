package realtime

import "encoding/json"

// Response is the current state of a response.
type Response struct {
	ID               string
	Status           string
	Details          *StatusDetails
	Output           []Item
	Metadata         json.RawMessage
	Usage            *Usage
	ConversationID   string // empty if it belongs to none
	OutputModalities []string
	MaxOutputTokens  Limit
	Voice            string
	Format           Format
}

// StatusDetails says why a response is not completed.
type StatusDetails struct {
	Type   string         `json:"type"`
	Reason string         `json:"reason,omitempty"`
	Error  *ResponseError `json:"error,omitempty"`
}

// ResponseError is the reason for a failed response.
type ResponseError struct {
	Type    string `json:"type"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// MarshalJSON encodes empty fields as null.
func (r Response) MarshalJSON() ([]byte, error) {
	output := r.Output
	if output == nil {
		output = []Item{}
	}
	type sound struct {
		Format Format `json:"format"`
		Voice  string `json:"voice"`
	}
	return json.Marshal(struct {
		Object           string          `json:"object"`
		ID               string          `json:"id"`
		Status           string          `json:"status"`
		Details          *StatusDetails  `json:"status_details"`
		Output           []Item          `json:"output"`
		ConversationID   *string         `json:"conversation_id"`
		OutputModalities []string        `json:"output_modalities"`
		MaxOutputTokens  Limit           `json:"max_output_tokens"`
		Audio            any             `json:"audio"`
		Usage            *Usage          `json:"usage"`
		Metadata         json.RawMessage `json:"metadata"`
	}{
		"realtime.response", r.ID, r.Status, r.Details, output, filled(r.ConversationID), r.OutputModalities,
		r.MaxOutputTokens,
		map[string]any{"output": sound{r.Format, r.Voice}},
		r.Usage, r.Metadata,
	})
}

// Usage counts the tokens of a response.
type Usage struct {
	InputText, InputAudio, OutputText, OutputAudio int
}

// Total returns the sum of all tokens.
func (u Usage) Total() int { return u.InputText + u.InputAudio + u.OutputText + u.OutputAudio }

// MarshalJSON encodes the sums and their details.
func (u Usage) MarshalJSON() ([]byte, error) {
	type cached struct {
		Text  int `json:"text_tokens"`
		Audio int `json:"audio_tokens"`
		Image int `json:"image_tokens"`
	}
	type input struct {
		Text    int    `json:"text_tokens"`
		Audio   int    `json:"audio_tokens"`
		Image   int    `json:"image_tokens"`
		Cached  int    `json:"cached_tokens"`
		Details cached `json:"cached_tokens_details"`
	}
	type output struct {
		Text  int `json:"text_tokens"`
		Audio int `json:"audio_tokens"`
	}
	return json.Marshal(struct {
		Total   int    `json:"total_tokens"`
		Input   int    `json:"input_tokens"`
		Output  int    `json:"output_tokens"`
		Inputs  input  `json:"input_token_details"`
		Outputs output `json:"output_token_details"`
	}{
		u.Total(), u.InputText + u.InputAudio, u.OutputText + u.OutputAudio,
		input{Text: u.InputText, Audio: u.InputAudio},
		output{u.OutputText, u.OutputAudio},
	})
}
