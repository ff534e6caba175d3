package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schema is the form of a tool's arguments. It is safe for concurrent use.
type schema struct {
	text     []byte
	compiled *jsonschema.Schema
}

// noReferences refuses what a schema refers to outside of itself: a server does
// not make this program fetch anything.
type noReferences struct{}

// Load refuses.
func (noReferences) Load(string) (any, error) {
	return nil, errors.New("a schema that refers to others is not taken")
}

// newSchema reads the schema that a server gives for a tool.
func newSchema(v any) (*schema, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if v == nil {
		text = []byte(`{"type":"object"}`)
	}
	if len(text) > maxSchema {
		return nil, fmt.Errorf("the schema has %d bytes, expected at most %d", len(text), maxSchema)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noReferences{})
	const name = "urn:tool"
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return nil, errors.New(oneLine(err.Error()))
	}
	return &schema{text: text, compiled: compiled}, nil
}

// check reads a call's arguments and says what is wrong with them, in words that
// a model can act upon.
func (s *schema) check(arguments string) (map[string]any, error) {
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(arguments))
	if err != nil {
		return nil, fmt.Errorf("the arguments are no JSON: %w", err)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("the arguments are no JSON object")
	}
	if err := s.compiled.Validate(object); err != nil {
		invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
		if !ok {
			return nil, err
		}
		_, causes, _ := strings.Cut(invalid.Error(), "\n")
		return nil, fmt.Errorf("the arguments do not fit the tool's schema: %s", cut(oneLine(causes), maxFailure))
	}
	return object, nil
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
