package hosted

import (
	"encoding/json"
	"fmt"

	"github.com/hocketvoice/hocket/internal/socket"
)

// English is the language of a stream or an utterance that names none.
const English = "en"

// JSON returns the text message with a value. It panics if the value cannot be encoded, which
// is a mistake of the adapter.
func JSON(v any) socket.Message {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("hosted: encode %T: %v", v, err))
	}
	return socket.Message{Data: b}
}
