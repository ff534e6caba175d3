//go:build peers

package cartesia

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/cartesia/fake"
)

// TestPeerSynthesizer has Cartesia's own client talk to the fake.
func TestPeerSynthesizer(t *testing.T) {
	f := &fake.Synthesizer{Key: porttest.HostedKey, Mouth: fakes.Mouth{Engine: &porttest.Synthesizer{}, Speed: 4}}
	s := httptest.NewServer(f)
	defer s.Close()
	type heard struct {
		Bytes, Cancelled int
		Words            []string
		Starts           []float64
		Error            *string
	}
	// 19 letters of 60 ms, two bytes a sample.
	const want = 19 * 60 * 24 * 2
	url := "URL=ws" + strings.TrimPrefix(s.URL, "http")
	var got heard
	porttest.Client(t, "speak.py", &got, "KEY="+porttest.HostedKey, url)
	if got.Error != nil || got.Bytes < want-960 || got.Bytes > want+960 || got.Cancelled == 0 || got.Cancelled > want ||
		strings.Join(got.Words, " ") != "from new york to boston" || !slices.IsSorted(got.Starts) || len(got.Starts) != 5 {
		t.Errorf("%+v, error %v, want %d bytes", got, got.Error, want)
	}
	if broken := f.Broken(); len(broken) > 0 {
		t.Errorf("broken rules: %q", broken)
	}
	got = heard{}
	porttest.Client(t, "speak.py", &got, "KEY=wrong", url)
	if got.Error == nil || !strings.Contains(*got.Error, "401") || got.Bytes != 0 {
		t.Errorf("%+v with a wrong key, want an error with 401", got)
	}
}

// TestPeerPipecat has Pipecat's client talk to the fake.
func TestPeerPipecat(t *testing.T) {
	f := &fake.Synthesizer{Key: porttest.HostedKey, Mouth: fakes.Mouth{Engine: &porttest.Synthesizer{}, Speed: 4}}
	s := httptest.NewServer(f)
	defer s.Close()
	porttest.Pipecat(t, "cartesia", "ws"+strings.TrimPrefix(s.URL, "http")+"/tts/websocket", &f.Server)
}
