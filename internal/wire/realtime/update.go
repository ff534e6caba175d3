package realtime

import (
	"encoding/json"
	"regexp"
	"slices"
)

// This file implements session.update and other configuration updates. Members that
// are absent change nothing.

// UpdateOptions says what an update may change.
type UpdateOptions struct {
	// Opening reports that the session has not begun, so that its kind may be chosen.
	Opening bool
	// Spoken reports that the agent has spoken, so that its voice may no longer
	// change.
	Spoken bool
}

// Update returns the configuration with the changes in a "session" member. A member
// that this server does not know or does not support is added to refused, and the
// others still apply. If a value is invalid, Update returns an error and nothing
// applies.
func (s Session) Update(raw json.RawMessage, how UpdateOptions) (next Session, refused []*Error, err *Error) {
	var r refusals
	next, err = s.merge(raw, how, &r)
	return next, r.list, err
}

func (s Session) merge(raw json.RawMessage, how UpdateOptions, r *refusals) (Session, *Error) {
	o, err := readObject("session", raw)
	if err != nil {
		return s, err
	}
	kind, ok := o.members["type"]
	if !ok {
		return s, missing("session.type")
	}
	var t string
	if err := readWord("session.type", kind, &t, TypeRealtime, TypeTranscription); err != nil {
		return s, err
	}
	if t != s.Type {
		if !how.Opening {
			return s, Invalid(CodeInvalidValue, "session.type", "Passing a %s session update event to a %s session is not allowed.", t, s.Type)
		}
		was := s
		s = NewSession(t)
		s.Model, s.ID, s.ExpiresAt, s.Output.Voice = was.Model, was.ID, was.ExpiresAt, was.Output.Voice
	}
	for _, name := range o.names() {
		if err := r.alone(s.update(o, name, how, r)); err != nil {
			return s, err
		}
	}
	return s, nil
}

// update applies one member.
func (s *Session) update(o object, name string, how UpdateOptions, r *refusals) *Error {
	raw, path := o.members[name], o.at(name)
	switch name {
	case "type", "id", "object", "expires_at":
		return nil // returned unchanged
	case "audio":
		return s.updateAudio(path, raw, how, r)
	case "include":
		return readInclude(path, raw, &s.Include)
	}
	if s.Type == TypeTranscription {
		return unknownParameter(path)
	}
	switch name {
	case "model":
		return s.updateModel(path, raw)
	case "output_modalities":
		return readModalities(path, raw, &s.OutputModalities)
	case "instructions":
		return readText(path, raw, &s.Instructions)
	case "tools":
		return readTools(path, raw, &s.Tools, r)
	case "tool_choice":
		return readToolChoice(path, raw, &s.ToolChoice)
	case "parallel_tool_calls":
		return read(path, raw, "a boolean", &s.ParallelToolCalls)
	case "max_output_tokens":
		return readLimit(path, raw, &s.MaxOutputTokens)
	case "tracing":
		readRaw(raw, &s.Tracing)
	case "truncation":
		readRaw(raw, &s.Truncation)
	case "prompt":
		readRaw(raw, &s.Prompt)
	case "reasoning":
		readRaw(raw, &s.Reasoning)
	case "temperature":
		return Invalid(CodeUnsupported, path, "'%s' is not supported by this server, whose models have temperatures of their own.", path)
	default:
		return unknownParameter(path)
	}
	return nil
}

// updateModel accepts any name. The caller decides whether the model may change.
func (s *Session) updateModel(path string, raw json.RawMessage) *Error {
	model := ""
	err := readText(path, raw, &model)
	if model != "" {
		s.Model = model
	}
	return err
}

func (s *Session) updateAudio(path string, raw json.RawMessage, how UpdateOptions, r *refusals) *Error {
	if isNull(raw) {
		return nil
	}
	return r.eachMember(path, raw, func(name, path string, raw json.RawMessage) (err *Error) {
		switch {
		case name == "input":
			err = s.Input.update(path, raw, r)
		case name == "output" && s.Type == TypeRealtime:
			err = s.Output.update(path, raw, how, r)
		default:
			err = unknownParameter(path)
		}
		return err
	})
}

