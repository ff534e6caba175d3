package failure

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
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

const (
	maxMessage = 300 // runes of a message that are kept
	maxAfter   = time.Hour
)

// New returns a failure of a class. Its message is one short line.
func New(class, message string) *port.Failure {
	return &port.Failure{Code: class, Message: Clip(message), Retryable: errclass.Of(class).Retries > 0}
}

// Clip converts a text to one line of at most 300 characters.
func Clip(s string) string {
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

// overloaded is the status with which Anthropic and others refuse what they have no room for.
const overloaded = 529

// OfStatus returns the class of an HTTP status.
func OfStatus(status int) string {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired, status == http.StatusForbidden,
		status == http.StatusProxyAuthRequired:
		return errclass.AuthFailure
	case status == http.StatusTooManyRequests, status == overloaded:
		return errclass.RateLimit
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return errclass.NetworkTimeout
	case status >= 500:
		return errclass.ServerError
	default:
		return errclass.Unknown // the request is invalid and would fail again
	}
}

// OfTransport returns the class of an error below HTTP, and its description without the
// address, which may be a secret.
func OfTransport(err error) (class, text string) {
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
	case errors.As(err, &verify) || errors.As(err, &unknown) || errors.As(err, &hostname) || errors.As(err, &invalid):
		return errclass.Unknown, "the server's certificate is not trusted: " + err.Error()
	case errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch):
		return errclass.Unknown, "TLS handshake failed (does the server expect http?): " + err.Error()
	}
	return errclass.NetworkTimeout, "the connection failed: " + err.Error()
}

// After returns how long a server asks to wait: the milliseconds of OpenAI and Azure, or the
// seconds or date of RFC 9110, section 10.2.3; at most 1 h.
func After(h http.Header, now time.Time) time.Duration {
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
