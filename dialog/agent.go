package dialog

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
	"github.com/hocketvoice/hocket/dialog/words"
)

// Agent is a compiled agent: a definition, the understanding trained on it, and the
// grammars and prompts derived from it. An Agent is immutable and safe for concurrent use
// by any number of conversations.
type Agent struct {
	def *agent.Definition

	words *words.Words

	prompt Prompt // the part that is the same for all turns

	expects grammars
	begins  map[*agent.Slot]map[string]bool // of slots with a list of values: the first words of longer names
}

// grammars are the phrases that a user may say, by what the agent expects.
type grammars struct {
	idle, failed  []string
	steps         map[*agent.Step][]string // by collect step
	slots         map[*agent.Slot][]string // of a slot that no step asks for
	confirm, done map[*agent.Flow][]string // while the flow waits for a yes or no, and after it has ended
}

// Parse compiles the files of one agent with the zero [agent.Options]; see
// [agent.Options.Parse]. It also trains the understanding, which takes some milliseconds.
// The same files always give the same agent.
func Parse(files []agent.File) (*Agent, []agent.Problem) {
	return New(agent.Options{}.Parse(files))
}

// New creates an agent from a definition. It returns the problems unchanged. If the
// definition is nil, the agent is nil too.
func New(def *agent.Definition, problems []agent.Problem) (*Agent, []agent.Problem) {
	if def == nil {
		return nil, problems
	}
	a := &Agent{def: def, begins: make(map[*agent.Slot]map[string]bool)}
	for _, s := range def.Slots {
		if begins := nameBegins(s); begins != nil {
			a.begins[s] = begins
		}
	}
	a.finish()
	return a, problems
}

// WithoutModel returns a copy of the agent that uses no language model. Messages are
// understood by their words, and what the flows do not cover is not answered.
func (a *Agent) WithoutModel() *Agent {
	def, out := *a.def, *a
	def.Settings.Model.Answers, def.Settings.Model.Understanding = false, false
	out.def = &def
	return &out
}

// FlowInfo describes a flow, for display and for prompts.
type FlowInfo struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Triggers    []string `json:"triggers,omitempty"`
	Slots       []string `json:"slots,omitempty"`
}

// SlotInfo describes a slot, for display and for prompts.
type SlotInfo struct {
	Name        string     `json:"name"`
	Type        value.Type `json:"type"`
	Description string     `json:"description,omitempty"`
	Values      []string   `json:"values,omitempty"`
	Required    bool       `json:"required"`
	// Secret reports whether the value is hidden: it is neither said nor shown, nor sent
	// to a model.
	Secret bool `json:"secret,omitempty"`
}

// Settings returns the agent's settings with defaults filled in. The caller must not modify
// their maps.
func (a *Agent) Settings() agent.Settings { return a.def.Settings }

// Description returns what the agent does, in words for people, or "".
func (a *Agent) Description() string { return a.def.Description }

// Instructions returns the system prompt of the model, or "" if no model is used.
func (a *Agent) Instructions() string { return a.def.Instructions }

// Tools returns the names of the tools that a model may call for this agent; "*" stands for
// all tools. It reports false if the agent's files do not list tools.
func (a *Agent) Tools() (names []string, ok bool) { return slices.Clone(a.def.Tools), a.def.ToolsSet }

// Language returns the tag of the agent's language.
func (a *Agent) Language() string { return a.def.Settings.Language }

// Actions returns the actions in the order of the files.
func (a *Agent) Actions() []agent.Action {
	out := make([]agent.Action, 0, len(a.def.Actions))
	for _, act := range a.def.Actions {
		out = append(out, *act)
	}
	return out
}

// Action returns the named action and reports whether it exists.
func (a *Agent) Action(name string) (agent.Action, bool) {
	act, ok := a.def.ActionIndex[name]
	if !ok {
		return agent.Action{}, false
	}
	return *act, true
}

// Flows returns a description of each flow, in the order of the files.
func (a *Agent) Flows() []FlowInfo {
	out := make([]FlowInfo, 0, len(a.def.Flows))
	for _, f := range a.def.Flows {
		info := FlowInfo{Name: f.Name, Description: f.Description}
		for _, t := range f.Triggers {
			info.Triggers = append(info.Triggers, t.Text)
		}
		for _, s := range f.Slots {
			info.Slots = append(info.Slots, s.Name)
		}
		out = append(out, info)
	}
	return out
}

// Slots returns a description of each slot, in the order of the files.
func (a *Agent) Slots() []SlotInfo {
	out := make([]SlotInfo, 0, len(a.def.Slots))
	for _, s := range a.def.Slots {
		info := SlotInfo{Name: s.Name, Type: s.Type, Description: s.Description, Required: s.Required, Secret: s.Secret}
		for _, v := range s.Values {
			info.Values = append(info.Values, v.Value)
		}
		out = append(out, info)
	}
	return out
}
