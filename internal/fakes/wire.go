package fakes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/hocketvoice/hocket/audio"
)

// Key returns the key of a handshake: the rest of a header after one of the schemes, or, if
// protocol is not empty, the WebSocket protocol after it.
func Key(r *http.Request, header, protocol string, schemes ...string) (string, bool) {
	value := r.Header.Get(header)
	for _, scheme := range schemes {
		if key, ok := strings.CutPrefix(value, scheme); ok && value != "" {
			return key, true
		}
	}
	list := strings.Split(r.Header.Get("Sec-WebSocket-Protocol"), ",")
	if protocol != "" && len(list) == 2 && strings.TrimSpace(list[0]) == protocol {
		return strings.TrimSpace(list[1]), true
	}
	return "", false
}

// Strict decodes JSON all of whose fields v has.
func Strict(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

// Parameters are the parameters that an address may have, and which values are valid.
type Parameters map[string]func(value string) bool

// Check returns an error for the first parameter, in alphabetical order, that is unknown,
// invalid, or missing among those that are required.
func (p Parameters) Check(q url.Values, required ...string) error {
	for _, name := range required {
		if q.Get(name) == "" {
			return fmt.Errorf("parameter %s is missing", name)
		}
	}
	names := make([]string, 0, len(q))
	for name := range q {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		valid, ok := p[name]
		if !ok {
			return fmt.Errorf("parameter %s is unknown", name)
		}
		for _, v := range q[name] {
			if !valid(v) {
				return fmt.Errorf("parameter %s is invalid: %.100q", name, v)
			}
		}
	}
	return nil
}

// Any accepts all values but an empty one.
func Any(value string) bool { return value != "" }

// Bool accepts true and false.
func Bool(value string) bool { return value == "true" || value == "false" }

// OneOf accepts the given values.
func OneOf(values ...string) func(string) bool {
	return func(v string) bool { return slices.Contains(values, v) }
}

// Between accepts numbers from least to most.
func Between(least, most float64) func(string) bool {
	return func(v string) bool {
		n, err := strconv.ParseFloat(v, 64)
		return err == nil && n >= least && n <= most
	}
}

// Encode encodes sound in the format that a vendor's name such as pcm_mulaw, ulaw_8000 or
// alaw stands for: mu-law, A-law, or else linear, 16 bits, little-endian.
func Encode(format string, pcm []int16) []byte {
	switch {
	case strings.Contains(format, "ulaw"):
		return audio.MuLaw.AppendEncode(nil, pcm)
	case strings.Contains(format, "alaw"):
		return audio.ALaw.AppendEncode(nil, pcm)
	default:
		return audio.AppendS16LE(nil, pcm)
	}
}

// Decode decodes sound in the format of a name, as Encode does.
func Decode(format string, data []byte) []int16 {
	switch {
	case strings.Contains(format, "ulaw"):
		return audio.MuLaw.AppendDecode(nil, data)
	case strings.Contains(format, "alaw"):
		return audio.ALaw.AppendDecode(nil, data)
	default:
		return audio.AppendFromS16LE(nil, data)
	}
}
