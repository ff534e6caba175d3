package sip

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pion/rtp"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/internal/wire/dtmf"
	"github.com/hocketvoice/hocket/internal/wire/sdp"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// TestLeg runs the suite of all legs.
func TestLeg(t *testing.T) {
	porttest.TestLeg(t, func(t *testing.T) porttest.Line {
		r := newRig(t, Options{})
		p := r.phone(t)
		p.call()
		c := r.next(t)
		h := rtp.Header{SSRC: 1}
		return porttest.Line{
			Leg:    c.leg,
			Say:    func(pcm []int16) { p.say(pcm, &h) },
			HangUp: p.bye,
			Heard: func() []int16 {
				var all []int16
				for range 20 {
					_, payload := p.hear()
					all = audio.MuLaw.AppendDecode(all, payload)
				}
				return all
			},
			Cut:  func() { p.change("a=inactive") },
			Mend: func() { p.change("a=sendrecv") },
		}
	})
}

// change sends a new description of the phone's sound and takes the answer.
func (p *phone) change(lines ...string) *sdp.Media {
	p.t.Helper()
	p.send("INVITE", p.offer(lines...))
	p.accept()
	p.send("ACK", "")
	return &p.answer.Media[0]
}

// TestCall: a call is answered with the caller's first form of sound, described by who calls and who is
// called, and over when the caller hangs up.
func TestCall(t *testing.T) {
	r := newRig(t, Options{})
	p := r.phone(t)
	res := p.call()
	c := r.next(t)
	if c.From != "+15551234567" || c.To != "+15557654321" || c.Call != p.callID || c.User != "" || c.Source != p.at(p.conn) {
		t.Errorf("the call is %+v", c.Incoming)
	}
	m := p.answer.Media[0]
	if c.leg.Rate() != 8000 || len(m.Formats) != 2 || m.Formats[0].Name != "PCMU" || m.Formats[0].Type != 0 || m.Formats[1].Name != keyEvents || m.Formats[1].Type != 97 || m.Direction != sdp.SendRecv {
		t.Errorf("%d Hz, %+v", c.leg.Rate(), m)
	}
	if res.Contact() == nil || res.Contact().Address.Port != int(r.Addr().Port()) {
		t.Errorf("the answer is\n%s", res)
	}
	p.bye()
	if _, err := c.leg.Read(waittest.Context(t)); !errors.Is(err, io.EOF) {
		t.Errorf("Read: %v", err)
	}
	if _, err := c.leg.ReadKey(waittest.Context(t)); !errors.Is(err, io.EOF) {
		t.Errorf("ReadKey: %v", err)
	}
	if got := r.hangups(t, 1); got[0] != (Hangup{"normal", "caller"}) {
		t.Errorf("it is over with %+v", got)
	}
	waittest.Until(t, "that no call is left", nil, func() bool { return r.Live() == 0 })
	p.send("BYE", "")
	p.want(200) // it is repeated, with another number
	if all := r.failures(); len(all) > 0 {
		t.Errorf("it has failed: %v", all)
	}
}

// TestAgentHangsUp: the leg is closed, the last sound has time to be heard, and BYE follows.
func TestAgentHangsUp(t *testing.T) {
	r := newRig(t, Options{})
	p := r.phone(t)
	p.call()
	c := r.next(t)
	if err := c.leg.Write(t.Context(), audio.Frame{Rate: 8000, PCM: porttest.Tone(8000, audio.FrameDuration)}); err != nil {
		t.Fatal(err)
	}
	spoke := time.Now()
	if err := c.leg.Close(); err != nil {
		t.Fatal(err)
	}
	if early := lastWords - time.Since(spoke); early > 50*time.Millisecond {
		t.Errorf("it is hung up %v before the last words can be heard", early)
	}
	bye := p.request("BYE", 200)
	if tag, _ := bye.From().Params.Get("tag"); tag != p.to || bye.CallID().Value() != p.callID || bye.CSeq().SeqNo == 0 {
		t.Errorf("the hang-up is\n%s", bye)
	}
	if got := r.hangups(t, 1); got[0] != (Hangup{"normal", "agent"}) {
		t.Errorf("it is over with %+v", got)
	}
}

