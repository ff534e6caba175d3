package agent

import (
	"maps"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/value"
)

// soniSettings are settings that only files of Soni have. Actions and validators of such
// files are registered in code.
var soniSettings = []string{"models", "llm", "persistence", "logging", "rephrase_responses", "rephrase_tone"}

// settings reads the settings of all files. Later files add to earlier ones.
func (c *compiler) settings(sections []section) {
	s := &c.a.Settings
	*s = Settings{
		Language: "en", Handoff: true, Retries: defaultRetries,
		HistoryLimit: defaultHistoryLimit, TraceLimit: defaultTraceLimit, StepLimit: defaultStepLimit,
		Other: make(map[string]any),
	}
	handlers := map[string]func(key, value node){
		"language": func(_, v node) { s.Language = c.text(v, "settings.language") },
		"greeting": func(_, v node) {
			if m := c.message(v, "settings.greeting"); len(m) > 0 {
				c.a.Messages["greeting"] = m
				s.Greeting = m[0].text
			}
		},
		"start":        func(_, v node) { s.Start = c.text(v, "settings.start") },
		"instructions": func(_, v node) { c.instructions(v) },
		"model":        func(_, v node) { c.model(v) },
		"rephrase_responses": func(_, v node) {
			s.Rephrase = c.boolean(v, "settings.rephrase_responses", false)
		},
		"rephrase_tone": func(_, v node) { s.Tone = c.text(v, "settings.rephrase_tone") },
		"handoff":       func(_, v node) { s.Handoff = c.boolean(v, "settings.handoff", true) },
		"retries": func(_, v node) {
			if n, ok := c.count(v, "settings.retries", 1, 100); ok {
				s.Retries = n
			}
		},
		"min_confidence": func(_, v node) {
			if f, ok := c.number(v, "settings.min_confidence", 0, 1); ok {
				s.MinConfidence = f
			}
		},
		"history_limit": func(_, v node) {
			if n, ok := c.count(v, "settings.history_limit", 2, 10000); ok {
				s.HistoryLimit = n
			}
		},
		"trace_limit": func(_, v node) {
			if n, ok := c.count(v, "settings.trace_limit", 0, 10000); ok {
				s.TraceLimit = n
			}
		},
		"step_limit": func(_, v node) {
			if n, ok := c.count(v, "settings.step_limit", 10, 10000); ok {
				s.StepLimit = n
			}
		},
	}
	for _, name := range []string{"models", "llm", "persistence", "logging"} {
		handlers[name] = func(key, v node) {
			s.Other[name] = v.plain()
			c.warn(key, "settings.%s has no effect here; its value is kept", name)
		}
	}
	for _, name := range append(EngineSettings(), c.opts.Settings...) {
		if handlers[name] == nil {
			handlers[name] = func(_, v node) { s.Other[name] = v.plain() }
		}
	}
	for _, name := range []string{"server", "store"} { // Soni has settings.models too
		handlers[name] = func(key, _ node) { c.elsewhere(key) }
	}
	for _, sec := range sections {
		for _, p := range sec.value.pairs {
			c.lenient = c.lenient || slices.Contains(soniSettings, p.key.text)
		}
		c.fields(sec.value, "settings", handlers)
	}
}

// model reads what a language model is used for.
func (c *compiler) model(n node) {
	m := &c.a.Settings.Model
	if n.kind == nodeScalar {
		m.Name = n.text
		return
	}
	if n.kind != nodeMapping {
		c.fail(n, "settings.model is %s: expected the name of a model or a mapping", n.kind)
		return
	}
	m.Other = make(map[string]any)
	for _, p := range n.pairs {
		switch p.key.text {
		case "understanding":
			m.Understanding = c.boolean(p.value, "settings.model.understanding", false)
		case "answers":
			m.Answers = c.boolean(p.value, "settings.model.answers", false)
			c.a.Settings.modelAnswersSet = true
		case "name":
			m.Name = c.text(p.value, "settings.model.name")
		default:
			m.Other[p.key.text] = p.value.plain()
		}
	}
}

// EngineSettings returns the names of the settings that configure the engine around the
// dialogue. A program reads them from the files or from [Settings.Other].
func EngineSettings() []string {
	return []string{
		"turn", "barge_in", "filter", "dead_air", "limits", "retry", "speech", "privacy", "timezone",
		"speak_notices", "resume_after_false_interruption",
	}
}

// configKeys are the sections of the config file that an agent's file must not have.
var configKeys = []string{"server", "store", "models"}

// ownSettings are settings that authors may put at the top level of a file by mistake.
var ownSettings = []string{"language", "greeting", "start", "rephrase_responses", "rephrase_tone", "handoff", "retries", "min_confidence"}

// language loads the agent's language and its phrases.
func (c *compiler) language(sections []section) bool {
	tag, ok := value.Tag(c.a.Settings.Language)
	if !ok {
		at := node{}
		for _, s := range sections {
			if v, ok := s.value.find("language"); ok {
				at = v
			}
		}
		c.report(SeverityError, at, nearest(tag, value.Languages()), "settings.language: there are no words for %q: expected one of %s",
			c.a.Settings.Language, strings.Join(value.Languages(), ", "))
		tag = "en" // to check the rest too
	}
	lang, err := value.Load(tag)
	if err != nil {
		c.fail(node{}, "%v", err)
		return false
	}
	c.a.Settings.Language = tag
	c.a.Lang = lang
	for _, key := range slices.Sorted(maps.Keys(lang.Messages)) {
		if len(c.a.Messages[key]) > 0 {
			continue // the settings have the greeting
		}
		for _, text := range lang.Messages[key] {
			t, err := CompileTemplate(text)
			if err != nil {
				c.fail(node{}, "message %s of language %s: %v", key, tag, err)
				return false
			}
			c.a.Messages[key] = append(c.a.Messages[key], t)
		}
	}
	return true
}
