package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/internal/app"
	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/internal/llm"
	"github.com/hocketvoice/hocket/porttest"
	anthropic "github.com/hocketvoice/hocket/provider/anthropic/fake"
	deepgram "github.com/hocketvoice/hocket/provider/deepgram/fake"
)

// noKeys hides the keys of the machine that runs the test.
func noKeys(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, v := range llm.Vendors() {
		t.Setenv(v.KeyEnv, "")
	}
	for _, v := range app.Vendors() {
		t.Setenv(v.KeyEnv, "")
	}
}

// TestCheckLive tries fakes of a language model, a recognizer and a synthesizer, with a good key and
// with an expired one.
func TestCheckLive(t *testing.T) {
	noKeys(t)
	if out := output(t, "", "check", "--live"); !strings.Contains(out, "no key of a vendor is in the environment") {
		t.Errorf("without keys:\n%s", out)
	}
	model := anthropic.New(porttest.HostedKey)
	ear := &deepgram.Nova{Key: porttest.HostedKey, Engine: &porttest.Recognizer{}}
	mouth := &deepgram.Synthesizer{Key: porttest.HostedKey, Mouth: fakes.Mouth{Engine: &porttest.Synthesizer{}, Speed: 3}}
	urls := make([]string, 3)
	for i, h := range []http.Handler{model, ear, mouth} {
		s := httptest.NewServer(h)
		defer s.Close()
		urls[i] = s.URL
	}
	ws := func(url string) string { return "ws" + strings.TrimPrefix(url, "http") }
	text := fmt.Sprintf(`model: {name: fake-1, api: anthropic, base_url: %s/v1, key_env: LIVE_KEY}
speech:
  deepgram: {key_env: LIVE_KEY, recognizer_url: %s, synthesizer_url: %s}
`, urls[0], ws(urls[1]), ws(urls[2]))
	if err := os.WriteFile("live.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LIVE_KEY", porttest.HostedKey)
	out := output(t, "", "check", "--live", "live.yaml")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 5 || lines[0] != "live.yaml: ok" {
		t.Fatalf("prints\n%s", out)
	}
	for i, name := range []string{"thinks", "deepgram hears", "deepgram speaks"} {
		line := lines[i+2]
		if !strings.Contains(line, name) || strings.Count(line, " ms") != 2 || !strings.HasSuffix(line, "ok") {
			t.Errorf("%s: %s", name, line)
		}
	}
	if n := len(model.Requests()); n != 2 {
		t.Errorf("the model was asked %d times, want 2", n)
	}
	for name, broken := range map[string][]string{"ear": ear.Broken(), "mouth": mouth.Broken(), "model": model.Refused()} {
		if len(broken) > 0 {
			t.Errorf("%s: %q", name, broken)
		}
	}

	t.Setenv("LIVE_KEY", "expired-secret")
	out, errs, status := run(t, "", "check", "--live", "live.yaml")
	out += errs
	if status != 1 || strings.Contains(out, "expired-secret") || strings.Count(out, "AUTH_FAILURE") != 3 || !strings.Contains(out, "3 of 3 services failed") {
		t.Errorf("status %d, prints\n%s", status, out)
	}
	if _, _, status := run(t, "", "check"); status != 2 {
		t.Errorf("without a path: status %d", status)
	}
}
