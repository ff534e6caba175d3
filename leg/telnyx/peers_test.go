//go:build peers

package telnyx

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/carrier"
	"github.com/hocketvoice/hocket/internal/carrier/fake"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/internal/wire/mediastream"
	"github.com/hocketvoice/hocket/porttest"
)

// TestPeerWebhooks asks Telnyx's own library which webhooks are signed: it takes those of the fake,
// and refuses what this package refuses.
func TestPeerWebhooks(t *testing.T) {
	account, other := fake.NewTelnyx(fake.TelnyxOptions{Key: "one"}), fake.NewTelnyx(fake.TelnyxOptions{Key: "another"})
	now := time.Now()
	body := `{"data":{"record_type":"event","event_type":"call.initiated","id":"1","payload":{"call_control_id":"v3:ü","from":"+15551234567"}}}`
	header := func(h http.Header, name, value string) http.Header {
		h.Set(name, value)
		return h
	}
	good := account.Sign([]byte(body), now)
	cases := []struct {
		name   string
		body   string
		header http.Header
		want   bool
	}{
		{"as it is", body, good, true},
		{"nearly too old", body, account.Sign([]byte(body), now.Add(-250*time.Second)), true},
		{"nearly too early", body, account.Sign([]byte(body), now.Add(250*time.Second)), true},
		{"too old", body, account.Sign([]byte(body), now.Add(-310*time.Second)), false},
		{"too early", body, account.Sign([]byte(body), now.Add(350*time.Second)), false},
		{"another account's", body, other.Sign([]byte(body), now), false},
		{"another body's", body + " ", good, false},
		{"another time's", body, header(good.Clone(), "Telnyx-Timestamp", fmt.Sprint(now.Unix()-1)), false},
		{"a time with a sign", body, header(good.Clone(), "Telnyx-Timestamp", "+"+good.Get("Telnyx-Timestamp")), false},
		{"no time", body, header(good.Clone(), "Telnyx-Timestamp", ""), false},
		{"no signature", body, header(good.Clone(), "Telnyx-Signature-Ed25519", ""), false},
		{"a short signature", body, header(good.Clone(), "Telnyx-Signature-Ed25519", "AAAA"), false},
		{"a signature without its padding", body, header(good.Clone(), "Telnyx-Signature-Ed25519", strings.TrimRight(good.Get("Telnyx-Signature-Ed25519"), "=")), false},
	}
	type webhook struct {
		Body    string            `json:"body"`
		Headers map[string]string `json:"headers"`
	}
	var all []webhook
	for _, c := range cases {
		w := webhook{Body: c.body, Headers: make(map[string]string)}
		for name := range c.header {
			w.Headers[name] = c.header.Get(name)
		}
		all = append(all, w)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "webhooks.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var got []struct {
		OK          bool
		Type, Error string
		Call        string
	}
	porttest.Client(t, "verify.mjs", &got, "WEBHOOKS="+file, "PUBLIC_KEY="+account.PublicKey())
	if len(got) != len(cases) {
		t.Fatalf("%d results", len(got))
	}
	key, err := ParseKey(account.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		if ours := signed(key, c.header, []byte(c.body), now); got[i].OK != c.want || ours != c.want {
			t.Errorf("%s: Telnyx's library says %v (%s), this package %v, expected %v", c.name, got[i].OK, got[i].Error, ours, c.want)
		}
		e, err := decodeEvent([]byte(c.body))
		if err != nil || got[i].OK && (e.kind != got[i].Type || e.call.Call != got[i].Call) {
			t.Errorf("%s: Telnyx's library reads %+v, this package %+v, error %v", c.name, got[i], e, err)
		}
	}
}

// TestPeerCommands has Telnyx's own client hold a call with the fake.
func TestPeerCommands(t *testing.T) {
	legs := make(chan *carrier.Leg, 1)
	media := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/media" {
			return // a webhook
		}
		l, err := carrier.Upgrade(w, r, carrier.Options{Dialect: mediastream.Telnyx})
		if err != nil {
			t.Error(err)
			return
		}
		legs <- l
	}))
	defer media.Close()
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, strings.TrimPrefix(media.URL, "http://"))
	}
	account := fake.NewTelnyx(fake.TelnyxOptions{
		Key: "KEY", Webhook: "https://voice.test/voice",
		Client: &http.Client{Transport: &http.Transport{DialContext: dial, DialTLSContext: dial, DisableKeepAlives: true}},
		Fault: func(action string, n int) fake.Fault {
			if action == "hangup" && n == 1 {
				return fake.Fault{Status: http.StatusTooManyRequests, RetryAfter: "0.01"}
			}
			return fake.Fault{}
		},
	})
	rest := httptest.NewServer(account)
	defer rest.Close()
	call := account.Ring("+15551234567", "+15557654321")
	type result struct {
		Name, Result, Code string
		Status             int
	}
	var got []result
	porttest.Client(t, "hold.mjs", &got, "KEY=KEY", "URL="+rest.URL+"/v2", "CALL="+call.ID())
	for i, want := range []result{
		{"another key", "", "10009", http.StatusUnauthorized},
		{"another call", "", "90015", http.StatusNotFound},
		{"answer", "ok", "", 0},
		{"answer again", "ok", "", 0},
		{"stream", "ok", "", 0},
		{"hang up", "ok", "", 0},
		{"hang up again", "", "90018", http.StatusUnprocessableEntity},
	} {
		if i >= len(got) || got[i] != want {
			t.Fatalf("the commands ended with %+v, expected %+v at %d", got, want, i)
		}
	}
	select {
	case l := <-legs:
		_ = l.Close()
	case <-waittest.Context(t).Done():
		t.Fatal("the stream did not connect")
	}
	wantActions(t, call, "answer", "streaming_start", "hangup")
	wantOver(t, call, "normal_clearing", "callee")
	if err := account.Close(); err != nil {
		t.Error(err)
	}
}
