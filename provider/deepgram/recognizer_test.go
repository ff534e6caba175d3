package deepgram

import (
	"net/http"
	"testing"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/deepgram/fake"
)

// options are those of an adapter of a fake at an address.
func options(model, url string, transport http.RoundTripper) Options {
	return Options{
		Model: model, URL: url, KeyEnv: "KEY", Transport: transport,
		Getenv: func(string) string { return porttest.HostedKey },
	}
}

func TestNovaKeepsThePortsRules(t *testing.T) {
	porttest.TestHostedRecognizer(t, porttest.HostedRecognizer{
		Fake: func(engine port.Recognizer) fakes.Service { return &fake.Nova{Key: porttest.HostedKey, Engine: engine} },
		Open: func(_ *testing.T, host string, transport http.RoundTripper) (port.Recognizer, error) {
			return NewRecognizer(options("", "ws://"+host+"/v1/listen", transport))
		},
	})
}

func TestFluxKeepsThePortsRules(t *testing.T) {
	porttest.TestHostedRecognizer(t, porttest.HostedRecognizer{
		Fake: func(engine port.Recognizer) fakes.Service { return &fake.Flux{Key: porttest.HostedKey, Engine: engine} },
		Open: func(_ *testing.T, host string, transport http.RoundTripper) (port.Recognizer, error) {
			return NewRecognizer(options("flux-general-en", "ws://"+host+"/v2/listen", transport))
		},
	})
}
