package toolset

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The bounds of what is checked.
const (
	maxSchema    = 256 << 10 // bytes of a schema
	maxArguments = 1 << 20   // bytes of a call's arguments
	maxMistake   = 500       // bytes of what is said about them
)

// Schema is the form of a tool's arguments, compiled once. It is safe for
// concurrent use.
type Schema struct{ compiled *jsonschema.Schema }

// noReferences refuses what a schema refers to outside of itself: who describes a
// tool does not make this program fetch anything.
type noReferences struct{}

// Load refuses.
func (noReferences) Load(string) (any, error) {
	return nil, errors.New("a schema that refers to others is not taken")
}

// CompileSchema reads a JSON Schema. Without a text any object will do. It fails
// where the text is none, is longer than 256 KB, or refers to other schemas.
func CompileSchema(text []byte) (*Schema, error) {
	if len(text) > maxSchema {
		return nil, fmt.Errorf("the schema has %d bytes, expected at most %d", len(text), maxSchema)
	}
	if len(text) == 0 {
		text = []byte(`{"type":"object"}`)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("the schema is no JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noReferences{})
	const name = "urn:tool"
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return nil, errors.New(cut(oneLine(err.Error()), maxMistake))
	}
	return &Schema{compiled}, nil
}

// Check says what is wrong with a call's arguments, with the place, in words that
// a model can act upon. They are a JSON object, "" is the empty one; what they
// hold is not quoted.
func (s *Schema) Check(arguments string) error {
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	if len(arguments) > maxArguments {
		return fmt.Errorf("the arguments have %d bytes, expected at most %d", len(arguments), maxArguments)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(arguments))
	if err != nil {
		return errors.New("the arguments are no JSON")
	}
	object, ok := v.(map[string]any)
	if !ok {
		return errors.New("the arguments are no JSON object")
	}
	if err := s.compiled.Validate(object); err != nil {
		invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
		if !ok {
			return errors.New(cut(oneLine(err.Error()), maxMistake))
		}
		_, causes, _ := strings.Cut(invalid.Error(), "\n")
		return fmt.Errorf("the arguments do not fit the tool's schema: %s", cut(oneLine(causes), maxMistake))
	}
	return nil
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
