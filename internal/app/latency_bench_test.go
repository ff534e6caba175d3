package app

import (
	"net/http"
	"strings"
	"testing"
)

// BenchmarkSeedLatency holds conversations with a server on this machine and reports what a
// client sees of the times of seed 000, in milliseconds: half of them and the longest. The
// limits are asserted in virtual time (session.TestSeedLimits): on the clock they are those
// of the machine that this runs on, and nothing fails for them.
func BenchmarkSeedLatency(b *testing.B) {
	b.Cleanup(http.DefaultClient.CloseIdleConnections)
	r := serveWith(b, ServeOptions{})
	for b.Loop() {
		list, err := BenchLatency(b.Context(), BenchLatencyOptions{URL: r.url, Runs: 5})
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
