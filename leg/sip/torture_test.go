package sip

import (
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/waittest"
)

// torture are malformed and unusual messages, after the cases of RFC 4475. AT is the sender's address, and
// TAG makes each its own.
var torture = map[string]string{
	"a wacky but valid INVITE (3.1.1.1)": "INVITE sip:vivekg@chair-dnrc.example.com;unknownparam SIP/2.0\r\nTO :\r\n sip:vivekg@chair-dnrc.example.com ;   tag    = 1918181833n\r\n" +
		"from   : \"J Rosenberg \\\\\\\"\"       <sip:jdrosen@example.com>\r\n  ;\r\n  tag = 98asjd8\r\nMaX-fOrWaRdS: 0068\r\nCall-ID: TAG\r\nContent-Length   : 0\r\ncseq: 0009\r\n  INVITE\r\n" +
		"Via  : SIP  /   2.0\r\n /UDP\r\n    AT;branch=TAG\r\ns :\r\nNewFangledHeader:   newfangled value\r\nContact: \"Quoted string \\\"\\\"\" <sip:jdrosen@example.com> ; newparam =\r\n      newvalue ;\r\n\r\n",
	"an extraneous separator (3.1.2.1)":      "INVITE sip:user@example.com SIP/2.0\r\nTo: sip:j.user@example.com\r\nFrom: sip:caller@example.net;tag=1\r\nMax-Forwards: 7\r\nCall-ID: TAG\r\nCSeq: 8 INVITE\r\nVia: SIP/2.0/UDP AT;;,;,,\r\nContact: \"Joe\" <sip:joe@example.org>;;;;\r\nContent-Length: 0\r\n\r\n",
	"a length that is too large (3.1.2.2)":   "INVITE sip:user@example.com SIP/2.0\r\nMax-Forwards: 80\r\nTo: sip:j.user@example.com\r\nFrom: sip:caller@example.net;tag=2\r\nContact: <sip:caller@AT>\r\nCall-ID: TAG\r\nCSeq: 8 INVITE\r\nVia: SIP/2.0/UDP AT;branch=TAG\r\nContent-Type: application/sdp\r\nContent-Length: 9999\r\n\r\nv=0\r\n",
	"a negative length (3.1.2.3)":            "INVITE sip:user@example.com SIP/2.0\r\nMax-Forwards: 254\r\nTo: sip:j.user@example.com\r\nFrom: sip:caller@example.net;tag=3\r\nCall-ID: TAG\r\nCSeq: 8 INVITE\r\nVia: SIP/2.0/UDP AT;branch=TAG\r\nContent-Length: -999\r\n\r\nv=0\r\n",
	"numbers that are too large (3.1.2.4)":   "REGISTER sip:example.com SIP/2.0\r\nVia: SIP/2.0/TCP AT;branch=TAG\r\nTo: <sip:user@example.com>\r\nFrom: <sip:user@example.com>;tag=4\r\nCall-ID: TAG\r\nCSeq: 36893488147419103232 REGISTER\r\nMax-Forwards: 255\r\nExpires: 10000000000000000000000\r\nContent-Length: 0\r\n\r\n",
	"an unterminated quote (3.1.2.6)":        "INVITE sip:user@example.com SIP/2.0\r\nTo: \"Mr. J. User <sip:j.user@example.com>\r\nFrom: sip:caller@example.net;tag=5\r\nMax-Forwards: 7\r\nCall-ID: TAG\r\nContact: <sip:a@AT>\r\nCSeq: 8 INVITE\r\nVia: SIP/2.0/UDP AT;branch=TAG\r\nContent-Length: 0\r\n\r\n",
	"brackets around the address (3.1.2.7)":  "INVITE <sip:user@example.com> SIP/2.0\r\nTo: sip:user@example.com\r\nFrom: sip:caller@example.net;tag=6\r\nMax-Forwards: 7\r\nCall-ID: TAG\r\nCSeq: 1 INVITE\r\nVia: SIP/2.0/UDP AT;branch=TAG\r\nContent-Length: 0\r\n\r\n",
	"white space in the address (3.1.2.8)":   "INVITE sip:user@example.com; lr SIP/2.0\r\nTo: sip:user@example.com;tag=3xfe-9921883-z9f\r\nFrom: sip:caller@example.net;tag=7\r\nMax-Forwards: 5\r\nCall-ID: TAG\r\nCSeq: 2130706432 INVITE\r\nVia: SIP/2.0/UDP AT;branch=TAG\r\nContent-Length: 0\r\n\r\n",
	"two spaces in the first line (3.1.2.9)": "INVITE  sip:user@example.com  SIP/2.0\r\nTo: sip:user@example.com\r\nFrom: sip:caller@example.net;tag=8\r\nCall-ID: TAG\r\nCSeq: 1 INVITE\r\nVia: SIP/2.0/UDP AT;branch=TAG\r\nContent-Length: 0\r\n\r\n",
	"an escaped header (3.1.2.11)":           "INVITE sip:user@example.com?Route=%3Csip:example.com%3E SIP/2.0\r\nTo: sip:user@example.com\r\nFrom: sip:caller@example.net;tag=9\r\nMax-Forwards: 7\r\nContact: <sip:caller@AT>\r\nCall-ID: TAG\r\nCSeq: 149209342 INVITE\r\nVia: SIP/2.0/UDP AT;branch=TAG\r\nContent-Length: 0\r\n\r\n",
	"another method in CSeq (3.1.2.17)":      "OPTIONS sip:user@example.com SIP/2.0\r\nTo: sip:j.user@example.com\r\nFrom: sip:caller@example.net;tag=10\r\nMax-Forwards: 6\r\nCall-ID: TAG\r\nCSeq: 8 INVITE\r\nVia: SIP/2.0/UDP AT;branch=TAG\r\nContent-Length: 0\r\n\r\n",
	"an unknown version (3.1.2.16)":          "OPTIONS sip:t.watson@example.org SIP/7.0\r\nVia:     SIP/7.0/UDP AT;branch=TAG\r\nFrom:    <sip:t@example.org>;tag=11\r\nTo:      <sip:t.watson@example.org>\r\nCall-ID: TAG\r\nCSeq:    1 OPTIONS\r\n\r\n",
	"no header that is needed (3.3.1)":       "INVITE sip:user@example.com SIP/2.0\r\nCSeq: 193942 INVITE\r\nVia: SIP/2.0/UDP AT;branch=TAG\r\nContent-Type: application/sdp\r\nl: 0\r\n\r\n",
	"headers that are repeated (3.3.8)":      "INVITE sip:user@example.com SIP/2.0\r\nVia: SIP/2.0/UDP AT;branch=TAG\r\nMax-Forwards: 70\r\nFrom: sip:caller@example.net;tag=12\r\nFrom: sip:other@example.net;tag=13\r\nTo: sip:user@example.com\r\nCall-ID: TAG\r\nCall-ID: TAG2\r\nCSeq: 59 INVITE\r\nContact: <sip:caller@AT>\r\nContent-Length: 0\r\n\r\n",
	"an answer to nothing":                   "SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP AT;branch=TAG\r\nFrom: sip:a@b;tag=1\r\nTo: sip:a@b;tag=2\r\nCall-ID: TAG\r\nCSeq: 1 INVITE\r\nContent-Length: 0\r\n\r\n",
	"an answer of 4294967301 (3.1.2.19)":     "SIP/2.0 4294967301 better not break the receiver\r\nVia: SIP/2.0/UDP AT;branch=TAG\r\nCall-ID: TAG\r\nCSeq: 1 INVITE\r\n\r\n",
	"an ACK to nothing":                      "ACK sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP AT;branch=TAG\r\nFrom: sip:a@b;tag=1\r\nTo: sip:a@b;tag=2\r\nCall-ID: TAG\r\nCSeq: 1 ACK\r\nContent-Length: 0\r\n\r\n",
	"nothing":                                "", "zeros": "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "line ends": "\r\n\r\n", "noise": "\xff\xfe\x80 INVITE \x00\r\n\r\n",
	"a request of the Web": "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n",
	"a very long header":   "OPTIONS sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP AT;branch=TAG\r\nX: " + strings.Repeat("x", 30_000) + "\r\n\r\n",
}

