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

// This file reads the versions of agents that are stored with conversations.

// versionError reports that a version of an agent is not available.
type versionError struct{ err error }

// Error returns the reason.
func (e versionError) Error() string { return e.err.Error() }

// Unwrap returns the wrapped error.
func (e versionError) Unwrap() error { return e.err }

// version loads a version of an agent. The error is a versionError if the store answers
// and the version is not available.
func (s *Store) version(ctx context.Context, digest string) (*settings.Agent, error) {
	b, ok, err := s.versions.LoadVersion(ctx, digest)
	switch {
	case errors.Is(err, sealed.ErrOpen):
		return nil, versionError{err}
	case err != nil:
		return nil, err
	case !ok:
		return nil, versionError{fmt.Errorf("the store does not have the version %s of the agent", journal.ShortDigest(digest))}
	}
	files, err := journal.DecodeAgent(digest, b)
	if err != nil {
		return nil, versionError{err}
	}
	def, err := settings.Compile(files)
	if err != nil {
		return nil, versionError{fmt.Errorf("version %s of the agent is invalid in this version of the program: %w", journal.ShortDigest(digest), err)}
	}
	return def, nil
}

// fits returns an error if a conversation cannot continue with a version of its agent.
func fits(def *settings.Agent, o Options, snapshot []byte) error {
	c := o.Conversation
	c.Agent = def.Agent
	if _, err := conv.Restore(c, snapshot); errors.Is(err, conv.ErrOtherAgent) {
		return err
	}
	return nil // other errors of the snapshot are reported when the conversation is resumed
}

// useVersion replaces def and o by those of the version of the agent with which the
// conversation began, if it differs from the version on disk.
func (k *storage) useVersion(ctx context.Context, def **settings.Agent, o *Options, config string, note func(string)) error {
	if k.was == "" {
		return nil
	}
	if note == nil {
		note = func(string) {}
	}
	was, err := k.store.version(ctx, k.was)
	if _, lost := errors.AsType[versionError](err); lost {
		if misfit := fits(*def, *o, k.restore); misfit != nil {
			return inputError{fmt.Errorf("the conversation %s cannot be resumed: %w; with the current version of the agent: %w", k.id, err, misfit)}
		}
		note(fmt.Sprintf("the conversation continues with the current version of the agent: %v", err))
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
	note(fmt.Sprintf("the agent has changed since the conversation began: the conversation continues with version %s", journal.ShortDigest(k.was)))
	*def, *o, k.points.AgentDigest = was, opts, k.was
	return nil
}
