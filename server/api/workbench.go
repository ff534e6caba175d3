package api

import (
	"net/http"

	"github.com/hocketvoice/hocket/server/hub"
)

// Workbench lets developers change an agent for one conversation. It is safe for concurrent
// use.
type Workbench interface {
	// May reports whether the keys of an owner are a developer's. The owner is empty on a
	// server without keys.
	May(owner string) bool
	// Settings returns what can be changed of an agent.
	Settings(agent string) AgentSettings
	// Call is [Options.Call] with changes. The error says which change is invalid.
	Call(agent, transport string, c Changes) (hub.Call, error)
}

// Changes are those of an agent for one conversation.
type Changes struct {
	// Instructions replace those of the agent; not if absent.
	Instructions *string `json:"instructions,omitempty"`
	// Voice replaces that of the agent; not if empty.
	Voice string `json:"voice,omitempty"`
}

// AgentSettings are what can be changed of an agent.
type AgentSettings struct {
	Instructions string   `json:"instructions"`
	Model        bool     `json:"model"` // the agent has a model, which gets the instructions
	Voice        string   `json:"voice"`
	Voices       []string `json:"voices"`
}

// maxInstructions bounds the instructions of [Changes], in bytes.
const maxInstructions = 64 << 10

// develops reports whether the sender of a request is a developer: with a key, and not with a
// token that was made with one.
func (s *Server) develops(p who) bool {
	return s.o.Workbench != nil && !p.start && p.only == "" && s.o.Workbench.May(p.owner)
}

// callWith returns the description of a conversation with the changes of a request, if there
// are any.
func (s *Server) callWith(p who, agent string, o NewConversation) (hub.Call, error) {
	if o.Changes == nil {
		return s.o.Call(agent, o.Transport)
	}
	if !s.develops(p) {
		return hub.Call{}, fail(http.StatusForbidden, "not_developer", "changes need the key of a developer: server.developers in the config names them")
	}
	if t := o.Changes.Instructions; t != nil && len(*t) > maxInstructions {
		return hub.Call{}, fail(http.StatusBadRequest, "bad_request", "changes.instructions has %d bytes: expected at most %d", len(*t), maxInstructions)
	}
	call, err := s.o.Workbench.Call(agent, o.Transport, *o.Changes)
	if err != nil {
		return call, fail(http.StatusBadRequest, "bad_request", "%v", err)
	}
	return call, nil
}
