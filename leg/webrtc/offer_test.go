package webrtc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pion "github.com/pion/webrtc/v4"

	"github.com/hocketvoice/hocket/porttest"
)

// chromeOffer is an offer of Chromium, shortened.
const chromeOffer = `v=0
o=- 4611731400430051336 2 IN IP4 127.0.0.1
s=-
t=0 0
a=group:BUNDLE 0 1
a=extmap-allow-mixed
a=msid-semantic: WMS
m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126
c=IN IP4 0.0.0.0
a=rtcp:9 IN IP4 0.0.0.0
a=ice-ufrag:EsAw
a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1
a=ice-options:trickle
a=fingerprint:sha-256 D2:FA:0E:C3:22:59:5E:14:95:69:92:3D:13:B4:84:24:2C:C2:A2:C0:3E:FD:34:8E:5E:EA:6F:AF:52:CE:E6:0F
a=setup:actpass
a=mid:0
a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
a=sendrecv
a=rtcp-mux
a=rtpmap:111 opus/48000/2
a=rtcp-fb:111 transport-cc
a=fmtp:111 minptime=10;useinbandfec=1
a=rtpmap:63 red/48000/2
a=fmtp:63 111/111
a=rtpmap:9 G722/8000
a=rtpmap:0 PCMU/8000
a=rtpmap:8 PCMA/8000
a=rtpmap:13 CN/8000
a=rtpmap:110 telephone-event/48000
a=rtpmap:126 telephone-event/8000
m=application 9 UDP/DTLS/SCTP webrtc-datachannel
c=IN IP4 0.0.0.0
a=ice-ufrag:EsAw
a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1
a=fingerprint:sha-256 D2:FA:0E:C3:22:59:5E:14:95:69:92:3D:13:B4:84:24:2C:C2:A2:C0:3E:FD:34:8E:5E:EA:6F:AF:52:CE:E6:0F
a=setup:actpass
a=mid:1
a=sctp-port:5000
a=max-message-size:262144
`

// edit replaces a text in the offer.
func edit(t testing.TB, from, to string) string {
	t.Helper()
	if !strings.Contains(chromeOffer, from) {
		t.Fatalf("the offer has no %q", from)
	}
	return strings.ReplaceAll(chromeOffer, from, to)
}

func TestOffers(t *testing.T) {
	s := server(t, Options{})
	_, media, _ := strings.Cut(chromeOffer, "m=audio")
	audio, application, _ := strings.Cut(media, "m=application")
	audio, application = "m=audio"+audio, "m=application"+application
	for name, c := range map[string]struct{ offer, want string }{
		"empty":        {"", "empty"},
		"text":         {"hello", "invalid session description"},
		"too long":     {strings.Repeat("a=x\n", maxOffer), "bytes"},
		"too many":     {strings.Repeat("a\n", maxLines+1), "lines"},
		"no audio":     {strings.Replace(chromeOffer, audio, "", 1), "audio section is missing"},
		"video":        {edit(t, "m=application", "m=video 9 UDP/TLS/RTP/SAVPF 96\na=rtpmap:96 VP8/90000\nm=application"), `"video"`},
		"two audios":   {strings.Replace(chromeOffer, audio, audio+audio, 1), "2 audio sections"},
		"two channels": {chromeOffer + application, "2 data channel sections"},
		"inactive":     {edit(t, "a=sendrecv", "a=inactive"), "inactive"},
		"switched off": {edit(t, "m=audio 9", "m=audio 0"), "port 0"},
		"other codec":  {edit(t, "opus/48000/2", "speex/16000"), "opus/48000/2"},
		"no ufrag":     {edit(t, "a=ice-ufrag:EsAw\n", ""), ""},
		"no finger":    {edit(t, "a=fingerprint:sha-256", "a=finger:sha-256"), ""},
	} {
		l, _, err := s.Accept(t.Context(), c.offer)
		if l != nil {
			check(t, l.Close())
		}
		if !errors.Is(err, ErrOffer) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if n := s.Legs(); n != 0 {
		t.Errorf("%d legs are left of offers that were refused", n)
	}
	l, answer, err := s.Accept(t.Context(), chromeOffer)
	check(t, err)
	for _, line := range []string{"a=candidate:", "opus/48000/2", "useinbandfec=1", "a=sendrecv", "a=setup:active"} {
		if !strings.Contains(answer, line) {
			t.Errorf("the answer has no %q:\n%s", line, answer)
		}
	}
	if strings.Contains(answer, "PCMU") || strings.Count(answer, "m=") != 2 {
		t.Errorf("the answer has more than was offered, or is agreed on:\n%s", answer)
	}
	if _, err := l.Renegotiate(t.Context(), "hello"); !errors.Is(err, ErrOffer) {
		t.Errorf("Renegotiate: %v", err)
	}
	if _, err := l.Reattach(t.Context(), "hello"); !errors.Is(err, ErrOffer) {
		t.Errorf("Reattach: %v", err)
	}
	check(t, l.Close())
}

// A browser is told the public address behind a network address translation.
func TestPublicIP(t *testing.T) {
	s := server(t, Options{PublicIPs: []string{"203.0.113.7"}})
	l, answer, err := s.Accept(t.Context(), newClient(t, clientOptions{}).offer(nil))
	check(t, err)
	defer l.Close()
	if !strings.Contains(answer, " 203.0.113.7 ") || strings.Contains(answer, "candidate:1 1 udp 2130706431 127.0.0.1") {
		t.Errorf("the answer:\n%s", answer)
	}
}

// Retransmission is negotiated only with clients that offer it.
func TestNack(t *testing.T) {
	s := server(t, Options{})
	for _, c := range []struct {
		offer string
		want  bool
	}{{chromeOffer, false}, {edit(t, "a=rtcp-fb:111 transport-cc", "a=rtcp-fb:111 nack"), true}} {
		l, answer, err := s.Accept(t.Context(), c.offer)
		check(t, err)
		if got := strings.Contains(answer, "a=rtcp-fb:111 nack"); got != c.want {
			t.Errorf("nack %v, want %v, in\n%s", got, c.want, answer)
		}
		check(t, l.Close())
	}
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"rate":      {Rate: 44100},
		"bitrate":   {Bitrate: 1},
		"address":   {Addr: "nowhere"},
		"public":    {PublicIPs: []string{"example.org"}},
		"connect":   {Connect: -1},
		"too few":   {MaxLegs: -1},
		"not local": {Addr: "192.0.2.1:0"},
	} {
		if s, err := NewServer(o); err == nil {
			check(t, s.Close())
			t.Errorf("%s: %+v is taken", name, o)
		}
	}
}

