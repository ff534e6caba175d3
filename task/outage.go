package task

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	codes "modernc.org/sqlite/lib"

	"github.com/hocketvoice/hocket/internal/sqlitefile"
)

// outage logs once when the database stops answering, and once when it answers again.
// Without it, each of a worker's calls, several per second, would log an error. It is
// safe for concurrent use.
type outage struct {
	log slog.Handler

	mu          sync.Mutex // guards the times
	since, last time.Time  // of the first and the last failed call; zero while the database answers
}

// settled is the time without a failed call after which an outage is over.
const settled = time.Second

// failed records a failed call and logs the first.
func (o *outage) failed(ctx context.Context, err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = time.Now()
	if !o.since.IsZero() {
		return nil
	}
	o.since = o.last
	return o.tell(ctx, slog.LevelWarn, "the database of tasks does not answer: running tasks continue, and their results are written when it does", slog.Any("err", err))
}

// answered records a successful call and logs the end of an outage.
func (o *outage) answered(ctx context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if o.since.IsZero() || now.Sub(o.last) < settled {
		return
	}
	lasted := o.last.Sub(o.since)
	o.since = time.Time{}
	_ = o.tell(ctx, slog.LevelInfo, "the database of tasks answers again", slog.Duration("after", lasted.Round(time.Second))) // an error of the log has no receiver
}

func (o *outage) tell(ctx context.Context, level slog.Level, text string, attr slog.Attr) error {
	if !o.log.Enabled(ctx, level) {
		return nil
	}
	r := slog.NewRecord(time.Now(), level, text, 0)
	r.AddAttrs(attr)
	return o.log.Handle(ctx, r)
}

// quiet is the handler of all logs about the database, including the engine's. It logs
// errors of a database that does not answer at level debug only.
type quiet struct {
	slog.Handler
	outage *outage
}

// Handle passes the record on, or records a failed call.
func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	var err error
	r.Attrs(func(a slog.Attr) bool {
		e, ok := a.Value.Any().(error)
		if ok && unanswered(e) {
			err = e
		}
		return err == nil
	})
	if err == nil || r.Level < slog.LevelWarn {
		return q.Handler.Handle(ctx, r)
	}
	if err := q.outage.failed(ctx, err); err != nil {
		return err
	}
	if r.Level = slog.LevelDebug; !q.Enabled(ctx, r.Level) {
		return nil
	}
	return q.Handler.Handle(ctx, r)
}

// WithAttrs returns a quiet handler with attributes.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quiet{q.Handler.WithAttrs(attrs), q.outage}
}

// WithGroup returns a quiet handler with a group.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name), q.outage} }

// unanswered reports whether an error means that the database cannot be reached or does
// not work, so that any other statement would fail too.
func unanswered(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		// https://www.postgresql.org/docs/current/errcodes-appendix.html: errors of
		// connections, resources, operator intervention and the system.
		return len(e.Code) == 5 && slices.Contains([]string{"08", "53", "57", "58"}, e.Code[:2])
	}
	if code := sqlitefile.Code(err); code != 0 {
		switch code {
		case codes.SQLITE_BUSY, codes.SQLITE_LOCKED, codes.SQLITE_IOERR, codes.SQLITE_FULL, codes.SQLITE_CANTOPEN, codes.SQLITE_READONLY:
			return true
		default:
			return false
		}
	}
	_, network := errors.AsType[net.Error](err) // includes timeouts
	return network || pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, net.ErrClosed)
}
