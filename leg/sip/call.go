package sip

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/hocketvoice/hocket/internal/wire/sdp"
)

// t1 and t2 bound the time between repetitions of an answer, and ackLimit is how long it is repeated
// (RFC 3261, section 13.3.1.4).
const (
	t1       = 500 * time.Millisecond
	t2       = 4 * time.Second
	ackLimit = 64 * t1
	// stopLimit is how long a server that is closed waits for an ACK.
	stopLimit = 2 * time.Second
)

// call is a call from its first request until nobody speaks of it any more.
//
//	answering   200 was sent                    until acked
//	talking     the conversation goes on        until over, closed, or a limit passes
//	ending      BYE was sent, unless over       until it is answered
//	gone
//
// BYE may come at any time, also before the ACK, with which the call is over.
type call struct {
	Incoming
	s      *Server
	dialog *dialog
	media  *media
	leg    *Leg

	over *fact // the other side has ended the call
	gone *fact // nothing of the call is left, but its name
	wake chan struct{}

	mu      sync.Mutex // guards the fields below
	why     Hangup     // the first reason counts
	local   sdp.Session
	mine    *srtpKey // of what we send, once there is one
	pending *pending // an answer whose ACK is missing
	asking  bool     // we have sent an INVITE that is not answered
	heldAt  time.Time
	timer   sessionTimer
	updates bool      // the other side takes UPDATE
	login   login     // for requests of ours
	passing *transfer // nil if the caller is not being handed over
	forget  time.Time // guarded by the server's mu: when the name is free
}

// pending is a successful answer to an INVITE that waits for its ACK.
type pending struct {
	number uint32
	acked  *fact
	body   []byte // of the ACK; set before acked
	kind   string
}

var (
	errOver  = errors.New("the call is over")
	errNoACK = fmt.Errorf("the answer was not acknowledged within %v", ackLimit)
)

// onInvite takes a call, or a change of one.
func (s *Server) onInvite(req *sip.Request, tx sip.ServerTransaction) {
	if !s.valid(req, tx) {
		return
	}
	if _, ok := keyOf(req); ok {
		s.inDialog((*call).onReinvite)(req, tx)
		return
	}
	cancelled := newFact()
	if !tx.OnCancel(func(*sip.Request) { cancelled.happen() }) {
		return
	}
	user, ok := s.user(req, tx)
	if !ok {
		return
	}
	if res := s.unsuited(req); res != nil {
		s.answer(tx, res)
		return
	}
	in := incoming(req, user)
	offered, first, err := s.read(req)
	if err != nil {
		s.answer(tx, refuse(req, err))
		return
	}
	timer, res := newTimer(req)
	if res != nil {
		s.answer(tx, res)
		return
	}
	if s.o.Admit != nil {
		if err := s.o.Admit(context.Background(), in); err != nil {
			s.answer(tx, respond(req, statusOf(err)))
			return
		}
	}
	c, err := s.newCall(req, in, first, cancelled)
	if err != nil {
		s.answer(tx, respond(req, statusOf(err)))
		return
	}
	c.mu.Lock()
	c.timer = timer
	c.mu.Unlock()
	c.begin(req, tx, offered)
}

// newCall takes a call that is admitted, with a stream that follows what was offered. The call is over
// when it is cancelled.
func (s *Server) newCall(req *sip.Request, in Incoming, first agreement, over *fact) (*call, error) {
	peer := in.Source.Addr().Unmap()
	v, contact := s.via(req.Transport(), peer)
	d, err := newServed(req, contact, v)
	if err != nil {
		return nil, err
	}
	c := &call{Incoming: in, s: s, dialog: d, over: over, gone: newFact(), wake: make(chan struct{}, 1), updates: lists(headerOf(req, "Allow", ""), "UPDATE")}
	if err := s.add(c); err != nil {
		return nil, err
	}
	if err = c.open(peer); err == nil && len(first.formats) > 0 {
		err = c.follow(&first)
	}
	if err != nil {
		c.drop()
		return nil, err
	}
	return c, nil
}

// open opens the call's stream of sound.
func (c *call) open(peer netip.Addr) error {
	conn, err := c.s.ports.open()
	if err != nil {
		return err
	}
	c.media = newMedia(conn, peer)
	c.leg = newLeg(c.media)
	c.leg.refer = c.transfer
	id := uint64(time.Now().UnixNano())
	c.local = sdp.Session{ID: id >> 8, Version: id >> 8, Addr: c.s.hostFor(peer)}
	return nil
}

// address returns where the call receives sound.
func (c *call) address() netip.AddrPort {
	return netip.AddrPortFrom(c.local.Addr, addrOf(c.media.conn.LocalAddr()).Port())
}

// follow makes the sound follow an agreement.
func (c *call) follow(a *agreement) error {
	c.mu.Lock()
	if a.theirs != nil {
		if c.mine == nil || c.mine.profile != a.theirs.profile {
			c.mine = newKey(a.theirs.profile)
		}
		a.mine = c.mine
	}
	c.mu.Unlock()
	if err := c.media.apply(*a); err != nil {
		return err
	}
	c.leg.hold(a.held)
	c.mu.Lock()
	switch {
	case !a.held:
		c.heldAt = time.Time{}
	case c.heldAt.IsZero():
		c.heldAt = time.Now()
	}
	c.mu.Unlock()
	c.look()
	return nil
}