// TestAnswerIsRepeated: the answer is repeated until the ACK comes, which begins one conversation.
func TestAnswerIsRepeated(t *testing.T) {
	r := newRig(t, Options{})
	p := r.phone(t)
	p.send("INVITE", p.offer())
	p.accept()
	p.repeat("INVITE", p.offer()) // of a transaction: it is not another call
	for range 2 {
		p.want(200)
	}
	if len(r.calls) != 0 {
		t.Error("the conversation has begun before the ACK")
	}
	p.send("ACK", "")
	p.repeat("ACK", "")
	r.next(t)
	p.bye()
	r.hangups(t, 1)
	if len(r.calls) != 0 {
		t.Error("there are two conversations")
	}
}

// TestByeBeforeACK: a caller who hangs up at once harms nothing, and no conversation begins.
func TestByeBeforeACK(t *testing.T) {
	r := newRig(t, Options{})
	p := r.phone(t)
	p.send("INVITE", p.offer())
	p.accept()
	p.bye()
	waittest.Until(t, "that no call is left", nil, func() bool { return r.Live() == 0 })
	p.send("ACK", "")
	q := r.phone(t)
	q.call()
	if c := r.next(t); c.Call != q.callID {
		t.Error("the call that was hung up has begun")
	}
	if all := r.failures(); len(all) > 0 {
		t.Errorf("it has failed: %v", all)
	}
}

// TestCancel: a call that is cancelled before it is answered is over.
func TestCancel(t *testing.T) {
	admit := make(chan struct{})
	r := newRig(t, Options{Admit: func(context.Context, Incoming) error { <-admit; return nil }})
	p := r.phone(t)
	p.send("INVITE", p.offer())
	waittest.Until(t, "that the call is taken", nil, func() bool { return p.message().String() != "" }) // 100 Trying
	p.repeat("CANCEL", "")
	statuses := map[string]int{}
	for len(statuses) < 2 {
		if res, ok := p.message().(interface {
			IsProvisional() bool
		}); ok && !res.IsProvisional() {
			text := fmt.Sprint(res)
			f := strings.Fields(text)
			if strings.Contains(text, "CANCEL") {
				statuses["CANCEL "+f[1]]++
			} else {
				statuses["INVITE "+f[1]]++
			}
		}
	}
	if statuses["CANCEL 200"] == 0 || statuses["INVITE 487"] == 0 {
		t.Errorf("the answers are %v", statuses)
	}
	close(admit)
	waittest.Until(t, "that no call is left", nil, func() bool { return r.Live() == 0 })
	if len(r.calls) != 0 || len(r.failures()) != 0 {
		t.Errorf("a conversation has begun, or it has failed: %v", r.failures())
	}
	p.repeat("CANCEL", "", "X: late")
}

// TestOfferInACK: a call without an offer is answered with one, and the ACK has the answer.
func TestOfferInACK(t *testing.T) {
	r := newRig(t, Options{})
	p := r.phone(t)
	p.send("INVITE", "")
	p.accept()
	var names []string
	for _, f := range p.answer.Media[0].Formats {
		names = append(names, f.Name)
	}
	if want := []string{"opus", "G722", "PCMA", "PCMU", keyEvents, keyEvents}; !slices.Equal(names, want) {
		t.Errorf("the offer has %v, expected %v", names, want)
	}
	p.send("ACK", p.offer())
	if c := r.next(t); c.leg.Rate() != 8000 {
		t.Errorf("%d Hz", c.leg.Rate())
	}
	q := r.phone(t)
	q.send("INVITE", "")
	q.accept()
	q.send("ACK", "")
	q.request("BYE", 200) // there is no answer
	waittest.Until(t, "a report", nil, func() bool { return len(r.failures()) == 1 })
}

