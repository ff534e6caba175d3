package app

import (
	"context"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/journal"
)

// lookEvery is how often files are looked at that may have changed.
const lookEvery = 2 * time.Second

// watch reads again what has changed on disk, and all of it when it is told to, until ctx
// ends.
func (s *Server) watch(ctx context.Context) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	agents := reloader{s: s, seen: make(map[string]string), refused: make(map[string]string)}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.o.Reload:
			s.secrets.changed()
			s.secrets.reload()
			agents.look(true) //nolint:contextcheck // what it opens outlives who asks for it
		case <-look.C:
			if s.secrets.changed() {
				s.secrets.reload()
			}
			agents.look(false) //nolint:contextcheck // what it opens outlives who asks for it
		}
	}
}

// reloader reads the agents of a server again. The files are compared by what is in them:
// that is right for a link that is swapped, and for two changes in one tick of the file
// system's clock. It is for one goroutine.
type reloader struct {
	s       *Server
	seen    map[string]string // by agent: what was found last, and not loaded yet
	refused map[string]string // by agent: what was wrong last
}

// look loads the agents whose files have changed. Unless somebody has told it to, it waits
// until it has found the same twice: a file may be half written.
func (r *reloader) look(told bool) {
	for _, a := range r.s.roster.list() {
		if a.path != "" {
			r.one(a, told)
		}
	}
}

func (r *reloader) one(a *served, told bool) {
	files, digest, err := readVersion(a.path)
	found := digest
	if err != nil {
		found = err.Error()
	}
	was := r.seen[a.name]
	if r.seen[a.name] = found; !told && was != found {
		return
	}
	if err == nil && digest == a.digest {
		delete(r.refused, a.name)
		return
	}
	if !told && r.refused[a.name] == found {
		return // it was told
	}
	log := r.s.o.Log.With("agent", a.name)
	if err == nil {
		err = r.load(a, files)
	}
	if err != nil {
		r.refused[a.name] = found
		log.Error("the agent was not loaded, its version stays", "version", a.version(),
			"error", strings.ReplaceAll(err.Error(), "\n", "; "))
		return
	}
	delete(r.refused, a.name)
	log.Info("the agent was loaded", "version", journal.ShortDigest(digest), "before", a.version())
}

// readVersion reads the files of an agent.
func readVersion(path string) (files []agent.File, digest string, err error) {
	if files, err = settings.ReadAgent(path); err != nil {
		return nil, "", err
	}
	digest, _, err = journal.EncodeAgent(files)
	return files, digest, err
}

// load gives new conversations another version of an agent.
func (r *reloader) load(was *served, files []agent.File) error {
	s := r.s
	s.roster.opening.Lock()
	defer s.roster.opening.Unlock()
	note := func(n string) { s.o.Log.Warn("about an agent that is loaded", "agent", was.name, "note", n) }
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
