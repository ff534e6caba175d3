package hocket

import (
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/detector/energy"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/internal/toolset"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
	httptool "github.com/hocketvoice/hocket/tool/http"
)

// Agent is what a person talks to. [LoadAgent] and [ParseAgent] make one of YAML files;
// one without files, the zero value with a Model, is made of Go alone. The fields are
// set before the first conversation; after that any number of conversations may use it
// at once.
type Agent struct {
	// Name tells agents apart; that of the file or folder.
	Name string
	// Greeting is what the agent says first; if empty, what its files say.
	Greeting string
	// Instructions are what the model is told, before those of the files.
	Instructions string
	// Model answers what no flow covers, and understands for the flows where the files
	// say so; nil: the flows alone answer.
	Model port.Model
	// Tools are those that Go brings. The model may call all of them unless the files
	// list its tools. An action of the files is carried out by the tool of its name, in
	// place of what the files say; without one, over HTTP if the files say so.
	Tools []port.Tool
	// Configure, if set, changes the parts of each conversation last of all.
	Configure func(*session.Options)

	def *settings.Agent // nil: made of Go alone
}

// File is one file of an agent. Its name stands in error messages.
type File = agent.File

// AgentError lists all that is wrong with an agent's files.
type AgentError = settings.AgentError

// LoadAgent reads an agent: a YAML file, or all *.yaml and *.yml of a folder. What is
// wrong with them is an [*AgentError]. docs/flows.md describes the files.
func LoadAgent(path string) (*Agent, error) {
	def, err := settings.LoadAgent(path)
	if err != nil {
		return nil, err
	}
	return newAgent(settings.AgentName(path), def)
}

// ParseAgent makes an agent of the contents of its files. What is wrong with them is an
// [*AgentError].
func ParseAgent(files ...File) (*Agent, error) {
	def, err := settings.Compile(files)
	if err != nil {
		return nil, err
	}
	name := "agent"
	if len(files) > 0 {
		name = settings.AgentName(files[0].Name)
	}
	return newAgent(name, def)
}

func newAgent(name string, def *settings.Agent) (*Agent, error) {
	a := &Agent{Name: name, def: def}
	if _, err := a.settings(nil); err != nil {
		return nil, err
	}
	return a, nil
}

// Warnings are what may be wrong with the agent's files, a line each.
func (a *Agent) Warnings() []string {
	var lines []string
	if a.def != nil {
		for _, p := range a.def.Problems {
			lines = append(lines, p.String())
		}
	}
	return lines
}

// Language is the agent's language, a BCP 47 tag such as "en".
func (a *Agent) Language() string {
	if a.def == nil {
		return "en"
	}
	return a.def.Language()
}

// settings are what the agent's files set of the engine, for calls with the detector.
func (a *Agent) settings(d port.Detector) (settings.Options, error) {
	var files []agent.File
	if a.def != nil {
		files = a.def.Files
	}
	c, err := settings.OfAgent(files)
	if err != nil {
		return settings.Options{}, err
	}
	o := settings.New(c)
	if err := settings.Validate(c, o).Err(); err != nil {
		return settings.Options{}, err
	}
	o = o.ForCalls(c, a.Language())
	if _, byLevel := d.(*energy.Detector); d != nil && !byLevel {
		o = o.Trained()
	}
	return o, nil
}

// session are the parts of a conversation with the agent, without its leg.
func (a *Agent) session(d port.Detector) (session.Options, error) {
	if a.def == nil && a.Model == nil {
		return session.Options{}, fmt.Errorf("agent %s: nothing answers: it must have files or a model", a.Name)
	}
	s, err := a.settings(d)
	if err != nil {
		return session.Options{}, err
	}
	o := session.Options{
		Conv: s.Conversation, Turn: s.Turn, Onset: s.Onset, Stability: s.Stability, Voice: s.Voice,
		Model: a.Model, Instructions: a.Instructions,
	}
	if a.def != nil {
		o.Conv.Agent, o.AgentFiles = a.def.Agent, a.def.Files
		o.Instructions = joinLines(a.Instructions, a.def.Instructions())
	}
	if a.Greeting != "" {
		o.Conv.Greeting = a.Greeting
	}
	if o.Tools, o.ModelTools, err = a.tools(s); err != nil {
		return session.Options{}, fmt.Errorf("agent %s: %w", a.Name, err)
	}
	return o, nil
}

func joinLines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

// tools are what the agent's flows call, and what its model may call.
func (a *Agent) tools(s settings.Options) (flows, model port.Tool, err error) {
	var parts []toolset.Part
	for _, t := range a.Tools {
		if f, ok := t.(*Function); ok && f.err != nil {
			return nil, nil, f.err
		}
		parts = append(parts, toolset.Part{From: "the agent's Tools", Tool: t})
	}
	own, err := toolset.Combine(parts...)
	if err != nil {
		return nil, nil, err
	}
	var actions []agent.Action
	var names []string
	listed := false
	if a.def != nil {
		actions = a.def.Actions()
		names, listed = a.def.Tools()
	}
	carried, rest, err := carry(own, actions)
	if err != nil {
		return nil, nil, err
	}
	flows, model, err = toolset.Divide(toolset.Division{
		Definition: actions, Actions: carried, Common: toolset.Part{From: "the agent's Tools", Tool: rest},
		Names: names, Listed: listed, Free: true,
	})
	if err != nil {
		return nil, nil, err
	}
	return flows, toolset.SummarizeWithin(model, a.Model, s.Conversation.Limits), nil
}

// carry gives what carries out the actions, and the tools that are no actions.
func carry(own *toolset.Set, actions []agent.Action) (carried, rest port.Tool, err error) {
	specs := own.Specs()
	named := func(name string) int {
		return slices.IndexFunc(specs, func(s port.ToolSpec) bool { return s.Name == name })
	}
	var web []agent.Action
	for _, act := range actions {
		switch {
		case named(act.Name) >= 0 || act.Mocked:
		case act.HTTP != nil:
			web = append(web, act)
		default:
			return nil, nil, fmt.Errorf("nothing carries out the action %s: expected a tool of this name in Tools, or http in the files", act.Name)
		}
	}
	byGo, err := toolset.ActionsBy(own, actions, func(act *agent.Action) (*toolset.Use, error) {
		i := named(act.Name)
		if i < 0 || act.Mocked {
			return nil, nil
		}
		return &toolset.Use{Spec: specs[i], Long: act.Long || specs[i].Long}, nil
	})
	if err != nil {
		return nil, nil, err
	}
	byHTTP, err := httptool.New(httptool.Options{Actions: web})
	if err != nil {
		return nil, nil, err
	}
	carried, err = toolset.Combine(toolset.Part{From: "the agent's Tools", Tool: byGo}, toolset.Part{From: "the agent's http actions", Tool: byHTTP})
	if err != nil {
		return nil, nil, err
	}
	var others []string
	for _, s := range specs {
		if !slices.ContainsFunc(actions, func(act agent.Action) bool { return act.Name == s.Name }) {
			others = append(others, s.Name)
		}
	}
	rest, err = toolset.Select(own, others)
	return carried, rest, err
}
