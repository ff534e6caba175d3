package hocket

import (
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/detector/energy"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/model"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/internal/toolset"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
	httptool "github.com/hocketvoice/hocket/tool/http"
)

// Agent is the agent that a person talks to. [LoadAgent] and [ParseAgent] create
// one from YAML files; an agent without files is a literal with a Model. The fields
// must be set before the first conversation. After that, any number of
// conversations may use the agent concurrently.
type Agent struct {
	// Name identifies the agent. The default is the name of its file or folder.
	Name string
	// Greeting is what the agent says first. If it is empty, the greeting of the
	// files is used.
	Greeting string
	// Instructions are passed to the model before those of the files.
	Instructions string
	// Model answers when no flow applies, and interprets what the person says for
	// the flows if the files ask for it. LoadAgent and ParseAgent set it to the model
	// that the files describe under model:, if they do. If it is nil, only the flows
	// answer.
	Model port.Model
	// Tools are the tools written in Go. The model may call all of them unless the
	// files list its tools. A tool with the name of an action in the files carries
	// out this action, in place of the HTTP call that the files may define.
	Tools []port.Tool
	// Configure, if not nil, changes the options of each conversation after all
	// others are set.
	Configure func(*session.Options)

	def *settings.Agent // nil if the agent has no files
}

// File is one file of an agent. Error messages contain its name.
type File = agent.File

// AgentError lists all errors in an agent's files.
type AgentError = settings.AgentError

// LoadAgent reads an agent from a YAML file, or from all *.yaml and *.yml files of
// a folder. It returns an [*AgentError] if the files are invalid. docs/flows.md
// describes them.
func LoadAgent(path string) (*Agent, error) {
	def, err := settings.LoadAgent(path)
	if err != nil {
		return nil, err
	}
	return newAgent(settings.AgentName(path), def)
}

// ParseAgent creates an agent from the contents of its files. It returns an
// [*AgentError] if the files are invalid.
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
	c, err := settings.OfAgent(def.Files)
	if err != nil {
		return nil, err
	}
	if m, err := model.Open(c); err != nil {
		return nil, err
	} else if m != nil {
		a.Model = m
	}
	return a, nil
}

// Warnings returns likely mistakes in the agent's files, one line each.
func (a *Agent) Warnings() []string {
	var lines []string
	if a.def != nil {
		for _, p := range a.def.Problems {
			lines = append(lines, p.String())
		}
	}
	return lines
}

// Language returns the agent's language, a BCP 47 tag such as "en".
func (a *Agent) Language() string {
	if a.def == nil {
		return "en"
	}
	return a.def.Language()
}

// settings returns the engine options that the agent's files set, for calls with
// the detector.
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

// session returns the options of a conversation with the agent, without its leg.
func (a *Agent) session(d port.Detector) (session.Options, error) {
	if a.def == nil && a.Model == nil {
		return session.Options{}, fmt.Errorf("agent %s: files or a model must be set", a.Name)
	}
	s, err := a.settings(d)
	if err != nil {
		return session.Options{}, err
	}
	o := session.Options{
		Conv: s.Conversation, Turn: s.Turn, Onset: s.Onset, Stability: s.Stability, Echo: s.Echo, Voice: s.Voice, Location: s.Location,
		Model: a.Model, Instructions: a.Instructions,
	}
	if a.def != nil {
		o.Conv.Agent, o.AgentFiles = a.def.Agent, a.def.Files
		o.Instructions = joinLines(a.Instructions, a.def.Instructions())
		if a.Model == nil {
			if o.Conv.NoModel, err = a.def.WithoutModel(); err != nil {
				return session.Options{}, err
			}
		}
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

// tools returns the tools that the agent's flows call and those that its model may
// call.
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

// carry returns a tool that carries out the actions, and the tools that are not
// actions.
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
			return nil, nil, fmt.Errorf("action %s: expected a tool of this name in Tools, or http in the files", act.Name)
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
