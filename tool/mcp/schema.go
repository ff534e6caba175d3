package mcp

import (
	"encoding/json"

	"github.com/hocketvoice/hocket/internal/toolset"
)

// newSchema returns a tool's schema. It returns an error if the schema cannot be
// used to validate arguments.
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
