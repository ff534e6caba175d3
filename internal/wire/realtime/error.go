package realtime

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The types of errors.
const (
	InvalidRequest = "invalid_request_error"
	ServerError    = "server_error"
)

// The codes of errors, as defined by OpenAI.
const (
	CodeInvalidJSON       = "invalid_json"
	CodeInvalidKey        = "invalid_api_key"
	CodeInvalidValue      = "invalid_value"
	CodeMissing           = "missing_required_parameter"
	CodeUnknown           = "unknown_parameter"
	CodeActiveResponse    = "conversation_already_has_active_response"
	CodeNotActive         = "response_cancel_not_active"
	CodeCommitEmpty       = "input_audio_buffer_commit_empty"
	CodeItemDelete        = "item_delete_invalid_item_id"
	CodeItemRetrieve      = "item_retrieve_invalid_item_id"
	CodeItemTruncate      = "item_truncate_invalid_item_id"
	CodeItemPrevious      = "item_create_invalid_previous_item_id"
	CodeItemReference     = "item_reference_invalid_item_id"
	CodeCannotUpdateVoice = "cannot_update_voice"
	CodeModelNotFound     = "model_not_found"
	CodeSessionExpired    = "session_expired"
	CodeRateLimit         = "rate_limit_exceeded"
	CodeTooLarge          = "string_above_max_length"
	CodeUnsupported       = "unsupported"
	CodeResume            = "resume_token_invalid" // defined by hocket
)

// Error describes an invalid client event or a failure of the server. It is the
// body of the event "error" and of an HTTP error.
type Error struct {
	Type    string
	Code    string
	Message string
	Param   string // the invalid member
	EventID string // id of the client's event
}

// Error returns the code and the message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// MarshalJSON encodes empty fields as null.
func (e Error) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Type    string  `json:"type"`
		Code    *string `json:"code"`
		Message string  `json:"message"`
		Param   *string `json:"param"`
		EventID *string `json:"event_id"`
	}{e.Type, filled(e.Code), e.Message, filled(e.Param), filled(e.EventID)})
}

// filled returns nil for an empty text.
func filled(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Invalid returns an error about a member.
func Invalid(code, param, format string, args ...any) *Error {
	return &Error{Type: InvalidRequest, Code: code, Param: param, Message: fmt.Sprintf(format, args...)}
}

func unknownParameter(path string) *Error {
	return Invalid(CodeUnknown, path, "Unknown parameter: '%s'.", path)
}

func missing(path string) *Error {
	return Invalid(CodeMissing, path, "Missing required parameter: '%s'.", path)
}

func wrongType(path, want string) *Error {
	return Invalid("invalid_type", path, "Invalid type for '%s': expected %s.", path, want)
}

func notOneOf(path, got string, want ...string) *Error {
	return Invalid(CodeInvalidValue, path, "Invalid value: '%s'. Supported values are: '%s'.", shorten(got), strings.Join(want, "', '"))
}

// shorten limits the length of an error's message.
func shorten(s string) string {
	const most = 80
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most]) + "..."
}
