package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/internal/app"
)

// TestFakeInput checks that wrong arguments of `hocket fake` are told before anything is called, and
// that the public key follows from the API key.
func TestFakeInput(t *testing.T) {
	run := func(args ...string) (status int, out, err string) {
		var stdout, stderr bytes.Buffer
		status = Run(append([]string{"fake"}, args...), strings.NewReader(""), &stdout, &stderr)
		return status, stdout.String(), stderr.String()
	}
	t.Setenv("TWILIO_AUTH_TOKEN", "")
	t.Setenv("TELNYX_API_KEY", "sesame")
	for want, args := range map[string][]string{
		"TWILIO_AUTH_TOKEN is not set": {"twilio", "--url", "https://h/twilio"},
		"vonage":                       {"vonage"},
		"the URL is invalid: expected one such as": {"telnyx", "--api", "127.0.0.1:0"},
		"none.wav: no such file":                   {"telnyx", "--api", "127.0.0.1:0", "--url", "https://h/telnyx", "--say", "none.wav"},
		"--api: listen tcp":                        {"telnyx", "--api", "127.0.0.1:x", "--url", "https://h/telnyx"},
	} {
		status, out, err := run(args...)
		if status != statusInput || out != "" || !strings.Contains(err, want) || strings.Contains(err, "sesame") {
			t.Errorf("%q: status %d, output %q, error %q, expected %q", args, status, out, err, want)
		}
	}
	if status, out, err := run("telnyx", "--public-key"); status != statusOK || out != app.FakePublicKey("sesame")+"\n" || err != "" {
		t.Errorf("--public-key: status %d, output %q, error %q", status, out, err)
	}
	if status, _, err := run("telnyx", "--api", "127.0.0.1:0", "--server", "127.0.0.1:1", "--url", "https://h/telnyx"); status != statusFinding || !strings.Contains(err, "the call is not answered") {
		t.Errorf("without a server: status %d, error %q", status, err)
	}
}
