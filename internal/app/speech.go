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

// Speech is what a call hears and speaks with.
type Speech struct {
	Recognizer  port.Recognizer
	Synthesizer port.Synthesizer
	Detector    port.Detector
	// Notes say what serves in place of something better that is missing.
	Notes []string

	close []func() error
}

// Close releases the engines. It is called when no call uses them any more.
func (s *Speech) Close() error {
	var errs []error
	for i := len(s.close) - 1; i >= 0; i-- {
		errs = append(errs, s.close[i]())
	}
	return errors.Join(errs...)
}

// NewSpeech opens the engines that the config names. An engine that is not in
// this build is an error that says what to install.
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

// detector is Silero where there are weights, else the energy detector, which
// says so.
func (s *Speech) detector(c config.Speech) (port.Detector, error) {
	if c.Detector != "energy" {
		d, err := silero.New(silero.Options{Path: c.Silero.Weights})
		switch {
		case err == nil:
			if !d.Model().Pinned() {
				s.Notes = append(s.Notes, "voice activity: these Silero weights are not the ones that were tested")
			}
			return d, nil
		case c.Detector == "silero" || c.Silero.Weights != "" || !errors.Is(err, silero.ErrNoWeights) && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
		s.Notes = append(s.Notes, "voice activity: no Silero weights in this build; the energy detector serves, which takes loud noise for speech")
	}
	d, err := energy.New(energy.Options{})
	if err != nil {
		return nil, fmt.Errorf("voice activity: %w", err)
	}
	return d, nil
}
