package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/provider/flite"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/hub"
)

// workbench lets developers change an agent for one conversation.
type workbench struct {
	s *Server
	c config.Server
}

// May is one of [api.Workbench]. Without keys everybody on this machine is a developer; nobody
// is on a server that is open to others.
func (w workbench) May(owner string) bool {
	if w.s.secrets.keys.None() {
		return !w.c.Open
	}
	return slices.Contains(w.c.Developers, owner)
}

// Settings is one of [api.Workbench].
func (w workbench) Settings(agent string) api.AgentSettings {
	a := w.s.roster.named(agent)
	if a == nil {
		return api.AgentSettings{}
	}
	settings := api.AgentSettings{Instructions: a.instructions, Model: a.model != nil, Voice: a.opts.Voice, Voices: []string{}}
	if a.speech != nil {
		settings.Voices = flite.Voices()
	}
	return settings
}

// Call is one of [api.Workbench]. The conversation is held with a copy of the agent.
func (w workbench) Call(agent, transport string, c api.Changes) (hub.Call, error) {
	a := w.s.roster.named(agent)
	if a == nil {
		return hub.Call{}, fmt.Errorf("unknown agent %q", agent)
	}
	changed, err := a.with(c)
	if err != nil {
		return hub.Call{}, err
	}
	return changed.call(transport), nil
}

// with returns a copy of an agent with changes.
func (a *served) with(c api.Changes) (*served, error) {
	changed := *a
	if c.Instructions != nil {
		if a.model == nil {
			return nil, errors.New("changes.instructions: the agent has no model that would get them")
		}
		changed.instructions = *c.Instructions
	}
	if c.Voice != "" {
		if voices := flite.Voices(); !slices.Contains(voices, c.Voice) {
			return nil, fmt.Errorf("changes.voice is %q: expected one of %s", c.Voice, strings.Join(voices, ", "))
		}
		changed.opts.Voice = c.Voice
	}
	var err error
	if changed.changes, err = json.Marshal(c); err != nil {
		return nil, fmt.Errorf("changes: %w", err)
	}
	return &changed, nil
}

// again returns a copy of an agent with the changes of a stored conversation. If the agent
// cannot have them any more, it returns the agent, and logs why.
func (a *served) again(c journal.Checkpoint) *served {
	if c.Changes == nil {
		return a
	}
	var changes api.Changes
	err := json.Unmarshal(c.Changes, &changes)
	if err == nil {
		var changed *served
		if changed, err = a.with(changes); err == nil {
			return changed
		}
	}
	a.log.Warn("a conversation continues without the changes that a developer has made to its agent", "conversation", c.ID, "agent", a.name, "error", err)
	return a
}
