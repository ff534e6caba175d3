package elevenlabs

import (
	"strings"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// failure returns the failure for an error message, by its name.
func failure(name, message string, fail func(class, text string) *port.Failure) *port.Failure {
	class := errclass.Unknown // what was sent would be refused again
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(name, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("api_key", "auth", "quota", "permission", "unusual_activity", "payment"):
		class = errclass.AuthFailure
	case has("max_active", "rate_limit", "too_many", "busy", "concurrent"):
		class = errclass.RateLimit
	case has("timeout"):
		class = errclass.NetworkTimeout
	case name == "", has("internal", "server", "unavailable"):
		class = errclass.ServerError
	}
	return fail(class, "the server reports "+name+": "+message)
}
