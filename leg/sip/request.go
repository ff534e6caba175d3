package sip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/emiago/sipgo"
	"github.com/emiago/sipgo/sip"

	"github.com/hocketvoice/hocket/internal/wire/dtmf"
)

// allowed are the methods that are taken.
const allowed = "INVITE, ACK, CANCEL, BYE, OPTIONS, UPDATE, INFO, NOTIFY"

// handle sets what is done with requests.
func (s *Server) handle(srv *sipgo.Server) {
	on := func(method sip.RequestMethod, f func(req *sip.Request, tx sip.ServerTransaction)) {
		srv.OnRequest(method, func(req *sip.Request, tx sip.ServerTransaction) {
			done := make(chan struct{})
			if !s.work(func() { // Close waits for it; the library ends the transaction when this returns
				defer close(done)
				f(req, tx)
			}) {
				s.answer(tx, respond(req, sip.StatusServiceUnavailable))
				return
			}
			<-done
		})
	}
	on(sip.INVITE, s.onInvite)
	on(sip.ACK, s.onACK)
	on(sip.CANCEL, s.onCancel)
	on(sip.BYE, s.inDialog((*call).onBye))
	on(sip.UPDATE, s.inDialog((*call).onUpdate))
	on(sip.INFO, s.inDialog((*call).onInfo))
	on(sip.NOTIFY, s.inDialog((*call).onNotify))
	on(sip.REFER, s.inDialog((*call).onRefer))
	on(sip.OPTIONS, s.onOptions)
	srv.OnNoRoute(func(req *sip.Request, tx sip.ServerTransaction) {
		if s.admits(req, tx) {
			s.answer(tx, s.notAllowed(req))
		}
	})
}

// reasons are the words of answers where the library has none.
var reasons = map[int]string{
	sip.StatusTrying: "Trying", sip.StatusRinging: "Ringing", sip.StatusOK: "OK", sip.StatusAccepted: "Accepted",
	sip.StatusBadRequest: "Bad Request", sip.StatusUnauthorized: "Unauthorized", sip.StatusForbidden: "Forbidden",
	sip.StatusNotFound: "Not Found", sip.StatusMethodNotAllowed: "Method Not Allowed", sip.StatusUnsupportedMediaType: "Unsupported Media Type",
	416: "Unsupported URI Scheme", sip.StatusBadExtension: "Bad Extension", 422: "Session Interval Too Small",
	sip.StatusTemporarilyUnavailable: "Temporarily Unavailable", sip.StatusCallTransactionDoesNotExists: "Call/Transaction Does Not Exist",
	sip.StatusLoopDetected: "Loop Detected", sip.StatusTooManyHops: "Too Many Hops", sip.StatusBusyHere: "Busy Here",
	sip.StatusNotAcceptableHere: "Not Acceptable Here", 491: "Request Pending", sip.StatusInternalServerError: "Server Internal Error",
	sip.StatusServiceUnavailable: "Service Unavailable", sip.StatusVersionNotSupported: "Version Not Supported", sip.StatusGlobalDecline: "Decline",
}

// respond returns an answer to a request.
func respond(req *sip.Request, status int) *sip.Response {
	res := sip.NewResponseFromRequest(req, status, reasons[status], nil)
	res.AppendHeader(sip.NewHeader("Server", userAgent))
	return res
}

// answer sends an answer. One that cannot be sent is repeated when the request is.
func (s *Server) answer(tx sip.ServerTransaction, res *sip.Response) { _ = tx.Respond(res) }

func (s *Server) notAllowed(req *sip.Request) *sip.Response {
	res := respond(req, sip.StatusMethodNotAllowed)
	res.AppendHeader(sip.NewHeader("Allow", allowed))
	return res
}

// valid answers a request that is malformed, and reports whether it is not.
func (s *Server) valid(req *sip.Request, tx sip.ServerTransaction) bool {
	err := checkRequest(req)
	if err == nil {
		return true
	}
	status := sip.StatusBadRequest
	switch {
	case errors.Is(err, errVersion):
		status = sip.StatusVersionNotSupported
	case errors.Is(err, errScheme):
		status = 416
	}
	if !req.IsAck() {
		s.answer(tx, respond(req, status))
	}
	return false
}

// admits answers a request of a stranger, and reports whether it is none.
func (s *Server) admits(req *sip.Request, tx sip.ServerTransaction) bool {
	_, ok := s.user(req, tx)
	return ok
}

// user is like admits, and returns the name of who has shown a password.
func (s *Server) user(req *sip.Request, tx sip.ServerTransaction) (name string, ok bool) {
	if !s.valid(req, tx) {
		return "", false
	}
	from, err := netip.ParseAddrPort(req.Source())
	if err != nil {
		s.answer(tx, respond(req, sip.StatusForbidden))
		return "", false
	}
	now, host := time.Now(), from.Addr().Unmap()
	v, name := s.guard.judge(now, req, host)
	if v != passed {
		s.answer(tx, s.guard.response(now, req, host, v))
		return "", false
	}
	s.vouch(req)
	return name, true
}