// TestTorture: no malformed message begins a call or stops the server, from friends as from strangers.
func TestTorture(t *testing.T) {
	for name, o := range map[string]Options{"friends": {}, "strangers": {Users: []User{{"ada", "secret"}}}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, o)
			p := r.phone(t)
			tcp := 0
			for name, text := range torture {
				tcp++
				text = strings.NewReplacer("AT", p.at(p.conn).String(), "TAG", fmt.Sprintf("z9hG4bK-%d", tcp)).Replace(text)
				p.raw(text)
				conn, err := net.Dial("tcp", r.Addr().String())
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				_, _ = conn.Write([]byte(text))
				_ = conn.Close()
			}
			q := r.phone(t)
			q.send("OPTIONS", "")
			if o.Users == nil {
				q.want(200)
			} else {
				q.want(401)
			}
			if len(r.calls) != 0 || len(r.failures()) != 0 {
				t.Errorf("%d calls, %v", len(r.calls), r.failures())
			}
		})
	}
}

// TestFlood: scanners and a flood of INVITE requests from many addresses start nothing, are answered no more
// than the limit, and leave no memory behind; who has a password calls meanwhile.
func TestFlood(t *testing.T) {
	r := newRig(t, Options{Users: []User{{"ada", "secret"}}})
	p := r.phone(t)
	before := runtime.NumGoroutine()
	now := time.Now()
	admitted := 0
	counting := &countingConn{PacketConn: r.screen.PacketConn}
	s := &screen{PacketConn: counting, guard: r.guard, strangers: newStrangers(now), parser: newParser(), known: r.known, expects: r.expects, reads: newFact()}
	invite := []byte(p.text("INVITE", p.offer()))
	for i := range 20_000 {
		at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(i >> 10), byte(i >> 2), 1}), uint16(1024+i))
		if s.admits(now, at, invite, net.UDPAddrFromAddrPort(at)) {
			admitted++
		}
		now = now.Add(100 * time.Microsecond)
	}
	answered := counting.sent
	if admitted != 0 || answered > allBurst+2*allRate || len(s.strangers.each) > maxStrangers {
		t.Errorf("%d admitted, %d answered, %d remembered", admitted, answered, len(s.strangers.each))
	}
	if r.ua.TransportLayer().Pool("udp").Size() > 1 || r.Live() != 0 {
		t.Error("strangers are remembered")
	}
	if after := runtime.NumGoroutine(); after > before+2 {
		t.Errorf("%d goroutines, before %d", after, before)
	}
	p.send("INVITE", p.offer())
	password := p.login(p.want(401), "INVITE", "ada", "secret")
	p.send("INVITE", p.offer(), password)
	p.accept()
	p.send("ACK", "")
	r.next(t)
}

