package api

import (
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/internal/timezone"
	"github.com/hocketvoice/hocket/store"
)

// maxCaller bounds the length of a caller's name in bytes.
const maxCaller = 200

// calls returns the full name of the caller of their conversation, distinct from
// the callers of other owners. With a client token it is the caller that the
// token's creator named.
func (p who) calls(caller string) (string, error) {
	switch {
	case p.start && caller != "" && caller != p.caller:
		return "", fail(http.StatusForbidden, "forbidden", "field caller must be empty: the client token names the caller")
	case p.start:
		caller = p.caller
	}
	if err := checkCaller("field", caller); err != nil {
		return "", err
	}
	if caller == "" {
		return "", nil
	}
	return CallerOf(p.owner, caller), nil
}

// checkCaller returns an error if a caller's name in a field or a parameter is invalid.
// PostgreSQL stores no text with a NUL character.
func checkCaller(in, caller string) error {
	switch {
	case len(caller) > maxCaller:
		return fail(http.StatusBadRequest, "bad_request", "%s caller has %d bytes: expected at most %d", in, len(caller), maxCaller)
	case !utf8.ValidString(caller):
		return fail(http.StatusBadRequest, "bad_request", "%s caller must be valid UTF-8", in)
	case strings.Contains(caller, "\x00"):
		return fail(http.StatusBadRequest, "bad_request", "%s caller must not contain a NUL character", in)
	}
	return nil
}

// CallerOf returns a caller's name within its owner. Slashes in either are escaped,
// so that the slash between them is the only one.
func CallerOf(owner, caller string) string {
	escape := strings.NewReplacer("%", "%25", "/", "%2F")
	return escape.Replace(owner) + "/" + escape.Replace(caller)
}

// callerNow returns the current form of a caller's name that was stored with a
// conversation. Earlier versions did not escape slashes.
func callerNow(owner, stored string) string {
	caller, ok := strings.CutPrefix(stored, owner+"/")
	if ok && (strings.ContainsAny(owner, "/%") || strings.Contains(caller, "/")) {
		return CallerOf(owner, caller)
	}
	return stored
}

// location returns the caller's time zone, nil if the request does not give it.
func (o NewConversation) location() (*time.Location, error) {
	if o.Timezone == "" {
		return nil, nil
	}
	location, err := timezone.Load(o.Timezone)
	if err != nil {
		return nil, fail(http.StatusBadRequest, "bad_request", "field timezone is %s: %v", store.Quote(o.Timezone), err)
	}
	return location, nil
}
