package app

import (
	"errors"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/internal/config"
)

// TestStoreLocations checks that a store is a file, a URL, or a variable with either, and that no
// message contains a password.
func TestStoreLocations(t *testing.T) {
	t.Setenv("HOCKET_TEST_PLACE", "postgres://user:secret@127.0.0.1:1/database")
	t.Setenv("HOCKET_TEST_EMPTY", "")
	for _, c := range []struct {
		place, want string
		input       bool
	}{
		{"/no/such/folder/a.db", "no such file", true},
		{"mysql://user:secret@host/database", "the URL has an unknown scheme: expected the path of a file or postgres://", true},
		{"postgres://user:secret@host:port/database", "the URL of PostgreSQL is invalid", true},
		{"postgres:user:secret@host/database", "the place is neither a path nor a URL", true},
		{"PostgreSQL:/user:secret@host/database", "the place is neither a path nor a URL", true},
		{"user:secret@host/database", "the place is neither a path nor a URL", true},
		{"host=localhost password=secret", "the place is neither a path nor a URL", true},
		{"${HOCKET_TEST_NONE}", "the environment variable HOCKET_TEST_NONE, the place of the store, is not set", true},
		{"${HOCKET_TEST_EMPTY}", "the environment variable HOCKET_TEST_EMPTY, the place of the store, is not set", true},
		{"${HOCKET_TEST_PLACE}/more", "expected a path, a URL or ${NAME} alone", true},
		{"${}", "expected a path, a URL or ${NAME} alone", true},
		{"${HOCKET_TEST_PLACE}", "store 127.0.0.1:1/database: open", false}, // nobody listens there
	} {
		s, err := OpenStore(t.Context(), c.place, config.Store{}, false)
		if s != nil || err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrInput) != c.input || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, expected %q, bad input %v", c.place, err, c.want, c.input)
		}
	}
	const who = "postgres://user:secret"
	for place, want := range map[string]string{
		"a.db": "a.db", "${NAME}": "${NAME}",
		who + "@host:1234/database?password=secret": "postgres://host:1234/database",
		who + "/@ho st:x/database":                  "the database",
		"postgres://user:12/secret@host/database":   "the database",
		"postgres:user:secret@host/database":        "the database",
		"user:secret@host/database":                 "the database",
		"host=localhost password=secret":            "the database",
		`C:\\calls\\a@b.db`:                         `C:\\calls\\a@b.db`,
		"/var/calls:1/a@b.db":                       "/var/calls:1/a@b.db",
	} {
		if got := StoreName(place); got != want {
			t.Errorf("%s is named %s, expected %s", place, got, want)
		}
	}
}
