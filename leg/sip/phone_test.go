package sip

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"
	"github.com/pion/rtp"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/rtpsound"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/internal/wire/dtmf"
	"github.com/hocketvoice/hocket/internal/wire/sdp"
)

var loopback = netip.MustParsePrefix("127.0.0.0/8")

// rig is a server under test, whose calls a test takes from calls.
type rig struct {
	*Server
	calls chan answered

	mu     sync.Mutex // guards the fields below
	ended  []Hangup
	failed []error
	phones []*phone
}

// answered is a call that has begun.
type answered struct {
	Incoming
	leg *Leg
}

// newRig returns a server on the loopback interface that anybody there may call, unless options say
// otherwise.
func newRig(t *testing.T, o Options) *rig {
	t.Helper()
	r := &rig{calls: make(chan answered, 200)}
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if o.Allow == nil && o.Users == nil {
		o.Allow = []netip.Prefix{loopback}
	}
	if o.Start == nil {
		o.Start = func(_ context.Context, in Incoming, leg *Leg) error {
			r.calls <- answered{in, leg}
			return nil
		}
	}
	o.Ended = func(_ Incoming, h Hangup) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ended = append(r.ended, h)
	}
	o.Failed = func(err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.failed = append(r.failed, err)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	r.Server = s
	t.Cleanup(func() {
		// Telephones that a test has left answer the hang-up.
		var left sync.WaitGroup
		for _, p := range r.phones {
			left.Go(p.leave)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		for _, p := range r.phones {
			_ = p.conn.Close()
			_ = p.rtp.Close()
		}
		left.Wait()
	})
	return r
}

// leave answers all requests until the phone's socket is closed.
func (p *phone) leave() {
	_ = p.conn.SetReadDeadline(time.Time{})
	buf := make([]byte, 65536)
	for {
		n, _, err := p.conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		if m, err := sip.ParseMessage(buf[:n]); err == nil {
			if req, ok := m.(*sip.Request); ok {
				_, _ = p.conn.WriteToUDPAddrPort([]byte(sip.NewResponseFromRequest(req, 200, "OK", nil).String()), p.server)
			}
		}
	}
}

// next returns the next call that begins.
func (r *rig) next(t *testing.T) answered {
	t.Helper()
	select {
	case c := <-r.calls:
		return c
	case <-waittest.Context(t).Done():
		t.Fatal("no call has begun")
		return answered{}
	}
}

// hangups waits for the end of n calls and returns why they are over.
func (r *rig) hangups(t *testing.T, n int) []Hangup {
	t.Helper()
	var all []Hangup
	waittest.Until(t, "the end of the calls", nil, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		all = append([]Hangup(nil), r.ended...)
		return len(all) >= n
	})
	return all
}

// failures returns the errors that were reported so far.
func (r *rig) failures() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]error(nil), r.failed...)
}

// phone is a telephone that sends exactly what a test says.
type phone struct {
	t      *testing.T
	conn   *net.UDPConn // of signalling
	rtp    *net.UDPConn
	server netip.AddrPort

	callID, from, to string // to is the server's tag
	cseq             int
	branch           int
	remote           netip.AddrPort // where the server receives sound
	answer           sdp.Session
	requests         []*sip.Request // that came while an answer was waited for
}

func (r *rig) phone(t *testing.T) *phone {
	t.Helper()
	p := &phone{t: t, server: r.Addr(), callID: sip.GenerateTagN(12), from: sip.GenerateTagN(8), cseq: 1}
	for _, c := range []**net.UDPConn{&p.conn, &p.rtp} {
		conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
		if err != nil {
			t.Fatal(err)
		}
		*c = conn
	}
	r.phones = append(r.phones, p)
	return p
}

func (p *phone) at(c *net.UDPConn) netip.AddrPort { return addrOf(c.LocalAddr()) }

