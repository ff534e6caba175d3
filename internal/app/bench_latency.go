package app

import (
	"context"
	"strings"

	"github.com/hocketvoice/hocket/internal/bench"
)

// BenchLatencyOptions describe a measurement: see [bench.LatencyOptions].
type BenchLatencyOptions = bench.LatencyOptions

// BenchLatency measures a server that runs.
func BenchLatency(ctx context.Context, o BenchLatencyOptions) ([]bench.Latency, error) {
	o.URL = strings.TrimSuffix(o.URL, "/")
	if err := o.Validate(); err != nil {
		return nil, inputError{err}
	}
	return bench.MeasureLatency(ctx, o)
}
