package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/store"
	"github.com/hocketvoice/hocket/store/postgres"
	"github.com/hocketvoice/hocket/store/sqlite"
)

// maxStored bounds the bytes of a snapshot or of a piece of a journal, with encryption.
const maxStored = 16 << 20

// openEngine opens a store: see [OpenStore]. place must not be ${NAME}.
func openEngine(ctx context.Context, place string, create bool) (store.Engine, error) {
	if postgres.IsURL(place) {
		return openPostgres(ctx, postgres.Options{URL: place, MaxSnapshot: maxStored, Existing: !create})
	}
	if mayHavePassword(place) && !strings.Contains(place, "://") {
		return nil, inputError{errors.New("store: the place is neither a path nor a URL: expected the path of a file or postgres://user@host/database")}
	}
	if strings.Contains(place, "://") {
		return nil, inputError{errors.New("store: the URL has an unknown scheme: expected the path of a file or postgres://user@host/database")}
	}
	if !create {
		if _, err := os.Stat(place); err != nil {
			return nil, inputError{fmt.Errorf("store: %w", settings.Plain(err))}
		}
	}
	s, err := sqlite.Open(ctx, sqlite.Options{Path: place, MaxSnapshot: maxStored})
	if err != nil {
		return nil, inputError{err}
	}
	return s, nil
}

// mayHavePassword reports whether a text that is not the URL of a database may be meant as
// one, so that it may contain a password. Such a text is not used as the name of a file
// and must not be shown.
func mayHavePassword(place string) bool {
	scheme, rest, ok := strings.Cut(place, ":")
	name := strings.ToLower(scheme)
	return ok && (name == "postgres" || name == "postgresql" || len(scheme) > 1 && !strings.ContainsAny(scheme, "/\\.") && strings.Contains(rest, "@")) ||
		strings.Contains(place, "password=")
}

func openPostgres(ctx context.Context, o postgres.Options) (store.Engine, error) {
	if err := o.Validate(); err != nil {
		return nil, inputError{err}
	}
	s, err := postgres.Open(ctx, o)
	if errors.Is(err, postgres.ErrNone) {
		return nil, inputError{err}
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// lookUp returns the value of the environment variable if place is ${NAME}, and place
// otherwise.
func lookUp(place string) (string, error) {
	rest, ok := strings.CutPrefix(place, "${")
	if !ok {
		return place, nil
	}
	name, ok := strings.CutSuffix(rest, "}")
	if !ok || name == "" || strings.ContainsAny(name, "${}/ ") {
		return "", fmt.Errorf("store: the place is %q: expected a path, a URL or ${NAME} alone", place)
	}
	if place = os.Getenv(name); place == "" {
		return "", fmt.Errorf("store: the environment variable %s, the place of the store, is not set", name)
	}
	return place, nil
}

// StoreName returns the place of a store for a message: a path, or a URL without user and
// password.
func StoreName(place string) string {
	switch {
	case strings.Contains(place, "://"):
	case mayHavePassword(place):
		return "the database"
	default:
		return place
	}
	u, err := url.Parse(place)
	if err != nil || u.User == nil && strings.Contains(place, "@") { // it may contain a password anywhere
		return "the database"
	}
	return u.Scheme + "://" + u.Host + u.Path
}