// offer returns a description of the phone's sound.
func (p *phone) offer(lines ...string) string {
	at := p.at(p.rtp)
	text := fmt.Sprintf("v=0\r\no=phone 1 1 IN IP4 %s\r\ns=-\r\nc=IN IP4 %s\r\nt=0 0\r\nm=audio %d RTP/AVP 0 8 97\r\na=rtpmap:97 telephone-event/8000\r\n", at.Addr(), at.Addr(), at.Port())
	for _, l := range lines {
		text += l + "\r\n"
	}
	return text
}

// send sends a request with additional lines and a body. It takes the next number unless it is an ACK or
// a CANCEL.
func (p *phone) send(method string, body string, lines ...string) {
	p.t.Helper()
	if method != "ACK" && method != "CANCEL" {
		p.cseq++
		p.branch++
	}
	if method == "ACK" {
		p.branch++
	}
	p.repeat(method, body, lines...)
}

// repeat sends a request with the number and the branch of the last one.
func (p *phone) repeat(method, body string, lines ...string) {
	p.t.Helper()
	p.raw(p.text(method, body, lines...))
}

func (p *phone) text(method, body string, lines ...string) string {
	to := ""
	if p.to != "" {
		to = ";tag=" + p.to
	}
	at := p.at(p.conn)
	text := fmt.Sprintf("%s sip:+15557654321@%s SIP/2.0\r\nVia: SIP/2.0/UDP %s;branch=z9hG4bK-%s-%d;rport\r\nMax-Forwards: 70\r\n"+
		"From: <sip:+15551234567@phone.test>;tag=%s\r\nTo: <sip:+15557654321@%s>%s\r\nCall-ID: %s\r\nCSeq: %d %s\r\nContact: <sip:phone@%s>\r\n",
		method, p.server, at, p.callID, p.branch, p.from, p.server, to, p.callID, p.cseq, method, at)
	for _, l := range lines {
		text += l + "\r\n"
	}
	if body != "" && !strings.Contains(text, "Content-Type:") {
		text += "Content-Type: application/sdp\r\n"
	}
	return text + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

func (p *phone) raw(text string) {
	p.t.Helper()
	if _, err := p.conn.WriteToUDPAddrPort([]byte(text), p.server); err != nil {
		p.t.Fatal(err)
	}
}

// message returns the next message. It fails the test if there is none in time.
func (p *phone) message() sip.Message {
	p.t.Helper()
	deadline, _ := waittest.Context(p.t).Deadline()
	_ = p.conn.SetReadDeadline(deadline)
	buf := make([]byte, 65536)
	n, _, err := p.conn.ReadFromUDPAddrPort(buf)
	if err != nil {
		p.t.Fatalf("waited in vain for a message: %v", err)
	}
	m, err := sip.ParseMessage(buf[:n])
	if err != nil {
		p.t.Fatalf("the server has sent what cannot be parsed: %v\n%s", err, buf[:n])
	}
	return m
}

// want returns the final answer to the last request, which must have a status.
func (p *phone) want(status int) *sip.Response {
	p.t.Helper()
	for {
		switch m := p.message().(type) {
		case *sip.Request:
			p.requests = append(p.requests, m)
		case *sip.Response:
			if m.IsProvisional() || int(m.CSeq().SeqNo) != p.cseq {
				continue
			}
			if m.StatusCode != status {
				p.t.Fatalf("%s was answered %d, expected %d\n%s", m.CSeq().MethodName, m.StatusCode, status, m)
			}
			return m
		}
	}
}

// request returns the next request of the server, which must have a method, and answers it.
func (p *phone) request(method sip.RequestMethod, status int, lines ...string) *sip.Request {
	p.t.Helper()
	var req *sip.Request
	for req == nil {
		if len(p.requests) > 0 {
			req, p.requests = p.requests[0], p.requests[1:]
		} else if r, ok := p.message().(*sip.Request); ok {
			req = r
		}
	}
	if req.Method != method {
		p.t.Fatalf("the server has sent\n%s\nexpected %s", req, method)
	}
	if status != 0 {
		res := sip.NewResponseFromRequest(req, status, "Answer", nil)
		for _, l := range lines {
			name, value, _ := strings.Cut(l, ": ")
			res.AppendHeader(sip.NewHeader(name, value))
		}
		p.raw(res.String())
	}
	return req
}

// call calls the server until the call is answered, and acknowledges it.
func (p *phone) call(lines ...string) *sip.Response {
	p.t.Helper()
	p.send("INVITE", p.offer(lines...))
	res := p.accept()
	p.send("ACK", "")
	return res
}

// accept takes the answer to an INVITE.
func (p *phone) accept() *sip.Response {
	p.t.Helper()
	res := p.want(200)
	p.to, _ = res.To().Params.Get("tag")
	answer, err := sdp.Parse(res.Body())
	if err != nil || len(answer.Media) == 0 {
		p.t.Fatalf("the answer is %v\n%s", err, res)
	}
	p.answer = answer
	p.remote = netip.AddrPortFrom(answer.Media[0].Addr, uint16(answer.Media[0].Port))
	return res
}

// bye ends the call.
func (p *phone) bye() {
	p.t.Helper()
	p.send("BYE", "")
	p.want(200)
}

// say sends sound of 8 kHz in PCMU, as fast as it can.
func (p *phone) say(pcm []int16, h *rtp.Header) {
	p.t.Helper()
	for i := 0; i+160 <= len(pcm); i += 160 {
		p.packet(h, 0, audio.MuLaw.AppendEncode(nil, pcm[i:i+160]))
		h.Timestamp += 160
	}
}

// packet sends a packet.
func (p *phone) packet(h *rtp.Header, kind uint8, payload []byte) {
	p.t.Helper()
	h.Version, h.PayloadType = 2, kind
	h.SequenceNumber++
	packet := rtp.Packet{Header: *h, Payload: payload}
	b, err := packet.Marshal()
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.rtp.WriteToUDPAddrPort(b, p.remote); err != nil {
		p.t.Fatal(err)
	}
}

// press presses a key: each of its packets is sent at once.
func (p *phone) press(key byte, h *rtp.Header) {
	p.t.Helper()
	event, _ := dtmf.Event(key)
	for i := range 7 {
		p.packet(h, 97, dtmf.AppendPayload(nil, event, i > 3, uint16(min(i, 4)*160)))
	}
	h.Timestamp += 1600
}

// hear returns the next packet of sound.
func (p *phone) hear() (rtp.Header, []byte) {
	p.t.Helper()
	deadline, _ := waittest.Context(p.t).Deadline()
	_ = p.rtp.SetReadDeadline(deadline)
	buf := make([]byte, 1500)
	n, _, err := p.rtp.ReadFromUDPAddrPort(buf)
	if err != nil {
		p.t.Fatalf("waited in vain for sound: %v", err)
	}
	var h rtp.Header
	payload, ok := rtpsound.Unpack(&h, buf[:n])
	if !ok {
		p.t.Fatal("the server has sent an invalid packet")
	}
	return h, payload
}

// login answers the question for a password.
func (p *phone) login(res *sip.Response, method, user, password string) string {
	p.t.Helper()
	ch, err := digest.ParseChallenge(res.GetHeader("WWW-Authenticate").Value())
	if err != nil {
		p.t.Fatal(err)
	}
	c, err := digest.Digest(ch, digest.Options{Method: method, URI: "sip:" + p.server.String(), Username: user, Password: password})
	if err != nil {
		p.t.Fatal(err)
	}
	return "Authorization: " + c.String()
}

// readFor reads sound from a leg in the background until the test or the call ends.
func readFor(t *testing.T, leg *Leg) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			if _, err := leg.Read(ctx); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
}

// key returns the next key of a leg.
func key(t *testing.T, leg *Leg) string {
	t.Helper()
	k, err := leg.ReadKey(waittest.Context(t))
	if err != nil {
		t.Fatal(err)
	}
	return string(k)
}
