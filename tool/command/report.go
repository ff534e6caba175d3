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

// report is what a program has said so far. It belongs to the goroutine that reads
// its lines; who waits for that may read it.
type report struct {
	tell    func(text string) // progress; "" is a sign of life
	secrets []string          // that no failure quotes
	partial string
	output  string
	done    bool // output is the result
	failure *port.Failure
}

// over reports whether nothing more is to be read.
func (r *report) over() bool { return r.done || r.failure != nil }

func (r *report) progress(text string) { r.tell(words(text, maxProgress)) }

func (r *report) part(text string) {
	if len(text) <= maxResult {
		r.partial = strings.ToValidUTF8(text, "?")
	}
}

func (r *report) result(text string) {
	if len(text) > maxResult {
		r.fail("", fmt.Sprintf("the result has %d bytes, expected at most %d", len(text), maxResult))
		return
	}
	r.output, r.done = strings.ToValidUTF8(text, "?"), true
}

// codes are those that a program may give its failure.
var codes = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)

// fail notes a failure. What would be said of the conversation as a whole, a
// program cannot say.
func (r *report) fail(code, message string) {
	if !codes.MatchString(code) || code == errclass.AuthFailure || code == errclass.SessionExpired {
		code = errclass.ToolError
	}
	if message = words(redact.Hide(message, r.secrets...), maxFailure); message == "" {
		message = "it reports an error and says no more"
	}
	r.failure = &port.Failure{Code: code, Message: message}
}

// words are a program's words for people: one line, bounded.
func words(text string, limit int) string { return redact.Cut(redact.OneLine(text), limit) }

// value is a JSON value as a result: a text is itself, null is nothing.
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
