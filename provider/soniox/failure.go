package soniox

import (
	"strconv"
	"strings"

	"github.com/hocketvoice/hocket/internal/failure"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// errorCode is an error's code: a number, or, from older servers, a text.
type errorCode string

// UnmarshalJSON takes both forms.
func (c *errorCode) UnmarshalJSON(b []byte) error {
	*c = errorCode(strings.Trim(string(b), `"`))
	if *c == "null" {
		*c = ""
	}
	return nil
}

// reported returns the failure for an error message. Its codes are HTTP statuses.
func (c errorCode) reported(message string, fail func(class, text string) *port.Failure) *port.Failure {
	status, err := strconv.Atoi(string(c))
	if err != nil {
		return fail(errclass.ServerError, "the server reports an error without a code: "+message)
	}
	return fail(failure.OfStatus(status), "the server reports "+string(c)+": "+message)
}
