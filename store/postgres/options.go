package postgres

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hocketvoice/hocket/store"
)

// DefaultTimeout is the default of [Options].Timeout.
const DefaultTimeout = 5 * time.Second

// Options configure a [Store]. URL alone must be set; the zero value of every other
// field is its default.
type Options struct {
	// URL is postgres://user:password@host:port/database?setting=value, with the
	// settings of libpq and of pgx's pool: sslmode, sslrootcert, pool_max_conns...
	URL string
	// Existing says that the database must be a store already: Open fails with
	// [ErrNone] where it is none, and changes nothing.
	Existing bool
	// Timeout bounds each call, the wait for a connection included, here and in the
	// database; [DefaultTimeout] if 0. The context of a call may end it earlier.
	Timeout time.Duration
	// MaxSnapshot bounds a snapshot, or a piece of a journal, that is written or
	// read, in bytes; [store.DefaultMaxSnapshot] if 0, at most [store.LargestSnapshot].
	MaxSnapshot int
}

// ErrNone says that a database is no store.
var ErrNone = errors.New("the database is no store: it has no schema hocket")

// Validate reports the first setting that makes no sense. It connects to nobody.
func (o Options) Validate() error {
	_, err := o.pool()
	return err
}

func (o Options) withDefaults() Options {
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxSnapshot == 0 {
		o.MaxSnapshot = store.DefaultMaxSnapshot
	}
	return o
}

// IsURL reports whether a text is meant to be the URL of a database.
func IsURL(text string) bool {
	return strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://")
}

// pool is the configuration of the connections. No error has the URL in it: what is
// no URL may still hold a password.
func (o Options) pool() (*pgxpool.Config, error) {
	switch {
	case !IsURL(o.URL):
		return nil, errors.New("store: the URL is none of PostgreSQL, expected postgres://user@host/database")
	case o.Timeout < 0:
		return nil, fmt.Errorf("store: Timeout is %v, expected 0 or more", o.Timeout)
	}
	if err := store.CheckMost(o.MaxSnapshot); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	c, err := pgxpool.ParseConfig(o.URL)
	if err != nil || split(o.URL) {
		return nil, errURL(err)
	}
	// A connection that nobody answers on is given up, and the database ends what it
	// still does for one that is gone.
	if c.ConnConfig.ConnectTimeout == 0 || c.ConnConfig.ConnectTimeout > o.Timeout {
		c.ConnConfig.ConnectTimeout = o.Timeout
	}
	for _, name := range []string{"statement_timeout", "idle_in_transaction_session_timeout"} {
		if _, ok := c.ConnConfig.RuntimeParams[name]; !ok {
			c.ConnConfig.RuntimeParams[name] = fmt.Sprint(o.Timeout.Milliseconds())
		}
	}
	if _, ok := c.ConnConfig.RuntimeParams["application_name"]; !ok {
		c.ConnConfig.RuntimeParams["application_name"] = "hocket"
	}
	// Who has waited for a claim must see what has become of it.
	c.ConnConfig.RuntimeParams["default_transaction_isolation"] = "read committed"
	return c, nil
}

// errURL says that a URL is wrong, in words of its own: nobody knows which part of what
// is no URL was meant to be the password.
func errURL(err error) error {
	why := ""
	if parse, ok := errors.AsType[*pgconn.ParseConfigError](err); ok && parse.Unwrap() != nil {
		switch text := parse.Unwrap().Error(); {
		case strings.HasPrefix(text, "sslmode is invalid"):
			why = ", its sslmode is none that is known"
		case strings.HasPrefix(text, "unable to read CA file"):
			why = ", the file that sslrootcert names cannot be read"
		}
	}
	return fmt.Errorf("store: the URL of PostgreSQL is wrong%s: expected postgres://user@host/database, with special letters in user and password as %%40", why)
}

// split reports whether a URL has lost its user: a letter of the password has ended the
// part that they stand in, and the rest would be taken for a port, a database or a
// setting, which messages name.
func split(text string) bool {
	u, err := url.Parse(text)
	return err != nil || u.User == nil && strings.Contains(text, "@")
}
