// Package hocket holds spoken conversations between a person and an agent.
//
// An [Agent] is what the person talks to: dialogue flows from YAML files, a language
// model, or both, with tools that may be Go functions ([Func]). A [Call] is one
// conversation with it over a leg, the connection to the person:
//
//	agent, err := hocket.LoadAgent("clinic.yaml")
//	...
//	call := hocket.Call{Agent: agent, Leg: leg, Recognizer: recognizer, Synthesizer: voice}
//	err = call.Run(ctx)
//
// Legs, recognizers, voices, models, tools and stores are interfaces of package port.
// This package names none of their implementations: a program imports those that it
// uses (leg/..., provider/..., detector/..., tool/..., store/...), and links nothing
// else. Package server serves agents to browsers.
//
// Below this package, package session runs one conversation from its parts, and package
// conv is the machine alone, without goroutines, clock and I/O.
package hocket
