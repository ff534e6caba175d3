package postgres

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/pgtest"
	"github.com/hocketvoice/hocket/porttest"

	"github.com/hocketvoice/hocket/store"
)

func TestOptions(t *testing.T) {
	const (
		good = "postgres://user@host/database"
		who  = "postgres://user:secret"
	)
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{URL: good}, ""},
		{Options{URL: "postgresql://host:1234/database?sslmode=verify-full&pool_max_conns=7"}, ""},
		{Options{}, "the URL is not a PostgreSQL URL: expected postgres://"},
		{Options{URL: strings.Replace(who, "postgres", "mysql", 1) + "@host/database"}, "the URL is not a PostgreSQL URL: expected postgres://"},
		{Options{URL: "host=a password=secret"}, "the URL is not a PostgreSQL URL: expected postgres://"},
		{Options{URL: good, Timeout: -1}, "Timeout is -1ns: expected"},
		{Options{URL: good, MaxSnapshot: -1}, "MaxSnapshot is -1: expected"},
		{Options{URL: good, MaxSnapshot: store.LargestSnapshot + 1}, "MaxSnapshot is 268435457: expected"},
		{Options{URL: who + "@host:port/database"}, "the URL of PostgreSQL is invalid"},
		{Options{URL: who + "/?#%@host/database"}, "the URL of PostgreSQL is invalid"},
		{Options{URL: who + "%2@host/database"}, "the URL of PostgreSQL is invalid"},
		{Options{URL: who + "@[host/database"}, "the URL of PostgreSQL is invalid"},
		{Options{URL: "postgres://user:12/secret@host/database"}, "the URL of PostgreSQL is invalid"},
		{Options{URL: "postgres://user:12#secret@host/database"}, "the URL of PostgreSQL is invalid"},
		{Options{URL: "postgres://user:12?secret=@host/database"}, "the URL of PostgreSQL is invalid"},
		{Options{URL: who + "@host/database?sslmode=secret"}, "the URL of PostgreSQL is invalid"},
		{Options{URL: who + "@host/database?sslmode=strict"}, "(unknown sslmode)"},
		{Options{URL: "postgres://host/database?password=secret&pool_max_conns=secret"}, "the URL of PostgreSQL is invalid"},
		{Options{URL: who + "@host/database?pool_max_conns=0"}, "the URL of PostgreSQL is invalid"},
		{Options{URL: who + "@host/database?sslrootcert=/no/such/file&sslmode=verify-full"}, "the file named by sslrootcert cannot be read"},
	} {
		err := c.o.Validate()
		if c.want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		wantError(t, err, c.want)
		s, err := Open(t.Context(), c.o)
		wantError(t, err, c.want)
		if s != nil {
			t.Errorf("%+v: opened", c.o)
		}
	}
}

