package sip

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/icholy/digest"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/porttest"
)

// TestDial: two servers call each other: with a password, in each form of sound, with and without
// encryption; both hear each other, and each can hang up.
func TestDial(t *testing.T) {
	for _, c := range []struct {
		codec   string
		encrypt Encryption
		to      string
	}{
		{"pcmu", EncryptOffered, ""}, {"g722", EncryptAlways, ";transport=tcp"}, {"opus", EncryptAlways, ""},
	} {
		t.Run(c.codec+c.to, func(t *testing.T) {
			r := newRig(t, Options{Users: []User{{"ada", "secret"}}, Codecs: []string{c.codec}})
			s := newRig(t, Options{Encrypt: c.encrypt})
			leg, err := s.Dial(waittest.Context(t), Outgoing{To: "sip:+15557654321@" + r.Addr().String() + c.to, From: "+15551234567", Name: "ada", Password: "secret"})
			if err != nil {
				t.Fatal(err)
			}
			other := r.next(t)
			if other.From != "+15551234567" || other.To != "+15557654321" || other.User != "ada" || leg.Rate() != other.leg.Rate() {
				t.Errorf("%+v, %d and %d Hz", other.Incoming, leg.Rate(), other.leg.Rate())
			}
			frame := audio.Frame{Rate: leg.Rate(), PCM: porttest.Tone(leg.Rate(), audio.FrameDuration)}
			for _, way := range [][2]*Leg{{leg, other.leg}, {other.leg, leg}} {
				for loud := 0; loud < 5; {
					if err := way[0].Write(t.Context(), frame); err != nil {
						t.Fatal(err)
					}
					f, err := way[1].Read(waittest.Context(t))
					if err != nil {
						t.Fatal(err)
					}
					if audio.RMS(f.PCM) > 0.05 {
						loud++
					}
				}
			}
			if err := leg.SendKeys("7"); err != nil {
				t.Fatal(err)
			}
			if err := leg.Write(t.Context(), frame); err != nil {
				t.Fatal(err)
			}
			if got := key(t, other.leg); got != "7" {
				t.Errorf("the key is %q", got)
			}
			ending, by := leg, "caller"
			if c.encrypt == EncryptAlways {
				ending, by = other.leg, "agent"
			}
			if err := ending.Close(); err != nil {
				t.Error(err)
			}
			if got := r.hangups(t, 1); got[0] != (Hangup{"normal", by}) {
				t.Errorf("it is over with %+v", got)
			}
			s.hangups(t, 1)
			if all := append(r.failures(), s.failures()...); len(all) > 0 {
				t.Errorf("it has failed: %v", all)
			}
		})
	}
}

// TestTLS: calls go both ways over TLS, and a certificate that is not trusted is refused.
func TestTLS(t *testing.T) {
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	secure := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: web.TLS.Certificates, RootCAs: roots}
	r := newRig(t, Options{TLSAddr: "127.0.0.1:0", TLS: secure, Users: []User{{"ada", "secret"}}})
	s := newRig(t, Options{TLSAddr: "127.0.0.1:0", TLS: secure})
	o := Outgoing{To: "sip:a@" + r.addrs["TLS"].String() + ";transport=tls", Name: "ada", Password: "secret"}
	leg, err := s.Dial(waittest.Context(t), o)
	if err != nil {
		t.Fatal(err)
	}
	c := r.next(t)
	if err := c.leg.Close(); err != nil {
		t.Error(err)
	}
	if got := s.hangups(t, 1); got[0] != (Hangup{"normal", "caller"}) {
		t.Errorf("it is over with %+v", got)
	}
	if err := leg.Close(); err != nil {
		t.Error(err)
	}
	r.hangups(t, 1)
	if all := append(r.failures(), s.failures()...); len(all) > 0 {
		t.Errorf("it has failed: %v", all)
	}
	if _, err := newRig(t, Options{}).Dial(waittest.Context(t), o); err == nil {
		t.Error("a call over TLS needs a server that listens for TLS")
	}
	stranger := newRig(t, Options{TLSAddr: "127.0.0.1:0", TLS: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: web.TLS.Certificates}})
	if _, err := stranger.Dial(waittest.Context(t), o); err == nil {
		t.Error("a certificate that nobody has signed is trusted")
	}
}

