package sealed

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

func key32(b byte) []byte { return bytes.Repeat([]byte{b}, KeySize) }

func sealing(t testing.TB, under port.Store, keys ...[]byte) *Store {
	t.Helper()
	s, err := New(Options{Store: under, Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPort(t *testing.T) {
	porttest.TestStore(t, func(t *testing.T) port.Store { return sealing(t, &porttest.Store{}, key32(1)) })
}

// TestRotation: a new key seals, an old one still opens, and one that is gone does
// not.
func TestRotation(t *testing.T) {
	under := &porttest.Store{}
	if err := sealing(t, under, key32(1)).Save(t.Context(), "a", []byte("my secret words")); err != nil {
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
	if err := both.Save(t.Context(), "b", []byte("newer")); err != nil {
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

// TestChanged: a snapshot that was changed, moved to another conversation, cut or
// never sealed is not believed.
func TestChanged(t *testing.T) {
	under := &porttest.Store{}
	s := sealing(t, under, key32(1))
	if err := s.Save(t.Context(), "a", []byte("one")); err != nil {
		t.Fatal(err)
	}
	raw, _, err := under.Load(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	check := func(what, id string, b []byte) {
		t.Helper()
		if err := under.Save(t.Context(), id, b); err != nil {
			t.Fatal(err)
		}
		if got, ok, err := s.Load(t.Context(), id); err == nil || ok || len(got) > 0 {
			t.Errorf("%s: %q is believed", what, got)
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

// TestKeys: what is no key is refused, and never told.
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
			t.Errorf("%+v is taken", o)
		}
	}
}

// BenchmarkSave is what sealing adds to a checkpoint. Goal: below 50 us for 16 KB.
func BenchmarkSave(b *testing.B) {
	s := sealing(b, &porttest.Store{}, key32(1))
	snapshot := bytes.Repeat([]byte("x"), 16<<10)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Save(b.Context(), "a", snapshot); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzOpen: whatever the store has is opened or refused.
func FuzzOpen(f *testing.F) {
	s := sealing(f, &porttest.Store{}, key32(1))
	f.Add([]byte("hksl1"))
	f.Add(append([]byte("hksl1"), s.keys[0].id...))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, err := s.open("a", b); err == nil {
			t.Fatalf("%q was opened as %q", b, got)
		}
	})
}