func (in *Input) update(path string, raw json.RawMessage, r *refusals) *Error {
	return r.eachMember(path, raw, func(name, path string, raw json.RawMessage) (err *Error) {
		switch name {
		case "format":
			err = readFormat(path, raw, &in.Format, r)
		case "transcription":
			err = in.updateTranscription(path, raw, r)
		case "noise_reduction":
			if isNull(raw) {
				in.NoiseReduction = nil
				return nil
			}
			var n NoiseReduction
			if err = read(path, raw, "an object", &n); err == nil && n.Type != "near_field" && n.Type != "far_field" {
				err = notOneOf(path+".type", n.Type, "near_field", "far_field")
			}
			in.NoiseReduction = &n
		case "turn_detection":
			err = in.updateTurnDetection(path, raw, r)
		default:
			err = unknownParameter(path)
		}
		return err
	})
}

func (in *Input) updateTranscription(path string, raw json.RawMessage, r *refusals) *Error {
	if isNull(raw) {
		in.Transcription = nil
		return nil
	}
	var t Transcription
	if in.Transcription != nil {
		t = *in.Transcription
	}
	err := r.eachMember(path, raw, func(name, path string, raw json.RawMessage) (err *Error) {
		switch name {
		case "model":
			err = readText(path, raw, &t.Model)
		case "language":
			err = readText(path, raw, &t.Language)
		case "languages":
			err = read(path, raw, "an array of strings", &t.Languages)
		case "keywords":
			err = read(path, raw, "an array of strings", &t.Keywords)
		case "prompt":
			err = readText(path, raw, &t.Prompt)
		case "delay":
			err = readText(path, raw, &t.Delay)
		default:
			err = unknownParameter(path)
		}
		return err
	})
	if err != nil {
		return err
	}
	in.Transcription = &t
	return nil
}

func (in *Input) updateTurnDetection(path string, raw json.RawMessage, r *refusals) *Error {
	if isNull(raw) {
		in.TurnDetection = nil
		return nil
	}
	o, err := readObject(path, raw)
	if err != nil {
		return err
	}
	kind := ServerVAD
	if in.TurnDetection != nil {
		kind = in.TurnDetection.Type
	}
	if raw, ok := o.members["type"]; ok {
		if err := readWord(o.at("type"), raw, &kind, ServerVAD, SemanticVAD); err != nil {
			return err
		}
	}
	t := DefaultTurnDetection(kind)
	if in.TurnDetection != nil && in.TurnDetection.Type == kind {
		t = *in.TurnDetection
	}
	for _, name := range o.names() {
		if err := r.alone(t.update(o, name)); err != nil {
			return err
		}
	}
	in.TurnDetection = &t
	return nil
}

func (t *TurnDetection) update(o object, name string) *Error {
	raw, path := o.members[name], o.at(name)
	switch name {
	case "type":
		return nil
	case "create_response":
		return read(path, raw, "a boolean", &t.CreateResponse)
	case "interrupt_response":
		return read(path, raw, "a boolean", &t.InterruptResponse)
	}
	if isNull(raw) {
		if name == "idle_timeout_ms" {
			t.IdleTimeoutMS = 0
		}
		return nil
	}
	switch server := t.Type == ServerVAD; {
	case name == "eagerness" && !server:
		return readWord(path, raw, &t.Eagerness, "low", "medium", "high", "auto")
	case name == "threshold" && server:
		return readNumber(path, raw, 0, 1, &t.Threshold)
	case name == "prefix_padding_ms" && server:
		return readCount(path, raw, 0, 5000, &t.PrefixPaddingMS)
	case name == "silence_duration_ms" && server:
		return readCount(path, raw, 0, 60000, &t.SilenceDurationMS)
	case name == "idle_timeout_ms" && server:
		return readCount(path, raw, 5000, 30000, &t.IdleTimeoutMS)
	default:
		return unknownParameter(path)
	}
}

func (out *Output) update(path string, raw json.RawMessage, how UpdateOptions, r *refusals) *Error {
	return r.eachMember(path, raw, func(name, path string, raw json.RawMessage) (err *Error) {
		switch name {
		case "format":
			err = readFormat(path, raw, &out.Format, r)
		case "voice":
			var voice string
			if voice, err = readVoice(path, raw); err == nil && voice != "" {
				if voice != out.Voice && how.Spoken {
					return Invalid(CodeCannotUpdateVoice, path, "Cannot update a conversation's voice if assistant audio is present.")
				}
				out.Voice = voice
			}
		case "speed":
			err = readNumber(path, raw, 0.25, 1.5, &out.Speed)
		default:
			err = unknownParameter(path)
		}
		return err
	})
}

// readVoice decodes a name, or an object with an id.
func readVoice(path string, raw json.RawMessage) (string, *Error) {
	var custom struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &custom) == nil && custom.ID != "" {
		return custom.ID, nil
	}
	var name string
	err := readText(path, raw, &name)
	return name, err
}

