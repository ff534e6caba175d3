package api

import (
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// kind describes the input and output of a route for the API description.
type kind struct {
	summary string
	query   []parameter
	takes   reflect.Type // nil if there is no body
	status  int
	gives   reflect.Type // nil if it is not JSON
	media   string       // of a response that is not JSON
	fails   []int
}

// parameter describes a query parameter or a header.
type parameter struct{ in, name, meaning string }

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

var pathValue = regexp.MustCompile(`\{(\w+)\}`)

// OpenAPI returns the API description, derived from the types that the handlers
// read and write.
func (s *Server) OpenAPI() map[string]any {
	out := &schemas{refs: "#/components/schemas/", defs: object{}}
	in := &schemas{refs: "#/components/schemas/", defs: out.defs, requests: true}
	paths := object{}
	for _, e := range s.routes() {
		method, path, _ := strings.Cut(e.pattern, " ")
		item, ok := paths[path].(object)
		if !ok {
			item = object{}
			paths[path] = item
		}
		item[strings.ToLower(method)] = describe(e, path, in, out)
	}
	for path, summary := range map[string]string{"/healthz": "Is the process alive?", "/readyz": "May conversations begin?"} {
		responses := object{"200": answer("", "yes", out.of(typeOf[Health]()))}
		if path == "/readyz" {
			responses["503"] = answer("", "no: see status and reasons", out.of(typeOf[Health]()))
		}
		paths[path] = object{"get": object{"summary": summary, "security": []any{}, "responses": responses}}
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "hocket", "version": "1",
			"description": "Create, control and observe conversations with spoken agents. " +
				"Errors are objects with a code for programs and a message for people.",
		},
		"security": []any{object{"bearer": []any{}}, object{}},
		"paths":    paths,
		"components": object{
			"schemas": out.defs,
			"securitySchemes": object{"bearer": object{
				"type": "http", "scheme": "bearer", "description": "An API key, or a token issued by this server.",
			}},
		},
	}
}

// describe returns the description of one operation.
func describe(e route, path string, in, out *schemas) object {
	op := object{"summary": e.kind.summary, "operationId": operationID(e.pattern)}
	var parameters []any
	for _, m := range pathValue.FindAllStringSubmatch(path, -1) {
		parameters = append(parameters, object{"in": "path", "name": m[1], "required": true, "schema": object{"type": "string"}})
	}
	for _, p := range e.kind.query {
		parameters = append(parameters, object{"in": p.in, "name": p.name, "description": p.meaning, "schema": object{"type": "string"}})
	}
	if parameters != nil {
		op["parameters"] = parameters
	}
	if e.kind.takes != nil {
		op["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": in.of(e.kind.takes)}}}
	}
	var schema object
	if e.kind.gives != nil {
		schema = out.of(e.kind.gives)
	}
	responses := object{strconv.Itoa(e.kind.status): answer(e.kind.media, http.StatusText(e.kind.status), schema)}
	for _, status := range append([]int{http.StatusUnauthorized, http.StatusForbidden}, e.kind.fails...) {
		responses[strconv.Itoa(status)] = answer("", http.StatusText(status), out.of(typeOf[Failure]()))
	}
	op["responses"] = responses
	return op
}

// operationID derives a name from a pattern: "post_v1_conversations_id_commands".
func operationID(pattern string) string {
	words := strings.FieldsFunc(pattern, func(r rune) bool { return strings.ContainsRune(" /{}", r) })
	return strings.ToLower(strings.Join(words, "_"))
}

func answer(media, description string, schema object) object {
	if media == "" {
		media = "application/json"
	}
	if schema == nil {
		schema = object{"type": "string"}
	}
	return object{"description": description, "content": object{media: object{"schema": schema}}}
}