// TestKeys: a press counts once, in the order of the presses, from the sound's stream and from INFO.
func TestKeys(t *testing.T) {
	r := newRig(t, Options{})
	p := r.phone(t)
	p.call()
	c := r.next(t)
	h := rtp.Header{SSRC: 7}
	for _, k := range "1#*D1" {
		p.press(byte(k), &h)
	}
	got := ""
	for range 5 {
		got += key(t, c.leg)
	}
	p.send("INFO", "Signal=5\r\nDuration=160\r\n", "Content-Type: application/dtmf-relay")
	p.want(200)
	got += key(t, c.leg)
	if got != "1#*D15" {
		t.Errorf("the keys are %q", got)
	}
	p.send("INFO", "Signal=x\r\n", "Content-Type: application/dtmf-relay")
	p.want(400)
	p.send("INFO", "x", "Content-Type: text/plain")
	p.want(415)
	p.send("INFO", "")
	p.want(200)
	if _, err := c.leg.ReadKey(canceled(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("there is another key: %v", err)
	}
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestSendKeys: our own keys are what our decoder reads, and the sound goes on behind them.
func TestSendKeys(t *testing.T) {
	r := newRig(t, Options{})
	p := r.phone(t)
	p.call()
	c := r.next(t)
	if err := c.leg.SendKeys("1x"); err == nil {
		t.Error("x is a key")
	}
	if err := c.leg.SendKeys(strings.Repeat("1", maxKeys+1)); err == nil {
		t.Error("there may be any number of keys")
	}
	if err := c.leg.SendKeys("5#"); err != nil {
		t.Fatal(err)
	}
	frame := audio.Frame{Rate: 8000, PCM: porttest.Tone(8000, audio.FrameDuration)}
	var last rtp.Header
	got, ends, sounds := "", 0, 0
	decoder := keyDecoder{}
	for i := range 30 {
		if err := c.leg.Write(t.Context(), frame); err != nil {
			t.Fatal(err)
		}
		h, payload := p.hear()
		if i > 0 && h.SequenceNumber != last.SequenceNumber+1 {
			t.Fatalf("packet %d has the number %d after %d", i, h.SequenceNumber, last.SequenceNumber)
		}
		last = h
		switch h.PayloadType {
		case 0:
			sounds++
		case 97:
			got += decoder.push(&h, payload)
			if payload[1]&0x80 != 0 {
				ends++
			}
		}
	}
	if got != "5#" || ends != 6 || sounds != 12 {
		t.Errorf("%q, %d end packets, %d of sound", got, ends, sounds)
	}
}

// TestHold: all spellings of hold are a lost line, are answered as they must be, and end. Music is not
// heard, and nothing is sent.
func TestHold(t *testing.T) {
	r := newRig(t, Options{})
	p := r.phone(t)
	p.call()
	c := r.next(t)
	h := rtp.Header{SSRC: 5}
	for _, spelling := range []struct {
		offer string
		want  sdp.Direction
	}{
		{p.offer("a=sendonly"), sdp.RecvOnly},
		{p.offer("a=inactive"), sdp.Inactive},
		{strings.TrimRight(p.offer("a=sendonly"), "\r\n"), sdp.RecvOnly},
		{strings.TrimRight(p.offer("a=inactive"), "\r\n"), sdp.Inactive},
		{strings.Replace(p.offer(), "c=IN IP4 127.0.0.1", "c=IN IP4 0.0.0.0", 1), sdp.RecvOnly},
		{strings.Replace(p.offer("a=sendonly"), "c=IN IP4 127.0.0.1", "c=IN IP4 0.0.0.0", 1), sdp.RecvOnly},
		{strings.Replace(p.offer(), "t=0 0\r\n", "t=0 0\r\na=sendonly\r\n", 1), sdp.RecvOnly},
	} {
		p.send("INVITE", spelling.offer)
		p.accept()
		p.send("ACK", "")
		if got := p.answer.Media[0].Direction; got != spelling.want {
			t.Errorf("%q is answered %s, expected %s", spelling.offer, got, spelling.want)
		}
		if line, err := c.leg.Watch(waittest.Context(t), port.LineUp); line != port.LineLost || err != nil {
			t.Errorf("%q: the line is %v, %v", spelling.offer, line, err)
		}
		if _, ok := c.leg.media.target(); ok {
			t.Errorf("%q: sound is sent", spelling.offer)
		}
		p.say(porttest.Tone(8000, 100*time.Millisecond), &h)
		p.press('1', &h)
		if key(t, c.leg) != "1" { // all that was sent before has arrived
			t.Error("another key")
		}
		for range 4 {
			f, err := c.leg.Read(waittest.Context(t))
			if err != nil || audio.Peak(f.PCM) != 0 {
				t.Errorf("%q: music is heard: %v", spelling.offer, err)
			}
		}
		if d := p.change().Direction; d != sdp.SendRecv {
			t.Errorf("the end of hold is answered %s", d)
		}
		if line, err := c.leg.Watch(waittest.Context(t), port.LineLost); line != port.LineUp || err != nil {
			t.Errorf("after %q the line is %v, %v", spelling.offer, line, err)
		}
	}
	if d := p.change("a=recvonly").Direction; d != sdp.SendOnly {
		t.Errorf("who only listens is answered %s", d)
	}
	if line, _ := c.leg.line.State(); line != port.LineUp {
		t.Error("who only listens has put us on hold")
	}
}

// TestHoldEnds: a call that is held too long is hung up.
func TestHoldEnds(t *testing.T) {
	r := newRig(t, Options{MaxHold: time.Millisecond})
	p := r.phone(t)
	p.call()
	r.next(t)
	p.change("a=sendonly")
	p.request("BYE", 200)
	if got := r.hangups(t, 1); got[0] != (Hangup{"held_too_long", "server"}) {
		t.Errorf("it is over with %+v", got)
	}
}

// TestChanges: the form of sound changes within a call; a change that cannot be made leaves the call as
// it was.
func TestChanges(t *testing.T) {
	r := newRig(t, Options{})
	p := r.phone(t)
	p.call()
	c := r.next(t)
	readFor(t, c.leg)
	p.send("INVITE", strings.Replace(p.offer(), "RTP/AVP 0 8 97", "RTP/AVP 9 97", 1))
	p.accept()
	p.send("ACK", "")
	if f := p.answer.Media[0].Formats[0]; f.Name != "G722" || c.leg.Rate() != 8000 {
		t.Errorf("%+v, %d Hz", f, c.leg.Rate())
	}
	for range 3 {
		if err := c.leg.Write(t.Context(), audio.Frame{Rate: 8000, PCM: porttest.Tone(8000, audio.FrameDuration)}); err != nil {
			t.Fatal(err)
		}
	}
	if h, payload := p.hear(); h.PayloadType != 9 || len(payload) != 160 {
		t.Errorf("type %d, %d bytes", h.PayloadType, len(payload))
	}
	p.send("INVITE", strings.Replace(p.offer(), "RTP/AVP 0 8 97", "RTP/AVP 18", 1))
	p.want(488)
	p.send("ACK", "")
	p.send("UPDATE", strings.Replace(p.offer(), "m=audio", "m=video", 1))
	p.want(488)
	p.send("UPDATE", "")
	if res := p.want(200); len(res.Body()) != 0 {
		t.Errorf("a sign of life is answered\n%s", res)
	}
	p.send("INVITE", "") // our offer
	p.accept()
	p.send("ACK", p.offer())
	p.send("OPTIONS", "")
	p.want(200)
	if r.Live() != 1 {
		t.Error("the call is over")
	}
}

// TestRefusals: what cannot be answered is refused with the status that says why, and nothing is left of
// it.
func TestRefusals(t *testing.T) {
	r := newRig(t, Options{Codecs: []string{"pcmu"}, Admit: func(_ context.Context, in Incoming) error {
		switch in.From {
		case "busy":
			return fmt.Errorf("%w: it is full", ErrBusy)
		case "unknown":
			return ErrUnknown
		case "rejected":
			return errors.New("no")
		}
		return nil
	}})
	p := r.phone(t)
	from := func(name string) string {
		return strings.Replace(p.text("INVITE", p.offer()), "+15551234567", name, 1)
	}
	for name, c := range map[string]struct {
		text   func() string
		status int
	}{
		"no form that both have": {func() string {
			return p.text("INVITE", strings.Replace(p.offer(), "RTP/AVP 0 8 97", "RTP/AVP 8 97", 1))
		}, 488},
		"video":               {func() string { return p.text("INVITE", strings.Replace(p.offer(), "m=audio", "m=video", 1)) }, 488},
		"DTLS":                {func() string { return p.text("INVITE", strings.Replace(p.offer(), "RTP/AVP", "UDP/TLS/RTP/SAVPF", 1)) }, 488},
		"an invalid offer":    {func() string { return p.text("INVITE", "hello") }, 400},
		"another body":        {func() string { return p.text("INVITE", "hello", "Content-Type: text/plain") }, 415},
		"compressed":          {func() string { return p.text("INVITE", p.offer(), "Content-Encoding: gzip") }, 415},
		"an extension":        {func() string { return p.text("INVITE", p.offer(), "Require: 100rel, timer") }, 420},
		"too short a session": {func() string { return p.text("INVITE", p.offer(), "Session-Expires: 30", "Supported: timer") }, 422},
		"busy":                {func() string { return from("busy") }, 486},
		"unknown":             {func() string { return from("unknown") }, 404},
		"rejected":            {func() string { return from("rejected") }, 480},
		"another version": {func() string {
			return strings.Replace(p.text("INVITE", p.offer()), "SIP/2.0\r\nVia", "SIP/7.0\r\nVia", 1)
		}, 505},
		"another scheme": {func() string {
			return strings.Replace(p.text("INVITE", p.offer()), "INVITE sip:", "INVITE nobody:", 1)
		}, 416},
		"another method in CSeq": {func() string {
			return strings.Replace(p.text("INVITE", p.offer()), " INVITE\r\nContact", " OPTIONS\r\nContact", 1)
		}, 400},
		"no tag":     {func() string { return strings.Replace(p.text("INVITE", p.offer()), ";tag="+p.from, "", 1) }, 400},
		"no Contact": {func() string { return strings.Replace(p.text("INVITE", p.offer()), "Contact:", "X-Contact:", 1) }, 400},
		"a call that is not there": {func() string {
			return strings.Replace(p.text("BYE", ""), "To: <sip:+15557654321@"+p.server.String()+">", "To: <sip:a@b>;tag=x", 1)
		}, 481},
		"a change of a call that is not there": {func() string {
			return strings.Replace(p.text("INVITE", p.offer()), "To: <sip:+15557654321@"+p.server.String()+">", "To: <sip:a@b>;tag=x", 1)
		}, 481},
		"a method that is not taken": {func() string { return p.text("SUBSCRIBE", "") }, 405},
		"a CANCEL of nothing":        {func() string { return p.text("CANCEL", "") }, 481},
		"a question":                 {func() string { return p.text("OPTIONS", "") }, 200},
	} {
		p.cseq++
		p.branch++
		p.raw(c.text())
		var got int
		for {
			res := p.message()
			text := strings.Fields(res.String())
			if got = 0; text[0] == "SIP/2.0" || text[0] == "SIP/7.0" {
				_, _ = fmt.Sscan(text[1], &got)
			}
			if got >= 200 {
				break
			}
		}
		if got != c.status {
			t.Errorf("%s: %d, expected %d", name, got, c.status)
		}
		p.repeat("ACK", "")
	}
	if r.Live() != 0 || len(r.calls) != 0 || len(r.failures()) != 0 {
		t.Errorf("%d calls, %v", r.Live(), r.failures())
	}
}

// TestLimits: more calls than there may be are busy, and so are those for which there is no port; a
// place is free again when its call is over.
func TestLimits(t *testing.T) {
	for name, o := range map[string]Options{"calls": {MaxCalls: 2}, "ports": {FirstPort: 41000, LastPort: 41003}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, o)
			first, second := r.phone(t), r.phone(t)
			first.call()
			second.call()
			for _, p := range []*phone{first, second} {
				if at := p.remote.Port(); o.FirstPort != 0 && (at%2 != 0 || int(at) < o.FirstPort || int(at) > o.LastPort) {
					t.Errorf("port %d", at)
				}
			}
			third := r.phone(t)
			third.send("INVITE", third.offer())
			third.want(486)
			first.bye()
			r.hangups(t, 1)
			r.phone(t).call()
		})
	}
}

