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
	"github.com/hocketvoice/hocket/internal/seal"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/internal/timezone"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/node"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/store"
	"github.com/hocketvoice/hocket/store/postgres"
	"github.com/hocketvoice/hocket/store/sealed"
)

// Store is a store of conversations: a file or a database. It is safe for concurrent
// use.
type Store struct {
	engine   store.Engine
	port     port.Store // with encryption if there are keys, like the next four
	journal  port.Journal
	sound    port.Journal // the recordings
	tickets  port.Tickets
	versions port.Versions
	callers  port.Callers // with marks: see marks
	registry port.Registry
	box      *seal.Box // nil if the store is not encrypted
	keys     [][]byte  // empty if the store is not encrypted
	shared   bool      // processes of other machines may have it open
}

// OpenStore opens a store, which it creates if create is true and it does not exist.
// place is the path of a file, the URL of a PostgreSQL database, or ${NAME} for the value
// of an environment variable. The keys are those of the config and the one in the file
// beside the store, if there is one. OpenStore deletes the conversations that were last
// saved longer ago than store.keep of the config.
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
	s := &Store{engine: engine, port: engine, registry: engine, journal: engine, sound: engine.Recordings(), tickets: engine, versions: engine, callers: engine, keys: keys, shared: postgres.IsURL(place)}
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
		if s.box, err = seal.New(keys); err != nil {
			return nil, err
		}
	}
	if c.Keep > 0 {
		if _, err := engine.Expire(ctx, time.Duration(c.Keep)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Expire deletes the conversations that were last saved longer ago than age.
func (s *Store) Expire(ctx context.Context, age time.Duration) (int, error) {
	return s.engine.Expire(ctx, age)
}

// seals reports whether the store is encrypted.
func (s *Store) seals() bool { return len(s.keys) > 0 }

// checkedAtMost is the number of conversations that checkKeys tries to open.
const checkedAtMost = 20

// checkKeys returns an error if the last conversations are encrypted and the keys open
// none of them. With wrong keys no client could resume, and new conversations would be
// encrypted with a key that opens none of the others.
func (s *Store) checkKeys(ctx context.Context) error {
	entries, err := s.engine.List(ctx, checkedAtMost)
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
			wrong = inputError{fmt.Errorf("store: no key in store.keys or in the file beside the store opens the conversations saved last: expected the key with which they were encrypted: %w", err)}
		case err != nil:
			return err
		}
	}
	return wrong
}

// storeKeys returns the keys in the environment variables of the given names.
func storeKeys(names []string) ([][]byte, error) {
	keys := make([][]byte, len(names))
	for i, name := range names {
		text, ok := os.LookupEnv(name)
		if !ok {
			return nil, fmt.Errorf("store: the environment variable %s, the key of the store, is not set", name)
		}
		key, err := sealed.ParseKey(text)
		if err != nil {
			return nil, fmt.Errorf("store: %s is not a key: %w", name, err)
		}
		keys[i] = key
	}
	return keys, nil
}

// Close closes the store. No conversation may use it any longer.
func (s *Store) Close() error { return s.engine.Close() }

// NewID returns a new id for a conversation.
func NewID() string { return "conv_" + strings.ToLower(rand.Text()[:16]) }

// StoredConversation is an entry of [Store.List]. Error, if not nil, is the reason why the
// conversation cannot be read.
type StoredConversation struct {
	journal.Checkpoint
	Size  int
	Error error
}

// List returns the conversations that were saved last, the newest first.
func (s *Store) List(ctx context.Context, limit int) ([]StoredConversation, error) {
	entries, err := s.engine.List(ctx, limit)
	if err != nil {
		return nil, err
	}
	list := make([]StoredConversation, len(entries))
	for i, e := range entries {
		c, err := s.Load(ctx, e.ID)
		if err != nil {
			c = journal.Checkpoint{ID: e.ID, Saved: e.Saved}
		}
		list[i] = StoredConversation{c, e.Size, err}
	}
	return list, nil
}

// Load reads a conversation. The error wraps [ErrInput] if the conversation does not
// exist, is invalid or is encrypted with another key.
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
		err = fmt.Errorf("the conversation stored as %s has the id %q", id, c.ID)
	}
	if err != nil {
		return c, inputError{err}
	}
	return c, nil
}

// missingError reports that a conversation is not in the store.
type missingError struct{ id string }

// Error names the conversation.
func (e missingError) Error() string { return "there is no conversation " + e.id + " in the store" }

// Trace writes the journal of a conversation: a trace for each process that has run it.
// It writes nothing if the store has none.
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

// Delete deletes all data of a conversation. It returns a [*port.HeldError] if a process
// holds the conversation.
func (s *Store) Delete(ctx context.Context, id string) error {
	n, held, err := s.registry.Holder(ctx, id)
	if err != nil {
		return err
	}
	if held && !node.DiedHere(n.ID) {
		return inputError{fmt.Errorf("the conversation %s is running: %w", id, &port.HeldError{Node: n})}
	}
	// Without a snapshot there may still be other data.
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

// storage connects one conversation, new or resumed, to a store.
type storage struct {
	store    *Store // nil if the conversation is not stored
	id       string
	points   session.Checkpoints
	restore  json.RawMessage // the snapshot; nil for a new conversation
	location *time.Location  // of a resumed conversation; nil if not known
	claimed  *node.Claimed
	was      string // the agent's digest, if a resumed conversation began with another version
}

// openStorage opens a store for one conversation with an agent and claims the
// conversation for this process. resume is the id of a stored conversation, or empty. If
// path is empty the conversation is not stored.
func openStorage(ctx context.Context, path, resume string, def *settings.Agent, agent, transport string, c config.Store) (_ storage, err error) {
	k := storage{id: NewID()}
	if path == "" {
		if resume != "" {
			return k, inputError{errors.New("a stored conversation can be resumed only from its store: expected --store too")}
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

// noteBehind returns a function that notes when the store stops saving and when it saves
// again.
func noteBehind(note func(string)) func(error) {
	return func(err error) {
		if err == nil {
			note("the conversation is saved again")
			return
		}
		note(err.Error())
	}
}

// begin claims the conversation and, if it is resumed, loads it.
func (k *storage) begin(ctx context.Context, resume bool) (err error) {
	if resume {
		// Check before the claim, since a claim creates an entry.
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
	c, err := k.store.Load(ctx, k.id) // after the claim nobody else writes it
	switch {
	case err != nil:
		return err
	case c.Ended:
		return inputError{fmt.Errorf("the conversation %s has ended", k.id)}
	case c.Agent != k.points.Agent:
		return inputError{fmt.Errorf("the conversation %s is with the agent %s, not with %s", k.id, c.Agent, k.points.Agent)}
	}
	if c.AgentDigest != k.points.AgentDigest {
		k.was = c.AgentDigest
	}
	k.restore, k.location, k.points.Started = c.Snapshot, locationOf(c), c.Started
	return nil
}

// locationOf returns the time zone of a stored conversation, or nil if it has none:
// earlier versions of the program did not store it.
func locationOf(c journal.Checkpoint) *time.Location {
	location, err := timezone.Load(c.Timezone)
	if err != nil {
		return nil
	}
	return location
}

// close releases the conversation and closes the store.
func (k *storage) close() error {
	var err error
	if k.claimed != nil {
		err = k.claimed.Close()
	}
	if k.store != nil {
		err = errors.Join(err, k.store.Close())
	}
	return err
}