// look makes talk check its limits.
func (c *call) look() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// drop forgets a call that was never answered.
func (c *call) drop() {
	if c.media != nil {
		c.leg.line.End()
		c.media.close()
	}
	c.s.rest(c)
	c.gone.happen()
}

// end notes why the call is over.
func (c *call) end(cause, by string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why == (Hangup{}) {
		c.why = Hangup{cause, by}
	}
}

// begin answers a call and begins its conversation. offered is nil if the offer is to be ours.
func (c *call) begin(req *sip.Request, tx sip.ServerTransaction, offered *sdp.Session) {
	body := c.describe(offered)
	p := c.awaits(req.CSeq().SeqNo)
	res := c.success(req, body)
	err := c.confirm(tx, res, p)
	if err == nil && offered == nil {
		err = c.settle(p)
	}
	if err != nil {
		switch {
		case errors.Is(err, errNoACK):
			c.end("no_ack", "server")
		case !errors.Is(err, errOver):
			c.end("no_agreement", "server")
		}
		if !c.over.happened() {
			c.s.failed(fmt.Errorf("sip: a call could not begin: %w", err))
			c.bye()
		}
		c.drop()
		return
	}
	c.start()
}

// start begins the conversation of a call that is answered, and follows it.
func (c *call) start() {
	if err := c.s.o.Start(context.Background(), c.Incoming, c.leg); err != nil {
		c.s.failed(fmt.Errorf("sip: a call could not begin: %w", err))
		c.end("no_conversation", "server")
		c.leg.closed.happen()
	}
	c.s.running.Go(c.talk)
}

// describe returns the body of an answer: the answer to an offer, or an offer.
func (c *call) describe(offered *sdp.Session) []byte {
	a := c.media.agreement()
	c.mu.Lock()
	defer c.mu.Unlock()
	var streams []sdp.Media
	switch {
	case offered != nil:
		streams = a.answer(offered, c.address())
	default:
		if c.mine == nil && c.s.o.Encrypt == EncryptAlways {
			c.mine = newKey("AES_CM_128_HMAC_SHA1_80")
		}
		streams = []sdp.Media{offer(c.s.codecs, c.address(), sdp.SendRecv, c.mine)}
	}
	c.local.Media = streams
	c.local.Version++
	return c.local.Append(nil)
}

// success returns a successful answer to an INVITE or UPDATE.
func (c *call) success(req *sip.Request, body []byte) *sip.Response {
	res := respond(req, sip.StatusOK)
	res.To().Params.Add("tag", c.dialog.localTag)
	contact := c.dialog.contact
	res.AppendHeader(&contact)
	res.AppendHeader(sip.NewHeader("Allow", allowed))
	c.mu.Lock()
	c.timer.tell(req, res)
	c.mu.Unlock()
	if body != nil {
		res.AppendHeader(sip.NewHeader("Content-Type", typeSDP))
		res.SetBody(body)
	}
	return res
}

// awaits notes that an answer to the INVITE of a number waits for its ACK.
func (c *call) awaits(number uint32) *pending {
	p := &pending{number: number, acked: newFact()}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = p
	return p
}

// acked takes an ACK.
func (c *call) acked(req *sip.Request) {
	c.mu.Lock()
	p := c.pending
	if p == nil || p.number != req.CSeq().SeqNo || p.acked.happened() {
		c.mu.Unlock()
		return
	}
	p.body, p.kind = req.Body(), headerOf(req, "Content-Type", "c")
	c.pending = nil
	c.mu.Unlock()
	p.acked.happen()
}

// confirm sends a successful answer until its ACK comes.
func (c *call) confirm(tx sip.ServerTransaction, res *sip.Response, p *pending) error {
	c.s.answer(tx, res)
	limit, again := time.NewTimer(ackLimit), time.NewTimer(t1)
	defer limit.Stop()
	defer again.Stop()
	stopping := c.s.stopping
	for wait := t1; ; {
		select {
		case <-p.acked.c:
			return nil
		case <-c.over.c:
			return errOver
		case <-stopping:
			stopping = nil
			limit.Reset(stopLimit)
		case <-again.C:
			c.s.answer(tx, res)
			wait = min(2*wait, t2)
			again.Reset(wait)
		case <-limit.C:
			return errNoACK
		}
	}
}

// settle takes the answer that an ACK has to our offer.
func (c *call) settle(p *pending) error {
	answer, err := parseSDP(p.kind, p.body)
	if err != nil {
		return err
	}
	return c.agreeOn(answer)
}

// agreeOn takes the answer to our offer.
func (c *call) agreeOn(answer *sdp.Session) error {
	a, err := agree(answer, c.s.codecs, c.s.o.Encrypt != EncryptNever)
	if err != nil {
		return err
	}
	c.mu.Lock()
	mine := c.mine
	c.mu.Unlock()
	if (a.theirs != nil) != (mine != nil) || mine != nil && mine.profile != a.theirs.profile {
		return errUnsuited
	}
	return c.follow(&a)
}
