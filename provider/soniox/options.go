package soniox

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
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
	if o.URL != "" {
		if err := socket.CheckURL(o.URL); err != nil {
			return fmt.Errorf("soniox: URL %w", err)
		}
	}
	for _, f := range []struct{ name, value string }{{"Model", o.Model}, {"Voice", o.Voice}, {"KeyEnv", o.KeyEnv}} {
		if strings.ContainsFunc(f.value, func(r rune) bool { return r <= ' ' || r == 0x7f }) || len(f.value) > 50 {
			return fmt.Errorf("soniox: %s is %q: expected at most 50 characters without spaces", f.name, f.value)
		}
	}
	if d := o.MaxEndpointDelay; d != 0 && (d < 500*time.Millisecond || d > 3*time.Second) {
		return fmt.Errorf("soniox: MaxEndpointDelay is %v: expected 500ms to 3s", d)
	}
	if rates := []int{8000, 16000, 24000, 44100, 48000}; o.Rate != 0 && !slices.Contains(rates, o.Rate) {
		return fmt.Errorf("soniox: Rate is %d: expected one of %v", o.Rate, rates)
	}
	return nil
}

// Foreign reports whether Soniox's own environment variable was chosen for the address of
// somebody else, or without TLS. New accepts such options, since both were set explicitly.
func (o Options) Foreign() bool { return o.address("").Foreign() }

// address returns the address of a service.
func (o Options) address(own string) socket.Address {
	find := o.Getenv
	if find == nil {
		find = os.Getenv
	}
	if own == "" {
		own = RecognizerURL
	}
	return socket.Address{Own: own, URL: o.URL, Env: KeyEnv, Key: o.KeyEnv, Find: find}
}

// connection returns the dialer and the header of connections to a service.
func (o Options) connection(own string) (*socket.Dialer, http.Header, error) {
	if err := o.Validate(); err != nil {
		return nil, nil, err
	}
	key, err := o.address(own).Secret()
	if err != nil {
		return nil, nil, fmt.Errorf("soniox: %w", err)
	}
	header := http.Header{}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	return socket.New(socket.Options{Name: "soniox", Secrets: []string{key}, Transport: o.Transport}), header, nil
}

// languageOf returns the primary language of a BCP 47 tag, which Soniox wants.
func languageOf(tag string) string {
	if tag == "" {
		return hosted.English
	}
	language, _, _ := strings.Cut(tag, "-")
	return strings.ToLower(language)
}