// inDialog returns the handler of requests that need a call.
func (s *Server) inDialog(f func(*call, *sip.Request, sip.ServerTransaction)) func(*sip.Request, sip.ServerTransaction) {
	return func(req *sip.Request, tx sip.ServerTransaction) {
		if !s.valid(req, tx) {
			return
		}
		c := s.find(req)
		if c == nil {
			if s.admits(req, tx) {
				s.answer(tx, respond(req, sip.StatusCallTransactionDoesNotExists))
			}
			return
		}
		s.vouch(req)
		if err := c.dialog.take(req); err != nil {
			s.answer(tx, respond(req, sip.StatusInternalServerError)) // RFC 3261, section 12.2.2
			return
		}
		f(c, req, tx)
	}
}

// onOptions answers whether the server is there, and what it can do.
func (s *Server) onOptions(req *sip.Request, tx sip.ServerTransaction) {
	if !s.valid(req, tx) {
		return
	}
	if c := s.find(req); c == nil && !s.admits(req, tx) {
		return
	}
	res := respond(req, sip.StatusOK)
	res.AppendHeader(sip.NewHeader("Allow", allowed))
	res.AppendHeader(sip.NewHeader("Accept", typeSDP))
	res.AppendHeader(sip.NewHeader("Supported", "timer"))
	s.answer(tx, res)
}

// onACK takes the ACK of an answer that was a success; others belong to their transaction.
func (s *Server) onACK(req *sip.Request, tx sip.ServerTransaction) {
	if !s.valid(req, tx) {
		return
	}
	if c := s.find(req); c != nil {
		c.acked(req)
	}
}

// onCancel answers a CANCEL that came too late, or for nothing: others belong to their transaction.
func (s *Server) onCancel(req *sip.Request, tx sip.ServerTransaction) {
	if s.valid(req, tx) {
		s.answer(tx, respond(req, sip.StatusCallTransactionDoesNotExists))
	}
}

// onInfo takes a key.
func (c *call) onInfo(req *sip.Request, tx sip.ServerTransaction) {
	key, err := dtmf.ParseInfo(headerOf(req, "Content-Type", "c"), req.Body())
	switch {
	case errors.Is(err, dtmf.ErrType):
		res := respond(req, sip.StatusUnsupportedMediaType)
		res.AppendHeader(sip.NewHeader("Accept", dtmf.TypeRelay+", "+dtmf.TypePlain))
		if len(req.Body()) == 0 {
			res = respond(req, sip.StatusOK) // a sign of life
		}
		c.s.answer(tx, res)
	case err != nil:
		c.s.answer(tx, respond(req, sip.StatusBadRequest))
	default:
		c.media.press(key)
		c.s.answer(tx, respond(req, sip.StatusOK))
	}
}

// onRefer refuses to call somebody for the other side.
func (c *call) onRefer(req *sip.Request, tx sip.ServerTransaction) {
	c.s.answer(tx, respond(req, sip.StatusGlobalDecline))
}

// headerOf returns the value of a header by its name or its short name; empty if it is missing.
func headerOf(m interface {
	GetHeaders(name string) []sip.Header
}, name, short string,
) string {
	var all []string
	for _, n := range []string{name, short} {
		if n == "" {
			continue
		}
		for _, h := range m.GetHeaders(n) {
			all = append(all, h.Value())
		}
	}
	return strings.Join(all, ", ")
}

// lists reports whether a header with values between commas has one.
func lists(value, one string) bool {
	for v := range strings.SplitSeq(value, ",") {
		if strings.EqualFold(strings.TrimSpace(v), one) {
			return true
		}
	}
	return false
}

// do sends a request and returns its final answer. An answer that does not come is an error.
func (s *Server) do(ctx context.Context, req *sip.Request) (*sip.Response, error) {
	if err := s.direct(ctx, req); err != nil {
		return nil, err
	}
	tx, err := s.ua.TransactionLayer().Request(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", req.Method, masked(err))
	}
	defer tx.Terminate()
	for {
		select {
		case res := <-tx.Responses():
			if !res.IsProvisional() {
				return res, nil
			}
		case <-tx.Done():
			return nil, fmt.Errorf("%s: %w", req.Method, masked(tx.Err()))
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// direct resolves the address to which a request is sent: answers are expected from there.
func (s *Server) direct(ctx context.Context, req *sip.Request) error {
	host, text, err := net.SplitHostPort(req.Destination())
	if err != nil {
		return errors.New("the address of the other side is invalid")
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return errors.New("the port of the other side is invalid")
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		if err != nil || len(all) == 0 {
			return errors.New("the host of the other side has no address")
		}
		a = all[0]
	}
	to := netip.AddrPortFrom(a.Unmap(), uint16(port))
	req.SetDestination(to.String())
	if req.Transport() == "UDP" {
		s.expect(to)
	}
	return nil
}

// masked returns an error without the addresses of the library's errors.
func masked(err error) error {
	switch {
	case err == nil:
		return errors.New("the request was not answered")
	case errors.Is(err, sip.ErrTransactionTimeout):
		return sip.ErrTransactionTimeout
	case errors.Is(err, sip.ErrTransactionTransport):
		return sip.ErrTransactionTransport
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	default:
		return errors.New("the request could not be sent")
	}
}
