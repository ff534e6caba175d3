package porttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// TestVersions is the conformance suite of port.Versions. open must return an empty
// store for each rule.
func TestVersions(t *testing.T, open func(*testing.T) Stores) {
	begin := func(t *testing.T) Stores {
		t.Helper()
		s := open(t)
		s.beat(t, "n1")
		return s
	}
	keep := func(t *testing.T, s Stores, h port.Hold, digest, files string) {
		t.Helper()
		if err := s.Versions.KeepVersion(t.Context(), h, digest, []byte(files)); err != nil {
			t.Fatalf("KeepVersion(%+v, %q): %v", h, digest, err)
		}
	}
	want := func(t *testing.T, s Stores, digest, files string) {
		t.Helper()
		b, ok, err := s.Versions.LoadVersion(t.Context(), digest)
		if err != nil || !ok || string(b) != files {
			t.Errorf("LoadVersion(%q): %q, there %v, error %v; expected %q", digest, b, ok, err, files)
		}
	}
	wantGone := func(t *testing.T, s Stores, digest string) {
		t.Helper()
		if b, ok, err := s.Versions.LoadVersion(t.Context(), digest); err != nil || ok || len(b) > 0 {
			t.Errorf("LoadVersion(%q): %q, there %v, error %v; expected nothing", digest, b, ok, err)
		}
	}
	remove := func(t *testing.T, s Stores, id string) {
		t.Helper()
		if err := s.Store.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("files stay until no conversation has them", func(t *testing.T) {
		s := begin(t)
		wantGone(t, s, "one")
		a, b := s.claim(t, "a", "n1"), s.claim(t, "b", "n1")
		keep(t, s, a, "one", "files of one")
		keep(t, s, b, "one", "files of one")
		keep(t, s, a, "one", "files of one") // again
		want(t, s, "one", "files of one")
		remove(t, s, "a")
		want(t, s, "one", "files of one")
		remove(t, s, "b")
		wantGone(t, s, "one")
		keep(t, s, s.claim(t, "c", "n1"), "one", "files of one")
		want(t, s, "one", "files of one")
	})
	t.Run("a conversation has one version", func(t *testing.T) {
		s := begin(t)
		a, b := s.claim(t, "a", "n1"), s.claim(t, "b", "n1")
		keep(t, s, a, "one", "1")
		keep(t, s, b, "two", "2")
		keep(t, s, a, "two", "2")
		remove(t, s, "b")
		want(t, s, "two", "2")
		remove(t, s, "a")
		wantGone(t, s, "one")
		wantGone(t, s, "two")
	})
	t.Run("fencing", func(t *testing.T) {
		s := begin(t)
		first := s.claim(t, "a", "n1")
		second := s.claim(t, "a", "n1")
		wantFenced(t, "the first hold", s.Versions.KeepVersion(t.Context(), first, "one", []byte("1")))
		wantGone(t, s, "one")
		keep(t, s, second, "one", "1")
		remove(t, s, "a")
		wantFenced(t, "a hold of what was deleted", s.Versions.KeepVersion(t.Context(), second, "one", []byte("1")))
		wantGone(t, s, "one")
		for what, err := range map[string]error{
			"a hold without a token": s.Versions.KeepVersion(t.Context(), port.Hold{ID: "b"}, "one", []byte("1")),
			"no digest":              s.Versions.KeepVersion(t.Context(), s.claim(t, "c", "n1"), "", []byte("1")),
		} {
			if err == nil {
				t.Errorf("%s: no error", what)
			}
		}
	})
	t.Run("what expires loses its version", func(t *testing.T) {
		s := begin(t)
		a := s.claim(t, "a", "n1")
		s.save(t, a, "snapshot")
		keep(t, s, a, "one", "1")
		if err := s.Registry.Release(t.Context(), a, true); err != nil {
			t.Fatal(err)
		}
		until(t, "the conversation is old", func() bool {
			n, err := s.Archive.Expire(t.Context(), time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			return n == 1
		})
		wantGone(t, s, "one")
	})
	t.Run("files are copies, of any bytes", func(t *testing.T) {
		s := begin(t)
		files := bytes.Repeat([]byte("\x00\xff\n"), 50_000)
		given := bytes.Clone(files)
		if err := s.Versions.KeepVersion(t.Context(), s.claim(t, "a", "n1"), "one", given); err != nil {
			t.Fatal(err)
		}
		given[0] = 'X'
		got, _, err := s.Versions.LoadVersion(t.Context(), "one")
		if err != nil || !bytes.Equal(got, files) {
			t.Fatalf("%d bytes, error %v", len(got), err)
		}
		got[0] = 'X'
		want(t, s, "one", string(files))
	})
	t.Run("an ended context ends a call", func(t *testing.T) {
		s := begin(t)
		h := s.claim(t, "a", "n1")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err := s.Versions.LoadVersion(ctx, "one")
		for _, err := range []error{err, s.Versions.KeepVersion(ctx, h, "one", nil)} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		}
	})
	t.Run("many at once", func(t *testing.T) {
		s := begin(t)
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				for n := range 15 {
					id := fmt.Sprintf("%d of %d", n, i)
					h, err := s.Registry.Claim(t.Context(), id, "n1")
					if err != nil {
						t.Error(err)
						return
					}
					if err := s.Versions.KeepVersion(t.Context(), h, "shared", []byte("files")); err != nil {
						t.Errorf("KeepVersion(%q): %v", id, err)
					}
					if b, ok, err := s.Versions.LoadVersion(t.Context(), "shared"); err != nil || !ok || string(b) != "files" {
						t.Errorf("LoadVersion: %q, there %v, error %v", b, ok, err)
					}
					if err := s.Store.Delete(t.Context(), id); err != nil {
						t.Errorf("Delete(%q): %v", id, err)
					}
				}
			})
		}
		all.Wait()
		wantGone(t, s, "shared")
	})
}
