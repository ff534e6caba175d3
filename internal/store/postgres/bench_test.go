package postgres

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/pgtest"
	"github.com/hocketvoice/hocket/port"
)

// benched is a store on a server that waits for the disk, with 50 conversations.
func benched(b *testing.B) (*Store, []port.Hold) {
	b.Helper()
	durable := &pgtest.Server{Durable: true}
	b.Cleanup(func() {
		if err := durable.Stop(); err != nil {
			b.Error(err)
		}
	})
	s := begun(b, Options{URL: durable.Database(b)})
	if err := s.Beat(b.Context(), port.Node{ID: "n"}, time.Hour); err != nil {
		b.Fatal(err)
	}
	holds := make([]port.Hold, 50)
	for i := range holds {
		var err error
		if holds[i], err = s.Claim(b.Context(), fmt.Sprintf("conversation-%08d", i), "n"); err != nil {
			b.Fatal(err)
		}
	}
	return s, holds
}

// text is what a conversation has to save: like JSON, and another one each time.
func text(size, n int) []byte {
	b := bytes.Repeat([]byte(`{"role":"user","turn":12,"text":"I want to book a flight"},`), size/59+1)[:size]
	copy(b, fmt.Sprint(n))
	return b
}

// BenchmarkSave is what a checkpoint costs. Goal: below 2 ms with a disk of a server.
func BenchmarkSave(b *testing.B) {
	for _, size := range []int{5_700, 29_000} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			s, holds := benched(b)
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Save(b.Context(), holds[n%len(holds)], text(size, n)); err != nil {
					b.Fatal(err)
				}
				n++
			}
		})
	}
}

// BenchmarkSaveTogether is the same from 16 conversations at once.
func BenchmarkSaveTogether(b *testing.B) {
	s, holds := benched(b)
	var n atomic.Int64
	b.SetParallelism(8)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		h := holds[int(n.Add(1))%len(holds)]
		for pb.Next() {
			if err := s.Save(b.Context(), h, text(5_700, int(n.Add(1)))); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkLoad is what a conversation that goes on waits for.
func BenchmarkLoad(b *testing.B) {
	s, holds := benched(b)
	if err := s.Save(b.Context(), holds[0], text(5_700, 1)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, ok, err := s.Load(b.Context(), holds[0].ID); err != nil || !ok {
			b.Fatal(ok, err)
		}
	}
}

// BenchmarkAppend adds a piece of 1 KB to a journal.
func BenchmarkAppend(b *testing.B) {
	s, holds := benched(b)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Append(b.Context(), holds[n%len(holds)], n/len(holds)+1, text(1_000, n)); err != nil {
			b.Fatal(err)
		}
		n++
	}
}

// BenchmarkClaim takes a conversation, and gives it up.
func BenchmarkClaim(b *testing.B) {
	s, holds := benched(b)
	n := 0
	for b.Loop() {
		h, err := s.Claim(b.Context(), holds[n%len(holds)].ID, "n")
		if err == nil {
			err = s.Release(b.Context(), h, false)
		}
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
}

// BenchmarkRedeem uses a token up, and grants the next.
func BenchmarkRedeem(b *testing.B) {
	s, holds := benched(b)
	n := 0
	for b.Loop() {
		h, token := holds[n%len(holds)], fmt.Appendf(nil, "%032d", n)
		if err := s.Grant(b.Context(), h, nil, token); err != nil {
			b.Fatal(err)
		}
		if ok, err := s.Redeem(b.Context(), token); err != nil || !ok {
			b.Fatal(ok, err)
		}
		n++
	}
}

// BenchmarkBeat is what a node does every other second.
func BenchmarkBeat(b *testing.B) {
	s, _ := benched(b)
	for b.Loop() {
		if err := s.Beat(b.Context(), port.Node{ID: "n", URL: "http://10.0.0.1:8080"}, 6*time.Second); err != nil {
			b.Fatal(err)
		}
	}
}
