package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // Twilio's signatures are HMAC-SHA1
	"encoding/base64"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/internal/carrier/fake"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/server/hub"
)

// twilioSign returns Twilio's signature of a request.
func twilioSign(secret, address string, form url.Values) string {
	mac := hmac.New(sha1.New, []byte(secret))
	text := address
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range form {
			if !yield(name) {
				return
			}
		}
	}) {
		text += name + form.Get(name)
	}
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// phone serves an agent under a number of a carrier, with an access log, until the test ends. The
// secrets are environment variables, without each of which the server does not start. It returns
// the server and its URL.
func phone(t *testing.T, log io.Writer, carrier string, secrets map[string]string) (*Server, string) {
	t.Helper()
	dir := t.TempDir()
	agent, file := filepath.Join(dir, "hello.yaml"), filepath.Join(dir, "c.yaml")
	for path, text := range map[string]string{
		agent: "settings: {greeting: Hello. What you hear now is so long that a key must cut it off; otherwise it takes a minute.}\nflows: {hi: {trigger: {intents: [hallo]}, steps: [{step: a, type: say, message: Hi.}]}}\n",
		file:  "server: {path: /voice/, access_log: true, " + carrier + "}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	serve := func() (*Server, error) {
		return NewServer(ServeOptions{
			Agents: []string{agent}, Config: file, Addr: "127.0.0.1:0", Store: NoStore, Log: slog.New(slog.NewTextHandler(log, nil)),
			Speech: &Speech{Recognizer: &porttest.Recognizer{}, Synthesizer: &porttest.Synthesizer{}, Detector: &porttest.Detector{}},
		})
	}
	for name, value := range secrets {
		t.Setenv(name, "")
		if _, err := serve(); err == nil || !strings.Contains(err.Error(), " is not set") {
			t.Fatalf("without %s: %v", name, err)
		}
		t.Setenv(name, value)
	}
	s, err := serve()
	if err != nil {
		t.Fatal(err)
	}
	at := s.URL()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s, at
}

// twilioPhone serves an agent under a number of Twilio.
func twilioPhone(t *testing.T, log io.Writer) (*Server, string) {
	t.Helper()
	return phone(t, log, `twilio: {url: "https://voice.test/voice/twilio", secret_env: TEST_TWILIO_SECRET, agent: hello}`,
		map[string]string{"TEST_TWILIO_SECRET": "tw-secret"})
}

