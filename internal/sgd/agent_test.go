package sgd

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// slotType chooses the type of a slot by the words of its name and description, as the
// author of a hand-written agent would.
func slotType(s slot) string {
	if s.IsCategorical {
		switch {
		case slices.Equal(slices.Sorted(slices.Values(s.PossibleValues)), []string{"False", "True"}):
			return "boolean"
		case !slices.ContainsFunc(s.PossibleValues, func(v string) bool { return !value.AllDigits(v) }):
			return "integer"
		}
		return "enum"
	}
	types := map[string]string{
		"date": "date", "time": "time", "city": "city", "location": "city", "area": "city", "destination": "city", "origin": "city",
		"phone": "phone", "length": "integer", "number": "integer", "count": "integer",
	}
	for _, word := range strings.Split(s.Name, "_") {
		if t := types[word]; t != "" {
			return t
		}
	}
	words := strings.FieldsFunc(strings.ToLower(s.Name+" "+s.Description), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, word := range []string{"name", "title", "director", "actor", "artist"} { // things that have a name
		if slices.Contains(words, word) {
			return "name"
		}
	}
	return "string"
}

// service is the agent of a service, with its definition.
type service struct {
	*dialog.Agent
	def *agent.Definition
}

// newService creates the agent of a service. It has a flow for each intent, which collects
// the required slots and calls the service. The user confirms a transaction first, and also
// what the service proposes instead.
func newService(s *schema, model bool) (*service, error) {
	slots := make(map[string]any)
	for _, sl := range s.Slots {
		def := map[string]any{"type": slotType(sl), "description": strings.ToLower(sl.Description)}
		if def["type"] == "enum" {
			def["values"] = sl.PossibleValues
		}
		if numbers := possibleNumbers(sl); def["type"] == "integer" && len(numbers) > 0 {
			def["min"], def["max"] = slices.Min(numbers), slices.Max(numbers)
		}
		slots[sl.Name] = def
	}
	actions, flows := make(map[string]any), make(map[string]any)
	for _, in := range s.Intents {
		optional := slices.Sorted(maps.Keys(in.OptionalSlots))
		outputs, offer := []string{"service_ok"}, make(map[string]any)
		for _, name := range slices.Concat(in.RequiredSlots, optional) {
			outputs = append(outputs, "offer_"+name)
			offer[name] = "= offer_" + name
		}
		if !in.IsTransactional { // the user may take what a search finds
			for _, name := range in.ResultSlots {
				if !in.takes(name) {
					outputs = append(outputs, name)
				}
			}
		}
		actions[in.Name] = map[string]any{
			"inputs": in.RequiredSlots, "optional_inputs": optional, "outputs": outputs, "requires_confirmation": in.IsTransactional,
		}
		var steps []any
		for _, name := range optional {
			if v := in.OptionalSlots[name]; v != dontCare && in.IsTransactional { // in a search the service chooses the default
				steps = append(steps, map[string]any{
					"step": "default_" + name, "type": "set", "condition": "not (" + name + ")",
					"slots": map[string]any{name: defaultValue(slots[name].(map[string]any)["type"].(string), v)},
				})
			}
		}
		for _, name := range in.RequiredSlots {
			steps = append(steps, map[string]any{"step": "ask_" + name, "type": "collect", "slot": name})
		}
		steps = append(steps, map[string]any{"step": "call", "type": "action", "call": in.Name})
		if in.IsTransactional { // if the service cannot do it, it may propose something else, which the user confirms too
			steps = append(steps,
				map[string]any{"step": "result", "type": "branch", "slot": "service_ok", "cases": map[string]string{"proposal": "accept", "default": "__end__"}},
				map[string]any{"step": "accept", "type": "set", "slots": offer, "jump_to": "call"})
		}
		flows[in.Name] = map[string]any{
			"description": in.Description,
			"slots":       slices.Concat(in.RequiredSlots, optional),
			"trigger":     map[string]any{"intents": []string{in.Description, splitName(in.Name)}},
			"steps":       steps,
			"takes":       s.shared(in),
		}
		if next := s.follows(in); next != "" {
			flows[in.Name].(map[string]any)["next"] = next
		}
	}
	file, err := json.Marshal(map[string]any{ // JSON is YAML
		"version":  "1.0",
		"settings": map[string]any{"language": "en", "handoff": false, "model": map[string]any{"understanding": model, "answers": true}},
		"slots":    slots, "actions": actions, "flows": flows,
	})
	if err != nil {
		return nil, err
	}
	def, problems := agent.Options{}.Parse([]agent.File{{Name: s.ServiceName + ".yaml", Data: file}})
	a, problems := dialog.New(def, problems)
	if a == nil {
		errs := []error{errors.New(s.ServiceName)}
		for _, p := range problems {
			errs = append(errs, errors.New(p.String()))
		}
		return nil, errors.Join(errs...)
	}
	return &service{Agent: a, def: def}, nil
}

// shared returns the arguments of an intent that another intent takes or finds too: the
// user does not give them twice.
func (s *schema) shared(in intent) []string {
	out := []string{}
	for _, name := range slices.Concat(in.RequiredSlots, slices.Sorted(maps.Keys(in.OptionalSlots))) {
		if slices.ContainsFunc(s.Intents, func(o intent) bool {
			return o.Name != in.Name && (o.takes(name) || !o.IsTransactional && slices.Contains(o.ResultSlots, name))
		}) {
			out = append(out, name)
		}
	}
	return out
}

// follows returns the only transaction that takes what a search has found, or "" if there
// is none or more than one.
func (s *schema) follows(in intent) string {
	next := ""
	for _, o := range s.Intents {
		if in.IsTransactional || !o.IsTransactional || !slices.ContainsFunc(in.ResultSlots, func(name string) bool { return slices.Contains(o.RequiredSlots, name) }) {
			continue
		}
		if next != "" {
			return ""
		}
		next = o.Name
	}
	return next
}

// possibleNumbers returns those possible values of a slot that are numbers.
func possibleNumbers(s slot) []int {
	var out []int
	for _, v := range s.PossibleValues {
		if f, ok := value.ToNumber(v); ok {
			out = append(out, int(f))
		}
	}
	return out
}

// defaultValue converts a default of the schema to the form of the slot's values.
func defaultValue(typ, v string) any {
	switch typ {
	case "boolean":
		return v == "True"
	case "integer":
		f, _ := value.ToNumber(v)
		return f
	}
	return v
}

// splitName splits the name of an intent into words: "ReserveHotel" becomes "reserve
// hotel".
func splitName(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// newServices creates the agents of all services, including those without dialogues.
func newServices(t *testing.T, data dataset, model bool) map[string]*service {
	t.Helper()
	agents := make(map[string]*service)
	for name, s := range data.schemas {
		a, err := newService(s, model)
		if err != nil {
			t.Fatal(err)
		}
		agents[name] = a
	}
	return agents
}
