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

// This file maps errors to classes of failure (seed 001, section 4.7).

const (
	maxErrorBody = 64 << 10 // bytes read of an error response
	maxMessage   = 300      // runes of a server's message that are reported
	maxAfter     = time.Hour
)

// failure returns a failure of a class. The key is removed from its message.
func (m *Model) failure(class, format string, args ...any) *port.Failure {
	return &port.Failure{
		Code: class, Message: "openai: " + clip(m.hide.Replace(fmt.Sprintf(format, args...))),
		Retryable: errclass.Of(class).Retries > 0,
	}
}

// clip converts a text to one short line.
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

// broken returns the failure of a request that ended before its reply was complete.
// If the caller's context has ended, it returns the context's error.
func (m *Model) broken(ctx, request context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	if quiet, ok := errors.AsType[*silence](context.Cause(request)); ok {
		return m.failure(errclass.NetworkTimeout, "%v", quiet)
	}
	// Omit the address, which the options contain.
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
		return m.failure(errclass.Unknown, "TLS handshake failed (does the server expect http?): %v", err)
	}
	return m.failure(errclass.NetworkTimeout, "the connection failed: %v", err)
}

// refused returns the failure for a response with a status other than 200.
func (m *Model) refused(res *http.Response, body []byte) *port.Failure {
	e := readServerError(body)
	class := classOfStatus(res.StatusCode)
	if e.outOfQuota() {
		class = errclass.AuthFailure // a retry does not help, a payment does
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
		f.After = retryAfter(res.Header, time.Now())
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
	return m.failure(e.class(), "the server aborted the reply: %s", text)
}

// classOfStatus returns the class of an HTTP status.
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
		return errclass.Unknown // the request is invalid and would fail again
	}
}

// serverError is an error object sent by a server.
type serverError struct {
	message string
	code    string // a word or an HTTP status
	kind    string
}

// readServerError parses the known forms: {"error": {...}} of OpenAI, {"error":
// "..."}, the object itself of older vLLM, {"detail": "..."} of FastAPI. For
// anything else, such as a proxy's page, the message is empty.
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

// outOfQuota reports whether the account's quota is used up, for which OpenAI uses
// the status of a rate limit.
func (e serverError) outOfQuota() bool {
	return e.code == "insufficient_quota" || e.kind == "insufficient_quota" || e.code == "billing_hard_limit_reached"
}

// class returns the class of an error without an HTTP status.
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

// retryAfter returns how long the server asks to wait: the milliseconds of OpenAI
// and Azure, or the seconds or date of RFC 9110, section 10.2.3.
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

// within limits a requested delay, which may be NaN.
func within(d float64) time.Duration {
	if !(d > 0) {
		return 0
	}
	return time.Duration(min(d, float64(maxAfter)))
}
