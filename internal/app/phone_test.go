package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/carrier/fake"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/hub"
)

// longGreeting is a greeting that a key can cut off.
const longGreeting = "Hello. What you hear now is so long that a key must cut it off; otherwise it takes a minute."

// phone serves an agent at a number of a carrier, with an access log, until the test ends, and
// returns the server and its URL. It also checks that the server does not start if one of the
// secrets, which are environment variables, is missing.
func phone(t *testing.T, log io.Writer, carrier string, secrets map[string]string) (*Server, string) {
	t.Helper()
	return phoneOf(t, log, longGreeting, carrier, secrets)
}

// phoneOf is like phone, with another greeting.
func phoneOf(t *testing.T, log io.Writer, greeting, carrier string, secrets map[string]string) (*Server, string) {
	t.Helper()
	dir := t.TempDir()
	agent, file := filepath.Join(dir, "hello.yaml"), filepath.Join(dir, "c.yaml")
	for path, text := range map[string]string{
		agent: "settings: {greeting: " + greeting + "}\nflows: {hi: {trigger: {intents: [hallo]}, steps: [{step: a, type: say, message: Hi.}]}}\n",
		file:  "server: {path: /voice/, access_log: true, drain: 0s, " + carrier + "}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	serve := func() (*Server, error) {
		return NewServer(ServeOptions{
			Agents: []string{agent}, Config: file, Addr: "127.0.0.1:0", Store: NoStore, Log: slog.New(slog.NewTextHandler(log, nil)),
			Speech: &Speech{Recognizer: &porttest.Recognizer{Texts: []string{"hallo"}}, Synthesizer: &porttest.Synthesizer{}, Detector: &porttest.Detector{}},
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

// reaching returns a client that reaches a server at whatever address it calls.
func reaching(at string) *http.Client {
	return &http.Client{Transport: reachTransport(strings.TrimPrefix(at, "http://"))}
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
			forbidden(t, method, at+path)
		}
	}
	waittest.Until(t, "the access log", nil, func() bool { return strings.Count(log.String(), "route=/twilio/ status=403") == 9 })
	if strings.Contains(log.String(), "level=WARN") {
		t.Errorf("the log has entries of strangers:\n%s", log.String())
	}
}

// forbidden checks that a stranger's request is refused.
func forbidden(t *testing.T, method, address string) {
	t.Helper()
	r, err := http.NewRequestWithContext(waittest.Context(t), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("%s %s: status %d", method, address, answer.StatusCode)
	}
}

// TestTwilioCall calls a number of the program. It checks that the caller hears the greeting, that
// the conversation has the caller's number and no log has it, that a key stops the agent, and that
// the conversation ends when the caller hangs up.
func TestTwilioCall(t *testing.T) {
	log := &lockedBuffer{}
	s, at := twilioPhone(t, log)
	account := fake.NewTwilio(fake.TwilioOptions{
		Secret: "tw-secret", URL: "https://voice.test/voice/twilio", Client: reaching(at), From: "+15551234567", To: "+15557654321",
	})
	defer func() {
		if err := account.Close(); err != nil {
			t.Error(err)
		}
	}()
	call := account.Ring()
	c, err := call.Stream(waittest.Context(t))
	if err != nil {
		t.Fatal(err)
	}
	greeted(t, s, c)
	c.Press("7")
	waittest.Until(t, "that a key stops the agent", c.Over(), func() bool { return c.Clears() > 0 })
	call.HangUp()
	waittest.Until(t, "its end", nil, func() bool { return s.hub.Live() == 0 })
	if text := log.String(); strings.Contains(text, "5551234567") || strings.Contains(text, "tw-secret") {
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
	if conversation, ok := s.hub.Find(all[0].ID); !ok || conversation.Caller() != api.CallerOf("", "+15551234567") {
		t.Error("the conversation has not the caller's number")
	}
	return all[0].ID
}

// TestTelnyxCall calls numbers of the program. It checks that the caller hears the greeting, that a
// key stops the agent, that the end of the conversation ends the call and the other way round, that
// no log has a number, a key or a token, and that a server that stops hangs up.
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
	*reach = *reaching(at)

	call := account.Ring("+15551234567", "+15557654321")
	stream, err := call.Stream(waittest.Context(t))
	if err != nil {
		t.Fatal(err)
	}
	greeted(t, s, stream)
	stream.Press("7")
	waittest.Until(t, "that a key stops the agent", stream.Over(), func() bool { return stream.Clears() > 0 })
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

	forbidden(t, http.MethodPost, at+"/voice/telnyx/voice")
	forbidden(t, http.MethodGet, at+"/telnyx/media/"+token)
	waittest.Until(t, "the access log", nil, func() bool { return strings.Contains(log.String(), "route=/telnyx/ status=403") })
	if text := log.String(); strings.Contains(text, "5551234567") || strings.Contains(text, "KEY-secret") || strings.Contains(text, token) || strings.Contains(text, "level=WARN") {
		t.Errorf("the log has a number, a secret or a warning:\n%s", text)
	}
	last = account.Ring("+15551234567", "+15557654321")
	if stream, err = last.Stream(waittest.Context(t)); err != nil {
		t.Fatal(err)
	}
	greeted(t, s, stream)
}

// TestFakeCall places a call of each carrier from a sound file, as `hocket fake` does: the agent
// greets and answers, and what was heard is a sound file.
func TestFakeCall(t *testing.T) {
	dir := t.TempDir()
	sound := filepath.Join(dir, "hallo.wav")
	f, err := os.Create(sound)
	if err != nil {
		t.Fatal(err)
	}
	w, err := audio.NewWAVWriter(f, audio.WAVWriterOptions{Rate: 16000})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(porttest.Tone(16000, 500*time.Millisecond)), w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	for _, carrier := range []string{"twilio", "telnyx"} {
		t.Run(carrier, func(t *testing.T) {
			api, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			config := `twilio: {url: "https://voice.test/voice/twilio", secret_env: TEST_PHONE_KEY}`
			secrets := map[string]string{"TEST_PHONE_KEY": "secret"}
			if carrier == "telnyx" {
				config = `telnyx: {url: "https://voice.test/voice/telnyx", key_env: TEST_PHONE_KEY, public_key_env: TEST_PHONE_PUBLIC, api_url: "http://` + api.Addr().String() + `"}`
				secrets["TEST_PHONE_PUBLIC"] = fake.TelnyxPublicKey("secret")
			}
			log := &lockedBuffer{}
			_, at := phoneOf(t, log, "Good morning.", config, secrets)
			o := FakeCallOptions{
				Pause:   300 * time.Millisecond,
				Carrier: carrier, URL: "https://voice.test/voice/" + carrier, Server: strings.TrimPrefix(at, "http://"), API: api, Key: "secret",
				From: "+15551234567", To: "+15557654321", Say: []string{sound}, Heard: filepath.Join(dir, carrier+".wav"), Most: time.Minute,
			}
			res, err := FakeCall(waittest.Context(t), o)
			if err != nil {
				t.Fatalf("%v\n%s", err, log)
			}
			want := 60 * time.Millisecond * time.Duration(len("Goodmorning.Hi.")) // the voice's tones
			if res.Said != 1 || res.By != "caller" || (res.Spoken-want).Abs() > 50*time.Millisecond || res.Length < want+900*time.Millisecond {
				t.Errorf("the call is %+v", res)
			}
			heard, err := readSound(o.Heard)
			if err != nil || audio.Peak(heard) < 0.1 {
				t.Errorf("the file of what was heard: %v", err)
			}
			o.Key, o.Heard = "forged", ""
			if o.API, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
				t.Fatal(err)
			}
			if _, err := FakeCall(waittest.Context(t), o); err == nil || !strings.Contains(err.Error(), "the call is not answered") {
				t.Errorf("with another key: %v", err)
			}
		})
	}
	for want, o := range map[string]FakeCallOptions{
		"expected twilio or telnyx": {Carrier: "vonage", URL: "https://h"},
		"the URL is invalid":        {Carrier: "telnyx", URL: "http://h"},
		"no such file":              {Carrier: "telnyx", URL: "https://h", Say: []string{"none.wav"}},
	} {
		if _, err := FakeCall(t.Context(), o); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}
