package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hocketvoice/hocket/detector/energy"
	"github.com/hocketvoice/hocket/internal/eval"
	"github.com/hocketvoice/hocket/port"
)

// EvalOptions configures an evaluation: see [eval.Options].
type EvalOptions struct {
	Config    string // a config file with the engines to measure; the defaults if empty
	Manifest  string // the file, or the folder with it
	Sample    int    // recordings of each set at most; 0 means all
	Parts     []string
	EchoCalls int
	Record    io.Writer
	Recorded  io.Reader
	Progress  func(part string, done, all int)
	Detail    func(line string)
}

// Eval measures the engines on recordings.
func Eval(ctx context.Context, o EvalOptions) (report *eval.Report, err error) {
	m, err := eval.LoadManifest(o.Manifest)
	if err != nil {
		return nil, inputError{err}
	}
	opts, err := evalOptions(o.Config)
	if err != nil {
		return nil, inputError{err}
	}
	opts = forTrainedDetector(opts)
	speech, err := evalSpeech(opts, o) //nolint:contextcheck // engines end with Close
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, speech.Close()) }()
	detectors := []port.Detector{speech.Detector}
	if speech.Detector.Name() != "energy" {
		d, err := energy.New(energy.Options{})
		if err != nil {
			return nil, fmt.Errorf("voice activity: %w", err)
		}
		detectors = append(detectors, d)
	}
	report, err = eval.Run(ctx, eval.Options{
		Manifest: m.Sample(o.Sample), Parts: o.Parts, EchoCalls: o.EchoCalls, Detectors: detectors,
		Services: eval.Services{Recognizer: speech.Recognizer, Synthesizer: speech.Synthesizer, Detector: speech.Detector, Onset: opts.Onset},
		Trained:  speech.Detector.Name() != "energy",
		Record:   o.Record, Recorded: o.Recorded, Progress: o.Progress, Detail: o.Detail,
	})
	if errors.Is(err, eval.ErrInput) {
		err = inputError{err}
	}
	return report, err
}

// evalSpeech opens the engines that the parts use. The calls are in virtual time, which waits for
// no network.
func evalSpeech(opts Options, o EvalOptions) (*Speech, error) {
	calls := len(o.Parts) == 0 || slices.ContainsFunc(o.Parts, func(part string) bool {
		return part != eval.PartVoice && (part != eval.PartEndpointing || o.Recorded == nil)
	})
	if !calls {
		s := &Speech{}
		d, err := s.detector(opts.Speech)
		s.Detector = d
		return s, err
	}
	s, err := NewSpeech(opts.Speech)
	if err == nil && (s.Hosted || opts.Upstream.Name != "") {
		err = inputError{errors.New("the config has speech over a network, for which calls in virtual time do not wait: expected engines that are part of the program")}
		return nil, errors.Join(err, s.Close())
	}
	return s, err
}

func evalOptions(path string) (Options, error) {
	if path == "" {
		return benchSpeech()
	}
	return LoadOptions(path)
}
