package cartesia

import (
	"net/http"

	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/internal/socket"
)

// SynthesizerURL is the address of the service.
const SynthesizerURL = "wss://api.cartesia.ai/tts/websocket"

// version is that of the protocol.
const version = "2026-03-01"

// KeyEnv is the environment variable with the key, for Cartesia's own hosts.
const KeyEnv = "CARTESIA_API_KEY"

// SynthesizerModel is the model if [Options].Model is empty.
const SynthesizerModel = "sonic-3.5"

// DefaultVoice is the voice if neither the options nor the utterance name one.
const DefaultVoice = "6ccbfb76-1fc6-48f7-b71d-91ac6298247b"

// Options configures a synthesizer. The zero value selects the defaults.
type Options struct {
	// URL replaces [SynthesizerURL].
	URL string
	// KeyEnv is the environment variable with the key. If it is empty, Cartesia's hosts use
	// [KeyEnv], and others no key.
	KeyEnv string
	// Model is the name of the model.
	Model string
	// Voice is the id of the voice; [DefaultVoice] if empty.
	Voice string
	// Rate is the sampling rate in hertz: 8000, 16000, 22050, 24000, 44100 or 48000; 24000 if
	// 0.
	Rate int

	// Getenv returns the value of an environment variable; os.Getenv if nil.
	Getenv func(string) string
	// Transport opens the connections; the package's own if nil.
	Transport http.RoundTripper
}

// Validate returns an error for the first invalid option.
func (o Options) Validate() error {
	if err := hosted.Check("cartesia", o.URL, [2]string{"Model", o.Model}, [2]string{"Voice", o.Voice}, [2]string{"KeyEnv", o.KeyEnv}); err != nil {
		return err
	}
	return hosted.CheckRate("cartesia", o.Rate, 8000, 16000, 22050, 24000, 44100, 48000)
}

// Foreign reports whether Cartesia's own environment variable was chosen for the address of
// somebody else, or without TLS. New accepts such options, since both were set explicitly.
func (o Options) Foreign() bool { return o.access().Foreign() }

// access returns the access to the service.
func (o Options) access() socket.Access {
	return socket.Access{
		Address: socket.Address{Own: SynthesizerURL, URL: o.URL, Env: KeyEnv, Key: o.KeyEnv, Find: o.Getenv},
		Name:    "cartesia", Header: "Authorization", Scheme: "Bearer ", Transport: o.Transport,
	}
}