type countingConn struct {
	net.PacketConn
	sent int
}

func (c *countingConn) WriteTo(b []byte, _ net.Addr) (int, error) {
	c.sent++
	return len(b), nil
}

// TestConnections: strangers have few connections, and little time.
func TestConnections(t *testing.T) {
	r := newRig(t, Options{Users: []User{{"ada", "secret"}}})
	var open []net.Conn
	for range maxConnsPerHost + 10 {
		c, err := net.Dial("tcp", r.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		open = append(open, c)
	}
	closed := 0
	for _, c := range open[maxConnsPerHost:] {
		deadline, _ := waittest.Context(t).Deadline()
		_ = c.SetReadDeadline(deadline)
		if _, err := c.Read(make([]byte, 1)); err != nil {
			closed++
		}
	}
	if closed != 10 {
		t.Errorf("%d of 10 connections too many are closed", closed)
	}
}

// FuzzScreen checks that no message of a stranger is passed on, whatever it contains.
func FuzzScreen(f *testing.F) {
	for _, text := range torture {
		f.Add([]byte(text))
	}
	f.Add([]byte("INVITE sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:a@b>\r\nCall-ID: 1\r\nCSeq: 1 INVITE\r\nAuthorization: Digest username=\"ada\", realm=\"hocket\", nonce=\"AAAA\", uri=\"sip:a@b\", response=\"00\"\r\n\r\n"))
	o := Options{Users: []User{{"ada", "secret"}}}
	o.setDefaults()
	guard := newGuard(&o)
	f.Fuzz(func(t *testing.T, b []byte) {
		now := time.Unix(1000, 0)
		s := &screen{
			PacketConn: &countingConn{}, guard: guard, strangers: newStrangers(now), parser: newParser(),
			known: func(string) bool { return false }, expects: func(netip.AddrPort) bool { return false }, reads: newFact(),
		}
		at := netip.MustParseAddrPort("192.0.2.1:5060")
		if s.admits(now, at, b, net.UDPAddrFromAddrPort(at)) {
			t.Fatal("it is passed on")
		}
	})
}

// FuzzCrypto checks that any attribute is taken, and that a key that was chosen is one that works.
func FuzzCrypto(f *testing.F) {
	f.Add(newKey("AES_CM_128_HMAC_SHA1_80").line(1))
	f.Add("1 AES_CM_128_HMAC_SHA1_32 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz|2^20|1:4")
	f.Add("x")
	f.Fuzz(func(t *testing.T, line string) {
		if _, key, ok := chooseKey([]string{line}); ok {
			if _, err := key.context(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzFragment checks that the body of any NOTIFY is taken.
func FuzzFragment(f *testing.F) {
	f.Add([]byte("SIP/2.0 200 OK\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if code := fragment(b); code != 0 && (code < 100 || code > 699) {
			t.Fatal(code)
		}
	})
}
