package realtime

import (
	"encoding/json"
	"fmt"
	"slices"
)

// The types of items.
const (
	Message            = "message"
	FunctionCall       = "function_call"
	FunctionCallOutput = "function_call_output"
	ItemReference      = "item_reference" // only in the input of a response
)

// The statuses of items and responses.
const (
	InProgress = "in_progress"
	Completed  = "completed"
	Incomplete = "incomplete"
	Cancelled  = "cancelled"
	Failed     = "failed"
)

// The types of content.
const (
	InputText   = "input_text"
	InputAudio  = "input_audio"
	OutputText  = "output_text"
	OutputAudio = "output_audio"
	inputImage  = "input_image" // not supported
)

// Item is one item of a conversation.
type Item struct {
	ID, Type, Status string

	// Fields of a message.
	Role    string // "user", "assistant", "system"
	Content []Content

	// Fields of a call or its output.
	CallID, Name, Arguments, Output string
}

// Content is a part of a message.
type Content struct {
	Type string
	Text string // of text
	// Transcript is what was said; nil if not (yet) known.
	Transcript *string
	// Audio is base64 as received. It is never encoded.
	Audio string
}

// MarshalJSON encodes the members of the type, without sound.
func (c Content) MarshalJSON() ([]byte, error) {
	switch c.Type {
	case InputAudio, OutputAudio, "audio":
		return json.Marshal(struct {
			Type       string  `json:"type"`
			Transcript *string `json:"transcript"`
		}{c.Type, c.Transcript})
	default:
		return json.Marshal(struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{c.Type, c.Text})
	}
}

// Words returns the text or the transcript.
func (c Content) Words() string {
	if c.Transcript != nil {
		return *c.Transcript
	}
	return c.Text
}

// MarshalJSON encodes the members of the type.
func (it Item) MarshalJSON() ([]byte, error) {
	head := itemHead{it.ID, "realtime.item", it.Type, it.Status}
	switch it.Type {
	case FunctionCall:
		return json.Marshal(struct {
			itemHead
			CallID    string `json:"call_id"`
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		}{head, it.CallID, it.Name, it.Arguments})
	case FunctionCallOutput:
		return json.Marshal(struct {
			itemHead
			CallID string `json:"call_id"`
			Output string `json:"output"`
		}{head, it.CallID, it.Output})
	default:
		content := it.Content
		if content == nil {
			content = []Content{}
		}
		return json.Marshal(struct {
			itemHead
			Role    string    `json:"role"`
			Content []Content `json:"content"`
		}{head, it.Role, content})
	}
}

type itemHead struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	Type   string `json:"type"`
	Status string `json:"status"`
}

// Clone returns a copy that shares no mutable data.
func (it Item) Clone() Item {
	it.Content = slices.Clone(it.Content)
	return it
}

// maxID is the maximum length of an id set by a client.
const maxID = 128

// readItem decodes an item. reference allows a reference.
func readItem(path string, raw json.RawMessage, reference bool) (Item, *Error) {
	var w struct {
		ID        string          `json:"id"`
		Type      string          `json:"type"`
		Status    string          `json:"status"`
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		CallID    string          `json:"call_id"`
		Name      string          `json:"name"`
		Arguments string          `json:"arguments"`
		Output    json.RawMessage `json:"output"`
	}
	if _, err := readObject(path, raw); err != nil {
		return Item{}, err
	}
	if err := read(path, raw, "an item", &w); err != nil {
		return Item{}, err
	}
	it := Item{ID: w.ID, Type: w.Type, Status: Completed, Role: w.Role, CallID: w.CallID, Name: w.Name, Arguments: w.Arguments}
	if len(w.ID) > maxID || len(w.CallID) > maxID || len(w.Name) > maxID {
		return it, Invalid(CodeTooLarge, path+".id", "Invalid '%s': ids and names have at most %d characters.", path, maxID)
	}
	if w.Status == Incomplete {
		it.Status = Incomplete
	}
	types := []string{Message, FunctionCall, FunctionCallOutput}
	if reference {
		types = append(types, ItemReference)
	}
	switch {
	case w.Type == "":
		return it, missing(path + ".type")
	case !slices.Contains(types, w.Type):
		return it, notOneOf(path+".type", w.Type, types...)
	}
	switch w.Type {
	case Message:
		return it.readContent(path, w.Content)
	case FunctionCall:
		if !toolName.MatchString(it.Name) {
			return it, Invalid(CodeInvalidValue, path+".name", "Invalid '%s.name': expected 1 to 64 letters, digits, _ and -.", path)
		}
		if it.CallID == "" {
			return it, missing(path + ".call_id")
		}
	case FunctionCallOutput:
		if it.CallID == "" {
			return it, missing(path + ".call_id")
		}
		if w.Output == nil {
			return it, missing(path + ".output")
		}
		if json.Unmarshal(w.Output, &it.Output) != nil {
			return it, wrongType(path+".output", "a string")
		}
	case ItemReference:
		if it.ID == "" {
			return it, missing(path + ".id")
		}
	}
	return it, nil
}

// contentOf returns the content types allowed for a role.
func contentOf(role string) []string {
	switch role {
	case "user":
		return []string{InputText, InputAudio}
	case "assistant":
		return []string{OutputText, OutputAudio}
	default:
		return []string{InputText}
	}
}

func (it Item) readContent(path string, raw json.RawMessage) (Item, *Error) {
	if !slices.Contains([]string{"user", "assistant", "system"}, it.Role) {
		return it, notOneOf(path+".role", it.Role, "user", "assistant", "system")
	}
	if raw == nil {
		return it, missing(path + ".content")
	}
	var parts []struct {
		Type       string  `json:"type"`
		Text       *string `json:"text"`
		Transcript *string `json:"transcript"`
		Audio      string  `json:"audio"`
	}
	if err := read(path+".content", raw, "an array of content parts", &parts); err != nil {
		return it, err
	}
	it.Content = make([]Content, 0, len(parts))
	for i, p := range parts {
		at := fmt.Sprintf("%s.content[%d]", path, i)
		if p.Type == inputImage {
			return it, Invalid(CodeUnsupported, at+".type", "Images are not supported by this server: '%s.type' is 'input_image'.", at)
		}
		if types := contentOf(it.Role); !slices.Contains(types, p.Type) {
			return it, notOneOf(at+".type", p.Type, types...)
		}
		c := Content{Type: p.Type}
		switch p.Type {
		case InputText, OutputText:
			if p.Text == nil {
				return it, missing(at + ".text")
			}
			c.Text = *p.Text
		case InputAudio:
			if p.Audio == "" && p.Transcript == nil {
				return it, missing(at + ".audio")
			}
			c.Audio, c.Transcript = p.Audio, p.Transcript
		case OutputAudio:
			c.Transcript = p.Transcript
		}
		it.Content = append(it.Content, c)
	}
	return it, nil
}
