//go:build peers

package elevenlabs

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/elevenlabs/fake"
)

// TestPeerSynthesizer has ElevenLabs' own client, which wants TLS and has no contexts, talk to
// the fake.
func TestPeerSynthesizer(t *testing.T) {
	f := &fake.Synthesizer{Key: porttest.HostedKey, Mouth: fakes.Mouth{Engine: &porttest.Synthesizer{}, Speed: 4}}
	s := httptest.NewTLSServer(f)
	defer s.Close()
	trusted := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	type heard struct {
		Bytes int
		Error *string
	}
	// 19 letters of 60 ms, two bytes a sample.
	const want = 19 * 60 * 24 * 2
	var got heard
	porttest.Client(t, "speak.py", &got, "KEY="+porttest.HostedKey, "URL="+s.URL, "SSL_CERT_FILE="+trusted)
	if got.Error != nil || got.Bytes < want-960 || got.Bytes > want+960 {
		t.Errorf("%+v, error %v, want %d bytes", got, got.Error, want)
	}
	if broken := f.Broken(); len(broken) > 0 {
		t.Errorf("broken rules: %q", broken)
	}
	got = heard{}
	porttest.Client(t, "speak.py", &got, "KEY=wrong", "URL="+s.URL, "SSL_CERT_FILE="+trusted)
	if got.Error == nil || !strings.Contains(*got.Error, "401") || got.Bytes != 0 {
		t.Errorf("%+v with a wrong key, want an error with 401", got)
	}
}

// TestPeerContexts has Pipecat's client, which has contexts, talk to the fake.
func TestPeerContexts(t *testing.T) {
	f := &fake.Synthesizer{Key: porttest.HostedKey, Mouth: fakes.Mouth{Engine: &porttest.Synthesizer{}, Speed: 4}}
	s := httptest.NewServer(f)
	defer s.Close()
	porttest.Pipecat(t, "elevenlabs", "ws"+strings.TrimPrefix(s.URL, "http"), &f.Server)
}
