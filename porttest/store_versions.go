package porttest

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/hocketvoice/hocket/port"
)

// This file implements the files of agents.

// KeepVersion stores the files of an agent.
func (s *Store) KeepVersion(ctx context.Context, h port.Hold, digest string, files []byte) error {
	if digest == "" || h.Token == 0 {
		return errors.New("keep version: digest and token must be set")
	}
	if _, err := s.beginHeld(ctx, h); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if _, ok := s.agents[digest]; !ok {
		s.agents[digest] = append([]byte{}, files...)
	}
	s.versions[h.ID] = digest
	s.tidy()
	return nil
}

// LoadVersion returns a copy of the files.
func (s *Store) LoadVersion(ctx context.Context, digest string) (files []byte, ok bool, err error) {
	if _, err := s.begin(ctx); err != nil {
		return nil, false, err
	}
	defer s.mu.Unlock()
	files, ok = s.agents[digest]
	return bytes.Clone(files), ok, nil
}

// tidy deletes the files that no conversation has.
func (s *Store) tidy() {
	used := slices.Collect(maps.Values(s.versions))
	maps.DeleteFunc(s.agents, func(digest string, _ []byte) bool { return !slices.Contains(used, digest) })
}
