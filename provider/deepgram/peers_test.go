//go:build peers

package deepgram

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/deepgram/fake"
)

// peer runs a client of Deepgram against a fake and decodes what it prints. With a wrong key
// the client must report 401.
func peer(t *testing.T, file, key, path string, h http.Handler, result any) {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(path, h)
	s := httptest.NewServer(mux)
	defer s.Close()
	porttest.Client(t, file, result, "KEY="+key, "URL=ws"+strings.TrimPrefix(s.URL, "http"))
}

// refused checks that a client has found out that its key is wrong.
func refused(t *testing.T, err *string) {
	t.Helper()
	if err == nil || !strings.Contains(*err, "401") {
		t.Errorf("error %v, want one with 401", err)
	}
}

func kept(t *testing.T, s *fakes.Server) {
	t.Helper()
	if broken := s.Broken(); len(broken) > 0 {
		t.Errorf("broken rules: %q", broken)
	}
}

func texts() port.Recognizer {
	return &porttest.Recognizer{Texts: []string{"from new york", "to boston please"}}
}

// clients are those of Deepgram, by name.
var clients = map[string]string{"python": ".py", "node": ".mjs"}

// TestPeerNova has Deepgram's own clients talk to the fake of Nova.
func TestPeerNova(t *testing.T) {
	type heard struct {
		Final                       string
		Partials, End, Fin, Started int
		Finished                    bool
		Error                       *string
	}
	for name, kind := range clients {
		t.Run(name, func(t *testing.T) {
			f := &fake.Nova{Key: porttest.HostedKey, Engine: texts()}
			var got heard
			peer(t, "recognize"+kind, porttest.HostedKey, "/v1/listen", f, &got)
			if got.Error != nil || got.Final != " from new york to boston please" || got.Partials == 0 || got.Fin != 1 || got.End != 1 || got.Started != 2 || !got.Finished {
				t.Errorf("%+v, error %v", got, got.Error)
			}
			kept(t, &f.Server)
			got = heard{}
			peer(t, "recognize"+kind, "wrong", "/v1/listen", f, &got)
			refused(t, got.Error)
		})
	}
}

// TestPeerFlux has Deepgram's own clients talk to the fake of Flux.
func TestPeerFlux(t *testing.T) {
	type heard struct {
		Final            string
		Partials         int
		Events, Triggers []string
		Configured       []string
		Error            *string
	}
	for name, kind := range clients {
		t.Run(name, func(t *testing.T) {
			f := &fake.Flux{Key: porttest.HostedKey, Engine: texts()}
			var got heard
			peer(t, "turns"+kind, porttest.HostedKey, "/v2/listen", f, &got)
			if got.Error != nil || got.Final != " from new york to boston please" || got.Partials == 0 ||
				!slices.Equal(got.Events, []string{"StartOfTurn", "EndOfTurn", "StartOfTurn", "EagerEndOfTurn", "EndOfTurn"}) ||
				!slices.Equal(got.Triggers, []string{"manual", "model"}) || !slices.Equal(got.Configured, []string{"New York"}) {
				t.Errorf("%+v, error %v", got, got.Error)
			}
			kept(t, &f.Server)
			got = heard{}
			peer(t, "turns"+kind, "wrong", "/v2/listen", f, &got)
			refused(t, got.Error)
		})
	}
}

// TestPeerAura has Deepgram's own clients talk to the fake of Aura.
func TestPeerAura(t *testing.T) {
	type spoken struct {
		Bytes, Cancelled int
		Model            string
		Error            *string
	}
	for name, kind := range clients {
		t.Run(name, func(t *testing.T) {
			f := &fake.Synthesizer{Key: porttest.HostedKey, Mouth: fakes.Mouth{Engine: &porttest.Synthesizer{}, Speed: 4}}
			var got spoken
			peer(t, "speak"+kind, porttest.HostedKey, "/v1/speak", f, &got)
			// 19 letters of 60 ms, two bytes a sample.
			const want = 19 * 60 * 24 * 2
			if got.Error != nil || got.Bytes < want-960 || got.Bytes > want+960 || got.Cancelled > want || got.Cancelled == 0 || got.Model != "aura-2-thalia-en" {
				t.Errorf("%+v, error %v, want %d bytes", got, got.Error, want)
			}
			kept(t, &f.Server)
			got = spoken{}
			peer(t, "speak"+kind, "wrong", "/v1/speak", f, &got)
			refused(t, got.Error)
		})
	}
}
