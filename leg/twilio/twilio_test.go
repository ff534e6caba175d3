package twilio

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/carrier"
	"github.com/hocketvoice/hocket/internal/carrier/fake"
	"github.com/hocketvoice/hocket/internal/waittest"
)

const secret = "12345"

// TestSignature checks signatures that the library twilio 6.2.0 for Node has made.
func TestSignature(t *testing.T) {
	for _, c := range []struct {
		address string
		form    url.Values
		want    string
	}{
		{
			"https://mycompany.com/myapp.php?foo=1&bar=2",
			url.Values{
				"CallSid": {"CA1234567890ABCDE"}, "Caller": {"+12349013030"}, "Digits": {"1234"}, "From": {"+12349013030"},
				"To": {"+18005551212"},
			},
			"0/KCTR6DLpKmkAf8muzZqo1nDgQ=",
		},
		{"wss://mycompany.com/media", nil, "okykUWKkAOgQseVjzERZh4soLeU="},
		{"https://mycompany.com/x", url.Values{"A": {"b", "a", "b"}, "C": {"ü "}}, "EyxT5UqLvA+KJRw5TR5zH6+pBxM="},
	} {
		if got := signature(secret, c.address, c.form); got != c.want {
			t.Errorf("%s: %s, expected %s", c.address, got, c.want)
		}
	}
}

// TestSpellings checks which forms of an address a signature may be of.
func TestSpellings(t *testing.T) {
	for _, sent := range []string{"wss://a.test/t/media", "wss://a.test:443/t/media", "wss://a.test/t/media/", "wss://a.test:443/t/media/"} {
		if !signed(secret, signature(secret, sent, nil), "wss://a.test/t/media", nil) {
			t.Errorf("%s is refused", sent)
		}
	}
	for _, sent := range []string{"wss://b.test/t/media", "wss://a.test:444/t/media", "wss://a.test/t", "https://a.test/t/media", "wss://a.test/t/media?x=1"} {
		if signed(secret, signature(secret, sent, nil), "wss://a.test/t/media", nil) {
			t.Errorf("%s is accepted", sent)
		}
	}
	if !signed(secret, signature(secret, "https://a.test:8443/v", nil), "https://a.test:8443/v", nil) {
		t.Error("another port is refused")
	}
	if signed(secret, "", "wss://a.test/t/media", nil) {
		t.Error("no signature is accepted")
	}
}

// house is a server with the calls that have begun.
type house struct {
	t      *testing.T
	s      *Server
	http   *httptest.Server
	calls  chan Incoming
	legs   chan Leg
	failed chan error
}

const public = "https://voice.test/phone/twilio"

