package sip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/hocketvoice/hocket/internal/wire/sdp"
)

// Outgoing describes a call that is placed. To is required.
type Outgoing struct {
	// To is who is called, such as sip:+15551234567@192.0.2.1 or sip:desk@example.com;transport=tcp.
	To string
	// From is the user part of who calls, such as a number; "hocket" if empty.
	From string
	// Name and Password answer the question of a server for a password.
	Name, Password string
	// Ringing, if not nil, is called once when the other side rings.
	Ringing func()
}

// Dial calls somebody and returns the leg of the call, which is the caller's, who must close it, when it is
// answered. When ctx ends before, the call is cancelled. Only the calls of Start are told by
// [Options.Admit].
func (s *Server) Dial(ctx context.Context, o Outgoing) (*Leg, error) {
	var to sip.Uri
	if err := sip.ParseUri(o.To, &to); err != nil || to.Scheme != "sip" && to.Scheme != "sips" || to.Host == "" || strings.ContainsAny(o.To, "<>\"\r\n ") {
		return nil, errors.New("sip: who is called is invalid: expected an address such as sip:+15551234567@192.0.2.1")
	}
	if strings.ContainsAny(o.From, "<>\"\r\n @;:") {
		return nil, errors.New("sip: who calls is invalid: expected a number or a name")
	}
	c, err := s.place(ctx, to, o)
	if err != nil {
		return nil, fmt.Errorf("sip: dial: %w", err)
	}
	return c.leg, nil
}

// transportOf returns how an address is reached.
func (s *Server) transportOf(to *sip.Uri) (string, error) {
	transport := "UDP"
	if v, ok := to.UriParams.Get("transport"); ok {
		transport = strings.ToUpper(v)
	}
	if to.Scheme == "sips" {
		transport = "TLS"
	}
	if transport != "UDP" && transport != "TCP" && transport != "TLS" {
		return "", fmt.Errorf("the transport %s: expected udp, tcp or tls", strings.ToLower(transport))
	}
	if _, listens := s.addrs[transport]; !listens {
		return "", errors.New("the transport tls: the server does not listen for it")
	}
	return transport, nil
}

// place places a call.
func (s *Server) place(ctx context.Context, to sip.Uri, o Outgoing) (*call, error) {
	transport, err := s.transportOf(&to)
	if err != nil {
		return nil, err
	}
	first := sip.NewRequest(sip.INVITE, to)
	port := to.Port
	if port == 0 {
		port = sip.DefaultPort(sip.NetworkToLower(transport))
	}
	first.SetTransport(transport)
	first.SetDestination(fmt.Sprintf("[%s]:%d", strings.Trim(to.Host, "[]"), port))
	if err := s.direct(ctx, first); err != nil {
		return nil, err
	}
	at, err := netip.ParseAddrPort(first.Destination())
	if err != nil {
		return nil, err
	}
	d := s.newPlaced(to, cmp.Or(o.From, userAgent), transport, at)
	c := &call{
		Incoming: Incoming{Call: d.callID, From: o.From, To: userPart(&to), Source: at},
		s:        s, dialog: d, over: newFact(), gone: newFact(), wake: make(chan struct{}, 1), login: login{o.Name, o.Password},
	}
	if err := s.add(c); err != nil {
		return nil, err
	}
	if err = c.open(at.Addr()); err == nil {
		err = c.dial(ctx, o.Ringing)
	}
	if err != nil {
		c.drop()
		return nil, err
	}
	c.s.running.Go(c.talk)
	return c, nil
}

// newPlaced returns the dialog of a call that is placed. The other side's tag and way are those of its
// answer.
func (s *Server) newPlaced(to sip.Uri, from, transport string, at netip.AddrPort) *dialog {
	v, contact := s.via(transport, at.Addr())
	local := sip.FromHeader{Address: sip.Uri{Scheme: "sip", User: from, Host: v.host}, Params: sip.NewParams()}
	tag := sip.GenerateTagN(16)
	local.Params.Add("tag", tag)
	return &dialog{
		callID: sip.GenerateTagN(24), localTag: tag, local: local, remote: sip.FromHeader{Address: to, Params: sip.NewParams()},
		contact: contact, via: v, source: at, transport: transport, target: to,
	}
}

