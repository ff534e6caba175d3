// Package hocket holds spoken conversations between a person and an agent.
//
// An [Agent] consists of dialogue flows from YAML files, a language model, or both,
// with tools that may be Go functions ([Func]). A [Call] is one conversation with
// it over a leg, the connection to the person:
//
//	agent, err := hocket.LoadAgent("clinic.yaml")
//	...
//	call := hocket.Call{Agent: agent, Leg: leg, Recognizer: recognizer, Synthesizer: voice}
//	err = call.Run(ctx)
//
// Legs, recognizers, voices, models, tools and stores are interfaces of package
// port. This package imports none of their implementations: a program imports those
// that it uses (leg/..., provider/..., detector/..., tool/..., store/...), and
// links nothing else. Package server serves agents to browsers.
//
// This package builds on package session, which runs one conversation from its
// parts, and package conv, the conversation's state machine without goroutines,
// clock or I/O.
package hocket
