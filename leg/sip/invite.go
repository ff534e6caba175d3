package sip

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/hocketvoice/hocket/internal/wire/sdp"
)

// This file sends INVITE requests.

// errStatus is an answer that refuses a request.
type errStatus struct {
	method sip.RequestMethod
	code   int
}

func (e errStatus) Error() string {
	text := reasons[e.code]
	if text == "" {
		text = "refused"
	}
	return fmt.Sprintf("%s: the other side has answered %d (%s)", e.method, e.code, text)
}

// invite sends an INVITE and returns its final answer. provisional is called with those before it. When
// ctx ends the INVITE is cancelled; its answer may still be a success.
func (s *Server) invite(ctx context.Context, req *sip.Request, provisional func(*sip.Response)) (*sip.Response, error) {
	if err := s.direct(ctx, req); err != nil {
		return nil, err
	}
	tx, err := s.ua.TransactionLayer().Request(context.WithoutCancel(ctx), req)
	if err != nil {
		return nil, fmt.Errorf("INVITE: %w", masked(err))
	}
	defer tx.Terminate()
	var limit <-chan time.Time // after a CANCEL
	done, answered, cancelled := ctx.Done(), false, false
	for {
		select {
		case res := <-tx.Responses():
			switch {
			case !res.IsProvisional():
				return res, nil
			case provisional != nil:
				provisional(res)
			}
			answered = true
		case <-done:
			done, cancelled = nil, true
			limit = time.After(byeLimit)
		case <-tx.Done():
			return nil, fmt.Errorf("INVITE: %w", masked(tx.Err()))
		case <-limit:
			return nil, ctx.Err()
		}
		if cancelled && answered { // not before a first answer (RFC 3261, section 9.1)
			cancelled = false
			if err := s.cancel(req); err != nil { //nolint:contextcheck // the context has ended
				return nil, err
			}
		}
	}
}

// cancel cancels an INVITE.
func (s *Server) cancel(invite *sip.Request) error {
	req := sip.NewRequest(sip.CANCEL, *invite.Recipient.Clone())
	req.AppendHeader(sip.HeaderClone(invite.Via()))
	sip.CopyHeaders("Route", invite, req)
	most := sip.MaxForwardsHeader(70)
	req.AppendHeader(sip.HeaderClone(invite.From()))
	req.AppendHeader(sip.HeaderClone(invite.To()))
	req.AppendHeader(sip.HeaderClone(invite.CallID()))
	req.AppendHeader(&sip.CSeqHeader{SeqNo: invite.CSeq().SeqNo, MethodName: sip.CANCEL})
	req.AppendHeader(&most)
	req.SetBody(nil)
	req.SetTransport(invite.Transport())
	req.SetDestination(invite.Destination())
	req.Laddr = invite.Laddr
	ctx, stop := context.WithTimeout(context.Background(), byeLimit)
	defer stop()
	_, err := s.do(ctx, req)
	return err
}

// acknowledge sends the ACK for a successful answer to an INVITE of ours.
func (c *call) acknowledge(number uint32) error {
	ack := c.dialog.ack(number)
	if err := c.s.direct(context.Background(), ack); err != nil {
		return err
	}
	return c.s.ua.TransportLayer().WriteMsg(ack)
}

// repeated takes an answer that belongs to no transaction: of a success that is repeated the ACK was
// lost (RFC 3261, section 13.2.2.4).
func (s *Server) repeated(res *sip.Response) {
	cseq, from, to := res.CSeq(), res.From(), res.To()
	if !res.IsSuccess() || cseq == nil || cseq.MethodName != sip.INVITE || from == nil || to == nil || res.CallID() == nil {
		return
	}
	local, _ := from.Params.Get("tag")
	remote, _ := to.Params.Get("tag")
	s.mu.Lock()
	c := s.calls[dialogKey(res.CallID().Value(), local, remote)]
	s.mu.Unlock()
	if c != nil {
		_ = c.acknowledge(cseq.SeqNo) // it is repeated again
	}
}

// reinvite sends an INVITE within the call, with the description that the other side has.
func (c *call) reinvite(ctx context.Context, interval time.Duration) (*sip.Response, error) {
	c.mu.Lock()
	busy := c.asking || c.pending != nil
	c.asking = !busy
	local := sdp.Session{ID: c.local.ID, Version: c.local.Version, Addr: c.local.Addr, Media: c.local.Media}
	c.mu.Unlock()
	if busy {
		return nil, errors.New("INVITE: another change of the call is under way")
	}
	defer func() {
		c.mu.Lock()
		c.asking = false
		c.mu.Unlock()
	}()
	req := c.dialog.request(sip.INVITE)
	refreshes(req, interval)
	req.AppendHeader(sip.NewHeader("Allow", allowed))
	req.AppendHeader(sip.NewHeader("Content-Type", typeSDP))
	req.SetBody(local.Append(nil))
	ctx, cancel := context.WithTimeout(ctx, ackLimit)
	defer cancel()
	stop := c.whenOver(cancel)
	defer stop()
	res, err := c.s.invite(ctx, req, nil)
	if err != nil || !res.IsSuccess() {
		return res, err
	}
	c.dialog.refresh(res)
	if err := c.acknowledge(req.CSeq().SeqNo); err != nil { //nolint:contextcheck // an answer is always acknowledged
		return nil, err
	}
	answer, err := parseSDP(headerOf(res, "Content-Type", "c"), res.Body())
	if err != nil {
		return nil, err
	}
	return res, c.agreeOn(answer)
}
