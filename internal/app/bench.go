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
func BenchWebRTC(ctx context.Context, o BenchWebRTCOptions) (_ bench.WebRTCReport, err error) {
	if o.Calls < 1 || o.Calls > bench.MaxCalls || o.Duration <= 0 || o.Duration > time.Hour {
		return bench.WebRTCReport{}, inputError{fmt.Errorf("%d calls for %v: expected 1 to %d, for up to an hour", o.Calls, o.Duration, bench.MaxCalls)}
	}
	c, err := config.Parse("", nil)
	if err != nil {
		return bench.WebRTCReport{}, err
	}
	opts, err := NewOptions(c)
	if err != nil {
		return bench.WebRTCReport{}, err
	}
	opts = forTrainedDetector(opts)
	speech, err := NewSpeech(opts.Speech)
	if err != nil {
		return bench.WebRTCReport{}, err
	}
	defer func() { err = errors.Join(err, speech.Close()) }()
	b := bench.WebRTCOptions{
		Calls: o.Calls, Duration: o.Duration, Synthesizer: speech.Synthesizer, Detector: speech.Detector,
		Turn: opts.Turn, Onset: opts.Onset,
	}
	if o.Recognize {
		b.Recognizer = speech.Recognizer
	}
	return bench.WebRTC(ctx, b)
}
