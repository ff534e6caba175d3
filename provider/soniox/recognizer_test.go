package soniox

import (
	"net/http"
	"testing"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/soniox/fake"
)

func TestRecognizerKeepsThePortsRules(t *testing.T) {
	porttest.TestHostedRecognizer(t, porttest.HostedRecognizer{
		Fake: func(engine port.Recognizer) fakes.Service {
			return &fake.Recognizer{Key: porttest.HostedKey, Engine: engine}
		},
		Open: func(_ *testing.T, host string, transport http.RoundTripper) (port.Recognizer, error) {
			return NewRecognizer(Options{
				URL: "ws://" + host + "/transcribe-websocket", KeyEnv: "KEY", Transport: transport,
				Getenv: func(string) string { return porttest.HostedKey },
			})
		},
	})
}
