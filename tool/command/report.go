package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/hocketvoice/hocket/internal/redact"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// report is the state of a program's output. It is used by the goroutine that reads
// the lines, and afterwards by the one that waits for it.
type report struct {
	tell    func(text string) // reports progress; "" is a sign of life
	secrets []string          // removed from failures
	partial string
	output  string
	done    bool // output is the final result
	failure *port.Failure
}

// over reports whether the rest of the output can be ignored.
func (r *report) over() bool { return r.done || r.failure != nil }

func (r *report) progress(text string) { r.tell(words(text, maxProgress)) }

func (r *report) part(text string) {
	if len(text) <= maxResult {
		r.partial = strings.ToValidUTF8(text, "?")
	}
}

func (r *report) result(text string) {
	if len(text) > maxResult {
		r.fail("", fmt.Sprintf("the result has %d bytes: expected at most %d", len(text), maxResult))
		return
	}
	r.output, r.done = strings.ToValidUTF8(text, "?"), true
}

// codes matches the failure codes that a program may use.
var codes = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)

// fail records a failure. Codes that concern the whole conversation are replaced.
func (r *report) fail(code, message string) {
	if !codes.MatchString(code) || code == errclass.AuthFailure || code == errclass.SessionExpired {
		code = errclass.ToolError
	}
	if message = words(redact.Hide(message, r.secrets...), maxFailure); message == "" {
		message = "it reported an error without a message"
	}
	r.failure = &port.Failure{Code: code, Message: message}
}

// words converts a program's text to one line of limited length.
func words(text string, limit int) string { return redact.Cut(redact.OneLine(text), limit) }

// value converts a JSON value to a result: a string is used as it is, null becomes
// an empty text.
func value(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	var text string
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &text) == nil {
		return text
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return ""
	}
	return b.String()
}
