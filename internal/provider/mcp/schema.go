package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hocketvoice/hocket/internal/toolset"
)

// newSchema reads the schema that a server gives for a tool: one that calls cannot
// be checked against is refused here, where the server's name is known.
func newSchema(v any) ([]byte, error) {
	if v == nil {
		return []byte(`{"type":"object"}`), nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if _, err := toolset.CompileSchema(text); err != nil {
		return nil, err
	}
	return text, nil
}

// object reads a call's arguments. Whether they fit the tool's schema is checked
// where all tools' are: see [toolset.Check].
func object(arguments string) (map[string]any, error) {
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	var v map[string]any
	d := json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber()
	if err := d.Decode(&v); err != nil || v == nil {
		return nil, errors.New("the arguments are no JSON object")
	}
	if d.More() {
		return nil, fmt.Errorf("the arguments are more than one JSON object")
	}
	return v, nil
}

// oneLine is a text on one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// cut bounds a text, at a whole character.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && text[limit]&0xC0 == 0x80 {
		limit--
	}
	return text[:limit] + "..."
}
