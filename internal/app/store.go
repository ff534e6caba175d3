package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/store/sealed"
	"github.com/hocketvoice/hocket/internal/store/sqlite"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

// Store is a file of conversations. It is safe for concurrent use.
type Store struct {
	file *sqlite.Store
	port port.Store // with encryption, where there are keys
}

// OpenStore opens the file of conversations, and makes it if it is not there and
// make says so. What was last saved longer ago than the config keeps is deleted.
func OpenStore(ctx context.Context, path string, c config.Store, create bool) (_ *Store, err error) {
	if !create {
		if _, err := os.Stat(path); err != nil {
			return nil, inputError{fmt.Errorf("store: %w", plain(err))}
		}
	}
	keys, err := storeKeys(c.Keys)
	if err != nil {
		return nil, inputError{err}
	}
	file, err := sqlite.Open(ctx, sqlite.Options{Path: path})
	if err != nil {
		return nil, inputError{err}
	}
	s := &Store{file: file, port: file}
	defer func() { //nolint:contextcheck // an end is not cut short
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if len(keys) > 0 {
		if s.port, err = sealed.New(sealed.Options{Store: file, Keys: keys}); err != nil {
			return nil, err
		}
	}
	if c.Keep > 0 {
		if _, err := file.Expire(ctx, time.Duration(c.Keep)); err != nil {
			return nil, err
		}
	}
	return s, nil
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
func (s *Store) Close() error { return s.file.Close() }

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
	entries, err := s.file.List(ctx, limit)
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

// Load reads a conversation.
func (s *Store) Load(ctx context.Context, id string) (journal.Checkpoint, error) {
	b, ok, err := s.port.Load(ctx, id)
	switch {
	case err != nil:
		return journal.Checkpoint{}, err
	case !ok:
		return journal.Checkpoint{}, inputError{fmt.Errorf("there is no conversation %s in the store", id)}
	case sealed.Sealed(b):
		return journal.Checkpoint{}, inputError{errors.New("the conversation is encrypted: name the variable with its key in the config, as store.keys")}
	}
	c, err := journal.ReadCheckpoint(b)
	if err == nil && c.ID != id {
		err = fmt.Errorf("the conversation %s says that it is %q", id, c.ID)
	}
	return c, err
}

// Delete removes a conversation, from the file and its log.
func (s *Store) Delete(ctx context.Context, id string) error {
	if _, ok, err := s.file.Load(ctx, id); err == nil && !ok {
		return inputError{fmt.Errorf("there is no conversation %s in the store", id)}
	}
	return s.port.Delete(ctx, id)
}

// keeping is how a conversation is kept in a store, or goes on from it.
type keeping struct {
	store   *Store
	id      string
	points  session.Checkpoints
	restore json.RawMessage // nil: a new one
}

// keep opens a store for one conversation of an agent's, new or resumed. Without a
// path nothing is kept.
func keep(ctx context.Context, path, resume, agent, transport string, c config.Store) (keeping, error) {
	k := keeping{id: NewID()}
	if path == "" {
		if resume != "" {
			return k, inputError{errors.New("a conversation is resumed from a store: expected --store FILE too")}
		}
		return k, nil
	}
	store, err := OpenStore(ctx, path, c, resume == "")
	if err != nil {
		return k, err
	}
	k.store = store
	k.points = session.Checkpoints{Store: store.port, Agent: agent, Transport: transport}
	if resume == "" {
		return k, nil
	}
	kept, err := store.Load(ctx, resume)
	switch {
	case err != nil:
	case kept.Ended:
		err = inputError{fmt.Errorf("the conversation %s has ended", resume)}
	case kept.Agent != agent:
		err = inputError{fmt.Errorf("the conversation %s is one with the agent %s, not with %s", resume, kept.Agent, agent)}
	}
	if err != nil {
		return k, errors.Join(err, store.Close()) //nolint:contextcheck // an end is not cut short
	}
	k.id, k.restore, k.points.Started = resume, kept.Snapshot, kept.Started
	return k, nil
}

// close ends the store.
func (k *keeping) close() error {
	if k.store == nil {
		return nil
	}
	return k.store.Close()
}