func newHouse(t *testing.T, admit func(context.Context, Incoming) error) *house {
	t.Helper()
	h := &house{t: t, calls: make(chan Incoming, 10), legs: make(chan Leg, 10), failed: make(chan error, 100)}
	var err error
	h.s, err = New(Options{
		Secret: secret, URL: public, Admit: admit, Failed: func(err error) { h.failed <- err },
		Start: func(_ context.Context, c Incoming, leg Leg) error {
			h.calls <- c
			h.legs <- leg
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	h.http = httptest.NewServer(h.s)
	t.Cleanup(h.http.Close)
	return h
}

// webhook posts the webhook of a call. Without a signature it makes one.
func (h *house) webhook(form url.Values, sign string) (int, response) {
	h.t.Helper()
	if sign == "" {
		sign = signature(secret, public+"/voice", form)
	}
	r, err := http.NewRequestWithContext(waittest.Context(h.t), http.MethodPost, h.http.URL+"/phone/twilio/voice", strings.NewReader(form.Encode()))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Twilio-Signature", sign)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	var out response
	if answer.StatusCode == http.StatusOK {
		if err := xml.Unmarshal(b, &out); err != nil || answer.Header.Get("Content-Type") != "application/xml" {
			h.t.Fatalf("the answer is %s: %v", b, err)
		}
	}
	return answer.StatusCode, out
}

// dial connects the stream of a call.
func (h *house) dial(call, token, sign string) (*fake.Call, error) {
	c, err := fake.Dial(waittest.Context(h.t), fake.Options{
		Dialect: "twilio", URL: "ws" + strings.TrimPrefix(h.http.URL, "http") + "/phone/twilio/media", Stream: "MZ1", Call: call,
		From: "+1555", To: "+1666", Parameters: map[string]string{"token": token}, Header: http.Header{"X-Twilio-Signature": {sign}},
	})
	if err == nil {
		h.t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

func announce(call string) url.Values {
	return url.Values{"CallSid": {call}, "AccountSid": {"AC1"}, "From": {"+15551234567"}, "To": {"+15557654321"}}
}

func mediaSign() string { return signature(secret, "wss://voice.test/phone/twilio/media", nil) }

// TestCall holds a call: what the caller says and presses arrives, and the caller hears what is
// written.
func TestCall(t *testing.T) {
	h := newHouse(t, nil)
	status, answer := h.webhook(announce("CA1"), "")
	if status != http.StatusOK || answer.Connect == nil || answer.Connect.Stream.URL != "wss://voice.test/phone/twilio/media" ||
		len(answer.Connect.Stream.Parameters) != 1 || answer.Connect.Stream.Parameters[0].Name != "token" {
		t.Fatalf("status %d, answer %+v", status, answer)
	}
	c, err := h.dial("CA1", answer.Connect.Stream.Parameters[0].Value, mediaSign())
	if err != nil {
		t.Fatal(err)
	}
	call, leg := <-h.calls, <-h.legs
	if want := (Incoming{Call: "CA1", Account: "AC1", From: "+15551234567", To: "+15557654321"}); call != want {
		t.Errorf("the call is %+v, expected %+v", call, want)
	}
	tone := make([]int16, 1600)
	for i := range tone {
		tone[i] = int16(4000 * (i%40 - 20) / 20)
	}
	c.Say(tone)
	heard := false
	for !heard {
		f, err := leg.Read(waittest.Context(t))
		if err != nil {
			t.Fatal(err)
		}
		heard = audio.RMS(f.PCM) > 0.02
	}
	c.Press("4#")
	for _, want := range []byte("4#") {
		if key, err := leg.ReadKey(waittest.Context(t)); err != nil || key != want {
			t.Errorf("the key is %c, error %v, expected %c", key, err, want)
		}
	}
	for i := range 10 {
		if err := leg.Write(t.Context(), audio.Frame{Rate: leg.Rate(), PCM: tone[i*160 : i*160+160]}); err != nil {
			t.Fatal(err)
		}
	}
	waittest.Until(t, "the sound", c.Over(), func() bool {
		return slices.ContainsFunc(c.Played(), func(v int16) bool { return v > 2000 })
	})
	c.HangUp()
	for err == nil {
		_, err = leg.Read(waittest.Context(t))
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("after the call: %v", err)
	}
	if err := leg.Close(); err != nil {
		t.Error(err)
	}
}

// TestRefused checks that a forged webhook begins nothing, and that a stream is admitted with the
// token of its own call, once, and in time.
func TestRefused(t *testing.T) {
	h := newHouse(t, nil)
	for name, sign := range map[string]string{
		"no signature": "x", "another secret": signature("other", public+"/voice", announce("CA1")),
		"another number": signature(secret, public+"/voice", announce("CA2")), "another address": signature(secret, "https://other.test/voice", announce("CA1")),
	} {
		if status, _ := h.webhook(announce("CA1"), sign); status != http.StatusForbidden {
			t.Errorf("%s: status %d", name, status)
		}
	}
	if status, _ := h.webhook(url.Values{"From": {"+1"}}, ""); status != http.StatusBadRequest {
		t.Errorf("without a call: status %d", status)
	}
	if status, _ := h.webhook(url.Values{"CallSid": {strings.Repeat("x", maxBody)}}, ""); status != http.StatusBadRequest {
		t.Errorf("a huge form: status %d", status)
	}
	token := func(call string) string {
		_, answer := h.webhook(announce(call), "")
		return answer.Connect.Stream.Parameters[0].Value
	}
	first := token("CA1")
	second := token("CA1") // Twilio repeats a webhook
	other := token("CA2")
	for name, sign := range map[string]string{"no signature": "", "the signature of the webhook": signature(secret, public+"/voice", nil)} {
		if _, err := h.dial("CA1", second, sign); err == nil {
			t.Errorf("%s: the stream is accepted", name)
		}
	}
	if len(h.failed) > 0 {
		t.Errorf("a stranger is reported: %v", <-h.failed)
	}
	refused := func(name, call, with, sign string) {
		t.Helper()
		c, err := h.dial(call, with, sign)
		if err == nil {
			<-c.Over()
		}
		if err := <-h.failed; strings.Contains(err.Error(), "+1555") {
			t.Errorf("%s: the error has a number: %v", name, err)
		}
		if len(h.legs) > 0 {
			t.Fatalf("%s: a call has begun", name)
		}
	}
	refused("no token", "CA1", "", mediaSign())
	refused("the token of the first webhook", "CA1", first, mediaSign())
	refused("the token of another call", "CA1", other, mediaSign())
	if _, err := h.dial("CA1", second, mediaSign()); err != nil {
		t.Fatal(err)
	}
	leg := <-h.legs
	refused("a spent token", "CA1", second, mediaSign())
	late := token("CA3")
	h.s.expected.Now = func() time.Time { return time.Now().Add(2 * carrier.Announced) }
	refused("a token of long ago", "CA3", late, mediaSign())
	if err := leg.Close(); err != nil {
		t.Error(err)
	}
}

// TestBusy checks what a caller hears who is not admitted.
func TestBusy(t *testing.T) {
	refuse := ErrBusy
	h := newHouse(t, func(context.Context, Incoming) error { return refuse })
	if _, answer := h.webhook(announce("CA1"), ""); answer.Reject == nil || answer.Reject.Reason != "busy" || answer.Connect != nil {
		t.Errorf("the answer is %+v", answer)
	}
	refuse = errors.New("not this number")
	if _, answer := h.webhook(announce("CA1"), ""); answer.Reject == nil || answer.Reject.Reason != "rejected" {
		t.Errorf("the answer is %+v", answer)
	}
}

func TestRoutes(t *testing.T) {
	h := newHouse(t, nil)
	for path, want := range map[string]int{"/phone/twilio/voice": http.StatusMethodNotAllowed, "/phone/twilio": http.StatusNotFound, "/": http.StatusNotFound} {
		r, err := http.NewRequestWithContext(waittest.Context(t), http.MethodGet, h.http.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("GET %s: status %d, expected %d", path, answer.StatusCode, want)
		}
	}
	for _, o := range []Options{
		{URL: public},
		{Secret: secret},
		{Secret: secret, URL: "http://voice.test"},
		{Secret: secret, URL: "https://user@voice.test"},
		{Secret: secret, URL: "https://voice.test/?x"},
		{Secret: secret, URL: public},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is valid", o)
		}
	}
}