// TestTwilioStrangers checks that requests of strangers are refused like all others: the access
// log has them, and nothing else does.
func TestTwilioStrangers(t *testing.T) {
	log := &lockedBuffer{}
	_, at := twilioPhone(t, log)
	for range 3 {
		// A proxy may remove the server's path.
		for path, method := range map[string]string{
			"/voice/twilio/voice": http.MethodPost, "/twilio/voice": http.MethodPost, "/voice/twilio/media": http.MethodGet,
		} {
			r, err := http.NewRequestWithContext(waittest.Context(t), method, at+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusForbidden {
				t.Errorf("%s %s: status %d", method, path, answer.StatusCode)
			}
		}
	}
	waittest.Until(t, "the access log", nil, func() bool { return strings.Count(log.String(), "route=/twilio/ status=403") == 9 })
	if strings.Contains(log.String(), "level=WARN") {
		t.Errorf("the log has entries of strangers:\n%s", log.String())
	}
}

// TestTwilioCall calls a number of the program: the agent's greeting is heard, the conversation
// has the caller's number, which no log has, a key stops the agent, and the conversation ends when
// the caller hangs up.
func TestTwilioCall(t *testing.T) {
	log := &lockedBuffer{}
	s, at := twilioPhone(t, log)
	form := url.Values{"CallSid": {"CA1"}, "AccountSid": {"AC1"}, "From": {"+15551234567"}, "To": {"+15557654321"}}
	r, err := http.NewRequestWithContext(waittest.Context(t), http.MethodPost, at+"/voice/twilio/voice", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Twilio-Signature", twilioSign("tw-secret", "https://voice.test/voice/twilio/voice", form))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	token := regexp.MustCompile(`url="wss://voice\.test/voice/twilio/media"><Parameter name="token" value="([^"]+)"`).FindSubmatch(body)
	if err != nil || token == nil {
		t.Fatalf("the answer is %s %s: %v", answer.Status, body, err)
	}
	c, err := fake.Dial(waittest.Context(t), fake.Options{
		Dialect: "twilio", URL: "ws" + strings.TrimPrefix(at, "http") + "/voice/twilio/media", Stream: "MZ1", Call: "CA1",
		From: "+15551234567", To: "+15557654321", Parameters: map[string]string{"token": string(token[1])},
		Header: http.Header{"X-Twilio-Signature": {twilioSign("tw-secret", "wss://voice.test/voice/twilio/media", nil)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	greeted(t, s, c)
	c.Press("7")
	waittest.Until(t, "that a key stops the agent", c.Over(), func() bool { return c.Clears() > 0 })
	c.HangUp()
	waittest.Until(t, "its end", nil, func() bool { return s.hub.Live() == 0 })
	if text := log.String(); strings.Contains(text, "5551234567") || strings.Contains(text, "tw-secret") || strings.Contains(text, string(token[1])) {
		t.Errorf("the log has a number or a secret:\n%s", text)
	}
}

// greeted waits until a caller hears the greeting, checks the conversation, and returns its name.
func greeted(t *testing.T, s *Server, c *fake.Call) string {
	t.Helper()
	waittest.Until(t, "the greeting", c.Over(), func() bool {
		return slices.ContainsFunc(c.Played(), func(v int16) bool { return v > 1000 })
	})
	all := s.hub.List(nil) // those that are over too, behind it
	if len(all) == 0 || all[0].Transport != "phone" || all[0].Agent != "hello" || !all[0].Ended.IsZero() {
		t.Fatalf("the conversations are %+v", all)
	}
	return all[0].ID
}

// TestTelnyxCall calls numbers of the program: the greeting is heard, the conversation and the call
// end with each other, whoever ends them, no log has a number, a key or a token, and a call that is
// there when the server stops is hung up.
func TestTelnyxCall(t *testing.T) {
	log := &lockedBuffer{}
	reach := &http.Client{} // of the server, whatever the address
	account := fake.NewTelnyx(fake.TelnyxOptions{Key: "KEY-secret", Webhook: "https://voice.test/voice/telnyx/voice", Client: reach})
	rest := httptest.NewServer(account)
	t.Cleanup(rest.Close)
	var last *fake.TelnyxCall
	t.Cleanup(func() { // after the server has ended
		if last == nil {
			return // the test has failed before
		}
		if cause, by := last.Cause(); cause != "normal_clearing" || by != "callee" {
			t.Errorf("the last call is over with %q of %q", cause, by)
		}
		if err := account.Close(); err != nil {
			t.Error(err)
		}
	})
	s, at := phone(t, log, `telnyx: {url: "https://voice.test/voice/telnyx", key_env: TEST_TELNYX_KEY, public_key_env: TEST_TELNYX_PUBLIC, api_url: "`+rest.URL+`", codec: pcma}`,
		map[string]string{"TEST_TELNYX_KEY": "KEY-secret", "TEST_TELNYX_PUBLIC": account.PublicKey()})
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, strings.TrimPrefix(at, "http://"))
	}
	reach.Transport = &http.Transport{DialContext: dial, DialTLSContext: dial}

	call := account.Ring("+15551234567", "+15557654321")
	stream, err := call.Stream(waittest.Context(t))
	if err != nil {
		t.Fatal(err)
	}
	greeted(t, s, stream)
	call.HangUp()
	waittest.Until(t, "its end", nil, func() bool { return s.hub.Live() == 0 && strings.Contains(log.String(), "a call is over") })
	if !strings.Contains(log.String(), `msg="a call is over" cause=normal_clearing by=caller`) {
		t.Errorf("the log is\n%s", log.String())
	}
	token := call.StreamURL()[strings.LastIndex(call.StreamURL(), "/")+1:]

	call = account.Ring("+15551234567", "+15557654321")
	if stream, err = call.Stream(waittest.Context(t)); err != nil {
		t.Fatal(err)
	}
	if c, ok := s.hub.Find(greeted(t, s, stream)); !ok || c.Command(hub.Command{Type: "endConversation"}) != nil {
		t.Error("the conversation cannot be ended")
	}
	waittest.Until(t, "the hang-up", nil, func() bool { cause, by := call.Cause(); return cause == "normal_clearing" && by == "callee" })

	for path, want := range map[string]int{"/voice/telnyx/voice": http.StatusForbidden, "/telnyx/media/" + token: http.StatusForbidden} {
		r, err := http.NewRequestWithContext(waittest.Context(t), http.MethodPost, at+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: status %d, expected %d", path, answer.StatusCode, want)
		}
	}
	waittest.Until(t, "the access log", nil, func() bool { return strings.Contains(log.String(), "route=/telnyx/ status=403") })
	if text := log.String(); strings.Contains(text, "5551234567") || strings.Contains(text, "KEY-secret") || strings.Contains(text, token) || strings.Contains(text, "level=WARN") {
		t.Errorf("the log has a number, a secret or a warning:\n%s", text)
	}
	last = account.Ring("+15551234567", "+15557654321")
	if _, err = last.Stream(waittest.Context(t)); err != nil {
		t.Fatal(err)
	}
}
