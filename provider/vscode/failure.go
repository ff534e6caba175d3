package vscode

import (
	"errors"
	"strings"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// failure returns the class of an error of the editor, and other errors as they are. partial is
// the text that has arrived.
func failure(err error, partial string) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	f := &port.Failure{Message: line(e.Message), Partial: partial}
	switch e.Code {
	case "NoPermissions":
		f.Code = errclass.AuthFailure // the user has refused, or has to sign in: asking again would be of no use
	case "Blocked":
		f.Code, f.Retryable = errclass.RateLimit, true // a quota, or a filter of the provider
	case "NotFound":
		f.Code = errclass.Unknown // there is no such model, and no request will make one
	default:
		f.Code, f.Retryable = errclass.ServerError, true
	}
	return f
}

// maxLine bounds the message of a failure in bytes.
const maxLine = 300

// line returns a text as one short line.
func line(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if len(text) > maxLine {
		text = strings.ToValidUTF8(text[:maxLine], "") + "…"
	}
	if text == "" {
		return "the editor gave no reason"
	}
	return text
}
