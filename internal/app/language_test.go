package app

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/porttest"
)

// english are engines that know one language.
type (
	englishEars  struct{ porttest.Recognizer }
	englishVoice struct{ porttest.Synthesizer }
)

func (*englishEars) Languages() []string  { return []string{"en"} }
func (*englishVoice) Languages() []string { return []string{"en"} }

// TestAgentInALanguageThatNoEngineKnows checks that such an agent serves conversations by text
// only, that a note says so at the start, and that a call is refused with a permanent error.
func TestAgentInALanguageThatNoEngineKnows(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for name, language := range map[string]string{"praxis": "de-AT", "clinic": "en-GB"} {
		path := filepath.Join(dir, name+".yaml")
		paths = append(paths, path)
		text := "settings: {language: " + language + ", greeting: Hallo.}\nflows: {hi: {trigger: {intents: [hallo]}, steps: [{step: a, type: say, message: Hallo.}]}}\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var notes []string
	s, err := NewServer(ServeOptions{
		Agents: paths, Addr: "127.0.0.1:0", Store: NoStore, Speech: &Speech{Recognizer: &englishEars{}, Synthesizer: &englishVoice{}},
		Note: func(n string) { notes = append(notes, n) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.closeAll(); err != nil {
			t.Error(err)
		}
	}()
	answer := func(method, path, body string) (int, string) {
		r := httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
		w := httptest.NewRecorder()
		s.http.Handler.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	_, list := answer(http.MethodGet, "/v1/agents", "")
	for _, want := range []string{`"language":"de","speech":false`, `"language":"en","speech":true`} {
		if !strings.Contains(list, want) {
			t.Errorf("the list of agents has no %s: %s", want, list)
		}
	}
	if said := strings.Join(notes, "\n"); !strings.Contains(said, `agent praxis: text only: its language is "de", the recognizer supports en`) || strings.Contains(said, "agent clinic") {
		t.Errorf("the start says %q", said)
	}
	status, body := answer(http.MethodPost, "/v1/conversations", `{"agent":"praxis","transport":"webrtc","sdp":"v=0"}`)
	if status != http.StatusNotImplemented || !strings.Contains(body, `"no_speech"`) {
		t.Errorf("a call: %d %s", status, body)
	}
}
