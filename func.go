package hocket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hocketvoice/hocket/internal/toolset"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// Function is a Go function as a tool: see [Func]. Its fields are set before the first
// conversation; after that it is safe for concurrent use.
type Function struct {
	// Long: it takes minutes, and the conversation goes on meanwhile.
	Long bool
	// Irreversible: it does not run for a turn that may be taken back, and does not run
	// again when nobody knows whether it was done.
	Irreversible bool
	// Confirm: the person has to say yes to each call.
	Confirm bool

	name, description string
	schema            []byte
	check             *toolset.Schema
	err               error // of the definition
	call              func(ctx context.Context, arguments string) (any, error)
}

var _ port.Tool = (*Function)(nil)

// Func makes a tool of a Go function. name has 1 to 64 letters, digits, _ or -;
// description is for the model, and says when to call it.
//
// In must be a struct, or a map with string keys. Its JSON Schema is derived from its
// fields: the names are those of encoding/json, a field is required unless it has
// omitempty or omitzero, and the tag jsonschema:"..." describes it. Arguments that do
// not fit the schema are refused, in words that a model can act upon, and f is not
// called. Out is given as JSON; a string as it is. An error is told to the model, or to the
// flow, as a failure of class [errclass.ToolError]; return a [*port.Failure] for another
// class. No error may hold a secret.
//
// In a flow, a declared action of the same name calls the function: its inputs are the
// fields of In, its outputs those of Out.
//
// A type without a schema (a channel, a function) is reported by whoever uses the tool:
// [Call.Session], server.New.
func Func[In, Out any](name, description string, f func(ctx context.Context, in In) (Out, error)) *Function {
	t := &Function{name: name, description: description}
	t.call = func(ctx context.Context, arguments string) (any, error) {
		var in In
		if arguments == "" {
			arguments = "{}"
		}
		if err := json.Unmarshal([]byte(arguments), &in); err != nil {
			return nil, &port.Failure{Code: errclass.InvalidArgs, Message: fmt.Sprintf("%s: the arguments do not fit: %v", name, err)}
		}
		return f(ctx, in)
	}
	if !toolset.IsName(name) {
		t.err = fmt.Errorf("tool %q: the name must have 1 to 64 letters, digits, _ or -", name)
		return t
	}
	schema, err := jsonschema.For[In](nil)
	if err == nil && schema.Type != "object" {
		err = errors.New("the type of its arguments must be a struct or a map with string keys")
	}
	if err == nil {
		t.schema, err = json.Marshal(schema)
	}
	if err == nil {
		t.check, err = toolset.CompileSchema(t.schema)
	}
	if err != nil {
		t.err = fmt.Errorf("tool %s: %w", name, err)
	}
	return t
}

// Specs is the one tool.
func (t *Function) Specs() []port.ToolSpec {
	return []port.ToolSpec{{
		Name: t.name, Description: t.description, Schema: t.schema,
		Long: t.Long, Irreversible: t.Irreversible, Confirm: t.Confirm,
	}}
}

// Call checks the arguments and calls the function.
func (t *Function) Call(ctx context.Context, call port.ToolCall, _ func(string)) (string, error) {
	if t.err != nil || call.Name != t.name {
		return "", &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("there is no tool %q", call.Name)}
	}
	if err := t.check.Check(call.Arguments); err != nil {
		return "", &port.Failure{Code: errclass.InvalidArgs, Message: fmt.Sprintf("%s: %v", t.name, err)}
	}
	out, err := t.call(ctx, call.Arguments)
	if _, known := errors.AsType[*port.Failure](err); err != nil && !known && ctx.Err() == nil {
		return "", &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("%s: %v", t.name, err)}
	}
	if err != nil {
		return "", err
	}
	if text, ok := out.(string); ok {
		return text, nil
	}
	b, err := json.Marshal(out)
	if err != nil {
		return "", &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("%s: the result cannot be written as JSON", t.name)}
	}
	return string(b), nil
}
