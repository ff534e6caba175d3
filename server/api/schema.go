package api

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
	"github.com/hocketvoice/hocket/server/hub"
)

// object is a piece of JSON under construction.
type object = map[string]any

// schemas creates JSON Schemas (2020-12) of Go types as encoding/json writes them:
// a struct is an object without additional keys, and fields with omitempty are not
// required. Named structs are collected in defs.
type schemas struct {
	refs     string // prefix of references to defs: "#/components/schemas/"
	defs     object
	requests bool // schemas of requests, in which null is not allowed
}

// enums returns the values of types with few values.
func enums() map[reflect.Type][]string {
	phases := make([]string, 0, len(conv.Phases()))
	for _, p := range conv.Phases() {
		phases = append(phases, p.String())
	}
	states := func(v view.Name) []string {
		states, err := v.States()
		if err != nil {
			panic("api: " + err.Error()) // the views below exist
		}
		return states
	}
	return map[reflect.Type][]string{
		reflect.TypeFor[conv.Phase]():         phases,
		reflect.TypeFor[view.AgentVoice]():    states(view.NameAgentVoice),
		reflect.TypeFor[view.Amplifier]():     states(view.NameAmplifier),
		reflect.TypeFor[view.EasyTurn]():      states(view.NameEasyTurn),
		reflect.TypeFor[view.Interaction]():   states(view.NameInteraction),
		reflect.TypeFor[conv.NotifyLevel]():   {string(conv.LevelInfo), string(conv.LevelWarning), string(conv.LevelError)},
		reflect.TypeFor[hub.TaskState]():      hub.TaskStates(),
		reflect.TypeFor[conv.OperationKind](): conv.OperationKinds(),
		reflect.TypeFor[conv.TurnEventType](): {
			string(conv.TurnStarted), string(conv.TurnCompleted), string(conv.TurnInterrupted),
			string(conv.TurnAbandoned), string(conv.TurnFailed),
		},
	}
}

// of returns the schema of a type.
func (s *schemas) of(t reflect.Type) object {
	if values, ok := enums()[t]; ok {
		return object{"type": "string", "enum": values}
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage]():
		return object{}
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		if s.requests {
			return s.of(t.Elem())
		}
		return object{"anyOf": []any{s.of(t.Elem()), object{"type": "null"}}}
	case reflect.Struct:
		return s.named(t)
	case reflect.Slice:
		list := object{"type": "array", "items": s.of(t.Elem())}
		if s.requests {
			return list
		}
		return object{"anyOf": []any{list, object{"type": "null"}}}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return object{"type": "integer"}
	default:
		return object{}
	}
}

// named returns a reference to a struct's schema, which it creates if needed. A
// struct without a name gets its schema inline.
func (s *schemas) named(t reflect.Type) object {
	name := t.Name()
	if name == "" {
		return s.object(t)
	}
	if path := t.PkgPath(); !strings.HasSuffix(path, "/api") && !strings.HasSuffix(path, "/hub") {
		pkg := path[strings.LastIndexByte(path, '/')+1:]
		name = strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
	if _, ok := s.defs[name]; !ok {
		s.defs[name] = nil // the struct may contain itself
		s.defs[name] = s.object(t)
	}
	return object{"$ref": s.refs + name}
}

func (s *schemas) object(t reflect.Type) object {
	properties, required := object{}, []string{}
	s.fields(t, properties, &required)
	o := object{"type": "object", "properties": properties, "additionalProperties": false}
	if t == reflect.TypeFor[hub.Command]() {
		properties["type"] = object{"type": "string", "enum": hub.CommandTypes()}
	}
	if t == reflect.TypeFor[NewConversation]() {
		properties["context"] = s.of(reflect.TypeFor[conv.Context]())
	}
	if len(required) > 0 {
		slices.Sort(required)
		o["required"] = required
	}
	return o
}

// fields adds the keys of a struct, including those of embedded structs.
func (s *schemas) fields(t reflect.Type, properties object, required *[]string) {
	for f := range t.Fields() {
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "":
			s.fields(f.Type, properties, required)
			continue
		case name == "":
			name = f.Name
		}
		properties[name] = s.of(f.Type)
		if !strings.Contains(rest, "omit") {
			*required = append(*required, name)
		}
	}
}

// EventSchema returns the JSON Schema of the event streams' messages: each is an
// object with the payload of its type.
func EventSchema() map[string]any {
	s := &schemas{refs: "#/$defs/", defs: object{}}
	types := hub.MessageTypes()
	names := make([]string, 0, len(types))
	for name := range types {
		names = append(names, name)
	}
	slices.Sort(names)
	variants := make([]any, 0, len(names))
	for _, name := range names {
		variants = append(variants, object{
			"type": "object", "additionalProperties": false, "required": []string{"at", "payload", "seq", "type"},
			"properties": object{
				"type": object{"const": name}, "seq": object{"type": "integer", "minimum": 0},
				"at": object{"type": "number", "minimum": 0}, "payload": s.of(types[name]),
			},
		})
	}
	return object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A message of an event stream",
		"oneOf": variants, "$defs": s.defs,
	}
}