// dial sends the INVITE until it is answered for good: with a password if one is asked for.
func (c *call) dial(ctx context.Context, ringing func()) error {
	if c.s.o.Encrypt == EncryptAlways {
		c.mine = newKey("AES_CM_128_HMAC_SHA1_80")
	}
	body := c.describe(nil)
	var question *sip.Response
	for tried := false; ; tried = true {
		req := c.dialog.request(sip.INVITE)
		req.SetDestination(c.dialog.source.String())
		req.AppendHeader(sip.NewHeader("Allow", allowed))
		req.AppendHeader(sip.NewHeader("Supported", "timer"))
		req.AppendHeader(sip.NewHeader("Content-Type", typeSDP))
		req.SetBody(body)
		if question != nil {
			if err := c.login.onto(req, question, false); err != nil {
				return err
			}
		}
		res, err := c.s.invite(ctx, req, func(res *sip.Response) {
			if res.StatusCode == sip.StatusRinging && ringing != nil {
				ringing()
				ringing = nil
			}
		})
		switch {
		case err != nil:
			return err
		case res.IsSuccess():
			return c.answered(ctx, req.CSeq().SeqNo, res)
		case asks(res) && !tried && c.login.name != "":
			question = res
		case ctx.Err() != nil:
			return ctx.Err()
		default:
			return errStatus{sip.INVITE, res.StatusCode}
		}
	}
}

// answered takes a successful answer. A call that nobody wants any more, or on which the sides do not
// agree, is hung up.
func (c *call) answered(ctx context.Context, number uint32, res *sip.Response) error {
	if err := c.dialog.confirm(res); err != nil {
		return err
	}
	c.s.rename(c)
	if err := c.acknowledge(number); err != nil { //nolint:contextcheck // also a call that is given up is acknowledged
		return err
	}
	c.mu.Lock()
	c.updates, c.timer = lists(headerOf(res, "Allow", ""), "UPDATE"), timerOf(res)
	c.mu.Unlock()
	var answer *sdp.Session
	err := ctx.Err()
	if err == nil {
		answer, err = parseSDP(headerOf(res, "Content-Type", "c"), res.Body())
	}
	if err == nil {
		err = c.agreeOn(answer)
	}
	if err != nil {
		c.bye() //nolint:contextcheck // also a call that is given up is hung up
	}
	return err
}

// confirm takes the other side's tag and way from its answer.
func (d *dialog) confirm(res *sip.Response) error {
	tag, ok := "", false
	if to := res.To(); to != nil {
		tag, ok = to.Params.Get("tag")
	}
	if !ok || res.Contact() == nil {
		return errors.New("the answer has no tag or no Contact")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remoteTag = tag
	d.remote.Params.Add("tag", tag)
	d.target = *res.Contact().Address.Clone()
	d.routes = nil
	for _, h := range res.GetHeaders("Record-Route") { // the way back is that of the answer, reversed
		d.routes = append([]string{h.Value()}, d.routes...)
	}
	return nil
}

// rename gives a placed call the name that it has by the other side's tag.
func (s *Server) rename(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, other := range s.calls {
		if other == c {
			delete(s.calls, key)
		}
	}
	s.calls[c.dialog.key()] = c
}

// timerOf returns the timer that an answer to our INVITE has.
func timerOf(res *sip.Response) sessionTimer {
	value := headerOf(res, "Session-Expires", "x")
	var n int
	if _, err := fmt.Sscanf(value, "%d", &n); err != nil || n < minInterval {
		return sessionTimer{}
	}
	return sessionTimer{interval: time.Duration(n) * time.Second, ours: !strings.Contains(strings.ToLower(value), "refresher=uas"), at: time.Now()}
}
