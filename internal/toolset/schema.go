package toolset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/hocketvoice/hocket/internal/redact"
)

// Limits.
const (
	maxSchema    = 256 << 10 // bytes of a schema
	maxArguments = 1 << 20   // bytes of a call's arguments
	maxMistake   = 500       // bytes of an error message about arguments
)

// Schema is a compiled schema of a tool's arguments. It is safe for concurrent use.
type Schema struct{ compiled *jsonschema.Schema }

// noReferences refuses references to other schemas, so that the author of a schema
// cannot make this program fetch anything.
type noReferences struct{}

// Load returns an error.
func (noReferences) Load(string) (any, error) {
	return nil, errors.New("references to other schemas are not supported")
}

// CompileSchema compiles a JSON Schema. An empty text accepts any object. It
// returns an error if the text is invalid, longer than 256 KB, or refers to other
// schemas.
func CompileSchema(text []byte) (*Schema, error) {
	if len(text) > maxSchema {
		return nil, fmt.Errorf("the schema has %d bytes: expected at most %d", len(text), maxSchema)
	}
	if len(text) == 0 {
		text = []byte(`{"type":"object"}`)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("the schema is not valid JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noReferences{})
	const name = "urn:tool"
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return nil, errors.New(redact.Cut(redact.OneLine(err.Error()), maxMistake))
	}
	return &Schema{compiled}, nil
}

// Argument describes an argument of a tool.
type Argument struct {
	Name        string
	Type        string // JSON Schema type; any if empty
	Description string // for the model; may be empty
	Optional    bool
}

// ObjectSchema returns the JSON Schema of an object with the given properties. It
// returns an error if a name occurs twice.
func ObjectSchema(list []Argument) ([]byte, error) {
	properties := make(map[string]map[string]string, len(list))
	required := []string{}
	for _, a := range list {
		if properties[a.Name] != nil {
			return nil, fmt.Errorf("duplicate parameter %s", a.Name)
		}
		property := make(map[string]string)
		if a.Type != "" {
			property["type"] = a.Type
		}
		if a.Description != "" {
			property["description"] = a.Description
		}
		properties[a.Name] = property
		if !a.Optional {
			required = append(required, a.Name)
		}
	}
	return json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required})
}

// Check validates a call's arguments, a JSON object or "" for an empty one. The
// error names the place in words that a model can act on, and does not quote the
// values.
func (s *Schema) Check(arguments string) error {
	if len(arguments) > maxArguments {
		return fmt.Errorf("the arguments have %d bytes: expected at most %d", len(arguments), maxArguments)
	}
	object, err := Arguments(arguments)
	if err != nil {
		return err
	}
	if err := s.compiled.Validate(object); err != nil {
		invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
		if !ok {
			return errors.New(redact.Cut(redact.OneLine(err.Error()), maxMistake))
		}
		discreet(invalid)
		_, causes, _ := strings.Cut(invalid.Error(), "\n")
		return fmt.Errorf("the arguments do not fit the tool's schema: %s", redact.Cut(redact.OneLine(causes), maxMistake))
	}
	return nil
}

// discreet removes values from a validation error, since they may be confidential.
func discreet(e *jsonschema.ValidationError) {
	switch k := e.ErrorKind.(type) {
	case *kind.Pattern:
		k.Got = "..."
	case *kind.Format:
		k.Got, k.Err = "...", errors.New("see "+k.Want)
	}
	for _, cause := range e.Causes {
		discreet(cause)
	}
}

// Arguments parses a call's arguments, a JSON object or "" for an empty one.
// Numbers keep their text.
func Arguments(text string) (map[string]any, error) {
	if strings.TrimSpace(text) == "" {
		return map[string]any{}, nil
	}
	var object map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	err := d.Decode(&object)
	if _, more := d.Token(); err != nil || object == nil || !errors.Is(more, io.EOF) {
		return nil, errors.New("the arguments are not a JSON object")
	}
	return object, nil
}
