package convtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
)

// Line is one line of a script: an event and its time.
type Line struct {
	// At is the time since the beginning if Absolute, and since the previous line
	// otherwise.
	At       time.Duration
	Absolute bool
	Event    conv.Event
	// Wait reports that the line only lets time pass.
	Wait bool
}

// ParseLine parses an event line of a scenario, or a JSON line of `hocket step`.
func ParseLine(s string) (Line, error) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "{") {
		return parseJSON(s)
	}
	var l Line
	word, rest, _ := strings.Cut(s, " ")
	if word == "wait" {
		d, err := time.ParseDuration(strings.TrimSpace(rest))
		if err != nil || d < 0 {
			return l, fmt.Errorf("wait %q: expected a time such as 3s", rest)
		}
		return Line{At: d, Event: conv.DeadlinePassed{}, Wait: true}, nil
	}
	if word != "" && (word[0] == '+' || word[0] == '@') {
		d, err := time.ParseDuration(word[1:])
		if err != nil || d < 0 {
			return l, fmt.Errorf("%q: expected a time such as +500ms or @2s", word)
		}
		l.At, l.Absolute = d, word[0] == '@'
		word, rest, _ = strings.Cut(strings.TrimSpace(rest), " ")
	}
	object, err := parseFields(rest)
	if err != nil {
		return l, fmt.Errorf("event %q: %w", word, err)
	}
	object["type"] = word
	b, err := json.Marshal(object)
	if err != nil {
		return l, err
	}
	l.Event, err = conv.UnmarshalEvent(b)
	return l, err
}

// parseJSON parses {"at": 1240, "type": ...}. The codec does not know the field at,
// which is removed first.
func parseJSON(s string) (Line, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(s), &object); err != nil {
		return Line{}, err
	}
	var at float64
	if raw, ok := object["at"]; ok {
		if err := json.Unmarshal(raw, &at); err != nil || at < 0 || math.IsNaN(at) {
			return Line{}, fmt.Errorf("field at is %s: expected milliseconds", raw)
		}
		delete(object, "at")
	}
	b, err := json.Marshal(object)
	if err != nil {
		return Line{}, err
	}
	ev, err := conv.UnmarshalEvent(b)
	return Line{At: time.Duration(at * float64(time.Millisecond)), Absolute: true, Event: ev}, err
}

// parseFields parses `key=value key="quoted" key` into an object for the codec.
// Values are JSON if possible, and texts otherwise.
func parseFields(s string) (map[string]any, error) {
	object := make(map[string]any)
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" {
			return object, nil
		}
		n := strings.IndexAny(s, "= \t")
		if n < 0 {
			n = len(s)
		}
		key := s[:n]
		s = s[n:]
		if key == "" {
			return nil, errors.New("a value without a field")
		}
		if s == "" || s[0] != '=' {
			object[key] = true
			continue
		}
		value, rest, err := parseValue(s[1:])
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", key, err)
		}
		object[key], s = value, rest
	}
}

func parseValue(s string) (value any, rest string, err error) {
	switch {
	case s == "":
		return "", "", nil
	case s[0] == '"':
		prefix, err := strconv.QuotedPrefix(s)
		if err != nil {
			return nil, "", errors.New("the quoted text does not end")
		}
		text, err := strconv.Unquote(prefix)
		return text, s[len(prefix):], err
	case s[0] == '\'':
		text, rest, ok := strings.Cut(s[1:], "'")
		if !ok {
			return nil, "", errors.New("the quoted text does not end")
		}
		return text, rest, nil
	}
	text, rest, _ := strings.Cut(s, " ")
	if v := json.RawMessage(text); json.Valid(v) && !bytes.HasPrefix(v, []byte("{")) {
		return v, rest, nil
	}
	return text, rest, nil
}
