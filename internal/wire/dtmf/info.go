package dtmf

import (
	"errors"
	"fmt"
	"mime"
	"strconv"
	"strings"
)

// The types of the bodies of INFO requests that have a key. Neither is a standard.
const (
	TypeRelay = "application/dtmf-relay" // Signal=5 and Duration=160, a line each
	TypePlain = "application/dtmf"       // 5
)

// maxInfo is the length of a body in bytes.
const maxInfo = 256

// ErrType says that a body has another type than those of keys.
var ErrType = fmt.Errorf("expected the type %s or %s", TypeRelay, TypePlain)

// ParseInfo returns the key that the body of an INFO request has. It returns [ErrType] for a body of
// another type.
func ParseInfo(contentType string, body []byte) (key byte, err error) {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil || kind != TypeRelay && kind != TypePlain {
		return 0, ErrType
	}
	if len(body) > maxInfo {
		return 0, fmt.Errorf("the body has %d bytes: expected at most %d", len(body), maxInfo)
	}
	signal := strings.TrimSpace(string(body))
	if kind == TypeRelay {
		signal = ""
		for line := range strings.Lines(string(body)) {
			name, value, _ := strings.Cut(line, "=")
			if strings.EqualFold(strings.TrimSpace(name), "signal") {
				signal = strings.TrimSpace(value)
			}
		}
	}
	signal = strings.ToUpper(signal)
	if len(signal) == 1 {
		if _, ok := Event(signal[0]); ok {
			return signal[0], nil
		}
	}
	if n, err := strconv.Atoi(signal); err == nil && n >= 0 && n < len(keys) { // some send 10 for *, 11 for #
		return keys[n], nil
	}
	return 0, errors.New("the body has no key: expected 0 to 9, *, #, or A to D")
}
