package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/store/sealed"
)

// This file: the version of an agent that a conversation is held with, in the store.

// lostError says that a version of an agent cannot be had any more.
type lostError struct{ err error }

// Error says why.
func (e lostError) Error() string { return e.err.Error() }

// Unwrap gives the error itself.
func (e lostError) Unwrap() error { return e.err }

// version reads a version of an agent. The error is a lostError if the store answers, and
// the version is not to be had.
func (s *Store) version(ctx context.Context, digest string) (*settings.Agent, error) {
	b, ok, err := s.versions.LoadVersion(ctx, digest)
	switch {
	case errors.Is(err, sealed.ErrOpen):
		return nil, lostError{err}
	case err != nil:
		return nil, err
	case !ok:
		return nil, lostError{fmt.Errorf("the store does not have the version %s of the agent", journal.ShortDigest(digest))}
	}
	files, err := journal.DecodeAgent(digest, b)
	if err != nil {
		return nil, lostError{err}
	}
	def, err := settings.Compile(files)
	if err != nil {
		return nil, lostError{fmt.Errorf("this program does not take the version %s of the agent: %w", journal.ShortDigest(digest), err)}
	}
	return def, nil
}

// fits reports why a conversation cannot go on with a version of its agent.
func fits(def *settings.Agent, o Options, snapshot []byte) error {
	c := o.Conversation
	c.Agent = def.Agent
	if _, err := conv.Restore(c, snapshot); errors.Is(err, conv.ErrOtherAgent) {
		return err
	}
	return nil // whatever else is wrong with the snapshot is found by who goes on with it
}

// goOn puts the version of the agent that a conversation began with in the place of the
// one on disk, if they differ.
func (k *keeping) goOn(ctx context.Context, def **settings.Agent, o *Options, config string, note func(string)) error {
	if k.was == "" {
		return nil
	}
	if note == nil {
		note = func(string) {}
	}
	was, err := k.store.version(ctx, k.was)
	if _, lost := errors.AsType[lostError](err); lost {
		if misfit := fits(*def, *o, k.restore); misfit != nil {
			return inputError{fmt.Errorf("the conversation %s cannot go on: %w, and with the agent as it is now: %w", k.id, err, misfit)}
		}
		note(fmt.Sprintf("the conversation goes on with the agent as it is now: %v", err))
		_, files, err := journal.EncodeAgent((*def).Files)
		if err != nil {
			return err
		}
		return k.store.versions.KeepVersion(ctx, k.claimed.Hold, k.points.AgentDigest, files)
	}
	if err != nil {
		return err
	}
	opts, err := agentOptions(was, config)
	if err != nil {
		return inputError{fmt.Errorf("the version %s of the agent: %w", journal.ShortDigest(k.was), err)}
	}
	note(fmt.Sprintf("the agent has changed since the conversation began: it goes on with its version %s", journal.ShortDigest(k.was)))
	*def, *o, k.points.AgentDigest = was, opts, k.was
	return nil
}
