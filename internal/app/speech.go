package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hocketvoice/hocket/detector/energy"
	"github.com/hocketvoice/hocket/detector/silero"
	"github.com/hocketvoice/hocket/detector/smartturn"
	"github.com/hocketvoice/hocket/internal/chain"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/onnx"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/provider/flite"
	"github.com/hocketvoice/hocket/provider/piper"
	"github.com/hocketvoice/hocket/provider/pocketsphinx"
)

// Speech contains the speech engines of calls.
type Speech struct {
	Recognizer  port.Recognizer
	Synthesizer port.Synthesizer
	Detector    port.Detector
	EndOfTurn   port.EndOfTurn // nil: words and silence alone tell the end of a turn
	// Caller speaks texts of a simulated caller. It is Synthesizer if flite is not part of
	// this build.
	Caller port.Synthesizer
	// Hosted reports that an engine is reached over a network, so that calls run in real
	// time.
	Hosted bool
	// Report, if not nil, is called when an engine has failed and another takes over. It must
	// be set before the engines are used and must not block.
	Report func(chain.Switch)
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
	if err := s.openVoices(c); err != nil {
		return nil, err
	}
	if err := s.openEars(c); err != nil {
		return nil, err
	}
	if err := s.endOfTurn(c); err != nil {
		return nil, err
	}
	return s, nil
}

// endOfTurn opens the model that hears the end of a turn, if it is installed. If not, it returns
// an error if the config names it, and otherwise adds a note.
func (s *Speech) endOfTurn(c config.Speech) error {
	if c.EndOfTurn == "none" {
		return nil
	}
	models := modelsFolder(c.Models)
	m, err := smartturn.New(smartturn.Options{Library: filepath.Join(models, onnx.Library()), Network: filepath.Join(models, smartturn.Network)})
	switch {
	case err == nil:
		s.EndOfTurn = m
		s.close = append(s.close, m.Close)
		return nil
	case c.EndOfTurn == "smartturn" || c.Models != "" || !errors.Is(err, onnx.ErrMissing) && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("end of turn: %w", err)
	case errors.Is(err, onnx.ErrMissing):
		s.Notes = append(s.Notes, "end of turn: no network in this build; words and silence alone tell it")
	default:
		s.Notes = append(s.Notes, "end of turn: the network is not installed; words and silence alone tell it ('make deps' installs it)")
	}
	return nil
}

// modelsFolder returns the folder of the networks and of their runtime: the one that the config
// names, or one at a known place beside the program.
func modelsFolder(named string) string {
	if named != "" {
		return named
	}
	program, err := os.Executable()
	if err != nil {
		return "."
	}
	if program, err = filepath.EvalSymlinks(program); err != nil {
		return "."
	}
	bin := filepath.Dir(program)
	for _, place := range []string{filepath.Join("..", "third_party", "models"), filepath.Join("..", "lib", "hocket")} {
		folder := filepath.Join(bin, place)
		if _, err := os.Stat(filepath.Join(folder, onnx.Library())); err == nil {
			return folder
		}
	}
	return bin
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

// openVoices opens the synthesizers.
func (s *Speech) openVoices(c config.Speech) error {
	var voices []chain.Voice
	for _, name := range cmp.Or(c.Synthesizer, DefaultSynthesizer).List() {
		voice, err := s.openVoice(c, name)
		if err != nil {
			return err
		}
		voices = append(voices, chain.Voice{Name: name, Synthesizer: voice})
		if name == DefaultSynthesizer {
			s.Caller = voice
		}
	}
	s.Synthesizer = voices[0].Synthesizer
	if len(voices) > 1 {
		s.Synthesizer = chain.NewSynthesizer(voices, s.report)
	}
	if s.Caller != nil {
		return nil
	}
	s.Caller = s.Synthesizer
	if caller, err := flite.New(flite.Options{}); err == nil {
		s.Caller = caller
		s.close = append(s.close, caller.Close)
	}
	return nil
}

// openVoice opens a synthesizer. speech.voice is a voice of flite.
func (s *Speech) openVoice(c config.Speech, name string) (port.Synthesizer, error) {
	switch name {
	case "flite":
		voice, err := flite.New(flite.Options{Voice: c.Voice})
		if err != nil {
			return nil, err
		}
		s.close = append(s.close, voice.Close)
		return voice, nil
	case "piper":
		models := modelsFolder(c.Models)
		voice, err := piper.New(piper.Options{
			Library: filepath.Join(models, onnx.Library()), Network: cmp.Or(c.Piper.Network, filepath.Join(models, piper.Network)),
		})
		if err != nil {
			return nil, err
		}
		s.close = append(s.close, voice.Close)
		return ownVoice{voice}, nil
	}
	v, ok := vendorNamed(name)
	if !ok {
		return nil, fmt.Errorf("speech.synthesizer: %q is unknown", name)
	}
	voice, err := v.synthesizer(v.of(&c).get())
	if err != nil {
		return nil, fmt.Errorf("speech.synthesizer: %w", err)
	}
	s.Hosted = true
	s.close = append(s.close, voice.Close)
	return ownVoice{voice}, nil
}

// ownVoice is a synthesizer whose voice its options say: the names of voices are those of
// one engine alone.
type ownVoice struct{ port.Synthesizer }

// Speak implements [port.Synthesizer].
func (v ownVoice) Speak(ctx context.Context, u port.Utterance, emit func(port.Speech) error) error {
	u.Voice = ""
	return v.Synthesizer.Speak(ctx, u, emit)
}

// openEars opens the recognizers.
func (s *Speech) openEars(c config.Speech) error {
	var ears []chain.Ear
	for _, name := range cmp.Or(c.Recognizer, DefaultRecognizer).List() {
		r, err := s.openEar(c, name)
		if err != nil {
			return err
		}
		ears = append(ears, chain.Ear{Name: name, Recognizer: r})
	}
	s.Recognizer = ears[0].Recognizer
	if len(ears) > 1 {
		s.Recognizer = chain.NewRecognizer(ears, s.report)
	}
	return nil
}

func (s *Speech) openEar(c config.Speech, name string) (port.Recognizer, error) {
	v, ok := vendorNamed(name)
	if !ok {
		ears, err := pocketsphinx.New(pocketsphinx.Options{
			AcousticModel: c.Pocketsphinx.AcousticModel, LanguageModel: c.Pocketsphinx.LanguageModel,
			Dictionary: c.Pocketsphinx.Dictionary,
		})
		if err != nil {
			return nil, err
		}
		s.close = append(s.close, ears.Close)
		return ears, nil
	}
	r, err := v.recognizer(v.of(&c).get())
	if err != nil {
		return nil, fmt.Errorf("speech.recognizer: %w", err)
	}
	s.Hosted = true
	s.close = append(s.close, r.Close)
	return r, nil
}

func (s *Speech) report(w chain.Switch) {
	if s.Report != nil {
		s.Report(w)
	}
}

// describe describes a switch for a person.
func describe(w chain.Switch) string {
	if w.To == "" {
		return fmt.Sprintf("the %s %s has failed, and there is no other: %v", w.Kind, w.From, w.Err)
	}
	return fmt.Sprintf("the %s %s has failed: %s takes over for %v: %v", w.Kind, w.From, w.To, w.Pause, w.Err)
}

// missing reports whether an engine is not part of this build.
func missing(err error) bool {
	return errors.Is(err, flite.ErrMissing) || errors.Is(err, pocketsphinx.ErrMissing)
}
