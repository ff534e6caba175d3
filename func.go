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

// Function is a tool that calls a Go function, see [Func]. Its fields must be set
// before the first conversation. After that it is safe for concurrent use.
type Function struct {
	// Long reports that a call may take minutes. The conversation continues
	// meanwhile.
	Long bool
	// Irreversible reports that a call cannot be undone: it does not run for a turn
	// that may be taken back, and is not repeated when the outcome of a call is
	// unknown.
	Irreversible bool
	// Confirm reports that each call needs the person's consent.
	Confirm bool

	name, description string
	schema            []byte
	check             *toolset.Schema
	err               error // error in the definition
	call              func(ctx context.Context, arguments string) (any, error)
}

var _ port.Tool = (*Function)(nil)

// Func returns a tool that calls a Go function. name must have 1 to 64 letters,
// digits, _ or -. description tells the model when to call the tool.
//
// In must be a struct, or a map with string keys. Its JSON Schema is derived from
// its fields: the names are those of encoding/json, a field is required unless it
// has omitempty or omitzero, and the tag jsonschema:"..." describes it. Arguments
// that do not match the schema are refused with a message that a model can act on,
// and f is not called. Out is encoded as JSON, except that a string is returned
// unchanged. An error of f is reported to the model or the flow as a failure of
// class [errclass.ToolError]; return a [*port.Failure] for another class. Errors
// must not contain secrets.
//
// In a flow, a declared action of the same name calls the function: its inputs are
// the fields of In, its outputs those of Out.
//
// If a type has no schema (a channel, a function), [Call.Session] and server.New
// return an error.
func Func[In, Out any](name, description string, f func(ctx context.Context, in In) (Out, error)) *Function {
	t := &Function{name: name, description: description}
	t.call = func(ctx context.Context, arguments string) (any, error) {
		var in In
		if arguments == "" {
			arguments = "{}"
		}
		if err := json.Unmarshal([]byte(arguments), &in); err != nil {
			return nil, &port.Failure{Code: errclass.InvalidArgs, Message: fmt.Sprintf("%s: invalid arguments: %v", name, err)}
		}
		return f(ctx, in)
	}
	if !toolset.IsName(name) {
		t.err = fmt.Errorf("tool %q: the name must have 1 to 64 letters, digits, _ or -", name)
		return t
	}
	schema, err := jsonschema.For[In](nil)
	if err == nil && schema.Type != "object" {
		err = errors.New("the argument type must be a struct or a map with string keys")
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

// Specs returns the description of the tool.
func (t *Function) Specs() []port.ToolSpec {
	return []port.ToolSpec{{
		Name: t.name, Description: t.description, Schema: t.schema,
		Long: t.Long, Irreversible: t.Irreversible, Confirm: t.Confirm,
	}}
}

// Call validates the arguments and calls the function.
func (t *Function) Call(ctx context.Context, call port.ToolCall, _ func(string)) (string, error) {
	if t.err != nil || call.Name != t.name {
		return "", &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("unknown tool %q", call.Name)}
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
