package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"sync"
)

// readers is how many calls of Load run at once.
const readers = 4

// Store keeps snapshots in a file. It is safe for concurrent use.
type Store struct {
	opts Options
	file string // Path from the root: the folder that the process is in may change

	// One connection writes: the file takes one writer anyway, and a queue is
	// fairer than a lock. Others read, which never waits for a writer.
	writer, reader     *sql.DB
	save, remove, load *sql.Stmt

	mu     sync.Mutex // guards closed, and that no call begins behind it
	closed bool
	calls  sync.WaitGroup // those that run
}

// Open opens the store, makes its file, or brings it to the version of this
// program. ctx bounds Open alone.
func Open(ctx context.Context, o Options) (*Store, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := &Store{opts: o.withDefaults()}
	if err := s.open(ctx); err != nil {
		return nil, s.fail(ctx, "open", errors.Join(err, s.close()))
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.file, err = filepath.Abs(s.opts.Path); err != nil {
		return err
	}
	if err := prepareFile(s.file); err != nil {
		return err
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	if s.writer, err = connect(s.file, 1, "_txlock=immediate"); err != nil {
		return err
	}
	if s.reader, err = connect(s.file, readers, "_query_only=1"); err != nil {
		return err
	}
	return s.retry(ctx, func() error { return s.begin(ctx) })
}

// begin switches the log on, before a reader comes, and prepares the statements.
func (s *Store) begin(ctx context.Context) error {
	var mode string
	if err := s.writer.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the journal's mode is %q, expected wal: is the file on a local disk?", mode)
	}
	for _, p := range []struct {
		stmt **sql.Stmt
		db   *sql.DB
		text string
	}{
		{&s.save, s.writer, `INSERT INTO snapshots (id, saved, checksum, snapshot) VALUES (?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET saved = excluded.saved, checksum = excluded.checksum, snapshot = excluded.snapshot`},
		{&s.remove, s.writer, `DELETE FROM snapshots WHERE id = ?`},
		{&s.load, s.reader, `SELECT length(snapshot), checksum, CASE WHEN length(snapshot) <= ? THEN snapshot END
			FROM snapshots WHERE id = ?`},
	} {
		if *p.stmt != nil {
			continue // prepared in an earlier try
		}
		stmt, err := p.db.PrepareContext(ctx, p.text)
		if err != nil {
			return err
		}
		*p.stmt = stmt
	}
	return nil
}

// Close waits for the calls that run, moves the log into the file if no other
// store has it open, and ends the connections. Calls after it fail; closing
// again does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	s.calls.Wait()
	if again {
		return nil
	}
	if err := s.close(); err != nil {
		return s.fail(context.Background(), "close", err)
	}
	return nil
}

func (s *Store) close() error {
	var errs []error
	for _, stmt := range []*sql.Stmt{s.load, s.remove, s.save} {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	// The writer last: the last connection tidies up, which a reader may not.
	for _, db := range []*sql.DB{s.reader, s.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// Save replaces the snapshot of a conversation, in one transaction. id is 1 to
// [MaxID] bytes, of any kind. When Save returns nil the snapshot survives the
// process. When it fails the one before is still there, but for an error of ctx,
// where either may be.
func (s *Store) Save(ctx context.Context, id string, snapshot []byte) error {
	err := checkID(id)
	if err == nil && len(snapshot) > s.opts.MaxSnapshot {
		err = fmt.Errorf("the snapshot has %d bytes, expected at most %d", len(snapshot), s.opts.MaxSnapshot)
	}
	if err == nil {
		if snapshot == nil {
			snapshot = []byte{} // nil is NULL
		}
		saved := s.opts.Now().UnixMilli()
		err = s.do(ctx, func() error {
			_, err := s.save.ExecContext(ctx, []byte(id), saved, checksum(id, snapshot), snapshot)
			return err
		})
	}
	return s.fail(ctx, "save "+quote(id), err)
}

// Load returns the snapshot of a conversation; ok is false where there is none.
// One that is larger than MaxSnapshot, or that is not what was saved, is an error.
func (s *Store) Load(ctx context.Context, id string) (snapshot []byte, ok bool, err error) {
	if err := checkID(id); err != nil {
		return nil, false, s.fail(ctx, "load "+quote(id), err)
	}
	var size, sum int64
	err = s.do(ctx, func() error {
		return s.load.QueryRowContext(ctx, s.opts.MaxSnapshot, []byte(id)).Scan(&size, &sum, &snapshot)
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, false, nil
	case err != nil:
	case size > int64(s.opts.MaxSnapshot):
		err = fmt.Errorf("the snapshot has %d bytes, expected at most %d", size, s.opts.MaxSnapshot)
	case sum != checksum(id, snapshot):
		err = errors.New("the file is damaged: the checksum of the snapshot is wrong")
	default:
		return snapshot, true, nil
	}
	return nil, false, s.fail(ctx, "load "+quote(id), err)
}

// Delete removes the snapshot of a conversation. Deleting what is not there is no
// error. Its bytes are overwritten in the file at the next [Store.Expire] or when
// the last store of the file is closed; until then the log has them.
func (s *Store) Delete(ctx context.Context, id string) error {
	err := checkID(id)
	if err == nil {
		err = s.do(ctx, func() error {
			_, err := s.remove.ExecContext(ctx, []byte(id))
			return err
		})
	}
	return s.fail(ctx, "delete "+quote(id), err)
}

func checkID(id string) error {
	if id == "" || len(id) > MaxID {
		return fmt.Errorf("the id has %d bytes, expected 1 to %d", len(id), MaxID)
	}
	return nil
}

// quote is an id for a message: one line, and not a long one.
func quote(id string) string {
	const longest = 64
	if len(id) > longest {
		return fmt.Sprintf("%q...", id[:longest])
	}
	return fmt.Sprintf("%q", id)
}

// checksum has the id in it: a damaged index that leads to the wrong row is found.
func checksum(id string, snapshot []byte) int64 {
	return int64(crc32.Update(crc32.ChecksumIEEE([]byte(id)), crc32.IEEETable, snapshot))
}
