package pocketsphinx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Rate is the sampling rate of the frames that a stream accepts, in hertz. The
// English model was trained at this rate; the caller must resample.
const Rate = 16000

// modelDir is the directory of the English model in Debian's pocketsphinx-en-us,
// the output of pkg-config --variable=modeldir pocketsphinx.
const modelDir = "/usr/share/pocketsphinx/model"

// ErrMissing is what [New] returns in a binary built without the engine.
var ErrMissing = errors.New("pocketsphinx: this binary was built without the pocketsphinx recognizer; " +
	"install libpocketsphinx-dev and pocketsphinx-en-us and build with: go build -tags pocketsphinx (CGO_ENABLED=1)")

// Options configures a [Recognizer]. The zero value uses the models of Debian's
// package pocketsphinx-en-us.
type Options struct {
	AcousticModel string // directory; Debian's en-us if empty
	LanguageModel string // file; Debian's en-us.lm.bin if empty
	Dictionary    string // file; Debian's cmudict-en-us.dict if empty

	// MaxStreams limits the streams in use, each with a decoder of about 95 MB. Open
	// returns ErrBusy beyond it. A stream whose caller has been silent for 20 s does not
	// count. 16 if 0.
	MaxStreams int
	// Warm is the number of decoders created by New, so that the first callers do
	// not wait 0.3 s. At least one is created, to check the model.
	Warm int
	// Partial is the interval between partial results, in time of sound. 100 ms if
	// 0.
	Partial time.Duration
	// MaxUtterance is the longest utterance that is decoded; the rest is ignored.
	// 30 s if 0.
	MaxUtterance time.Duration
	// MaxSecondPass is the longest utterance that is decoded more than once:
	// because the caller's channel differs from the assumed one, or because the
	// caller continued after a pause. A pass takes about a tenth of the utterance's
	// duration. 6 s if 0. If negative, there is no second pass and no early
	// conclusion in a pause.
	MaxSecondPass time.Duration
}

// Validate returns an error for the first invalid option. It does not check files;
// [New] does.
func (o Options) Validate() error {
	switch {
	case o.MaxStreams < 0:
		return fmt.Errorf("pocketsphinx: max streams is %d: expected 0 or more", o.MaxStreams)
	case o.Warm < 0 || o.Warm > o.withDefaults().MaxStreams:
		return fmt.Errorf("pocketsphinx: warm is %d: expected 0 to %d, the maximum number of streams", o.Warm, o.withDefaults().MaxStreams)
	case o.Partial != 0 && o.Partial < 20*time.Millisecond:
		return fmt.Errorf("pocketsphinx: partial interval is %v: expected at least 20ms", o.Partial)
	case o.MaxUtterance < 0 || o.MaxUtterance > 10*time.Minute:
		return fmt.Errorf("pocketsphinx: max utterance is %v: expected 0 to 10m", o.MaxUtterance)
	}
	return nil
}

// withDefaults returns o with defaults in place of zero fields.
func (o Options) withDefaults() Options {
	or := func(s *string, rest ...string) {
		if *s == "" {
			*s = filepath.Join(append([]string{modelDir, "en-us"}, rest...)...)
		}
	}
	or(&o.AcousticModel, "en-us")
	or(&o.LanguageModel, "en-us.lm.bin")
	or(&o.Dictionary, "cmudict-en-us.dict")
	if o.MaxStreams == 0 {
		o.MaxStreams = 16
	}
	if o.Partial == 0 {
		o.Partial = 100 * time.Millisecond
	}
	if o.MaxUtterance == 0 {
		o.MaxUtterance = 30 * time.Second
	}
	if o.MaxSecondPass == 0 {
		o.MaxSecondPass = 6 * time.Second
	}
	return o
}

// checkFiles returns an error if a part of the model is missing. The engine would
// end the process for some of them.
func (o Options) checkFiles() error {
	for _, f := range []struct{ what, path string }{
		{"acoustic model", filepath.Join(o.AcousticModel, "mdef")},
		{"acoustic model", filepath.Join(o.AcousticModel, "means")},
		{"acoustic model", filepath.Join(o.AcousticModel, "variances")},
		{"acoustic model", filepath.Join(o.AcousticModel, "transition_matrices")},
		{"language model", o.LanguageModel},
		{"dictionary", o.Dictionary},
	} {
		s, err := os.Stat(f.path)
		if err != nil {
			return fmt.Errorf("pocketsphinx: %s: %w; install pocketsphinx-en-us or name another model", f.what, err)
		}
		if !s.Mode().IsRegular() {
			return fmt.Errorf("pocketsphinx: %s: %s is not a file", f.what, f.path)
		}
	}
	return nil
}

// Languages implements [port.Languages].
func (*Recognizer) Languages() []string { return []string{"en"} }
