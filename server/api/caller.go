package api

import (
	"net/http"
	"strings"
	"time"

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
	if len(caller) > maxCaller {
		return "", fail(http.StatusBadRequest, "bad_request", "field caller has %d bytes: expected at most %d", len(caller), maxCaller)
	}
	if caller == "" {
		return "", nil
	}
	return callerOf(p.owner, caller), nil
}

// callerOf returns a caller's name within its owner. Slashes in either are escaped,
// so that the slash between them is the only one.
func callerOf(owner, caller string) string {
	escape := strings.NewReplacer("%", "%25", "/", "%2F")
	return escape.Replace(owner) + "/" + escape.Replace(caller)
}

// callerNow returns the current form of a caller's name that was stored with a
// conversation. Earlier versions did not escape slashes.
func callerNow(owner, stored string) string {
	caller, ok := strings.CutPrefix(stored, owner+"/")
	if ok && (strings.ContainsAny(owner, "/%") || strings.Contains(caller, "/")) {
		return callerOf(owner, caller)
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