func readFormat(path string, raw json.RawMessage, to *Format, r *refusals) *Error {
	o, err := readObject(path, raw)
	if err != nil {
		return err
	}
	f := *to
	for _, name := range o.names() {
		raw, path := o.members[name], o.at(name)
		switch name {
		case "type":
			err = readWord(path, raw, &f.Type, PCM, PCMU, PCMA)
		case "rate":
			var rate int
			if err = read(path, raw, "an integer", &rate); err == nil && rate != 0 && rate != 24000 && rate != 8000 {
				err = Invalid(CodeInvalidValue, path, "Invalid '%s': expected 24000.", path)
			}
		default:
			err = r.alone(unknownParameter(path))
		}
		if err != nil {
			return err
		}
	}
	f.Rate = 0
	if f.Type == PCM {
		f.Rate = 24000
	}
	*to = f
	return nil
}

func readInclude(path string, raw json.RawMessage, to *[]string) *Error {
	var list []string
	if err := read(path, raw, "an array of strings", &list); err != nil {
		return err
	}
	for _, s := range list {
		if s != "item.input_audio_transcription.logprobs" {
			return notOneOf(path, s, "item.input_audio_transcription.logprobs")
		}
	}
	*to = list
	return nil
}

func readModalities(path string, raw json.RawMessage, to *[]string) *Error {
	var list []string
	if err := read(path, raw, "an array of strings", &list); err != nil {
		return err
	}
	if !slices.Equal(list, []string{"audio"}) && !slices.Equal(list, []string{"text"}) {
		return Invalid(CodeInvalidValue, path, "Invalid modalities: expected ['text'] or ['audio'].")
	}
	*to = list
	return nil
}

const maxTools = 128

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func readTools(path string, raw json.RawMessage, to *[]Tool, r *refusals) *Error {
	var list []json.RawMessage
	if err := read(path, raw, "an array", &list); err != nil {
		return err
	}
	if len(list) > maxTools {
		return Invalid(CodeInvalidValue, path, "Invalid '%s': expected at most %d tools.", path, maxTools)
	}
	tools := make([]Tool, 0, len(list))
	for _, raw := range list {
		var t Tool
		if err := read(path, raw, "an array of tools", &t); err != nil {
			return err
		}
		switch {
		case t.Type == "mcp":
			if err := r.alone(Invalid(CodeUnsupported, path, "Tools of type 'mcp' are not supported by this server.")); err != nil {
				return err
			}
			continue
		case t.Type != "function" && t.Type != "":
			return notOneOf(path+".type", t.Type, "function")
		case !toolName.MatchString(t.Name):
			return Invalid(CodeInvalidValue, path+".name", "Invalid tool name '%s': expected 1 to 64 letters, digits, _ and -.", shorten(t.Name))
		case slices.ContainsFunc(tools, func(other Tool) bool { return other.Name == t.Name }):
			return Invalid(CodeInvalidValue, path, "Duplicate tool name '%s'.", t.Name)
		}
		if len(t.Parameters) > 0 {
			if isNull(t.Parameters) {
				t.Parameters = nil
			} else if _, err := readObject(path+".parameters", t.Parameters); err != nil {
				return err
			}
		}
		t.Type = "function"
		tools = append(tools, t)
	}
	*to = tools
	return nil
}

func readToolChoice(path string, raw json.RawMessage, to *ToolChoice) *Error {
	var word string
	if json.Unmarshal(raw, &word) == nil {
		if isNull(raw) {
			word = "auto"
		}
		if !slices.Contains([]string{"auto", "none", "required"}, word) {
			return notOneOf(path, word, "auto", "none", "required")
		}
		*to = ToolChoice{Mode: word}
		return nil
	}
	var f struct{ Type, Name string }
	if err := read(path, raw, "a string or an object", &f); err != nil {
		return err
	}
	if f.Type != "function" || f.Name == "" {
		return Invalid(CodeInvalidValue, path, "Invalid '%s': expected the name of a function.", path)
	}
	*to = ToolChoice{Name: f.Name}
	return nil
}

func readLimit(path string, raw json.RawMessage, to *Limit) *Error {
	var word string
	if json.Unmarshal(raw, &word) == nil {
		if word != "inf" && !isNull(raw) {
			return notOneOf(path, word, "inf")
		}
		*to = 0
		return nil
	}
	n := 0
	if err := readCount(path, raw, 1, 1<<20, &n); err != nil {
		return err
	}
	*to = Limit(n)
	return nil
}
