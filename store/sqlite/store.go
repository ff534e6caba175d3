package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"sync"

	"github.com/hocketvoice/hocket/internal/sqlitefile"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/store"
)

// readers is the number of connections for reading.
const readers = 4

var _ store.Engine = (*Store)(nil)

// Store stores conversations in a file. It is safe for concurrent use.
type Store struct {
	opts Options
	file string // absolute path, since the working directory may change
	lost error  // why the write-ahead log is incomplete; see Damaged

	// One connection writes: the file allows only one writer, and a queue is fairer
	// than a lock. Others read, which never waits for the writer.
	writer, reader *sql.DB

	// The prepared statements of every step of a conversation.
	save, load     *sql.Stmt
	trace, records pieces

	mu     sync.Mutex // guards closed; no call begins after it is set
	closed bool
	calls  sync.WaitGroup // the running calls
}

// Open opens a store. It creates the file if needed and migrates it to the version of
// this program. ctx applies to Open only.
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

// Damaged returns an error if the write-ahead log was damaged when the store was opened.
// SQLite has then dropped what follows the damage.
func (s *Store) Damaged() error { return s.lost }

func (s *Store) open(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.file, err = filepath.Abs(s.opts.Path); err != nil {
		return err
	}
	if err := sqlitefile.Prepare(s.file); err != nil {
		return err
	}
	if s.lost = sqlitefile.CheckLog(s.file); s.lost != nil {
		if _, damaged := errors.AsType[*sqlitefile.DamagedError](s.lost); !damaged {
			return s.lost
		}
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

// holds is true if ?5 is the token of the last claim of conversation ?1, or NULL and there
// is no claim.
const holds = "(SELECT token FROM claims WHERE id = ?1) IS ?5"

// token returns the token of a hold as the parameter of holds.
func token(h port.Hold) sql.NullInt64 { return sql.NullInt64{Int64: h.Token, Valid: h.Token != 0} }

// held returns port.ErrFenced if a write has changed no row.
func held(r sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return port.ErrFenced
}

// begin enables the write-ahead log, which must precede the first reader, and prepares
// the statements.
func (s *Store) begin(ctx context.Context) error {
	var mode string
	if err := s.writer.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the journal mode is %q: expected wal (is the file on a local disk?)", mode)
	}
	for _, p := range []struct {
		stmt **sql.Stmt
		db   *sql.DB
		text string
	}{
		// If the hold is not that of the last claim there is no row to insert.
		{&s.save, s.writer, `INSERT INTO snapshots (id, saved, checksum, snapshot)
			SELECT ?1, ?2, ?3, ?4 WHERE ` + holds + `
			ON CONFLICT (id) DO UPDATE SET saved = excluded.saved, checksum = excluded.checksum, snapshot = excluded.snapshot`},
		{&s.load, s.reader, `SELECT length(snapshot), checksum, CASE WHEN length(snapshot) <= ? THEN snapshot END
			FROM snapshots WHERE id = ?`},
		{&s.trace.add, s.writer, adding("journal")},
		{&s.trace.next, s.reader, reading("journal")},
		{&s.records.add, s.writer, adding("recordings")},
		{&s.records.next, s.reader, reading("recordings")},
	} {
		if *p.stmt != nil {
			continue // prepared by an earlier attempt
		}
		stmt, err := p.db.PrepareContext(ctx, p.text)
		if err != nil {
			return err
		}
		*p.stmt = stmt
	}
	return nil
}

// Close waits for running calls, moves the log into the file if no other store has it
// open, and closes the connections. Later calls fail; calling Close again does nothing.
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
	for _, stmt := range []*sql.Stmt{s.records.next, s.records.add, s.trace.next, s.trace.add, s.load, s.save} {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	// The writer comes last: the last connection moves the log, which a reader cannot.
	for _, db := range []*sql.DB{s.reader, s.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// Save checks the hold and replaces the snapshot of a conversation in one transaction. The
// id has 1 to [store.MaxID] bytes. If Save returns nil the snapshot survives the process.
// If it fails the store still has the previous one; if ctx has ended it may have either.
func (s *Store) Save(ctx context.Context, h port.Hold, snapshot []byte) error {
	err := errors.Join(store.CheckID(h.ID), store.CheckSize("snapshot", len(snapshot), s.opts.MaxSnapshot))
	if err == nil {
		if snapshot == nil {
			snapshot = []byte{} // nil is NULL
		}
		saved := s.opts.Now().UnixMilli()
		err = s.do(ctx, func() error {
			return held(s.save.ExecContext(ctx, []byte(h.ID), saved, checksum(h.ID, snapshot), snapshot, token(h)))
		})
	}
	return s.fail(ctx, "save "+store.Quote(h.ID), err)
}

// Load returns the snapshot of a conversation. ok is false if there is none. It returns an
// error if the snapshot is larger than MaxSnapshot or its checksum is wrong.
func (s *Store) Load(ctx context.Context, id string) (snapshot []byte, ok bool, err error) {
	if err := store.CheckID(id); err != nil {
		return nil, false, s.fail(ctx, "load "+store.Quote(id), err)
	}
	var size int
	var sum int64
	err = s.do(ctx, func() error {
		return s.load.QueryRowContext(ctx, s.opts.MaxSnapshot, []byte(id)).Scan(&size, &sum, &snapshot)
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, false, nil
	case err != nil:
	case size > s.opts.MaxSnapshot:
		err = store.CheckSize("snapshot", size, s.opts.MaxSnapshot)
	case sum != checksum(id, snapshot):
		err = errors.New("the file is damaged: the checksum of the snapshot is wrong")
	default:
		return snapshot, true, nil
	}
	return nil, false, s.fail(ctx, "load "+store.Quote(id), err)
}

// Delete deletes all data of a conversation. It returns nil if the conversation does not
// exist. After nil, the file and its log no longer contain any deleted data. If Delete
// fails, the log may still contain bytes of the deleted conversation: call it again.
func (s *Store) Delete(ctx context.Context, id string) error {
	err := store.CheckID(id)
	if err == nil {
		err = s.write(ctx, func(tx *sql.Tx) error { return remove(ctx, tx, []byte(id)) })
	}
	if err == nil {
		err = s.do(ctx, func() error { return s.checkpoint(ctx) })
	}
	return s.fail(ctx, "delete "+store.Quote(id), err)
}

// remove deletes a conversation from every table.
func remove(ctx context.Context, tx *sql.Tx, id []byte) error {
	for _, text := range []string{
		"DELETE FROM snapshots WHERE id = ?", "DELETE FROM journal WHERE id = ?", "DELETE FROM recordings WHERE id = ?", "DELETE FROM claims WHERE id = ?", "DELETE FROM versions WHERE id = ?",
	} {
		if _, err := tx.ExecContext(ctx, text, id); err != nil {
			return err
		}
	}
	return tidy(ctx, tx)
}

// write calls f in a transaction, which is rolled back if f fails.
func (s *Store) write(ctx context.Context, f func(*sql.Tx) error) error {
	return s.do(ctx, func() error {
		tx, err := s.writer.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := f(tx); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	})
}

// checksum includes the id, which detects a damaged index that leads to the wrong row.
func checksum(id string, snapshot []byte) int64 {
	return int64(crc32.Update(crc32.ChecksumIEEE([]byte(id)), crc32.IEEETable, snapshot))
}
