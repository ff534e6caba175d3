package deepgram

import (
	"net/http"
	"testing"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/deepgram/fake"
)

func TestSynthesizerKeepsThePortsRules(t *testing.T) {
	porttest.TestHostedSynthesizer(t, porttest.HostedSynthesizer{
		Fake: func(mouth fakes.Mouth) fakes.Service { return &fake.Synthesizer{Key: porttest.HostedKey, Mouth: mouth} },
		Open: func(_ *testing.T, host string, transport http.RoundTripper) (port.Synthesizer, error) {
			return NewSynthesizer(options("", "ws://"+host+"/v1/speak", transport))
		},
		NoMarks: true,
	})
}
