package app

import (
	"context"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkSeedLatency holds conversations with a server on this machine and reports what a
// client sees of the times of seed 000, in milliseconds: half of them and the longest. The
// limits are asserted in virtual time (session.TestSeedLimits): on the clock they are those
// of the machine that this runs on, and nothing fails for them.
func BenchmarkSeedLatency(b *testing.B) {
	s, err := NewServer(ServeOptions{Addr: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			b.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	}()
	for b.Loop() {
		list, err := BenchLatency(b.Context(), BenchLatencyOptions{URL: s.URL(), Runs: 5})
		if err != nil {
			b.Fatal(err)
		}
		for _, l := range list {
			name := strings.ReplaceAll(l.Name, " ", "-")
			b.ReportMetric(l.P50, name+"-ms-p50")
			b.ReportMetric(l.Max, name+"-ms-max")
			b.Logf("%s: half %.1f ms, at most %.1f ms; the seed has %.0f ms", l.Name, l.P50, l.Max, l.Limit)
		}
	}
	b.ReportMetric(0, "ns/op")
}
