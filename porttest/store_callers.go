package porttest

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/hocketvoice/hocket/port"
)

// This file implements the marks of callers.

// Mark marks a conversation.
func (s *Store) Mark(ctx context.Context, id string, mark []byte) error {
	if _, err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if k, ok := s.snapshots[id]; ok {
		k.mark = append([]byte{}, mark...)
		s.snapshots[id] = k
	}
	return nil
}

// Marked returns the marked snapshots, and those of which it is not known.
func (s *Store) Marked(ctx context.Context, marks, prefixes [][]byte) (list []port.Entry, err error) {
	if _, err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	for id, k := range s.snapshots {
		marked := slices.ContainsFunc(marks, func(m []byte) bool { return bytes.Equal(m, k.mark) })
		known := slices.ContainsFunc(prefixes, func(p []byte) bool { return bytes.HasPrefix(k.mark, p) })
		if marked || k.mark == nil || !known {
			list = append(list, port.Entry{ID: id, Saved: k.saved.UTC(), Size: len(k.snapshot), Marked: marked})
		}
	}
	slices.SortFunc(list, func(a, b port.Entry) int {
		return cmp.Or(b.Saved.Compare(a.Saved), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}