// FuzzURL checks that no error contains the password, whatever surrounds it.
func FuzzURL(f *testing.F) {
	f.Add("", "", "?sslmode=strict")
	f.Add("/", "?#", ":port/database")
	f.Add("%2", "@", "?pool_max_conns=x")
	f.Add(" ", "\n", "[::1/?connect_timeout=hunter2hunter2")
	f.Fuzz(func(t *testing.T, before, behind, rest string) {
		const password = "hunter2hunter2"
		for _, text := range []string{
			"postgres://user:" + before + password + behind + "@host" + rest,
			"postgres://host/database?password=" + before + password + behind + "&" + rest,
		} {
			err := Options{URL: text}.Validate()
			if err != nil && strings.Contains(err.Error(), password) {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}

// TestSettings checks that the URL's settings override the defaults.
func TestSettings(t *testing.T) {
	c, err := Options{URL: "postgres://host/database", Timeout: time.Second}.pool()
	if err != nil {
		t.Fatal(err)
	}
	if p := c.ConnConfig.RuntimeParams; c.ConnConfig.ConnectTimeout != time.Second || p["statement_timeout"] != "1000" ||
		p["idle_in_transaction_session_timeout"] != "1000" || p["application_name"] != "hocket" {
		t.Errorf("%v, %v", c.ConnConfig.ConnectTimeout, p)
	}
	c, err = Options{URL: "postgres://host/database?connect_timeout=2&statement_timeout=3000&application_name=a&pool_max_conns=9"}.pool()
	if err != nil {
		t.Fatal(err)
	}
	if p := c.ConnConfig.RuntimeParams; c.ConnConfig.ConnectTimeout != 2*time.Second || p["statement_timeout"] != "3000" ||
		p["application_name"] != "a" || c.MaxConns != 9 {
		t.Errorf("%v, %v, %d", c.ConnConfig.ConnectTimeout, p, c.MaxConns)
	}
}

// TestRefused checks that errors contain the server's refusal and no password.
func TestRefused(t *testing.T) {
	good := server.Database(t)
	change := func(f func(*url.URL)) string {
		u, err := url.Parse(good)
		if err != nil {
			t.Fatal(err)
		}
		f(u)
		return u.String()
	}
	for name, c := range map[string]struct{ url, want string }{
		"password":    {change(func(u *url.URL) { u.User = url.UserPassword(pgtest.User, "another secret") }), "password authentication failed"},
		"no password": {change(func(u *url.URL) { u.User = url.User(pgtest.User) }), "failed"},
		"database":    {change(func(u *url.URL) { u.Path = "/nowhere" }), `database "nowhere" does not exist`},
		"port":        {change(func(u *url.URL) { u.Host = "127.0.0.1:1" }), "127.0.0.1:1/test"},
		"setting":     {good + "&nonsense=1", "nonsense"},
	} {
		s, err := Open(t.Context(), Options{URL: c.url})
		if s != nil {
			t.Errorf("%s: opened", name)
		}
		wantError(t, err, "store 127.0.0.1:", "open", c.want)
	}
}

// TestTLS checks that the URL can require TLS with a verified certificate.
func TestTLS(t *testing.T) {
	database := server.Database(t)
	secure := func(query string) string { return strings.Replace(database, "sslmode=disable", query, 1) }
	s := begun(t, Options{URL: secure("sslmode=verify-full&sslrootcert=" + url.QueryEscape(server.Certificate()))})
	var on bool
	if err := s.pool.QueryRow(t.Context(), "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").Scan(&on); err != nil || !on {
		t.Errorf("encrypted: %v, error %v", on, err)
	}
	porttest.Save(t, s, "a", "x")
	porttest.WantLoaded(t, s, "a", "x")
	_, err := Open(t.Context(), Options{URL: secure("sslmode=verify-full")}) // signed by nobody who is known
	wantError(t, err, "certificate")
}

// TestErrorsHoldNoValues checks that no error contains what is written.
func TestErrorsHoldNoValues(t *testing.T) {
	s := begun(t, Options{URL: server.Database(t), MaxSnapshot: 100})
	a, b := claimed(t, s, "a", "n"), claimed(t, s, "b", "n")
	if err := s.Grant(t.Context(), a, grant([]byte("secret access"), []byte("secret resume"))); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.Grant(t.Context(), b, grant([]byte("secret access"), []byte("other"))), `grant "b"`, "SQLSTATE 23505")
	long := []byte(strings.Repeat("secret", 100))
	wantError(t, s.Save(t.Context(), a, long), "the snapshot has 600 bytes: expected at most 100")
	wantError(t, s.Append(t.Context(), a, 1, long), "the piece has 600 bytes: expected at most 100")
	wantError(t, s.Grant(t.Context(), a, grant(long, nil)), "a digest has 600 bytes: expected at most 64")
}

// TestTooLarge checks that reading a value above the store's limit is an error.
func TestTooLarge(t *testing.T) {
	url := server.Database(t)
	s, small := begun(t, Options{URL: url}), begun(t, Options{URL: url, MaxSnapshot: 10})
	porttest.Save(t, s, "a", "more than ten bytes")
	if err := s.Append(t.Context(), claimed(t, s, "b", "n"), 1, []byte("more than ten bytes")); err != nil {
		t.Fatal(err)
	}
	_, _, err := small.Load(t.Context(), "a")
	wantError(t, err, `load "a"`, "the snapshot has 19 bytes: expected at most 10")
	err = small.Read(t.Context(), "b", func(int, []byte) error { return errors.New("it is read") })
	wantError(t, err, `read piece 1 of "b"`, "the piece has 19 bytes: expected at most 10")
	for _, id := range []string{"", strings.Repeat("x", store.MaxID+1)} {
		_, _, err := s.Load(t.Context(), id)
		wantError(t, err, "bytes: expected 1 to 512")
	}
}
