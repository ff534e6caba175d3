package app

import (
	"net/http"
	"strings"
	"testing"
)

// BenchmarkSeedLatency holds conversations with a server on this machine and reports the times
// of seed 000 as a client measures them, in milliseconds: the median and the longest. It asserts
// no limit, because the times depend on the machine; session.TestSeedLimits asserts the limits in
// virtual time.
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