// sent is a socket that records the destinations of packets.
type sent struct {
	net.PacketConn
	mu sync.Mutex
	to map[string]bool
}

func (s *sent) WriteTo(b []byte, to net.Addr) (int, error) {
	s.mu.Lock()
	s.to[to.String()] = true
	s.mu.Unlock()
	return s.PacketConn.WriteTo(b, to)
}

// TestOfferSendsPacketsElsewhere checks that the server sends packets only to the
// client's verified address, whatever addresses its offers contain.
func TestOfferSendsPacketsElsewhere(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	check(t, err)
	network := &sent{PacketConn: conn, to: make(map[string]bool)}
	s := server(t, Options{Conn: network})
	c := newClient(t, clientOptions{})
	var named strings.Builder
	for i := range 30 {
		fmt.Fprintf(&named, "\na=candidate:%d 1 udp 2130706431 127.0.0.1 %d typ host", i, 40001+i)
	}
	for i, candidate := range []string{
		"udp 2130706431 10.1.2.3 53 typ host", "udp 2130706431 192.168.7.8 161 typ host", "udp 2130706431 169.254.169.254 80 typ host",
		"udp 2130706431 ::1 53 typ host", "udp 2130706431 fe80::1 53 typ host", "udp 1694498815 192.0.2.9 53 typ srflx raddr 0.0.0.0 rport 0",
		"udp 16777215 203.0.113.9 53 typ relay raddr 0.0.0.0 rport 0", "tcp 1518280447 127.0.0.1 22 typ host tcptype passive",
		"udp 2130706431 localhost 53 typ host", "udp 2130706431 0b1c2d3e-aaaa-bbbb-cccc-ddddeeeeffff.local 53 typ host", "is not one",
	} {
		fmt.Fprintf(&named, "\r\na=candidate:9%d 1 %s", i, candidate)
	}
	name := func(offer string) string {
		return strings.ReplaceAll(strings.Replace(offer, "t=0 0", "t=0 0"+named.String(), 1), "a=mid:0", "a=mid:0"+named.String())
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	l, answer, err := s.Accept(ctx, name(c.offer(nil)))
	check(t, err)
	defer l.Close()
	c.answer(answer)
	c.await(pion.PeerConnectionStateConnected)
	check(t, l.Connected(ctx))
	answer, err = l.Renegotiate(ctx, name(c.offer(&pion.OfferOptions{ICERestart: true})))
	check(t, err)
	c.answer(answer)
	speak(t, l, porttest.Tone(rate, time.Second)) // as long as the connectivity checks take
	network.mu.Lock()
	defer network.mu.Unlock()
	delete(network.to, c.addr)
	if len(network.to) > 0 {
		t.Errorf("packets went to %v", slices.Sorted(maps.Keys(network.to)))
	}
}

// FuzzOffer checks that an offer is either refused or read into one that contains no
// address and that is read unchanged the second time. It tests only the reading: an
// answer would list the machine's interfaces and start goroutines, which takes a
// hundred times as long and covers different code each time, so that the fuzzing engine
// would consider every input interesting.
func FuzzOffer(f *testing.F) {
	f.Add(chromeOffer)
	f.Add(edit(f, "a=mid:0", "a=mid:0\na=candidate:1 1 udp 2130706431 10.0.0.1 9 typ host"))
	f.Add("v=0\r\no=- 0 0 IN IP4 0\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=rtpmap:111 opus/48000/2\r\n")
	f.Add("v= o= 0 0 IN\ns=\nt=\nm=audio 1 AVP \na=\r0\na=rtpmap: opus/48000/2\n")
	f.Fuzz(func(t *testing.T, offer string) {
		read, err := readOffer(offer)
		if err != nil {
			if !errors.Is(err, ErrOffer) {
				t.Fatalf("not the client's fault: %v", err)
			}
			return
		}
		if again, err := readOffer(read); err != nil || again != read {
			t.Fatalf("%q became %q, then %q, %v", offer, read, again, err)
		}
		d := pion.SessionDescription{Type: pion.SDPTypeOffer, SDP: read}
		parsed, err := d.Unmarshal()
		if err != nil {
			t.Fatalf("the library does not read %q: %v", read, err)
		}
		for _, m := range parsed.MediaDescriptions {
			if _, named := m.Attribute("candidate"); named {
				t.Fatalf("%q names an address", read)
			}
		}
	})
}
