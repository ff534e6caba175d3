package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	codes "modernc.org/sqlite/lib"

	"github.com/hocketvoice/hocket/internal/sqlitefile"
	"github.com/hocketvoice/hocket/internal/wait"
)

// errBusy reports that other connections prevented a checkpoint, which SQLite returns as
// a row instead of an error.
var errBusy = errors.New("other connections use the file")

func isBusy(err error) bool { return sqlitefile.IsBusy(err) || errors.Is(err, errBusy) }

// do runs a call of the store, with retries, unless the store is closed.
func (s *Store) do(ctx context.Context, f func() error) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return errors.New("the store is closed")
	}
	s.calls.Add(1)
	s.mu.Unlock()
	defer s.calls.Done()
	return s.retry(ctx, f)
}

// retry calls f again while another connection locks the file, until ctx ends or the busy
// timeout has passed.
func (s *Store) retry(ctx context.Context, f func() error) error {
	const first, longest = 200 * time.Microsecond, 10 * time.Millisecond
	var begin time.Time
	for step := first; ; step = min(2*step, longest) {
		err := f()
		if err == nil || !isBusy(err) {
			return err
		}
		now := time.Now()
		if begin.IsZero() {
			begin = now
		}
		left := s.opts.BusyTimeout - now.Sub(begin)
		if left <= 0 {
			return err
		}
		pause := step/2 + rand.N(step/2) // so that two calls do not retry at the same times
		if err := wait.For(ctx, min(pause, left)); err != nil {
			return err
		}
	}
}

// fail adds the file, the operation and an explanation to an error. The driver's messages
// contain names of tables and codes, but no values.
func (s *Store) fail(ctx context.Context, op string, err error) error {
	if err == nil {
		return nil
	}
	if end := ctx.Err(); end != nil {
		err = end // the driver only says "interrupted"
	}
	if what := s.explain(err); what != "" {
		err = fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("store %s: %s: %w", s.opts.Path, op, err)
}

func (s *Store) explain(err error) string {
	switch sqlitefile.Code(err) {
	case codes.SQLITE_NOTADB:
		return "the file is not an SQLite database: expected a store or no file"
	case codes.SQLITE_CORRUPT:
		return "the file is damaged"
	case codes.SQLITE_FULL:
		return "the disk is full"
	case codes.SQLITE_READONLY, codes.SQLITE_PERM, codes.SQLITE_CANTOPEN, codes.SQLITE_AUTH:
		return "the file cannot be opened for writing: expected permission to write the file and its folder"
	case codes.SQLITE_IOERR:
		return "the disk has failed to read or write"
	}
	if isBusy(err) {
		return fmt.Sprintf("other processes have locked the file for %v", s.opts.BusyTimeout)
	}
	return ""
}
