package soniox

import (
	"fmt"
	"net/http"
	"time"

	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/internal/socket"
)

// The addresses of the services in the United States. Soniox has others in Europe (eu) and
// Japan (jp), such as wss://stt-rt.eu.soniox.com/transcribe-websocket.
const (
	RecognizerURL  = "wss://stt-rt.soniox.com/transcribe-websocket"
	SynthesizerURL = "wss://tts-rt.soniox.com/tts-websocket"
)

// KeyEnv is the environment variable with the key, for Soniox's own hosts.
const KeyEnv = "SONIOX_API_KEY"

// The models if [Options].Model is empty.
const (
	RecognizerModel  = "stt-rt-v5"
	SynthesizerModel = "tts-rt-v2"
)

// DefaultVoice is the voice if neither the options nor the utterance name one.
const DefaultVoice = "Adrian"

// Options configures a recognizer or a synthesizer. The zero value selects the defaults.
type Options struct {
	// URL replaces the address of the service: [RecognizerURL] or [SynthesizerURL].
	URL string
	// KeyEnv is the environment variable with the key. If it is empty, Soniox's hosts use
	// [KeyEnv], and others no key.
	KeyEnv string
	// Model is the name of the model.
	Model string
	// Voice is the name of the synthesizer's voice; [DefaultVoice] if empty.
	Voice string
	// MaxEndpointDelay is the longest time between the end of speech and the endpoint of
	// the recognizer, 500 ms to 3 s; 2 s if 0.
	MaxEndpointDelay time.Duration
	// Rate is the sampling rate of the synthesizer in hertz: 8000, 16000, 24000, 44100 or
	// 48000; 24000 if 0.
	Rate int

	// Getenv returns the value of an environment variable; os.Getenv if nil.
	Getenv func(string) string
	// Transport opens the connections; the package's own if nil.
	Transport http.RoundTripper
}

// Validate returns an error for the first invalid option.
func (o Options) Validate() error {
	if err := hosted.Check("soniox", o.URL, [2]string{"Model", o.Model}, [2]string{"Voice", o.Voice}, [2]string{"KeyEnv", o.KeyEnv}); err != nil {
		return err
	}
	if d := o.MaxEndpointDelay; d != 0 && (d < 500*time.Millisecond || d > 3*time.Second) {
		return fmt.Errorf("soniox: MaxEndpointDelay is %v: expected 500ms to 3s", d)
	}
	return hosted.CheckRate("soniox", o.Rate, 8000, 16000, 24000, 44100, 48000)
}

// Foreign reports whether Soniox's own environment variable was chosen for the address of
// somebody else, or without TLS. New accepts such options, since both were set explicitly.
func (o Options) Foreign() bool { return o.access(RecognizerURL).Foreign() }

// access returns the access to a service.
func (o Options) access(own string) socket.Access {
	return socket.Access{
		Address: socket.Address{Own: own, URL: o.URL, Env: KeyEnv, Key: o.KeyEnv, Find: o.Getenv},
		Name:    "soniox", Header: "Authorization", Scheme: "Bearer ", Transport: o.Transport,
	}
}
