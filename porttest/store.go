package porttest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/port"
)

var (
	_ port.Store      = (*Store)(nil)
	_ port.Journal    = (*Store)(nil)
	_ port.Recordings = (*Store)(nil)
	_ port.Registry   = (*Store)(nil)
	_ port.Archive    = (*Store)(nil)
	_ port.Tickets    = (*Store)(nil)
	_ port.Versions   = (*Store)(nil)
)

// Store keeps conversations in memory. The zero value is ready; it is safe for
// concurrent use.
type Store struct {
	// Now returns the store's time; time.Now if nil. It must be safe for concurrent
	// use.
	Now func() time.Time

	mu        sync.Mutex // guards the fields below
	snapshots map[string]kept
	journals  map[string]*pieces
	sound     map[string]*pieces
	claims    map[string]*claim
	nodes     map[string]beat
	tickets   map[string]ticket // by kind and digest
	versions  map[string]string // digests, by conversation
	agents    map[string][]byte // files, by digest
	last      int64             // the last token
}

// pieces is a journal, with the time of its first piece.
type pieces struct {
	began time.Time
	list  map[int][]byte
}

type kept struct {
	snapshot []byte
	saved    time.Time
	mark     []byte // of the caller
}

// begin locks the store and creates its maps. The caller must unlock it.
func (s *Store) begin(ctx context.Context) (now time.Time, err error) {
	if err := ctx.Err(); err != nil {
		return now, err
	}
	now = time.Now()
	if s.Now != nil {
		now = s.Now()
	}
	s.mu.Lock()
	if s.snapshots == nil {
		s.snapshots, s.journals = make(map[string]kept), make(map[string]*pieces)
		s.sound = make(map[string]*pieces)
		s.versions, s.agents = make(map[string]string), make(map[string][]byte)
		s.claims, s.nodes, s.tickets = make(map[string]*claim), make(map[string]beat), make(map[string]ticket)
	}
	return now, nil
}

// beginHeld is begin for a write under a hold. If it returns an error, the store is not
// locked.
func (s *Store) beginHeld(ctx context.Context, h port.Hold) (time.Time, error) {
	now, err := s.begin(ctx)
	if err != nil {
		return now, err
	}
	if err := s.fenced(h); err != nil {
		s.mu.Unlock()
		return now, err
	}
	return now, nil
}

// fenced returns an error if h does not belong to the last claim.
func (s *Store) fenced(h port.Hold) error {
	token := int64(0)
	if c := s.claims[h.ID]; c != nil {
		token = c.token
	}
	if h.Token != token {
		return port.ErrFenced
	}
	return nil
}

// Save replaces a snapshot.
func (s *Store) Save(ctx context.Context, h port.Hold, snapshot []byte) error {
	now, err := s.beginHeld(ctx, h)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.snapshots[h.ID] = kept{append([]byte{}, snapshot...), now, s.snapshots[h.ID].mark}
	return nil
}

// Load returns a copy of a snapshot.
func (s *Store) Load(ctx context.Context, id string) (snapshot []byte, ok bool, err error) {
	if _, err := s.begin(ctx); err != nil {
		return nil, false, err
	}
	defer s.mu.Unlock()
	k, ok := s.snapshots[id]
	return bytes.Clone(k.snapshot), ok, nil
}

// Delete removes a conversation.
func (s *Store) Delete(ctx context.Context, id string) error {
	if _, err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.remove(id)
	return nil
}

func (s *Store) remove(id string) {
	delete(s.snapshots, id)
	delete(s.journals, id)
	delete(s.sound, id)
	delete(s.claims, id)
	delete(s.versions, id)
	s.tidy()
}

// List returns the newest snapshots.
func (s *Store) List(ctx context.Context, limit int) ([]port.Entry, error) {
	if limit < 1 {
		return nil, fmt.Errorf("list: limit is %d: expected at least 1", limit)
	}
	if _, err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var list []port.Entry
	for id, k := range s.snapshots {
		list = append(list, port.Entry{ID: id, Saved: k.saved.UTC(), Size: len(k.snapshot)})
	}
	slices.SortFunc(list, func(a, b port.Entry) int { return cmp.Or(b.Saved.Compare(a.Saved), cmp.Compare(a.ID, b.ID)) })
	return list[:min(limit, len(list))], nil
}

// Expire deletes conversations older than age.
func (s *Store) Expire(ctx context.Context, age time.Duration) (deleted int, err error) {
	if age <= 0 {
		return 0, fmt.Errorf("expire: age is %v: expected more than 0", age)
	}
	now, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	last := make(map[string]time.Time)
	for id, j := range s.journals {
		last[id] = j.began
	}
	for id, c := range s.claims {
		last[id] = c.moved
	}
	for id, k := range s.snapshots {
		last[id] = k.saved
	}
	for id, at := range last {
		if _, held := s.holder(id, now); !held && at.Before(now.Add(-age)) {
			s.remove(id)
			deleted++
		}
	}
	return deleted, nil
}

// Append adds a piece.
func (s *Store) Append(ctx context.Context, h port.Hold, number int, records []byte) error {
	return s.append(ctx, func() map[string]*pieces { return s.journals }, h, number, records)
}

// Read calls each with copies of the pieces that exist when it begins.
func (s *Store) Read(ctx context.Context, id string, each func(number int, records []byte) error) error {
	return s.read(ctx, func() map[string]*pieces { return s.journals }, id, each)
}

// Recordings returns the recordings.
func (s *Store) Recordings() port.Journal { return recordings{s} }

type recordings struct{ s *Store }

// Append adds a piece.
func (r recordings) Append(ctx context.Context, h port.Hold, number int, records []byte) error {
	return r.s.append(ctx, func() map[string]*pieces { return r.s.sound }, h, number, records)
}

// Read calls each with copies of the pieces that exist when it begins.
func (r recordings) Read(ctx context.Context, id string, each func(number int, records []byte) error) error {
	return r.s.read(ctx, func() map[string]*pieces { return r.s.sound }, id, each)
}

func (s *Store) append(ctx context.Context, in func() map[string]*pieces, h port.Hold, number int, records []byte) error {
	if number < 1 {
		return fmt.Errorf("piece number is %d: expected at least 1", number)
	}
	now, err := s.beginHeld(ctx, h)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	j := in()[h.ID]
	if j == nil {
		j = &pieces{now, make(map[int][]byte)}
		in()[h.ID] = j
	}
	if _, ok := j.list[number]; !ok {
		j.list[number] = append([]byte{}, records...)
	}
	return nil
}

func (s *Store) read(ctx context.Context, in func() map[string]*pieces, id string, each func(number int, records []byte) error) error {
	if _, err := s.begin(ctx); err != nil {
		return err
	}
	var list map[int][]byte
	if j := in()[id]; j != nil {
		list = maps.Clone(j.list)
	}
	s.mu.Unlock()
	for _, number := range slices.Sorted(maps.Keys(list)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := each(number, bytes.Clone(list[number])); err != nil {
			return err
		}
	}
	return nil
}
