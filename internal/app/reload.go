package app

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/journal"
)

// lookEvery is the time between checks for changed files.
const lookEvery = 2 * time.Second

// watch reloads agents, API keys and the certificate when their files change or
// ServeOptions.Reload asks for it, until ctx ends.
func (s *Server) watch(ctx context.Context) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	var probes sync.WaitGroup
	defer probes.Wait()
	agents := reloader{s: s, seen: make(map[string]string), refused: make(map[string]string)}
	file := configFile{s: s}
	if s.o.Config != "" && s.o.Within == nil && settings.Regular(s.o.Config) == nil {
		file.path = s.o.Config
	}
	for {
		if fresh := s.models.unprobed(); len(fresh) > 0 {
			probes.Go(func() { probe(ctx, fresh, s.o.Log) }) // a model's server may take its time
		}
		select {
		case <-ctx.Done():
			return
		case <-s.o.Reload:
			s.secrets.changed()
			s.secrets.reload()
			agents.look(true) //nolint:contextcheck // what it opens outlives ctx
			file.look(true)
		case <-look.C:
			if s.secrets.changed() {
				s.secrets.reload()
			}
			agents.look(false) //nolint:contextcheck // what it opens outlives ctx
			file.look(false)
		}
	}
}

// configFile watches the config file, which is read only at the start. It logs that a change
// needs a restart, or that the server would not start with it. It must be used by one goroutine.
type configFile struct {
	s    *Server
	path string // empty if there is no file, or one that cannot be read again
	seen string // the result of the last check
	told string // the result that was logged last; empty: the file is as at the start
}

// look compares the file with what was read at the start. Unless it was requested, it waits until
// two checks find the same, since the file may be partly written.
func (f *configFile) look(requested bool) {
	if f.path == "" {
		return
	}
	changed, err := f.changed()
	found := strings.Join(changed, " ")
	if err != nil {
		found = err.Error()
	}
	was := f.seen
	if f.seen = found; !requested && (was != found || f.told == found) || found == "" && f.told == "" {
		return
	}
	f.told = found
	log := f.s.o.Log.With("file", f.path)
	switch {
	case err != nil:
		log.Error("the config file has changed, and the server would not start with it", "error", strings.ReplaceAll(err.Error(), "\n", "; "))
	case len(changed) > 0:
		log.Warn("the config file has changed: restart the server to apply it", "keys", changed)
	default:
		log.Info("the config file is again as the server read it at the start")
	}
}

// changed returns the keys whose values differ from those at the start. It returns the error that
// hocket check reports for the file, or that an agent reports for its part of it.
func (f *configFile) changed() ([]string, error) {
	if err := settings.Regular(f.path); err != nil {
		return nil, err
	}
	c, err := config.Load(f.path)
	if err != nil {
		return nil, err
	}
	if _, err := NewOptions(c); err != nil {
		return nil, err
	}
	for _, a := range f.s.roster.list() {
		if _, err := optionsOf(a.agent, c); err != nil {
			return nil, err
		}
	}
	return c.Changed(f.s.installation), nil
}

// reloader reloads the agents of a server. It compares the contents of the files, since
// the modification time does not show a replaced link, or the second of two changes
// within the resolution of the file system's clock. It must be used by one goroutine.
type reloader struct {
	s       *Server
	seen    map[string]string // by agent: the digest, or the error, of the last check
	refused map[string]string // by agent: the digest or error that was logged last
}

// look loads the agents whose files have changed. Unless it was requested, it waits until
// two checks find the same contents, since a file may be partly written.
func (r *reloader) look(requested bool) {
	for _, a := range r.s.roster.list() {
		if a.path != "" {
			r.one(a, requested)
		}
	}
}

func (r *reloader) one(a *served, requested bool) {
	files, digest, err := readVersion(a.path)
	found := digest
	if err != nil {
		found = err.Error()
	}
	was := r.seen[a.name]
	if r.seen[a.name] = found; !requested && was != found {
		return
	}
	if err == nil && digest == a.digest {
		delete(r.refused, a.name)
		return
	}
	if !requested && r.refused[a.name] == found {
		return // it was logged already
	}
	log := r.s.o.Log.With("agent", a.name)
	if err == nil {
		err = r.load(a, files)
	}
	if err != nil {
		r.refused[a.name] = found
		log.Error("the agent was not loaded: its version stays in use", "version", a.version(),
			"error", strings.ReplaceAll(err.Error(), "\n", "; "))
		return
	}
	delete(r.refused, a.name)
	log.Info("the agent was loaded", "version", journal.ShortDigest(digest), "before", a.version())
}

// readVersion reads the files of an agent.
func readVersion(path string) (files []agent.File, digest string, err error) {
	if err := settings.Regular(path); err != nil {
		return nil, "", fmt.Errorf("agent: %w", err)
	}
	if files, err = settings.ReadAgent(path); err != nil {
		return nil, "", err
	}
	digest, _, err = journal.EncodeAgent(files)
	return files, digest, err
}

// load replaces the version of an agent for new conversations.
func (r *reloader) load(was *served, files []agent.File) error {
	s := r.s
	s.roster.opening.Lock()
	defer s.roster.opening.Unlock()
	note := func(n string) { s.o.Log.Warn("note on a loaded agent", "agent", was.name, "note", n) }
	def, err := settings.Compile(files)
	if err != nil {
		return err
	}
	a, err := s.newServed(was.name, was.path, def, note)
	if err == nil {
		err = s.equip(a, note)
	}
	if err != nil {
		return err
	}
	s.roster.replace(was, a)
	return nil
}
