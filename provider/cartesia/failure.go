package cartesia

import (
	"cmp"
	"strconv"

	"github.com/hocketvoice/hocket/internal/failure"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// report is the part of a message that describes an error. Its code is an HTTP status.
type report struct {
	Status  int    `json:"status_code"`
	Code    string `json:"error_code"`
	Title   string `json:"title"`
	Message string `json:"message"`
}

// failure returns the failure for an error message.
func (r report) failure(fail func(class, text string) *port.Failure) *port.Failure {
	class := errclass.ServerError
	if r.Status != 0 {
		class = failure.OfStatus(r.Status)
	}
	return fail(class, "the server reports "+strconv.Itoa(r.Status)+" "+cmp.Or(r.Code, r.Title)+": "+r.Message)
}
