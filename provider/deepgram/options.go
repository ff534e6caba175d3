package deepgram

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
)

// The addresses of the services. Deepgram has others in Europe, such as
// wss://api.eu.deepgram.com/v1/listen.
const (
	NovaURL        = "wss://api.deepgram.com/v1/listen"
	FluxURL        = "wss://api.deepgram.com/v2/listen"
	SynthesizerURL = "wss://api.deepgram.com/v1/speak"
)

// KeyEnv is the environment variable with the key, for Deepgram's own hosts.
const KeyEnv = "DEEPGRAM_API_KEY"

// RecognizerModel is the model of the recognizer if [Options].Model is empty.
const RecognizerModel = "nova-3"

// DefaultVoice is the voice if neither the options nor the utterance name one. The voices are
// the models of the synthesizer.
const DefaultVoice = "aura-2-thalia-en"

// Options configures a recognizer or a synthesizer. The zero value selects the defaults.
type Options struct {
	// URL replaces the address of the service: [NovaURL], [FluxURL] for a model whose name
	// begins with "flux-", or [SynthesizerURL].
	URL string
	// KeyEnv is the environment variable with the key. If it is empty, Deepgram's hosts use
	// [KeyEnv], and others no key.
	KeyEnv string
	// Model is the name of the recognizer's model.
	Model string
	// Voice is the name of the synthesizer's voice; [DefaultVoice] if empty.
	Voice string
	// Endpointing is the silence after which Nova judges that the speaker has finished, 10 ms
	// to 5 s; 300 ms if 0.
	Endpointing time.Duration
	// Threshold is the confidence at which Flux judges that the speaker has finished, 0.5 to
	// 1; Flux's own, 0.7, if 0. At 1 it never does.
	Threshold float64
	// EagerThreshold is the lower confidence at which Flux says so in advance, 0.3 to 0.9;
	// it does not if 0. What it says then is an interim result.
	EagerThreshold float64
	// Rate is the sampling rate of the synthesizer in hertz: 8000, 16000, 24000, 32000 or
	// 48000; 24000 if 0.
	Rate int

	// Getenv returns the value of an environment variable; os.Getenv if nil.
	Getenv func(string) string
	// Transport opens the connections; the package's own if nil.
	Transport http.RoundTripper
}

// Validate returns an error for the first invalid option.
func (o Options) Validate() error {
	if err := hosted.Check("deepgram", o.URL, [2]string{"Model", o.Model}, [2]string{"Voice", o.Voice}, [2]string{"KeyEnv", o.KeyEnv}); err != nil {
		return err
	}
	if d := o.Endpointing; d != 0 && (d < 10*time.Millisecond || d > 5*time.Second) {
		return fmt.Errorf("deepgram: Endpointing is %v: expected 10ms to 5s", d)
	}
	if t := o.Threshold; t != 0 && !(t >= 0.5 && t <= 1) {
		return fmt.Errorf("deepgram: Threshold is %v: expected 0.5 to 1", t)
	}
	if t := o.EagerThreshold; t != 0 && !(t >= 0.3 && t <= 0.9) {
		return fmt.Errorf("deepgram: EagerThreshold is %v: expected 0.3 to 0.9", t)
	}
	if limit := o.threshold(); o.EagerThreshold > limit {
		return fmt.Errorf("deepgram: EagerThreshold is %v: expected at most Threshold, %v", o.EagerThreshold, limit)
	}
	return hosted.CheckRate("deepgram", o.Rate, 8000, 16000, 24000, 32000, 48000)
}

// threshold returns the confidence at which Flux ends a turn.
func (o Options) threshold() float64 {
	if o.Threshold == 0 {
		return 0.7
	}
	return o.Threshold
}

// Foreign reports whether Deepgram's own environment variable was chosen for the address of
// somebody else, or without TLS. New accepts such options, since both were set explicitly.
func (o Options) Foreign() bool { return o.access(NovaURL).Foreign() }

// flux reports whether the model is one of Flux.
func (o Options) flux() bool { return strings.HasPrefix(o.Model, "flux-") }

// access returns the access to a service.
func (o Options) access(own string) socket.Access {
	return socket.Access{
		Address: socket.Address{Own: own, URL: o.URL, Env: KeyEnv, Key: o.KeyEnv, Find: o.Getenv},
		Name:    "deepgram", Header: "Authorization", Scheme: "Token ", Transport: o.Transport,
	}
}

// The limits of the vocabulary of a connection: terms, and tokens in them. Deepgram stops
// transcription without an error if there are more tokens.
const (
	maxTerms  = 100
	maxTokens = 500
)

// keyterms returns the vocabulary, of at most about 500 tokens.
func keyterms(e port.Expectation) []string {
	terms, tokens := hosted.Terms(e, maxTerms), 0
	for i, t := range terms {
		if tokens += len(t)/2 + 1; tokens > maxTokens { // tokens are longer than two bytes
			return terms[:i]
		}
	}
	return terms
}
