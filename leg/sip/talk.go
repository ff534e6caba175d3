package sip

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/emiago/sipgo/sip"
)

// probeAfter is how long nothing may arrive before the other side is asked whether the call still
// exists: telephones that suppress silence send nothing for a while.
const probeAfter = 30 * time.Second

// talk follows a call until it is over, and ends it.
func (c *call) talk() {
	begun := time.Now()
	probed := begun
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ended := false; !ended; {
		timer.Reset(time.Until(c.next(probed)))
		select {
		case <-c.leg.closed.c:
			c.end("normal", "agent")
			ended = true
		case <-c.over.c:
			c.end("normal", "caller")
			ended = true
		case <-c.s.stopping:
			c.end("stopped", "server")
			ended = true
		case <-c.wake:
		case now := <-timer.C:
			ended = c.check(now, &probed)
		}
	}
	c.leg.line.End() // the conversation's Read returns io.EOF
	c.media.close()
	if !c.over.happened() {
		c.bye()
	}
	c.mu.Lock()
	why := c.why
	c.mu.Unlock()
	c.s.rest(c)
	if c.s.o.Ended != nil {
		c.s.o.Ended(c.Incoming, why)
	}
	c.gone.happen()
}

// next returns when a limit passes.
func (c *call) next(probed time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.silentSince(probed).Add(probeAfter)
	if !c.heldAt.IsZero() {
		at = earlier(at, c.heldAt.Add(c.s.o.MaxHold))
	}
	return earlier(at, c.timer.next())
}

// silentSince returns since when nothing says that the other side is there.
func (c *call) silentSince(probed time.Time) time.Time {
	if last := c.media.last(); last.After(probed) {
		return last
	}
	return probed
}

func earlier(a, b time.Time) time.Time {
	if b.IsZero() || !b.Before(a) {
		return a
	}
	return b
}

// check does what is due, and reports whether the call is to be ended.
func (c *call) check(now time.Time, probed *time.Time) (ended bool) {
	c.mu.Lock()
	held, timer := c.heldAt, c.timer
	silent := !now.Before(c.silentSince(*probed).Add(probeAfter))
	c.mu.Unlock()
	switch {
	case !held.IsZero() && !now.Before(held.Add(c.s.o.MaxHold)):
		c.end("held_too_long", "server")
		return true
	case timer.expired(now):
		c.end("expired", "server")
		return true
	case timer.due(now):
		if !c.refresh(now) {
			c.end("expired", "server")
			return true
		}
	case silent:
		if !c.exists() {
			c.end("no_sound", "server")
			return true
		}
		*probed = time.Now()
	}
	return false
}

// exists asks the other side whether the call exists. Any answer but that it does not says so.
func (c *call) exists() bool {
	res, err := c.ask(c.dialog.request(sip.OPTIONS))
	return err == nil && !lost(res)
}

// lost reports whether an answer says that the call does not exist (RFC 3261, section 12.2.1.2).
func lost(res *sip.Response) bool {
	return res.StatusCode == sip.StatusCallTransactionDoesNotExists || res.StatusCode == sip.StatusRequestTimeout
}

// ask sends a request while the call goes on.
func (c *call) ask(req *sip.Request) (*sip.Response, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	// Whoever ends the call ends the question.
	stop := c.whenOver(cancel)
	defer stop()
	return c.s.do(ctx, req)
}

// whenOver calls f when the call ends, unless the function that it returns is called before.
func (c *call) whenOver(f func()) (stop func()) {
	done, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		select {
		case <-c.over.c:
			f()
		case <-c.leg.closed.c:
			f()
		case <-c.s.stopping:
			f()
		case <-done:
		}
	}()
	return func() {
		close(done)
		<-finished
	}
}

// bye ends the call at the other side.
func (c *call) bye() {
	ctx, cancel := context.WithTimeout(context.Background(), byeLimit)
	defer cancel()
	res, err := c.s.do(ctx, c.dialog.request(sip.BYE))
	if err == nil && c.challenged(res) {
		res, err = c.again(ctx, sip.BYE, res)
	}
	switch {
	case c.over.happened(): // its BYE has crossed ours
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, sip.ErrTransactionTimeout):
		c.s.failed(errors.New("sip: the hang-up of a call was not answered"))
	case err != nil:
		c.s.failed(fmt.Errorf("sip: a call could not be hung up: %w", err))
	case !res.IsSuccess() && !lost(res):
		c.s.failed(fmt.Errorf("sip: the hang-up of a call was answered %d", res.StatusCode))
	}
}

// onBye takes the end of the call.
func (c *call) onBye(req *sip.Request, tx sip.ServerTransaction) {
	c.s.answer(tx, respond(req, sip.StatusOK))
	c.end("normal", "caller")
	c.over.happen()
}

// onReinvite takes a change of the call, such as hold.
func (c *call) onReinvite(req *sip.Request, tx sip.ServerTransaction) {
	switch asking, acked := c.settled(); {
	case asking:
		c.s.answer(tx, respond(req, 491))
		return
	case !acked: // RFC 3261, section 14.2
		res := respond(req, sip.StatusInternalServerError)
		res.AppendHeader(sip.NewHeader("Retry-After", "1"))
		c.s.answer(tx, res)
		return
	}
	body, res := c.change(req, true)
	if res != nil {
		c.s.answer(tx, res)
		return
	}
	p := c.awaits(req.CSeq().SeqNo)
	err := c.confirm(tx, c.success(req, body), p)
	if err == nil && len(req.Body()) == 0 {
		err = c.settle(p)
	}
	switch {
	case err == nil, errors.Is(err, errOver):
	case errors.Is(err, errNoACK):
		c.end("no_ack", "server")
		c.leg.closed.happen()
	default:
		c.end("no_agreement", "server")
		c.leg.closed.happen()
	}
}

// settled reports whether a change of ours is under way, and whether the other side has acknowledged its
// last one. It waits for an ACK that the request has overtaken.
func (c *call) settled() (asking, acked bool) {
	c.mu.Lock()
	asking, p := c.asking, c.pending
	c.mu.Unlock()
	if p == nil {
		return asking, true
	}
	limit := time.NewTimer(t1)
	defer limit.Stop()
	select {
	case <-p.acked.c:
		return asking, true
	case <-c.over.c:
	case <-limit.C:
	}
	return asking, false
}

// onUpdate takes a change of the call that needs no ACK (RFC 3311), or a sign of life.
func (c *call) onUpdate(req *sip.Request, tx sip.ServerTransaction) {
	if asking, acked := c.settled(); len(req.Body()) > 0 && (asking || !acked) {
		c.s.answer(tx, respond(req, 491))
		return
	}
	body, res := c.change(req, false)
	if res == nil {
		res = c.success(req, body)
	}
	c.s.answer(tx, res)
}

// change does what a request asks for, and returns the body of the answer, or an answer that refuses it:
// the call then goes on as it was. An INVITE without an offer is answered with one.
func (c *call) change(req *sip.Request, invite bool) (body []byte, refusal *sip.Response) {
	offered, a, err := c.s.read(req)
	if err != nil {
		return nil, refuse(req, err)
	}
	timer, res := newTimer(req)
	if res != nil {
		return nil, res
	}
	if offered != nil {
		if err := c.follow(&a); err != nil {
			return nil, refuse(req, errUnsuited)
		}
	}
	c.mu.Lock()
	c.timer = timer
	c.mu.Unlock()
	c.look()
	if offered == nil && !invite {
		return nil, nil
	}
	return c.describe(offered), nil
}
