package openai

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// This file: what went wrong, as a class that the conversation knows what to do
// with. Seed 001, 4.7.

const (
	maxErrorBody = 64 << 10 // of an answer that is an error, what is read
	maxMessage   = 300      // of a server's words, in runes, what is told
	maxAfter     = time.Hour
)

// failure makes a failure of a class. Its message holds no key, whatever the
// server's words are.
func (m *Model) failure(class, format string, args ...any) *port.Failure {
	return &port.Failure{
		Code: class, Message: "openai: " + clip(m.hide.Replace(fmt.Sprintf(format, args...))),
		Retryable: errclass.Of(class).Retries > 0,
	}
}

// clip makes one short line of a text.
func clip(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	for i, n := 0, 0; i < len(s); n++ {
		if n == maxMessage {
			return s[:i] + "..."
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return s
}

// broken is the failure of a request that ended before its reply did. The end
// of the caller's own context comes back as it is.
func (m *Model) broken(ctx, request context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	if quiet, ok := errors.AsType[*silence](context.Cause(request)); ok {
		return m.failure(errclass.NetworkTimeout, "%v", quiet)
	}
	// The address adds nothing, and the options know it.
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var (
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		invalid  x509.CertificateInvalidError
		verify   *tls.CertificateVerificationError
		record   tls.RecordHeaderError
	)
	switch {
	case errors.Is(err, errTooLong):
		return m.failure(errclass.ServerError, "the answer is longer than %d bytes", m.o.MaxReply)
	case errors.As(err, &verify) || errors.As(err, &unknown) || errors.As(err, &hostname) || errors.As(err, &invalid):
		return m.failure(errclass.Unknown, "the server's certificate is not trusted: %v", err)
	case errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch):
		return m.failure(errclass.Unknown, "the server does not speak TLS, expected https (is it http?): %v", err)
	}
	return m.failure(errclass.NetworkTimeout, "the connection failed: %v", err)
}

// refused is the failure that an answer with another status than 200 tells.
func (m *Model) refused(res *http.Response, body []byte) *port.Failure {
	e := readServerError(body)
	class := classOfStatus(res.StatusCode)
	if e.outOfQuota() {
		class = errclass.AuthFailure // asking again does not help, paying does
	}
	text := e.message
	if text == "" {
		text = noWords(res.Header)
	}
	switch {
	case res.StatusCode/100 == 3:
		text = "it points elsewhere, and redirects are not followed; expected the base URL of the endpoint itself"
	case res.StatusCode == http.StatusNotFound:
		text += " (are the base URL and the model right?)"
	}
	f := m.failure(class, "the server says %d %s: %s", res.StatusCode, http.StatusText(res.StatusCode), text)
	if f.Retryable {
		f.After = retryAfter(res.Header, time.Now())
	}
	return f
}

// noWords tells what there is in place of a message.
func noWords(h http.Header) string {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || kind == "" {
		return "no message"
	}
	return "no message, but a body of type " + kind
}

// reported is the failure that a server tells in the middle of a stream.
func (m *Model) reported(body []byte) *port.Failure {
	e := readServerError(body)
	text := e.message
	if text == "" {
		text = "no message"
	}
	return m.failure(e.class(), "the server broke the reply off: %s", text)
}

// classOfStatus is the class of an HTTP status.
func classOfStatus(status int) string {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired, status == http.StatusForbidden,
		status == http.StatusProxyAuthRequired:
		return errclass.AuthFailure
	case status == http.StatusTooManyRequests:
		return errclass.RateLimit
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return errclass.NetworkTimeout
	case status >= 500:
		return errclass.ServerError
	default:
		return errclass.Unknown // the request is at fault, and would be again
	}
}

// serverError is what a server says about a failure.
type serverError struct {
	message string
	code    string // a word, or an HTTP status
	kind    string
}

// readServerError reads the forms that there are: {"error": {...}} of OpenAI,
// {"error": "..."}, the object itself of older vLLM, {"detail": "..."} of FastAPI.
// Anything else has no message: a page of a proxy in front is no use.
func readServerError(body []byte) serverError {
	type object struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    any    `json:"code"`
	}
	var outer struct {
		object
		Error  json.RawMessage `json:"error"`
		Detail any             `json:"detail"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return serverError{}
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
	e := serverError{message: inner.Message, kind: inner.Type}
	switch c := inner.Code.(type) {
	case string:
		e.code = c
	case float64:
		e.code = strconv.Itoa(int(c))
	}
	return e
}

// outOfQuota says whether the account is used up, which OpenAI tells with the
// status of a rate limit.
func (e serverError) outOfQuota() bool {
	return e.code == "insufficient_quota" || e.kind == "insufficient_quota" || e.code == "billing_hard_limit_reached"
}

// class is the class of an error that comes without a status of HTTP.
func (e serverError) class() string {
	if status, err := strconv.Atoi(e.code); err == nil && status >= 400 {
		return classOfStatus(status)
	}
	if e.outOfQuota() {
		return errclass.AuthFailure
	}
	for _, word := range []string{e.code, e.kind} {
		switch strings.ToLower(word) {
		case "rate_limit_exceeded", "rate_limit_error", "too_many_requests", "tokens", "requests":
			return errclass.RateLimit
		case "invalid_api_key", "authentication_error", "permission_error", "permission_denied":
			return errclass.AuthFailure
		case "timeout", "timeout_error", "request_timeout":
			return errclass.NetworkTimeout
		case "context_length_exceeded", "content_filter", "invalid_request_error", "badrequesterror", "model_not_found",
			"content_policy_violation", "invalid_prompt":
			return errclass.Unknown
		}
	}
	return errclass.ServerError
}

// retryAfter is how long the server wants to be left alone: the milliseconds of
// OpenAI and Azure, or the seconds or the date of RFC 9110, 10.2.3.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return within(ms * float64(time.Millisecond))
	}
	value := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return within(s * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		if date, err := http.ParseTime(h.Get("Date")); err == nil {
			now = date // the server's own clock
		}
		return within(float64(at.Sub(now)))
	}
	return 0
}

// within bounds a wish, which may be no number at all.
func within(d float64) time.Duration {
	if !(d > 0) {
		return 0
	}
	return time.Duration(min(d, float64(maxAfter)))
}
