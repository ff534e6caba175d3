package hosted

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// JSON returns the text message with a value. It panics if the value cannot be encoded, which
// is a mistake of the adapter.
func JSON(v any) socket.Message {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("hosted: encode %T: %v", v, err))
	}
	return socket.Message{Data: b}
}

// Decode decodes a message in JSON. The error is the failure that fail makes of it.
func Decode(m socket.Message, v any, fail func(class, text string) *port.Failure) error {
	if m.Binary || json.Unmarshal(m.Data, v) != nil {
		return fail(errclass.ServerError, "the server has sent something else than a JSON message")
	}
	return nil
}

// Base64 decodes the sound of a message. The error is the failure that fail makes of it.
func Base64(text string, fail func(class, text string) *port.Failure) ([]byte, error) {
	pcm, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fail(errclass.ServerError, "the server has sent sound that is not base64")
	}
	return pcm, nil
}
