package cartesia

import (
	"net/http"
	"testing"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/cartesia/fake"
)

func TestSynthesizerKeepsThePortsRules(t *testing.T) {
	porttest.TestHostedSynthesizer(t, porttest.HostedSynthesizer{
		Fake: func(mouth fakes.Mouth) fakes.Service { return &fake.Synthesizer{Key: porttest.HostedKey, Mouth: mouth} },
		Open: func(_ *testing.T, host string, transport http.RoundTripper) (port.Synthesizer, error) {
			return NewSynthesizer(Options{URL: "ws://" + host + "/tts/websocket", KeyEnv: "KEY", Getenv: porttest.HostedEnv, Transport: transport})
		},
	})
}
