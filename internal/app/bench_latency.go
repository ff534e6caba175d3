package app

import (
	"context"
	"strings"

	"github.com/hocketvoice/hocket/internal/bench"
)

// BenchLatencyOptions configures a benchmark: see [bench.LatencyOptions].
type BenchLatencyOptions = bench.LatencyOptions

// BenchLatency measures the latency of a running server.
func BenchLatency(ctx context.Context, o BenchLatencyOptions) ([]bench.Latency, error) {
	o.URL = strings.TrimSuffix(o.URL, "/")
	if err := o.Validate(); err != nil {
		return nil, inputError{err}
	}
	return bench.MeasureLatency(ctx, o)
}
