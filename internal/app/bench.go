package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/internal/bench"
	"github.com/hocketvoice/hocket/internal/config"
)

// BenchWebRTCOptions describe a measurement: see [bench.WebRTCOptions].
type BenchWebRTCOptions struct {
	Calls     int
	Duration  time.Duration
	Recognize bool // the recognizer takes part
}

// BenchWebRTC measures calls of browsers with the engines of this build.
func BenchWebRTC(ctx context.Context, o BenchWebRTCOptions) (r bench.WebRTCReport, err error) {
	err = withEngines(o, func(b bench.WebRTCOptions) error {
		r, err = bench.WebRTC(ctx, b)
		return err
	})
	return r, err
}

// BenchWS measures clients of the OpenAI Realtime protocol with the engines of
// this build.
func BenchWS(ctx context.Context, o BenchWebRTCOptions) (r bench.WSReport, err error) {
	err = withEngines(o, func(b bench.WSOptions) error {
		r, err = bench.WS(ctx, b)
		return err
	})
	return r, err
}

// withEngines opens the engines for a measurement.
func withEngines(o BenchWebRTCOptions, measure func(bench.WebRTCOptions) error) (err error) {
	if o.Calls < 1 || o.Calls > bench.MaxCalls || o.Duration <= 0 || o.Duration > time.Hour {
		return inputError{fmt.Errorf("%d calls for %v: expected 1 to %d, for up to an hour", o.Calls, o.Duration, bench.MaxCalls)}
	}
	c, err := config.Parse("", nil)
	if err != nil {
		return err
	}
	opts, err := NewOptions(c)
	if err != nil {
		return err
	}
	opts = forTrainedDetector(opts)
	speech, err := NewSpeech(opts.Speech)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, speech.Close()) }()
	b := bench.WebRTCOptions{
		Calls: o.Calls, Duration: o.Duration, Synthesizer: speech.Synthesizer, Detector: speech.Detector,
		Turn: opts.Turn, Onset: opts.Onset,
	}
	if o.Recognize {
		b.Recognizer = speech.Recognizer
	}
	return measure(b)
}
