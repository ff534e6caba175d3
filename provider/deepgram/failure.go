package deepgram

import (
	"strings"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// report is the part of an error message that describes the error.
type report struct {
	Type        string `json:"type"`
	Code        string `json:"code"`
	Variant     string `json:"variant"`
	Description string `json:"description"`
}

// failure returns the failure for an error message, after which the service closes the
// connection.
func (r report) failure(fail func(class, text string) *port.Failure) *port.Failure {
	code := r.Code
	if code == "" {
		code = r.Variant
	}
	class := errclass.Unknown // what was sent would be refused again
	switch {
	case code == "", strings.HasPrefix(code, "INTERNAL_SERVER_ERROR"), strings.HasPrefix(code, "NET-0000"):
		class = errclass.ServerError
	case strings.HasPrefix(code, "NET-"), strings.Contains(code, "TIMEOUT"):
		class = errclass.NetworkTimeout
	}
	return fail(class, "the server reports "+code+": "+r.Description)
}
