package realtime

import (
	"strings"
	"time"

	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/port/errclass"
)

// This file maps the errors of the protocol to classes of failure (seed 001, section 4.7).

// classOf returns the class of an error that the service reports.
func classOf(e wire.Error) string {
	for _, word := range []string{e.Code, e.Type} {
		switch strings.ToLower(word) {
		case "rate_limit_exceeded", "rate_limit_error", "too_many_requests", "tokens", "requests", "429":
			return errclass.RateLimit
		case "session_expired":
			return errclass.SessionExpired
		case "invalid_api_key", "authentication_error", "permission_error", "permission_denied", "insufficient_quota",
			"billing_hard_limit_reached", "401", "403":
			return errclass.AuthFailure
		case "timeout", "timeout_error", "request_timeout":
			return errclass.NetworkTimeout
		case wire.InvalidRequest, "content_filter", "model_not_found", "invalid_value":
			return errclass.Unknown
		}
	}
	return errclass.ServerError
}

// reason returns the error in the reason of a close frame, which is TYPE.CODE.
func reason(text string) wire.Error {
	i := strings.LastIndex(text, wire.InvalidRequest+".")
	if i < 0 {
		return wire.Error{}
	}
	code, _, _ := strings.Cut(text[i+len(wire.InvalidRequest)+1:], " ")
	return wire.Error{Type: wire.InvalidRequest, Code: code}
}

// reset returns how long a limit on requests or tokens lasts that is used up.
func reset(limits []wire.RateLimit) (after time.Duration) {
	for _, l := range limits {
		if l.Remaining <= 0 && l.ResetSeconds > 0 {
			after = max(after, time.Duration(min(l.ResetSeconds, 3600)*float64(time.Second)))
		}
	}
	return after
}
