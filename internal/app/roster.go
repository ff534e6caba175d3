package app

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/api"
)

// roster contains the agents of a server, each in the version for new conversations, and
// older versions for resumed conversations. It is safe for concurrent use.
type roster struct {
	opening sync.Mutex // locked while a version is equipped, which may open shared parts

	mu    sync.Mutex         // guards the fields below
	now   []*served          // in the order of the options
	older map[string]*served // by name and digest
}

// olderMost bounds the number of older versions in memory.
const olderMost = 16

// set sets the list.
func (r *roster) set(list []*served) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now, r.older = slices.Clone(list), make(map[string]*served)
}

// list returns the agents.
func (r *roster) list() []*served {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.now)
}

// named returns the agent of a name, or nil if there is none.
func (r *roster) named(name string) *served {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.now {
		if a.name == name {
			return a
		}
	}
	return nil
}

// replace replaces a version by another.
func (r *roster) replace(was, a *served) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.now {
		if r.now[i] == was {
			r.now[i] = a
		}
	}
	r.keep(was)
}

// known returns an older version, or nil if it is not in memory.
func (r *roster) known(name, digest string) *served {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.older[name+" "+digest]
}

// add adds an older version.
func (r *roster) add(a *served) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(a)
}

// keep adds an older version. It requires mu.
func (r *roster) keep(a *served) {
	if len(r.older) >= olderMost {
		clear(r.older)
	}
	r.older[a.name+" "+a.digest] = a
}

// shown returns the agents as they are listed for clients.
func (r *roster) shown() []api.Agent {
	var list []api.Agent
	for _, a := range r.list() {
		list = append(list, api.Agent{
			Name: a.name, Language: a.agent.Language(), Speech: a.speech != nil, Version: a.version(), LoadedAt: a.loadedAt,
			Description: a.agent.Description(), Recording: a.records("webrtc"),
		})
	}
	return list
}

// versionOf returns a version of an agent, current or older. The error is a versionError
// if the store answers and the version is not available.
func (s *Server) versionOf(ctx context.Context, now *served, digest string) (*served, error) {
	if digest == now.digest {
		return now, nil
	}
	if a := s.roster.known(now.name, digest); a != nil {
		return a, nil
	}
	def, err := s.store.version(ctx, digest)
	if err != nil {
		return nil, err
	}
	s.roster.opening.Lock()
	defer s.roster.opening.Unlock()
	quiet := func(string) {} // the notes were logged when the version was new
	a, err := s.newServed(now.name, now.path, def, quiet)
	if err == nil {
		err = s.equip(a, quiet) //nolint:contextcheck // what it opens outlives ctx
	}
	if err != nil {
		return nil, versionError{err}
	}
	s.roster.add(a)
	return a, nil
}

// errNoAgent reports that no agent of this server can continue a conversation.
var errNoAgent = errors.New("the conversation cannot be continued with its agent")

// agentFor returns the agent for a stored conversation: the version with which it began,
// or, if that is not available, the current version if it fits the conversation. It logs
// every result other than the first. The error is errNoAgent or an error of the store.
func (s *Server) agentFor(ctx context.Context, c journal.Checkpoint, hold port.Hold) (*served, error) {
	log := s.o.Log.With("conversation", c.ID, "agent", c.Agent)
	now := s.roster.named(c.Agent)
	if now == nil {
		log.Error("a conversation cannot be resumed: this server does not have its agent")
		return nil, errNoAgent
	}
	if c.AgentDigest != "" {
		a, err := s.versionOf(ctx, now, c.AgentDigest)
		_, lost := errors.AsType[versionError](err)
		switch {
		case err != nil && !lost:
			return nil, err
		case err == nil && fits(a.agent, a.opts, c.Snapshot) == nil:
			return a, nil
		}
		log = log.With("version", journal.ShortDigest(c.AgentDigest), "lost", err)
	}
	if err := fits(now.agent, now.opts, c.Snapshot); err != nil {
		log.Error("a conversation cannot be resumed: its agent has changed and the version with which it began is not available", "error", err)
		return nil, errNoAgent
	}
	if c.AgentDigest != "" {
		log.Warn("a conversation continues with another version of its agent", "with", now.version())
	}
	err := now.storeVersion(ctx, hold)
	return now, err
}
