package porttest

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// BenchmarkStores measures a store that contains 50 conversations of one node. open
// must return an empty store for each benchmark.
func BenchmarkStores(b *testing.B, open func(*testing.B) Stores) {
	for _, size := range []int{5_700, 29_000} { // of a short call, and of a long one
		b.Run(fmt.Sprintf("save/%dB", size), func(b *testing.B) {
			s, holds := busy(b, open)
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				s.benchSave(b, holds[n%len(holds)], size, n)
			}
		})
	}
	b.Run("save together", func(b *testing.B) { // from 16 conversations on two cores
		s, holds := busy(b, open)
		var n atomic.Int64
		b.SetParallelism(8)
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			h := holds[int(n.Add(1))%len(holds)]
			for pb.Next() {
				s.benchSave(b, h, 5_700, int(n.Add(1)))
			}
		})
	})
	b.Run("load", func(b *testing.B) {
		s, holds := busy(b, open)
		s.benchSave(b, holds[0], 5_700, 1)
		b.ReportAllocs()
		for b.Loop() {
			if _, ok, err := s.Store.Load(b.Context(), holds[0].ID); err != nil || !ok {
				b.Fatal(ok, err)
			}
		}
	})
	b.Run("append", func(b *testing.B) { // 1 KB
		s, holds := busy(b, open)
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			if err := s.Journal.Append(b.Context(), holds[n%len(holds)], n/len(holds)+1, words(1_000, n)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("claim and release", func(b *testing.B) {
		s, holds := busy(b, open)
		for n := 0; b.Loop(); n++ {
			h, err := s.Registry.Claim(b.Context(), holds[n%len(holds)].ID, "n")
			if err == nil {
				err = s.Registry.Release(b.Context(), h, false)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("redeem and grant", func(b *testing.B) {
		s, holds := busy(b, open)
		for n := 0; b.Loop(); n++ {
			token := fmt.Appendf(nil, "%032d", n)
			if err := s.Registry.Grant(b.Context(), holds[n%len(holds)], port.Grant{Now: port.Tokens{Resume: token}}); err != nil {
				b.Fatal(err)
			}
			if ok, err := s.Registry.Redeem(b.Context(), token); err != nil || !ok {
				b.Fatal(ok, err)
			}
		}
	})
	b.Run("beat", func(b *testing.B) {
		s, _ := busy(b, open)
		for b.Loop() {
			if err := s.Registry.Beat(b.Context(), port.Node{ID: "n", URL: "http://10.0.0.1:8080"}, 6*time.Second); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkCallers measures how the conversations of a caller are found and read, ten of
// 2,000 with snapshots of 5.7 KB: by their marks, and as without them, by reading all.
func BenchmarkCallers(b *testing.B, open func(*testing.B) Stores) {
	const all, each = 2_000, 200
	s := open(b)
	ctx := b.Context()
	mark := func(n int) []byte { return fmt.Appendf(nil, "key %032d", n%each) }
	for n := range all {
		id := fmt.Sprintf("conversation-%08d", n)
		s.benchSave(b, port.Hold{ID: id}, 5_700, n)
		if err := s.Callers.Mark(ctx, id, mark(n)); err != nil {
			b.Fatal(err)
		}
	}
	for _, how := range []struct {
		name  string
		reads int
		find  func() ([]port.Entry, error)
	}{
		{"by reading all", all, func() ([]port.Entry, error) { return s.Archive.List(ctx, 2*all) }},
		{"by marks", all / each, func() ([]port.Entry, error) {
			return s.Callers.Marked(ctx, [][]byte{mark(7)}, [][]byte{[]byte("key ")})
		}},
	} {
		b.Run(how.name, func(b *testing.B) {
			for b.Loop() {
				entries, err := how.find()
				if err != nil || len(entries) != how.reads {
					b.Fatal(len(entries), err)
				}
				for _, e := range entries {
					if _, ok, err := s.Store.Load(ctx, e.ID); err != nil || !ok {
						b.Fatal(ok, err)
					}
				}
			}
		})
	}
}

// busy returns a store with 50 conversations held by one node.
func busy(b *testing.B, open func(*testing.B) Stores) (Stores, []port.Hold) {
	b.Helper()
	s := open(b)
	s.beat(b, "n")
	holds := make([]port.Hold, 50)
	for i := range holds {
		holds[i] = s.claim(b, fmt.Sprintf("conversation-%08d", i), "n")
	}
	return s, holds
}

func (s Stores) benchSave(b *testing.B, h port.Hold, size, n int) {
	if err := s.Store.Save(b.Context(), h, words(size, n)); err != nil {
		b.Error(err)
	}
}

// words returns data like a conversation's snapshot: compressible like JSON, and
// different for each n.
func words(size, n int) []byte {
	b := bytes.Repeat([]byte(`{"role":"user","turn":12,"text":"I want to book a flight"},`), size/59+1)[:size]
	copy(b, fmt.Sprint(n))
	return b
}
