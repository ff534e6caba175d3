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

// outage says once that the database does not answer, and once that it does again: a
// worker asks it several times a second, and each of its calls would say so. It is safe
// for concurrent use.
type outage struct {
	log slog.Handler

	mu          sync.Mutex // guards the times
	since, last time.Time  // of the first call that failed, and of the last; zero while it answers
}

// settled is how long no call fails before an outage is over.
const settled = time.Second

// failed tells of the first call.
func (o *outage) failed(ctx context.Context, err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = time.Now()
	if !o.since.IsZero() {
		return nil
	}
	o.since = o.last
	return o.tell(ctx, slog.LevelWarn, "the database of tasks does not answer: what runs goes on, and is written when it does", slog.Any("err", err))
}

// answered tells of the end.
func (o *outage) answered(ctx context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if o.since.IsZero() || now.Sub(o.last) < settled {
		return
	}
	lasted := o.last.Sub(o.since)
	o.since = time.Time{}
	_ = o.tell(ctx, slog.LevelInfo, "the database of tasks answers again", slog.Duration("after", lasted.Round(time.Second))) // nobody takes the error of a log
}

func (o *outage) tell(ctx context.Context, level slog.Level, text string, attr slog.Attr) error {
	if !o.log.Enabled(ctx, level) {
		return nil
	}
	r := slog.NewRecord(time.Now(), level, text, 0)
	r.AddAttrs(attr)
	return o.log.Handle(ctx, r)
}

// quiet is the log of all that asks the database, the engine included. What has failed
// because it does not answer is told to those alone who look for every detail.
type quiet struct {
	slog.Handler
	outage *outage
}

// Handle tells of an outage, or hands the record on.
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

// WithAttrs and WithGroup keep the engine's loggers quiet.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quiet{q.Handler.WithAttrs(attrs), q.outage}
}

// WithGroup does the same for a group.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name), q.outage} }

// unanswered says whether an error is that of a database that cannot be reached, or does
// not work: whatever is asked, it would be the same.
func unanswered(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		// https://www.postgresql.org/docs/current/errcodes-appendix.html: connections,
		// resources, an operator's intervention, the system.
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
	_, network := errors.AsType[net.Error](err) // a time that is over too
	return network || pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, net.ErrClosed)
}