// TestDialFails: a call that is refused, that cannot be understood, or that is given up, leaves nothing.
func TestDialFails(t *testing.T) {
	admit := make(chan struct{})
	waiting := make(chan struct{})
	r := newRig(t, Options{Codecs: []string{"pcmu"}, Users: []User{{"ada", "secret"}}, Admit: func(_ context.Context, in Incoming) error {
		switch in.To {
		case "busy":
			return ErrBusy
		case "slow":
			close(waiting)
			<-admit
		}
		return nil
	}})
	s := newRig(t, Options{})
	at := r.Addr().String()
	for _, c := range []struct {
		o    Outgoing
		want string
	}{
		{Outgoing{To: "sip:busy@" + at, Name: "ada", Password: "secret"}, "486"},
		{Outgoing{To: "sip:a@" + at, Name: "ada", Password: "wrong"}, "401"},
		{Outgoing{To: "sip:a@" + at}, "401"},
		{Outgoing{To: "tel:+1555"}, "is invalid"},
		{Outgoing{To: "sip:a@b>\r\nX: y"}, "is invalid"},
		{Outgoing{To: "sip:a@" + at, From: "a b"}, "is invalid"},
		{Outgoing{To: "sip:a@" + at + ";transport=ws"}, "transport"},
	} {
		if _, err := s.Dial(waittest.Context(t), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, expected %q", c.o, err, c.want)
		}
	}
	strict := newRig(t, Options{Codecs: []string{"g722"}})
	if _, err := strict.Dial(waittest.Context(t), Outgoing{To: "sip:a@" + at, Name: "ada", Password: "secret"}); err == nil || !strings.Contains(err.Error(), "488") {
		t.Errorf("no form that both have: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-waiting
		cancel()
	}()
	if _, err := s.Dial(ctx, Outgoing{To: "sip:slow@" + at, Name: "ada", Password: "secret"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that is given up: %v", err)
	}
	close(admit)
	waittest.Until(t, "that no call is left", nil, func() bool { return r.Live() == 0 && s.Live() == 0 })
	if all := append(r.failures(), s.failures()...); len(all) > 0 || len(r.calls) > 0 {
		t.Errorf("it has failed: %v", all)
	}
}

// TestNetworks: addresses of the same network of IPv6 count as one stranger.
func TestNetworks(t *testing.T) {
	if a, b := network(netip.MustParseAddr("2001:db8::1")), network(netip.MustParseAddr("2001:db8::ffff:2")); a != b {
		t.Errorf("%v and %v", a, b)
	}
	if a, b := network(netip.MustParseAddr("192.0.2.1")), network(netip.MustParseAddr("192.0.2.2")); a == b {
		t.Errorf("%v is one stranger", a)
	}
}

// TestRegister: a name is registered with its password, for as long as the registrar says, calls of the
// registrar are taken without one, a failure is reported once, and the end of the server is told.
func TestRegister(t *testing.T) {
	registrar := (&rig{Server: &Server{addrs: map[string]netip.AddrPort{"UDP": {}}}}).phone(t)
	t.Cleanup(func() { _ = registrar.conn.Close(); _ = registrar.rtp.Close() })
	r := newRig(t, Options{Users: []User{{"x", "y"}}, Registrars: []Registrar{{
		Server: "sip:" + registrar.at(registrar.conn).String(), Name: "agent", Password: "secret", Expires: time.Minute,
	}}})
	registrar.server = r.Addr()
	registrar.request("REGISTER", 423, "Min-Expires: 120")
	req := registrar.request("REGISTER", 401, `WWW-Authenticate: Digest realm="pbx", nonce="n", algorithm=MD5, qop="auth"`)
	if e := req.GetHeader("Expires"); e == nil || e.Value() != "120" {
		t.Errorf("the time is %v", e)
	}
	req = registrar.request("REGISTER", 200, "Expires: 3600")
	c, err := digest.ParseCredentials(req.GetHeader("Authorization").Value())
	if err != nil {
		t.Fatal(err)
	}
	want, err := digest.Digest(&digest.Challenge{Realm: "pbx", Nonce: "n", Algorithm: "MD5", QOP: []string{"auth"}}, digest.Options{
		Method: "REGISTER", URI: c.URI, Username: "agent", Password: "secret", Cnonce: c.Cnonce, Count: c.Nc,
	})
	if err != nil || c.Response != want.Response || c.URI != req.Recipient.String() {
		t.Errorf("the password is %+v, expected %+v: %v", c, want, err)
	}
	if contact := req.Contact(); contact == nil || contact.Address.User != "agent" || contact.Address.Port != int(r.Addr().Port()) {
		t.Errorf("the contact is\n%s", req)
	}
	registrar.call()
	r.next(t)
	registrar.bye()
	r.hangups(t, 1)
	closed := make(chan error)
	go func() { closed <- r.Close() }()
	if req := registrar.request("REGISTER", 200); req.GetHeader("Expires").Value() != "0" {
		t.Errorf("the end is\n%s", req)
	}
	if err := <-closed; err != nil || len(r.failures()) != 0 {
		t.Error(err, r.failures())
	}

	refusing := newRig(t, Options{Registrars: []Registrar{{Server: "sip:" + newRig(t, Options{}).Addr().String(), Name: "agent"}}})
	waittest.Until(t, "a report", nil, func() bool { return len(refusing.failures()) == 1 })
	if err := refusing.failures()[0]; !strings.Contains(err.Error(), "405") {
		t.Errorf("the failure is %v", err)
	}
	for _, bad := range []Registrar{{Server: "pbx", Name: "a"}, {Server: "sip:a@pbx", Name: "a"}, {Server: "sip:pbx"}, {Server: "sip:pbx", Name: "a", Expires: time.Second}} {
		o := Options{Start: func(context.Context, Incoming, *Leg) error { return nil }, Registrars: []Registrar{bad}}
		if err := o.Validate(); err == nil {
			t.Errorf("%+v is valid", bad)
		}
	}
}
