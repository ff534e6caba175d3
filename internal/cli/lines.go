package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// maxLine limits the length of an input line in bytes; results of tools can be long.
const maxLine = 16 << 20

// eachLine calls f with each line of r that is neither empty nor a comment. It stops at
// the first error of f, and adds the line's number to a bad input.
func eachLine(r io.Reader, f func(line []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	number := 0
	for lines.Scan() {
		number++
		b := bytes.TrimSpace(lines.Bytes())
		if len(b) == 0 || b[0] == '#' {
			continue
		}
		if err := f(b); err != nil {
			if bad, ok := errors.AsType[badInput](err); ok {
				return badInputf("line %d: %w", number, bad.error)
			}
			return err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return badInputf("line %d is longer than %d bytes", number+1, maxLine)
	case err != nil:
		return badInputf("read after line %d: %w", number, err)
	default:
		return nil
	}
}

// object parses a line that must be a JSON object.
func object(line []byte, example string) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	err := json.Unmarshal(line, &fields)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok || err == nil && fields == nil {
		return nil, badInputf("expected a JSON object such as %s", example)
	}
	if err != nil {
		return nil, badInputf("not valid JSON: %w: expected an object such as %s", err, example)
	}
	return fields, nil
}

// number parses a field that must be a number. ok is false if it is absent or null.
func number(fields map[string]json.RawMessage, name, expected string) (v float64, ok bool, err error) {
	raw, ok := fields[name]
	if !ok || string(raw) == "null" {
		return 0, false, nil
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return 0, false, badInputf("field %s is %s: expected %s", name, shortened(raw), expected)
	}
	return v, true, nil
}

// shortened shortens a JSON value for a message.
func shortened(raw []byte) string {
	const most = 100
	if r := []rune(string(raw)); len(r) > most {
		return string(r[:most]) + "..."
	}
	return string(raw)
}

// writeLine writes a value as one line of JSON, with a single write.
func (s *streams) writeLine(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := s.out.Write(b.Bytes())
	return err
}

// writeIndented writes a value as indented JSON.
func (s *streams) writeIndented(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := s.out.Write(b.Bytes())
	return err
}
