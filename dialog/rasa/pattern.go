package rasa

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// This file converts conversation patterns and the default responses that an assistant replaces.

// acts maps default actions of Rasa to engine steps in a built-in flow. Those that map to
// "question" have nothing else to do, since their work is done before the flow begins.
var acts = map[string]string{
	"action_cancel_flow": "cancel", "action_repeat_bot_messages": "repeat", "action_restart": "restart",
	"action_correct_flow_slot": "question", "action_clarify_flows": "question",
}

// phrases maps default responses of Rasa to phrases of the engine.
var phrases = map[string]string{
	"utter_flow_cancelled_rasa":         "cancelled",
	"utter_flow_continue_interrupted":   "resume",
	"utter_corrected_previous_input":    "updated",
	"utter_can_do_something_else":       "what_to_do",
	"utter_internal_error_rasa":         "error",
	"utter_skip_question_answer":        "skip_not",
	"utter_free_chitchat_response":      "chitchat",
	"utter_cannot_handle":               "chitchat",
	"utter_no_knowledge_base":           "chitchat",
	"utter_human_handoff_not_available": "handoff_none",
	"utter_ask_rephrase":                "rephrase",
}

// says reports whether the assistant replaces a default response.
func (c *converter) says(name string) bool { return len(c.responses[name].texts) > 0 }

// phrases returns the phrases of the engine that the assistant replaces, as keys and values.
func (c *converter) phrases() []string {
	var out []string
	for _, name := range []string{
		"utter_flow_cancelled_rasa", "utter_flow_continue_interrupted", "utter_internal_error_rasa", "utter_skip_question_answer",
		"utter_free_chitchat_response", "utter_human_handoff_not_available", "utter_ask_rephrase",
	} {
		if !c.says(name) {
			continue
		}
		r := c.responses[name]
		if slices.ContainsFunc(r.texts, func(text string) bool { return strings.Contains(text, "{") }) {
			c.lost(r.at, "response %s: values in braces are not carried over: the engine's words are used", name)
			continue
		}
		out = append(out, phrases[name], quoteList(r.texts))
	}
	return out
}

// pattern writes a conversation pattern as a built-in flow, if the agent's format can
// express it.
func (c *converter) pattern(b *strings.Builder, f agent.Field) {
	name := f.Key.Text()
	switch {
	case !slices.Contains(agent.BuiltinFlows(), name):
		c.lost(f.Key, "flow %s: there is no built-in flow of this name", name)
	case !sayable(f.Value.Get("steps")):
		c.lost(f.Key, "flow %s: a condition of its steps is not carried over: the engine's flow is used", name)
	default:
		c.flow(b, name, f.Value)
	}
}

// sayable reports whether all conditions in steps can be expressed.
func sayable(list agent.Node) bool {
	for _, s := range list.Items() {
		for _, n := range s.Get("next").Items() {
			if cond := n.Get("if"); cond.Given() {
				if _, _, ok := condition(cond.Text()); !ok {
					return false
				}
			}
			if !sayable(n.Get("then")) || !sayable(n.Get("else")) {
				return false
			}
		}
	}
	return true
}
