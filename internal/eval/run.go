package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/turn"
)

// Options configures an evaluation.
type Options struct {
	Manifest *Manifest
	Services Services
	// Detectors are measured as detectors; calls use the one of Services.
	Detectors []port.Detector
	// Trained says that the detector of Services is trained: see [settings.Options.Trained].
	Trained bool
	// Parts are measured; all if empty.
	Parts []string
	// EchoCalls is the number of calls with an echo.
	EchoCalls int
	// Record, if not nil, gets what the turn controller was told in the calls of the
	// endpointing part, for Recorded.
	Record io.Writer
	// Recorded, if not nil, replaces these calls: see [ReadRecorded].
	Recorded io.Reader
	// Progress, if not nil, is told what is done.
	Progress func(part string, done, all int)
	// Detail, if not nil, is told each case that went wrong.
	Detail func(line string)
}

// evaluation is a run.
type evaluation struct {
	Options

	manifest  *Manifest
	services  Services
	detectors []port.Detector
	report    *Report
}

// Run measures the recordings of a manifest. A part for which it has no recordings is a note of
// the report.
func Run(ctx context.Context, o Options) (*Report, error) {
	e := &evaluation{
		Options: o, manifest: o.Manifest, services: o.Services, detectors: o.Detectors,
		report: &Report{Data: o.Manifest.Name, Recordings: len(o.Manifest.Recordings)},
	}
	measures := map[string]func(context.Context) error{
		PartVoice: e.measureVoice, PartEndpointing: e.measureEndpointing, PartBargeIn: e.measureBargeIn, PartEcho: e.measureEcho, PartWords: e.measureWords, PartAnswers: e.measureAnswers,
	}
	for _, part := range Parts() {
		if measures[part] == nil || len(o.Parts) > 0 && !slices.Contains(o.Parts, part) {
			continue
		}
		if err := measures[part](ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", part, err)
		}
	}
	if len(e.report.Figures) == 0 {
		return nil, errors.New(strings.Join(append([]string{"nothing was measured"}, e.report.Notes...), "; "))
	}
	return e.report, nil
}

func (e *evaluation) add(f Figure) {
	if len(f.Values) > 0 {
		e.report.Figures = append(e.report.Figures, f)
	}
}

func (e *evaluation) progress(part string, done, all int) {
	if e.Progress != nil {
		e.Progress(part, done, all)
	}
}

// detail reports a case that went wrong.
func (e *evaluation) detail(part string, r *Recording, format string, args ...any) {
	if e.Detail != nil {
		who := r.Split
		if r.Speaker != "" {
			who = r.Speaker + ", " + who
		}
		e.Detail(fmt.Sprintf("%s: %s (%s): %s", part, r.Path, who, fmt.Sprintf(format, args...)))
	}
}

// sound reads a recording at [Rate].
func (e *evaluation) sound(r *Recording) ([]int16, error) {
	pcm, _, err := e.soundAndRate(r)
	return pcm, err
}

// soundAndRate also returns the rate of the file.
func (e *evaluation) soundAndRate(r *Recording) ([]int16, int, error) {
	pcm, rate, err := readSound(r.Path)
	if err != nil {
		return nil, 0, inputError{err}
	}
	if n := len(r.Speech); n > 0 && int(audio.PosOf(r.Speech[n-1].From, Rate)) >= len(pcm) {
		return nil, 0, inputError{fmt.Errorf("eval: %s: the speech from %v is not within the recording", r.Path, r.Speech[n-1].From)}
	}
	return pcm, rate, nil
}

// ErrInput is the error of [Run] if a recording or the recorded timings are invalid: see
// [errors.Is].
var ErrInput = errors.New("eval: invalid input")

// inputError is an error about what was given to an evaluation.
type inputError struct{ error }

// Is reports whether target is ErrInput.
func (e inputError) Is(target error) bool { return target == ErrInput }

// Unwrap returns the wrapped error.
func (e inputError) Unwrap() error { return e.error }

// trained returns the options of a turn for the detector.
func (e *evaluation) trained(o turn.Options) turn.Options {
	if !e.Trained {
		return o
	}
	return settings.Options{Turn: o}.Trained().Turn
}

// fileName makes a name of a file from the name of a figure.
func fileName(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, strings.ReplaceAll(strings.ToLower(name), ",", "")), "-")
}