// TestStop: a server that is closed hangs up its calls, and answers none.
func TestStop(t *testing.T) {
	r := newRig(t, Options{})
	p, silent := r.phone(t), r.phone(t)
	p.call()
	c := r.next(t)
	silent.send("INVITE", silent.offer())
	silent.accept() // and no ACK
	closed := make(chan error)
	go func() { closed <- r.Close() }()
	p.request("BYE", 200)
	if _, err := c.leg.Read(waittest.Context(t)); !errors.Is(err, io.EOF) {
		t.Errorf("Read: %v", err)
	}
	silent.request("BYE", 200)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if got := r.hangups(t, 1); got[0] != (Hangup{"stopped", "server"}) {
		t.Errorf("they are over with %+v", got)
	}
}

// TestStartFails: a conversation that cannot begin ends its call.
func TestStartFails(t *testing.T) {
	r := newRig(t, Options{Start: func(_ context.Context, _ Incoming, leg *Leg) error {
		return errors.Join(errors.New("no engine"), leg.Close())
	}})
	p := r.phone(t)
	p.call()
	p.request("BYE", 200)
	if all := r.failures(); len(all) != 1 || !strings.Contains(all[0].Error(), "no engine") {
		t.Errorf("the failures are %v", all)
	}
}

// TestStrangersInTheSound: packets of other addresses are dropped, whatever they contain.
func TestStrangersInTheSound(t *testing.T) {
	r := newRig(t, Options{})
	p, stranger := r.phone(t), r.phone(t)
	p.call()
	c := r.next(t)
	stranger.remote = p.remote
	h, other := rtp.Header{SSRC: 1}, rtp.Header{SSRC: 2}
	p.press('1', &h)
	if got := key(t, c.leg); got != "1" {
		t.Fatalf("the key is %q", got)
	}
	for range 20 {
		stranger.press('9', &other)
	}
	p.press('2', &h)
	waittest.Until(t, "the packets of a stranger", nil, func() bool { return c.leg.Stats().Strangers == 140 })
	if got := key(t, c.leg); got != "2" {
		t.Errorf("the key of a stranger is taken: %q", got)
	}
	if to, _ := c.leg.media.target(); to != p.at(p.rtp) {
		t.Errorf("sound is sent to %v, expected %v", to, p.at(p.rtp))
	}
}

