package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/failure"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// This file maps errors to classes of failure (seed 001, section 4.7).

const maxErrorBody = 64 << 10 // bytes read of an error response

// failure returns a failure of a class. The key is removed from its message.
func (m *Model) failure(class, format string, args ...any) *port.Failure {
	return failure.New(class, m.c.Vendor+": "+m.c.Secrets.Replace(fmt.Sprintf(format, args...)))
}

// broken returns the failure of a request that ended before its reply was complete.
// If the caller's context has ended, it returns the context's error.
func (m *Model) broken(ctx, request context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	if quiet, ok := errors.AsType[*silence](context.Cause(request)); ok {
		return m.failure(errclass.NetworkTimeout, "%v", quiet)
	}
	if errors.Is(err, errTooLong) {
		return m.failure(errclass.ServerError, "the answer is longer than %d bytes", m.c.MaxReply)
	}
	class, text := failure.OfTransport(err)
	return m.failure(class, "%s", text)
}

// refused returns the failure for a response with a status other than 200.
func (m *Model) refused(res *http.Response, body []byte) *port.Failure {
	e := readServerError(body)
	class := failure.OfStatus(res.StatusCode)
	if e.outOfQuota() || e.badKey() {
		class = errclass.AuthFailure // a retry does not help, a payment or another key does
	}
	text := e.message
	if text == "" {
		text = noWords(res.Header)
	}
	switch {
	case res.StatusCode/100 == 3:
		text = "redirects are not followed: expected the base URL of the endpoint itself"
	case res.StatusCode == http.StatusNotFound:
		text += " (are the base URL and the model correct?)"
	}
	f := m.failure(class, "the server responded %d %s: %s", res.StatusCode, http.StatusText(res.StatusCode), text)
	if f.Retryable {
		f.After = cmp.Or(failure.After(res.Header, time.Now()), e.after)
	}
	return f
}

// noWords describes a response without a message.
func noWords(h http.Header) string {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || kind == "" {
		return "no message"
	}
	return "no message, body of type " + kind
}

// reported returns the failure for an error within a stream.
func (m *Model) reported(body []byte) *port.Failure {
	e := readServerError(body)
	text := e.message
	if text == "" {
		text = "no message"
	}
	f := m.failure(e.class(), "the server aborted the reply: %s", text)
	if f.Retryable {
		f.After = e.after
	}
	return f
}

// serverError is an error object sent by a server.
type serverError struct {
	message string
	code    string // a word or an HTTP status
	kind    string
	reason  string        // Google's, of its details
	after   time.Duration // until the next attempt, if the details say so
}

// readServerError parses the known forms: {"error": {...}} of OpenAI, Anthropic and Google, the
// last one also in a list, {"error": "..."}, the object itself of older vLLM and of the Responses
// API, {"response": {"error": {...}}} of the latter, {"detail": "..."} of FastAPI. For anything
// else, such as a proxy's page, the message is empty.
func readServerError(body []byte) serverError {
	type object struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Status  string `json:"status"`
		Code    any    `json:"code"`
		Details []struct {
			Reason     string `json:"reason"`
			RetryDelay string `json:"retryDelay"`
		} `json:"details"`
	}
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		object
		Error    json.RawMessage `json:"error"`
		Detail   any             `json:"detail"`
		Response struct {
			Error json.RawMessage `json:"error"`
		} `json:"response"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return serverError{}
	}
	if len(outer.Error) == 0 {
		outer.Error = outer.Response.Error
	}
	inner := outer.object
	var text string
	switch raw := bytes.TrimSpace(outer.Error); {
	case len(raw) > 0 && raw[0] == '{':
		if json.Unmarshal(raw, &inner) != nil {
			return serverError{}
		}
	case json.Unmarshal(raw, &text) == nil:
		inner.Message = text
	}
	if detail, ok := outer.Detail.(string); ok && inner.Message == "" {
		inner.Message = detail
	}
	e := serverError{message: inner.Message, kind: cmp.Or(inner.Status, inner.Type)}
	for _, d := range inner.Details {
		e.reason = cmp.Or(e.reason, d.Reason)
		if delay, err := time.ParseDuration(d.RetryDelay); err == nil && delay > 0 {
			e.after = min(delay, time.Hour)
		}
	}
	switch c := inner.Code.(type) {
	case string:
		e.code = c
	case float64:
		e.code = strconv.Itoa(int(c))
	}
	return e
}

// outOfQuota reports whether the account's quota is used up, for which OpenAI uses
// the status of a rate limit.
func (e serverError) outOfQuota() bool {
	return e.code == "insufficient_quota" || e.kind == "insufficient_quota" || e.code == "billing_hard_limit_reached"
}

// badKey reports whether the key is invalid or expired, for which Google uses the status of an
// invalid request.
func (e serverError) badKey() bool {
	return e.reason == "API_KEY_INVALID" || e.reason == "API_KEY_SERVICE_BLOCKED"
}

// class returns the class of an error without an HTTP status.
func (e serverError) class() string {
	if e.badKey() {
		return errclass.AuthFailure
	}
	if status, err := strconv.Atoi(e.code); err == nil && status >= 400 {
		return failure.OfStatus(status)
	}
	if e.outOfQuota() {
		return errclass.AuthFailure
	}
	for _, word := range []string{e.code, e.kind} {
		switch strings.ToLower(word) {
		case "rate_limit_exceeded", "rate_limit_error", "too_many_requests", "tokens", "requests", "overloaded_error", "resource_exhausted":
			return errclass.RateLimit
		case "invalid_api_key", "authentication_error", "permission_error", "permission_denied", "billing_error", "unauthenticated":
			return errclass.AuthFailure
		case "timeout", "timeout_error", "request_timeout", "deadline_exceeded":
			return errclass.NetworkTimeout
		case "context_length_exceeded", "content_filter", "invalid_request_error", "badrequesterror", "not_found_error", "request_too_large", "invalid_argument", "model_not_found",
			"content_policy_violation", "invalid_prompt":
			return errclass.Unknown
		}
	}
	return errclass.ServerError
}
