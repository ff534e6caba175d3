package agent

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
)

// This file reads the built-in flows. They have the format of agents' files. The engine runs
// them, and an agent's file may replace one by a flow of the same name.

//go:embed builtin.yaml
var builtinFile []byte

// The built-in flows.
const (
	PatternCancel       = "pattern_cancel_flow"
	PatternCorrection   = "pattern_correction"
	PatternClarify      = "pattern_clarification"
	PatternCannotHandle = "pattern_cannot_handle"
	PatternContinue     = "pattern_continue_interrupted"
	PatternCompleted    = "pattern_completed"
	PatternError        = "pattern_internal_error"
	PatternHandoff      = "pattern_human_handoff"
	PatternSkip         = "pattern_skip_question"
	PatternChitchat     = "pattern_chitchat"
	PatternRepeat       = "pattern_repeat_bot_messages"
	PatternRestart      = "pattern_restart"
	PatternHelp         = "pattern_help"
	PatternGoodbye      = "pattern_goodbye"
)

// builtinPrefix is the prefix of the names of built-in flows. Other flows must not have it.
const builtinPrefix = "pattern_"

// Context is the name under which expressions of a built-in flow read its context.
const Context = "context"

// builtinNames has the names of the built-in flows. The value says whether the flow may
// wait for the user. The others end within their turn, since the user's next message
// answers something else.
var builtinNames = map[string]bool{
	PatternCancel: true, PatternCorrection: true, PatternClarify: false, PatternCannotHandle: true, PatternContinue: true,
	PatternCompleted: true, PatternError: false, PatternHandoff: true, PatternSkip: true, PatternChitchat: true,
	PatternRepeat: false, PatternRestart: true, PatternHelp: false, PatternGoodbye: false,
}

// engineActs are the valid values of the field do of an engine step.
var engineActs = []string{"default", "question", "explanation", "example", "options", "offer", "repeat", "cancel", "restart", "handoff", "end"}

// BuiltinFlows returns the names of the built-in flows in alphabetical order.
func BuiltinFlows() []string { return slices.Sorted(maps.Keys(builtinNames)) }

// builtin returns a draft of a built-in flow, or nil if there is no such flow.
func (c *compiler) builtin(p pair) *flowDraft {
	name := p.key.text
	if _, known := builtinNames[name]; !known {
		c.report(SeverityError, p.key, nearest(name, slices.Sorted(maps.Keys(builtinNames))),
			"flow %q: the names of built-in flows begin with %s, and there is none of this name", name, builtinPrefix)
		return nil
	}
	f := c.newFlow(name)
	f.Index, f.Builtin = -1, true
	return &flowDraft{f: f, key: p.key, def: p.value}
}

// builtins adds the built-in flows. A flow of the agent's files replaces the default one,
// which it may run.
func (c *compiler) builtins(own []*flowDraft) []*flowDraft {
	root, problems := readYAML(File{Name: "builtin.yaml", Data: builtinFile})
	c.problems = append(c.problems, problems...)
	flows, _ := root.find("flows")
	drafts := own
	for _, p := range flows.pairs {
		d := c.builtin(p)
		if i := slices.IndexFunc(own, func(o *flowDraft) bool { return o.f.Name == d.f.Name }); i >= 0 {
			own[i].f.Default = d.f
		} else {
			c.a.FlowIndex[d.f.Name] = d.f
		}
		drafts = append(drafts, d)
	}
	for _, d := range own {
		c.a.FlowIndex[d.f.Name] = d.f
		c.a.Replaced = append(c.a.Replaced, d.f)
	}
	return drafts
}

// readBuiltins reads the built-in flows, those of the files and the default ones.
func (c *compiler) readBuiltins(own []*flowDraft) {
	before := len(c.refs)
	for _, d := range c.builtins(own) {
		c.flowFields(d)
		c.linkSteps(d)
		c.checkFlow(d)
		c.checkBuiltin(d)
		for _, s := range d.f.Steps {
			if s.Target != nil {
				s.Target.Called = true
			}
		}
	}
	for i := before; i < len(c.refs); i++ {
		c.refs[i].builtin = true
	}
}

// checkBuiltin reports what a built-in flow must not have.
func (c *compiler) checkBuiltin(d *flowDraft) {
	f := d.f
	if len(f.Triggers) > 0 || d.triggered {
		c.fail(d.key, "flow %s: the engine begins it: triggers are not allowed", f.Name)
	}
	if f.guard != nil || d.keeps.given() {
		c.fail(d.key, "flow %s: the engine begins it: if and persisted_slots are not allowed", f.Name)
	}
	if builtinNames[f.Name] {
		return
	}
	for i, s := range f.Steps {
		switch s.Type {
		case StepCollect, StepConfirm, StepAction, StepCall, StepLink:
			c.fail(d.raws[i].at, "flow %s, step %s: the flow ends within its turn: a step of the type %s is not allowed", f.Name, s.ID, s.Type)
		case StepSay, StepBranch, StepSet, StepWhile, StepHandoff, StepEngine:
		}
	}
}

// isBuiltin reports whether a name is reserved for built-in flows.
func isBuiltin(name string) bool { return strings.HasPrefix(name, builtinPrefix) }

// engineStep reads the field do of an engine step.
func (c *compiler) engineStep(st *Step, n, do node) {
	what := "step " + st.ID
	st.Do = c.text(do, what+".do")
	if !slices.Contains(engineActs, st.Do) {
		c.report(SeverityError, n, nearest(st.Do, engineActs), "%s.do: expected one of %s", what, strings.Join(engineActs, ", "))
	}
}

// phraseStep reads the name of the engine's phrase that a step says.
func (c *compiler) phraseStep(st *Step, v node) {
	st.Phrase = c.text(v, "step "+st.ID+".phrase")
	if _, known := c.a.Messages[st.Phrase]; !known {
		c.unknown(v, "phrase", st.Phrase, slices.Sorted(maps.Keys(c.a.Messages)))
	}
}
