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

// Options configures a [Store]. URL must be set; other zero fields select the defaults.
type Options struct {
	// URL is postgres://user:password@host:port/database?setting=value, with the
	// settings of libpq and of pgx's pool: sslmode, sslrootcert, pool_max_conns...
	URL string
	// Existing means that Open does not create a store: it returns [ErrNone] if the
	// database does not contain one.
	Existing bool
	// Timeout is the limit of each call, including the wait for a connection, here and in
	// the database; default [DefaultTimeout]. The context of a call may end it earlier.
	Timeout time.Duration
	// MaxSnapshot is the maximum size of a snapshot, or a piece of a journal, in bytes;
	// default [store.DefaultMaxSnapshot], at most [store.LargestSnapshot].
	MaxSnapshot int
}

// ErrNone reports that a database does not contain a store.
var ErrNone = errors.New("the database does not contain a store: it has no schema hocket")

// Validate returns an error if a setting is invalid. It does not connect to the database.
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

// pool returns the configuration of the connections. Its errors do not contain the URL,
// since even an invalid one may contain a password.
func (o Options) pool() (*pgxpool.Config, error) {
	switch {
	case !IsURL(o.URL):
		return nil, errors.New("store: the URL is not a PostgreSQL URL: expected postgres://user@host/database")
	case o.Timeout < 0:
		return nil, fmt.Errorf("store: Timeout is %v: expected 0 or more", o.Timeout)
	}
	if err := store.CheckMost(o.MaxSnapshot); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	c, err := pgxpool.ParseConfig(o.URL)
	if err != nil || split(o.URL) {
		return nil, errURL(err)
	}
	// Connecting times out like calls, and so do statements and transactions in the
	// database, whose client may be gone.
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
	// A statement that has waited for a claim must see its new state.
	c.ConnConfig.RuntimeParams["default_transaction_isolation"] = "read committed"
	return c, nil
}

// errURL returns an error for an invalid URL. It does not contain the parser's message,
// which may quote a part that was meant to be the password.
func errURL(err error) error {
	why := ""
	if parse, ok := errors.AsType[*pgconn.ParseConfigError](err); ok && parse.Unwrap() != nil {
		switch text := parse.Unwrap().Error(); {
		case strings.HasPrefix(text, "sslmode is invalid"):
			why = " (unknown sslmode)"
		case strings.HasPrefix(text, "unable to read CA file"):
			why = " (the file named by sslrootcert cannot be read)"
		}
	}
	return fmt.Errorf("store: the URL of PostgreSQL is invalid%s: expected postgres://user@host/database, with special characters in user and password escaped like %%40", why)
}

// split reports whether an unescaped character of the password has ended the user
// information of a URL. The rest of the password would be taken for a port, a database or
// a setting, which messages quote.
func split(text string) bool {
	u, err := url.Parse(text)
	return err != nil || u.User == nil && strings.Contains(text, "@")
}
