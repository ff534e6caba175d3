package realtime_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// observed records what the clients of all tests have received and sent, for the checks
// about the whole run and for the documentation.
type observed struct {
	mu        sync.Mutex // guards the fields below
	events    int
	ids       map[string]bool
	types     map[string]bool // general form
	beta      map[string]bool // beta dialect
	sent      map[string]bool
	invalid   []string
	unknown   []string
	withoutID []string
	reused    []string
}

var run = observed{ids: map[string]bool{}, types: map[string]bool{}, beta: map[string]bool{}, sent: map[string]bool{}}

// schemas returns the schemas of the server events of the npm package openai, by type;
// see testdata/README.md.
var schemas = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	b, err := os.ReadFile(filepath.Join("testdata", "server-events.schema.json"))
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	const at = "events.json"
	if err := compiler.AddResource(at, doc); err != nil {
		return nil, err
	}
	list := map[string]*jsonschema.Schema{}
	definitions := doc.(map[string]any)["definitions"].(map[string]any)
	union := definitions["RealtimeServerEvent"].(map[string]any)["anyOf"].([]any)
	for _, u := range union {
		ref := u.(map[string]any)["$ref"].(string)
		name := ref[strings.LastIndex(ref, "/")+1:]
		kind := definitions[name].(map[string]any)["properties"].(map[string]any)["type"].(map[string]any)["const"].(string)
		schema, err := compiler.Compile(at + ref)
		if err != nil {
			return nil, err
		}
		list[kind] = schema
	}
	return list, nil
})

// present returns a value without its nulls, which count as absent.
func present(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, x := range v {
			if x != nil {
				m[k] = present(x)
			}
		}
		return m
	case []any:
		list := make([]any, 0, len(v))
		for _, x := range v {
			list = append(list, present(x))
		}
		return list
	default:
		return v
	}
}

// record records a received event.
func record(t testing.TB, e event, beta bool) {
	run.mu.Lock()
	defer run.mu.Unlock()
	run.events++
	id, _ := e.m["event_id"].(string)
	switch {
	case id == "":
		run.withoutID = append(run.withoutID, string(e.raw))
	case run.ids[id]:
		run.reused = append(run.reused, id)
	}
	run.ids[id] = true
	if beta {
		run.beta[e.Type] = true
		return
	}
	run.types[e.Type] = true
	known, err := schemas()
	if err != nil {
		t.Errorf("the schema: %v", err)
		return
	}
	schema, ok := known[e.Type]
	if !ok {
		run.unknown = append(run.unknown, e.Type)
		return
	}
	if err := schema.Validate(present(e.m)); err != nil {
		run.invalid = append(run.invalid, err.Error()+"\n"+string(e.raw))
	}
}

// recordSent records a sent event.
func recordSent(b []byte) {
	var e struct{ Type string }
	if json.Unmarshal(b, &e) != nil {
		return
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	run.sent[e.Type] = true
}

func some(list []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(list[:min(len(list), 5)]))), "\n")
}
