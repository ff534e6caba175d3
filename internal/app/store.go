package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/internal/timezone"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/node"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/store/postgres"
	"github.com/hocketvoice/hocket/store/sealed"
)

// Store is where conversations are kept: a file, or a database. It is safe for
// concurrent use.
type Store struct {
	engine   engine
	port     port.Store    // with encryption, where there are keys
	journal  port.Journal  // as well
	sound    port.Journal  // as well: the recordings
	tickets  port.Tickets  // as well
	versions port.Versions // as well
	registry port.Registry
	keys     [][]byte // none: what is kept is not sealed
	shared   bool     // processes of other machines may have it open
}

// OpenStore opens a store, and makes it if it is not there and create says so. place is
// the path of a file, the URL of a PostgreSQL, or ${NAME} for what a variable of the
// environment holds. The keys are those of the config and that in the file beside the
// store, if there is one. What was last saved longer ago than the config keeps is deleted.
func OpenStore(ctx context.Context, place string, c config.Store, create bool) (_ *Store, err error) {
	if place, err = lookUp(place); err != nil {
		return nil, inputError{err}
	}
	keys, err := storeKeys(c.Keys)
	if err != nil {
		return nil, inputError{err}
	}
	beside, err := keyBeside(place)
	if err != nil {
		return nil, inputError{err}
	}
	keys = append(keys, beside...)
	engine, err := openEngine(ctx, place, create)
	if err != nil {
		return nil, err
	}
	s := &Store{engine: engine, port: engine, registry: engine, journal: engine, sound: engine.Recordings(), tickets: engine, versions: engine, keys: keys, shared: postgres.IsURL(place)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if len(keys) > 0 {
		sealing, err := sealed.New(sealed.Options{Store: engine, Journal: engine, Recordings: engine, Tickets: engine, Versions: engine, Keys: keys})
		if err != nil {
			return nil, err
		}
		s.port, s.journal, s.sound, s.tickets, s.versions = sealing, sealing, sealing.Recordings(), sealing, sealing
	}
	if c.Keep > 0 {
		if _, err := engine.Expire(ctx, time.Duration(c.Keep)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Expire deletes what was last saved longer ago than age.
func (s *Store) Expire(ctx context.Context, age time.Duration) (int, error) {
	return s.engine.Expire(ctx, age)
}

// seals reports whether what is kept is encrypted.
func (s *Store) seals() bool { return len(s.keys) > 0 }

// opensAtMost is how many conversations are tried for one that the keys open.
const opensAtMost = 20

// opens fails where the keys open nothing of what was saved last, and some other key would:
// with the wrong ones nobody could come back, and the next conversations would be sealed
// with keys that open nothing else.
func (s *Store) opens(ctx context.Context) error {
	entries, err := s.engine.List(ctx, opensAtMost)
	if err != nil {
		return err
	}
	var wrong error
	for _, e := range entries {
		_, ok, err := s.port.Load(ctx, e.ID)
		switch {
		case err == nil && ok:
			b, _, err := s.engine.Load(ctx, e.ID)
			if err != nil || len(s.keys) > 0 || !sealed.Sealed(b) {
				return err
			}
			wrong = errEncrypted
		case errors.Is(err, sealed.ErrOpen):
			wrong = inputError{fmt.Errorf("store: no key of store.keys or of the file beside the store opens what was saved last: expected the key that it was sealed with: %w", err)}
		case err != nil:
			return err
		}
	}
	return wrong
}

// storeKeys reads the keys that the config names in the environment.
func storeKeys(names []string) ([][]byte, error) {
	keys := make([][]byte, len(names))
	for i, name := range names {
		text, ok := os.LookupEnv(name)
		if !ok {
			return nil, fmt.Errorf("store: the environment has no %s, the key of the store", name)
		}
		key, err := sealed.ParseKey(text)
		if err != nil {
			return nil, fmt.Errorf("store: %s is no key: %w", name, err)
		}
		keys[i] = key
	}
	return keys, nil
}

// Close ends it. It is called when no conversation uses it any more.
func (s *Store) Close() error { return s.engine.Close() }

// NewID makes the id of a conversation.
func NewID() string { return "conv_" + strings.ToLower(rand.Text()[:16]) }

// Kept is a conversation of the store. Error says why it cannot be read.
type Kept struct {
	journal.Checkpoint
	Size  int
	Error error
}

// List are the conversations that were saved last, the newest first.
func (s *Store) List(ctx context.Context, limit int) ([]Kept, error) {
	entries, err := s.engine.List(ctx, limit)
	if err != nil {
		return nil, err
	}
	list := make([]Kept, len(entries))
	for i, e := range entries {
		c, err := s.Load(ctx, e.ID)
		if err != nil {
			c = journal.Checkpoint{ID: e.ID, Saved: e.Saved}
		}
		list[i] = Kept{c, e.Size, err}
	}
	return list, nil
}

// Load reads a conversation. What is no fault of the store's, but of what is kept or of
// the keys, is an [ErrInput].
func (s *Store) Load(ctx context.Context, id string) (journal.Checkpoint, error) {
	b, ok, err := s.port.Load(ctx, id)
	switch {
	case errors.Is(err, sealed.ErrOpen):
		return journal.Checkpoint{}, inputError{err}
	case err != nil:
		return journal.Checkpoint{}, err
	case !ok:
		return journal.Checkpoint{}, inputError{missingError{id}}
	case sealed.Sealed(b):
		return journal.Checkpoint{}, errEncrypted
	}
	c, err := journal.ReadCheckpoint(b)
	if err == nil && c.ID != id {
		err = fmt.Errorf("the conversation %s says that it is %q", id, c.ID)
	}
	if err != nil {
		return c, inputError{err}
	}
	return c, nil
}

// missingError says that nothing is kept of a conversation.
type missingError struct{ id string }

// Error names the conversation.
func (e missingError) Error() string { return "there is no conversation " + e.id + " in the store" }

// Trace writes the journal of a conversation: a trace for each process that has held it.
// It writes nothing where none is kept.
func (s *Store) Trace(ctx context.Context, id string, w io.Writer) error {
	return s.journal.Read(ctx, id, func(_ int, records []byte) error {
		if sealed.Sealed(records) {
			return errEncrypted
		}
		_, err := w.Write(records)
		return err
	})
}

var errEncrypted = inputError{errors.New("the conversation is encrypted: name the variable with its key in the config, as store.keys")}

// Delete removes all that is kept of a conversation. It fails with a [*port.HeldError]
// while a process holds it.
func (s *Store) Delete(ctx context.Context, id string) error {
	n, held, err := s.registry.Holder(ctx, id)
	if err != nil {
		return err
	}
	if held && !node.DiedHere(n.ID) {
		return inputError{fmt.Errorf("the conversation %s goes on: %w", id, &port.HeldError{Node: n})}
	}
	// Where there is no snapshot something else may be left.
	_, ok, err := s.engine.Load(ctx, id)
	missing := err == nil && !ok
	if err := s.engine.Delete(ctx, id); err != nil {
		return err
	}
	if missing {
		return inputError{missingError{id}}
	}
	return nil
}

// keeping is how a conversation is kept in a store, or goes on from it.
type keeping struct {
	store    *Store
	id       string
	points   session.Checkpoints
	restore  json.RawMessage // nil: a new one
	location *time.Location  // of one that goes on; nil: not known
	claimed  *node.Claimed
	was      string // the digest of its agent, of one that began with another version
}

// keep opens a store for one conversation of an agent's, new or resumed, and claims the
// conversation for this process. Without a path nothing is kept.
func keep(ctx context.Context, path, resume string, def *settings.Agent, agent, transport string, c config.Store) (_ keeping, err error) {
	k := keeping{id: NewID()}
	if path == "" {
		if resume != "" {
			return k, inputError{errors.New("a conversation is resumed from a store: expected --store too")}
		}
		return k, nil
	}
	if k.store, err = OpenStore(ctx, path, c, resume == ""); err != nil {
		return k, err
	}
	k.points = session.Checkpoints{Store: k.store.port, Sealed: k.store.seals(), Journal: k.store.journal, Agent: agent, Transport: transport}
	digest, files, err := journal.EncodeAgent(def.Files)
	if err != nil {
		return k, errors.Join(err, k.close()) //nolint:contextcheck // an end is not cut short
	}
	k.points.AgentDigest = digest
	if resume != "" {
		k.id = resume
	}
	if err = k.begin(ctx, resume != ""); err == nil && k.was == "" {
		err = k.store.versions.KeepVersion(ctx, k.claimed.Hold, digest, files)
	}
	if err != nil {
		return k, errors.Join(err, k.close()) //nolint:contextcheck // an end is not cut short
	}
	return k, nil
}

// noteBehind remarks that a store does not save, and that it does again.
func noteBehind(note func(string)) func(error) {
	return func(err error) {
		if err == nil {
			note("the conversation is kept again")
			return
		}
		note(err.Error())
	}
}

// begin claims the conversation and reads what is kept of it.
func (k *keeping) begin(ctx context.Context, resume bool) (err error) {
	if resume {
		// Before the claim: of a conversation that is not there nothing is to be left.
		if _, err := k.store.Load(ctx, k.id); err != nil {
			return err
		}
	}
	k.claimed, err = node.Claim(ctx, k.store.registry, k.id, node.ClaimWait)
	if _, held := errors.AsType[*node.InUseError](err); held {
		return inputError{err}
	}
	if err != nil {
		return err
	}
	k.points.Token = k.claimed.Hold.Token
	if !resume {
		return nil
	}
	kept, err := k.store.Load(ctx, k.id) // after it: nobody else writes it any more
	switch {
	case err != nil:
		return err
	case kept.Ended:
		return inputError{fmt.Errorf("the conversation %s has ended", k.id)}
	case kept.Agent != k.points.Agent:
		return inputError{fmt.Errorf("the conversation %s is one with the agent %s, not with %s", k.id, kept.Agent, k.points.Agent)}
	}
	if kept.AgentDigest != k.points.AgentDigest {
		k.was = kept.AgentDigest
	}
	k.restore, k.location, k.points.Started = kept.Snapshot, locationOf(kept), kept.Started
	return nil
}

// locationOf returns the time zone of a conversation that goes on, nil if it was kept by a
// version that had none.
func locationOf(c journal.Checkpoint) *time.Location {
	location, err := timezone.Load(c.Timezone)
	if err != nil {
		return nil
	}
	return location
}

// close gives the conversation up and ends the store.
func (k *keeping) close() error {
	var err error
	if k.claimed != nil {
		err = k.claimed.Close()
	}
	if k.store != nil {
		err = errors.Join(err, k.store.Close())
	}
	return err
}
