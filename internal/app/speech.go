package app

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/hocketvoice/hocket/detector/energy"
	"github.com/hocketvoice/hocket/detector/silero"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/provider/flite"
	"github.com/hocketvoice/hocket/provider/pocketsphinx"
)

// Speech contains the speech engines of calls.
type Speech struct {
	Recognizer  port.Recognizer
	Synthesizer port.Synthesizer
	Detector    port.Detector
	// Notes are remarks about replacements for missing parts.
	Notes []string

	close []func() error
}

// Close closes the engines. No call may use them any longer.
func (s *Speech) Close() error {
	var errs []error
	for i := len(s.close) - 1; i >= 0; i-- {
		errs = append(errs, s.close[i]())
	}
	return errors.Join(errs...)
}

// NewSpeech opens the engines that the config names. If an engine is not part of this
// build, the error says what to install.
func NewSpeech(c config.Speech) (_ *Speech, err error) {
	s := &Speech{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.Detector, err = s.detector(c); err != nil {
		return nil, err
	}
	voice, err := flite.New(flite.Options{Voice: c.Voice})
	if err != nil {
		return nil, err
	}
	s.Synthesizer = voice
	s.close = append(s.close, voice.Close)
	ears, err := pocketsphinx.New(pocketsphinx.Options{
		AcousticModel: c.Pocketsphinx.AcousticModel, LanguageModel: c.Pocketsphinx.LanguageModel,
		Dictionary: c.Pocketsphinx.Dictionary,
	})
	if err != nil {
		return nil, err
	}
	s.Recognizer = ears
	s.close = append(s.close, ears.Close)
	return s, nil
}

// detector returns a Silero detector if its weights are available, and otherwise an energy
// detector, with a note. It returns an error instead if the config names Silero.
func (s *Speech) detector(c config.Speech) (port.Detector, error) {
	if c.Detector != "energy" {
		d, err := silero.New(silero.Options{Path: c.Silero.Weights})
		switch {
		case err == nil:
			if !d.Model().Pinned() {
				s.Notes = append(s.Notes, "voice activity: these Silero weights are not the tested ones")
			}
			return d, nil
		case c.Detector == "silero" || c.Silero.Weights != "" || !errors.Is(err, silero.ErrNoWeights) && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
		s.Notes = append(s.Notes, "voice activity: no Silero weights in this build; using the energy detector, which takes loud noise for speech")
	}
	d, err := energy.New(energy.Options{})
	if err != nil {
		return nil, fmt.Errorf("voice activity: %w", err)
	}
	return d, nil
}
