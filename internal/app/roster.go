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

// roster has the agents of a server, each in the version that new conversations get, and
// the versions of others that conversations of the store go on with. It is safe for
// concurrent use.
type roster struct {
	opening sync.Mutex // held while a version is equipped, which opens what others share

	mu    sync.Mutex // guards all below
	now   []*served  // in the order of the options
	older map[string]*served
}

// olderMost bounds the versions that stay in memory for the next conversation of the
// store.
const olderMost = 16

// set begins the list.
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

// named returns an agent, nil if there is none of that name.
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

// replace puts a version in the place of another.
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

// known returns a version that is in memory, nil if it is not.
func (r *roster) known(name, digest string) *served {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.older[name+" "+digest]
}

// add notes a version for the next conversation.
func (r *roster) add(a *served) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(a)
}

// keep is add, with mu held.
func (r *roster) keep(a *served) {
	if len(r.older) >= olderMost {
		clear(r.older)
	}
	r.older[a.name+" "+a.digest] = a
}

// shown are the agents for clients.
func (r *roster) shown() []api.Agent {
	var list []api.Agent
	for _, a := range r.list() {
		list = append(list, api.Agent{
			Name: a.name, Language: a.agent.Language(), Speech: a.speech != nil, Version: a.version(), LoadedAt: a.loadedAt,
		})
	}
	return list
}

// versionOf returns a version of an agent, which may be that of now. The error is a
// lostError if the store answers, and the version is not to be had.
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
	quiet := func(string) {} // it was remarked when the version was new
	a, err := s.newServed(now.name, now.path, def, quiet)
	if err == nil {
		err = s.equip(a, quiet) //nolint:contextcheck // what it opens outlives who asks for it
	}
	if err != nil {
		return nil, lostError{err}
	}
	s.roster.add(a)
	return a, nil
}

// errOther says that a conversation cannot go on with any agent that this server has.
var errOther = errors.New("the conversation cannot go on with its agent")

// goesOnWith returns the agent that a conversation of the store goes on with: the version
// that it began with, whatever has become of the agent since. Where that is lost, it is the
// version of now if the conversation can go on with it. Every other outcome than the first
// is in the log. The error is errOther, or the store's.
func (s *Server) goesOnWith(ctx context.Context, c journal.Checkpoint, hold port.Hold) (*served, error) {
	log := s.o.Log.With("conversation", c.ID, "agent", c.Agent)
	now := s.roster.named(c.Agent)
	if now == nil {
		log.Error("a conversation cannot go on: this server does not have its agent")
		return nil, errOther
	}
	if c.AgentDigest != "" {
		a, err := s.versionOf(ctx, now, c.AgentDigest)
		_, lost := errors.AsType[lostError](err)
		switch {
		case err != nil && !lost:
			return nil, err
		case err == nil && fits(a.agent, a.opts, c.Snapshot) == nil:
			return a, nil
		}
		log = log.With("version", journal.ShortDigest(c.AgentDigest), "lost", err)
	}
	if err := fits(now.agent, now.opts, c.Snapshot); err != nil {
		log.Error("a conversation cannot go on: its agent has changed, and the version that it began with is not known", "error", err)
		return nil, errOther
	}
	if c.AgentDigest != "" {
		log.Warn("a conversation goes on with another version of its agent", "with", now.version())
	}
	err := now.keepVersion(ctx, hold)
	return now, err
}
