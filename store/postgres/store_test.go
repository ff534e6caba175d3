package postgres

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/internal/pgtest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// server is the database server of all tests here.
var server pgtest.Server

func TestMain(m *testing.M) { goleak.VerifyTestMain(durable.Tests(server.Tests(m))) }

// begun opens a store and closes it when the test ends.
func begun(t testing.TB, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// wantError checks that an error contains each of the words, and not the password.
func wantError(t testing.TB, err error, words ...string) {
	t.Helper()
	porttest.WantError(t, err, words...)
	for _, part := range []string{"secret", "/?#"} {
		if strings.Contains(err.Error(), part) {
			t.Errorf("error %q tells the password", err)
		}
	}
}

// views returns the interfaces of a store.
func views(s *Store) porttest.Stores {
	return porttest.Stores{Store: s, Journal: s, Registry: s, Archive: s, Tickets: s, Versions: s, Callers: s}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	open := func(t *testing.T) porttest.Stores { // the same database, emptied: to make one takes longer than most rules
		s := begun(t, Options{URL: url})
		if _, err := s.pool.Exec(t.Context(), "TRUNCATE hocket.nodes, hocket.claims, hocket.snapshots, hocket.journal, hocket.recordings, hocket.tickets, hocket.versions, hocket.agents"); err != nil {
			t.Fatal(err)
		}
		return views(s)
	}
	t.Run("store", func(t *testing.T) { porttest.TestStore(t, open) })
	t.Run("journal", func(t *testing.T) { porttest.TestJournal(t, open) })
	t.Run("recordings", func(t *testing.T) { porttest.TestJournal(t, porttest.Recordings(open)) })
	t.Run("registry", func(t *testing.T) { porttest.TestRegistry(t, open) })
	t.Run("archive", func(t *testing.T) { porttest.TestArchive(t, open) })
	t.Run("tickets", func(t *testing.T) { porttest.TestTickets(t, open) })
	t.Run("versions", func(t *testing.T) { porttest.TestVersions(t, open) })
	t.Run("callers", func(t *testing.T) { porttest.TestCallers(t, open) })
}

// grant returns the first tokens of a conversation.
func grant(access, resume []byte) port.Grant {
	return port.Grant{Now: port.Tokens{Access: access, Resume: resume}}
}
