package mcp

import (
	"encoding/json"

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
