package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/bench"
	"github.com/hocketvoice/hocket/internal/config"
)

// BenchWebRTCOptions configures a benchmark: see [bench.WebRTCOptions].
type BenchWebRTCOptions struct {
	Calls     int
	Duration  time.Duration
	Recognize bool // includes the recognizer
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

// BenchPhone measures telephone calls with the detector of this build.
func BenchPhone(ctx context.Context, o BenchWebRTCOptions) (r bench.PhoneReport, err error) {
	err = withEngines(o, func(b bench.WebRTCOptions) error {
		r, err = bench.Phone(ctx, bench.PhoneOptions{Calls: b.Calls, Duration: b.Duration, Detector: b.Detector})
		return err
	})
	return r, err
}

// BenchServe returns a server for [BenchFootprint]: that of [NewServer], with a voice
// and a recognizer that need no CPU time. The caller must call end after the server has
// stopped.
func BenchServe(ctx context.Context, o ServeOptions) (s *Server, end func() error, err error) {
	opts, err := benchSpeech()
	if err != nil {
		return nil, nil, err
	}
	speech, err := NewSpeech(opts.Speech)
	if err != nil {
		return nil, nil, err
	}
	o.MaxLateness = time.Hour // the benchmark measures the lateness: no call is refused for it
	o.Speech = &Speech{Detector: speech.Detector}
	if o.Speech.Synthesizer, o.Speech.Recognizer, err = bench.Free(ctx, speech.Synthesizer); err == nil {
		s, err = NewServer(o) //nolint:contextcheck // the server outlives ctx
	}
	if err != nil {
		return nil, nil, errors.Join(err, speech.Close())
	}
	return s, speech.Close, nil
}

// BenchFootprintOptions configures a benchmark of a running server: see
// [bench.FootprintOptions].
type BenchFootprintOptions struct {
	BenchWebRTCOptions
	URL, Key, Agent string
	Text            bool
}

// BenchFootprint measures the resources that conversations use in a server's process.
func BenchFootprint(ctx context.Context, o BenchFootprintOptions) (r bench.FootprintReport, err error) {
	err = withEngines(o.BenchWebRTCOptions, func(b bench.WebRTCOptions) error {
		r, err = bench.MeasureFootprint(ctx, bench.FootprintOptions{
			URL: strings.TrimSuffix(o.URL, "/"), Key: o.Key, Agent: o.Agent, Text: o.Text, WebRTCOptions: b,
		})
		return err
	})
	return r, err
}

// BenchFaults measures healthy clients of the OpenAI Realtime protocol while
// others misbehave.
func BenchFaults(ctx context.Context, o BenchWebRTCOptions) (r bench.FaultsReport, err error) {
	err = withEngines(o, func(b bench.FaultsOptions) error {
		r, err = bench.Faults(ctx, b)
		return err
	})
	return r, err
}

// withEngines calls measure with the speech engines of this build.
func withEngines(o BenchWebRTCOptions, measure func(bench.WebRTCOptions) error) (err error) {
	if o.Calls < 1 || o.Calls > bench.MaxCalls || o.Duration <= 0 || o.Duration > time.Hour {
		return inputError{fmt.Errorf("bench: %d calls for %v: expected 1 to %d for up to an hour", o.Calls, o.Duration, bench.MaxCalls)}
	}
	opts, err := benchSpeech()
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

// benchSpeech returns the options of a benchmark: the defaults.
func benchSpeech() (Options, error) {
	c, err := config.Parse("", nil)
	if err != nil {
		return Options{}, err
	}
	return NewOptions(c)
}
