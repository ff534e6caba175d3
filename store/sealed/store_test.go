package sealed

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

func key32(b byte) []byte { return bytes.Repeat([]byte{b}, KeySize) }

func sealing(t testing.TB, under *porttest.Store, keys ...[]byte) *Store {
	t.Helper()
	s, err := New(Options{Store: under, Journal: under, Recordings: under, Tickets: under, Versions: under, Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPort(t *testing.T) {
	open := func(t *testing.T) porttest.Stores {
		under := &porttest.Store{}
		s := sealing(t, under, key32(1))
		return porttest.Stores{Store: s, Journal: s, Registry: under, Archive: under, Tickets: s, Versions: s}
	}
	t.Run("store", func(t *testing.T) { porttest.TestStore(t, open) })
	t.Run("journal", func(t *testing.T) { porttest.TestJournal(t, open) })
	t.Run("recordings", func(t *testing.T) { porttest.TestJournal(t, porttest.Recordings(open)) })
	t.Run("tickets", func(t *testing.T) { porttest.TestTickets(t, open) })
	t.Run("versions", func(t *testing.T) { porttest.TestVersions(t, open) })
}

// TestRotation checks that a new key seals, that an older key still opens, and that a removed
// one does not.
func TestRotation(t *testing.T) {
	under := &porttest.Store{}
	if err := sealing(t, under, key32(1)).Save(t.Context(), port.Hold{ID: "a"}, []byte("my secret words")); err != nil {
		t.Fatal(err)
	}
	raw, _, err := under.Load(t.Context(), "a")
	if err != nil || bytes.Contains(raw, []byte("secret")) || !Sealed(raw) {
		t.Fatalf("%q, error %v", raw, err)
	}
	both := sealing(t, under, key32(2), key32(1))
	if b, ok, err := both.Load(t.Context(), "a"); err != nil || !ok || string(b) != "my secret words" {
		t.Fatalf("%q, %v, error %v", b, ok, err)
	}
	if err := both.Save(t.Context(), port.Hold{ID: "b"}, []byte("newer")); err != nil {
		t.Fatal(err)
	}
	fresh := sealing(t, under, key32(2))
	if b, _, err := fresh.Load(t.Context(), "b"); err != nil || string(b) != "newer" {
		t.Errorf("%q, error %v", b, err)
	}
	if _, _, err := fresh.Load(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "which is not among the keys") {
		t.Errorf("%v", err)
	}
}

// TestChangedSnapshotIsRefused checks that a snapshot that was changed, moved to another conversation, cut or
// never sealed is refused.
func TestChangedSnapshotIsRefused(t *testing.T) {
	under := &porttest.Store{}
	s := sealing(t, under, key32(1))
	if err := s.Save(t.Context(), port.Hold{ID: "a"}, []byte("one")); err != nil {
		t.Fatal(err)
	}
	raw, _, err := under.Load(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	check := func(what, id string, b []byte) {
		t.Helper()
		if err := under.Save(t.Context(), port.Hold{ID: id}, b); err != nil {
			t.Fatal(err)
		}
		if got, ok, err := s.Load(t.Context(), id); err == nil || ok || len(got) > 0 {
			t.Errorf("%s: %q is accepted", what, got)
		}
	}
	check("moved", "b", raw)
	for i := range raw {
		changed := bytes.Clone(raw)
		changed[i] ^= 1
		check("changed", "a", changed)
		check("cut", "a", raw[:i])
	}
	check("plain", "a", []byte(`{"version":1}`))
	check("empty", "a", nil)
}

// TestPieces checks that a piece is sealed, and accepted only in its own place.
func TestPieces(t *testing.T) {
	under := &porttest.Store{}
	s := sealing(t, under, key32(1))
	hold := port.Hold{ID: "a"}
	if err := errors.Join(s.Append(t.Context(), hold, 1, []byte("my secret words")), s.Append(t.Context(), hold, 2, []byte("others"))); err != nil {
		t.Fatal(err)
	}
	var raw [][]byte
	if err := under.Read(t.Context(), "a", func(_ int, b []byte) error { raw = append(raw, bytes.Clone(b)); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(raw) != 2 || bytes.Contains(raw[0], []byte("secret")) || !Sealed(raw[0]) {
		t.Fatalf("%q", raw)
	}
	for what, c := range map[string]struct {
		id     string
		number int
		b      []byte
	}{
		"another conversation's": {"b", 1, raw[0]},
		"another number's":       {"c", 2, raw[0]},
		"changed":                {"d", 1, append(bytes.Clone(raw[0]), 1)},
		"plain":                  {"e", 1, []byte("plain")},
	} {
		if err := under.Append(t.Context(), port.Hold{ID: c.id}, c.number, c.b); err != nil {
			t.Fatal(err)
		}
		err := s.Read(t.Context(), c.id, func(n int, b []byte) error { t.Errorf("%s: %q is accepted", what, b); return nil })
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("open piece %d of %q", c.number, c.id)) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	// A piece is not a snapshot, and a snapshot is not a piece.
	if err := under.Save(t.Context(), hold, raw[0]); err != nil {
		t.Fatal(err)
	}
	if b, ok, err := s.Load(t.Context(), "a"); ok || err == nil {
		t.Errorf("%q is believed", b)
	}
	plain, err := New(Options{Store: under, Keys: [][]byte{key32(1)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := plain.Append(t.Context(), hold, 1, nil); err == nil {
		t.Error("there is a journal")
	}
	if err := plain.KeepTicket(t.Context(), "one", []byte("a"), nil, time.Hour, 1); err == nil {
		t.Error("there are tickets")
	}
}

// TestTickets checks that the content of a ticket is not readable in the underlying store,
// and accepted only for this ticket.
func TestTickets(t *testing.T) {
	under := &porttest.Store{}
	s := sealing(t, under, key32(1))
	if err := s.KeepTicket(t.Context(), "one", []byte("a"), []byte("my secret words"), time.Hour, 1); err != nil {
		t.Fatal(err)
	}
	raw, _, err := under.FindTicket(t.Context(), "one", []byte("a"))
	if err != nil || bytes.Contains(raw, []byte("secret")) || !Sealed(raw) {
		t.Fatalf("%q, error %v", raw, err)
	}
	for what, b := range map[string][]byte{"another ticket's": raw, "plain": []byte("plain")} {
		if err := under.KeepTicket(t.Context(), "two", []byte(what), b, time.Hour, 9); err != nil {
			t.Fatal(err)
		}
		if got, ok, err := s.FindTicket(t.Context(), "two", []byte(what)); err == nil || ok || len(got) > 0 {
			t.Errorf("%s: %q is accepted", what, got)
		}
	}
}

// TestVersions checks that an agent's files and their digest are not readable in the
// underlying store, and that keeping a version again seals it with the current key.
func TestVersions(t *testing.T) {
	under := &porttest.Store{}
	if err := under.Beat(t.Context(), port.Node{ID: "n"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	keep := func(s *Store, id string) {
		t.Helper()
		h, err := under.Claim(t.Context(), id, "n")
		if err == nil {
			err = s.KeepVersion(t.Context(), h, "digest", []byte("my secret words"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s := sealing(t, under, key32(1))
	keep(s, "a")
	if _, ok, err := under.LoadVersion(t.Context(), "digest"); ok || err != nil {
		t.Errorf("the digest is readable: %v, error %v", ok, err)
	}
	raw, ok, err := under.LoadVersion(t.Context(), s.versionNames("digest")[0])
	if err != nil || !ok || bytes.Contains(raw, []byte("secret")) || !Sealed(raw) {
		t.Errorf("%q, %v, error %v", raw, ok, err)
	}
	both, fresh := sealing(t, under, key32(2), key32(1)), sealing(t, under, key32(2))
	load := func(s *Store, want bool) {
		t.Helper()
		if b, ok, err := s.LoadVersion(t.Context(), "digest"); err != nil || ok != want || ok && string(b) != "my secret words" {
			t.Errorf("%q, %v, error %v", b, ok, err)
		}
	}
	load(both, true)
	load(fresh, false)
	keep(both, "b")
	load(fresh, true)
}

// TestKeys checks that an invalid key is refused, and not part of the error.
func TestKeys(t *testing.T) {
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
		if k, err := ParseKey(enc.EncodeToString(key32(7))); err != nil || !bytes.Equal(k, key32(7)) {
			t.Errorf("%v, error %v", k, err)
		}
	}
	for _, text := range []string{"", "hush-hush", base64.StdEncoding.EncodeToString([]byte("hush-hush"))} {
		if _, err := ParseKey(text); err == nil || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, o := range []Options{{}, {Store: &porttest.Store{}}, {Store: &porttest.Store{}, Keys: [][]byte{{1}}}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

// BenchmarkSave measures what sealing adds to a checkpoint. Goal: below 50 us for 16 KB.
func BenchmarkSave(b *testing.B) {
	s := sealing(b, &porttest.Store{}, key32(1))
	snapshot := bytes.Repeat([]byte("x"), 16<<10)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Save(b.Context(), port.Hold{ID: "a"}, snapshot); err != nil {
			b.Fatal(err)
		}
	}
}

// TestRecordingIsNotReadAsJournal checks that a sealed piece of a recording is not opened as a piece
// of a journal.
func TestRecordingIsNotReadAsJournal(t *testing.T) {
	under := &porttest.Store{}
	s := sealing(t, under, key32(1))
	h := port.Hold{ID: "a"}
	if err := s.Recordings().Append(t.Context(), h, 1, []byte("my secret voice")); err != nil {
		t.Fatal(err)
	}
	if err := under.Recordings().Read(t.Context(), "a", func(number int, records []byte) error {
		if bytes.Contains(records, []byte("voice")) {
			t.Error("the piece is not sealed")
		}
		return under.Append(t.Context(), h, number, records)
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Read(t.Context(), "a", func(int, []byte) error { return nil }); err == nil {
		t.Error("a piece of the recording was read as a piece of the journal")
	}
}