// TestExpected holds the rules of [media] against a table.
func TestExpected(t *testing.T) {
	at := netip.MustParseAddrPort
	now := time.Unix(1000, 0)
	for name, c := range map[string]struct {
		latched string
		silence time.Duration
		from    string
		want    bool
	}{
		"the address of the description":        {"", 0, "192.0.2.1:4000", true},
		"another port of its host":              {"", 0, "192.0.2.1:4002", true},
		"the host that signals":                 {"", 0, "198.51.100.7:4000", true},
		"a stranger":                            {"", 0, "203.0.113.9:4000", false},
		"the latched address":                   {"198.51.100.7:5000", time.Second, "198.51.100.7:5000", true},
		"another port while it sends":           {"198.51.100.7:5000", time.Second, "198.51.100.7:5002", false},
		"another port when it is silent":        {"198.51.100.7:5000", rebind, "198.51.100.7:5002", true},
		"a stranger when it is silent":          {"198.51.100.7:5000", time.Hour, "203.0.113.9:4000", false},
		"the description's while another sends": {"198.51.100.7:5000", 0, "192.0.2.1:4000", true},
	} {
		m := &media{peer: netip.MustParseAddr("198.51.100.7"), heard: now.Add(-c.silence)}
		m.agreed.remote = at("192.0.2.1:4000")
		if c.latched != "" {
			m.latched = at(c.latched)
		}
		if got := m.expected(now, at(c.from)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestPasswords: without a password nobody calls; with it one call begins, and its answer cannot be used
// again.
func TestPasswords(t *testing.T) {
	r := newRig(t, Options{Users: []User{{"ada", "secret"}}})
	p := r.phone(t)
	p.send("INVITE", p.offer())
	res := p.want(401)
	p.repeat("ACK", "")
	p.send("INVITE", p.offer(), p.login(res, "INVITE", "ada", "wrong"))
	res = p.want(401)
	p.send("INVITE", p.offer(), p.login(res, "INVITE", "eve", "secret"))
	res = p.want(401)
	p.send("INVITE", p.offer(), p.login(res, "BYE", "ada", "secret"))
	res = p.want(401)
	password := p.login(res, "INVITE", "ada", "secret")
	p.send("INVITE", p.offer(), password)
	p.repeat("INVITE", p.offer(), password) // lost in the network, or late
	p.accept()
	p.send("ACK", "")
	if c := r.next(t); c.User != "ada" {
		t.Errorf("the call is %+v", c.Incoming)
	}
	q := r.phone(t)
	q.send("INVITE", q.offer(), password)
	if res := q.want(401); !strings.Contains(res.String(), "stale=true") {
		t.Errorf("a password that was used is answered\n%s", res)
	}
	p.bye() // needs none
	if len(r.calls) != 0 {
		t.Error("there is another call")
	}
}

// TestNobodyMayCall: the network alone admits nobody.
func TestNobodyMayCall(t *testing.T) {
	r := newRig(t, Options{Allow: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}})
	p := r.phone(t)
	for _, method := range []string{"INVITE", "OPTIONS", "REGISTER", "SUBSCRIBE", "BYE"} {
		p.send(method, "")
		p.want(403)
	}
	for range 500 {
		p.send("INVITE", p.offer())
	}
	q := r.phone(t) // of the same host
	q.send("OPTIONS", "")
	n := 0
	for range strangerBurst - 5 {
		p.message()
		n++
	}
	if r.ua.TransportLayer().Pool("udp").Size() > 1 || r.Live() != 0 {
		t.Errorf("strangers are known")
	}
}

// keyDecoder reads keys as the package does.
type keyDecoder struct{ d dtmf.Decoder }

func (k *keyDecoder) push(h *rtp.Header, payload []byte) string {
	if key, ok := k.d.Push(h.SSRC, h.Timestamp, payload); ok {
		return string(key)
	}
	return ""
}
