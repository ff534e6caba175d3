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
		return nil, errors.New(redact.Cut(redact.OneLine(err.Error()), maxMistake))
	}
	return &Schema{compiled}, nil
}

// Argument describes one of a tool's arguments.
type Argument struct {
	Name        string
	Type        string // of JSON Schema; any if ""
	Description string // for the model; none if ""
	Optional    bool
}

// ObjectSchema is the JSON Schema of an object with the arguments. It fails where two
// have one name.
func ObjectSchema(list []Argument) ([]byte, error) {
	properties := make(map[string]map[string]string, len(list))
	required := []string{}
	for _, a := range list {
		if properties[a.Name] != nil {
			return nil, fmt.Errorf("the parameter %s stands twice", a.Name)
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

// Check says what is wrong with a call's arguments, with the place, in words that
// a model can act upon. They are a JSON object, "" is the empty one; no text that
// they hold is quoted.
func (s *Schema) Check(arguments string) error {
	if len(arguments) > maxArguments {
		return fmt.Errorf("the arguments have %d bytes, expected at most %d", len(arguments), maxArguments)
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

// discreet takes the values out of what is said of them: what a user has said in
// confidence may be among them.
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

// Arguments reads a call's arguments: a JSON object, "" is the empty one. Numbers
// keep their text.
func Arguments(text string) (map[string]any, error) {
	if strings.TrimSpace(text) == "" {
		return map[string]any{}, nil
	}
	var object map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	err := d.Decode(&object)
	if _, more := d.Token(); err != nil || object == nil || !errors.Is(more, io.EOF) {
		return nil, errors.New("the arguments are no JSON object")
	}
	return object, nil
}
