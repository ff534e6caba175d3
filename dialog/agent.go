package dialog

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
	"github.com/hocketvoice/hocket/dialog/words"
)

// Agent is an agent that can talk: a definition, the understanding trained on it,
// and the grammars and prompts that follow from it. It never changes, so that any
// number of conversations on any number of goroutines may share one.
type Agent struct {
	def *agent.Definition

	words *words.Words

	prompt Prompt // what is the same in every prompt

	expects grammars
}

// grammars are what may be said, by what is awaited.
type grammars struct {
	idle, failed  []string
	steps         map[*agent.Step][]string // of collect steps
	slots         map[*agent.Slot][]string // where no step asks
	confirm, done map[*agent.Flow][]string // in a flow, and after it has ended
}

// Parse compiles the files of one agent with the zero [agent.Options]: see [agent.Options.Parse].
// It trains the understanding too, which takes some milliseconds; the same files
// always give the same agent.
func Parse(files []agent.File) (*Agent, []agent.Problem) {
	return New(agent.Options{}.Parse(files))
}

// New creates an agent from a definition. It returns nil if the definition is nil, and
// returns the problems as they are.
func New(def *agent.Definition, problems []agent.Problem) (*Agent, []agent.Problem) {
	if def == nil {
		return nil, problems
	}
	a := &Agent{def: def}
	a.finish()
	return a, problems
}

// WithoutModel returns the agent as it is without a language model: the flows understand by
// their own rules, and what they do not cover is not answered.
func (a *Agent) WithoutModel() *Agent {
	def, out := *a.def, *a
	def.Settings.Model.Answers, def.Settings.Model.Understanding = false, false
	out.def = &def
	return &out
}

// FlowInfo describes a flow to those who show or prompt with it.
type FlowInfo struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Triggers    []string `json:"triggers,omitempty"`
	Slots       []string `json:"slots,omitempty"`
}

// SlotInfo describes a slot to those who show or prompt with it.
type SlotInfo struct {
	Name        string     `json:"name"`
	Type        value.Type `json:"type"`
	Description string     `json:"description,omitempty"`
	Values      []string   `json:"values,omitempty"`
	Required    bool       `json:"required"`
	// Secret: its value is neither said nor shown, and no model gets it.
	Secret bool `json:"secret,omitempty"`
}

// Settings returns the agent's settings with defaults filled in. The caller must not
// change their maps.
func (a *Agent) Settings() agent.Settings { return a.def.Settings }

// Instructions returns the system prompt of the model, or "" if no model is used.
func (a *Agent) Instructions() string { return a.def.Instructions }

// Tools returns the names of the tools that a model may call for this agent; "*" means
// all tools. ok is false if the agent's files do not say.
func (a *Agent) Tools() (names []string, ok bool) { return slices.Clone(a.def.Tools), a.def.ToolsSet }

// Language returns the tag of the agent's language.
func (a *Agent) Language() string { return a.def.Settings.Language }

// Actions lists the actions in the order of the files.
func (a *Agent) Actions() []agent.Action {
	out := make([]agent.Action, 0, len(a.def.Actions))
	for _, act := range a.def.Actions {
		out = append(out, *act)
	}
	return out
}

// Action returns the action of a name.
func (a *Agent) Action(name string) (agent.Action, bool) {
	act, ok := a.def.ActionIndex[name]
	if !ok {
		return agent.Action{}, false
	}
	return *act, true
}

// Flows describes the flows in the order of the files.
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

// Slots describes the slots in the order of the files.
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
