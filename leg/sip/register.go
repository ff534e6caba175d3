package sip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"
)

// This file registers at other servers (RFC 3261, section 10), which then send calls here.

// DefaultExpires is how long a registration is valid, unless the registrar says otherwise.
const DefaultExpires = 10 * time.Minute

const (
	// leastRetry and mostRetry bound the time until a registration that has failed is tried again; it
	// doubles.
	leastRetry = 10 * time.Second
	mostRetry  = 5 * time.Minute
	// leaveLimit is how long the end of a registration may take when the server is closed.
	leaveLimit = 2 * time.Second
)

// Registrar is a server at which a name is registered. Calls from its address are taken without a
// password.
type Registrar struct {
	// Server is its address, such as sip:pbx.example.com or sip:192.0.2.1:5070;transport=tcp.
	Server string
	// Name and Password are those of the account.
	Name, Password string
	// Expires is how long a registration is to be valid; [DefaultExpires] if 0.
	Expires time.Duration
}

func (r *Registrar) validate() error {
	_, err := r.address()
	switch {
	case err != nil:
		return err
	case r.Name == "" || strings.ContainsAny(r.Name, "<>\"\r\n @;:"):
		return errors.New("the name is empty or is not one of an account")
	case r.Expires < 0 || r.Expires > 24*time.Hour || r.Expires != 0 && r.Expires < time.Minute:
		return errors.New("the time is invalid: expected 1 minute to 24 hours")
	default:
		return nil
	}
}

func (r *Registrar) address() (sip.Uri, error) {
	var u sip.Uri
	if err := sip.ParseUri(r.Server, &u); err != nil || u.Scheme != "sip" && u.Scheme != "sips" || u.Host == "" || u.User != "" || strings.ContainsAny(r.Server, "<>\"\r\n ") {
		return u, errors.New("the address is invalid: expected one such as sip:pbx.example.com")
	}
	return u, nil
}

// registration is the state of a name at a registrar. It is used by one goroutine.
//
//	trying      until it is registered        a failure is reported, and tried again
//	registered  until half of its time passes or the server is closed
//	leaving     when the server is closed
type registration struct {
	s       *Server
	r       Registrar
	callID  string
	number  uint32
	expires time.Duration
	failed  bool // the last attempt has failed
	wait    time.Duration
}

// register keeps a name registered until the server is closed.
func (s *Server) register(r Registrar) {
	g := &registration{s: s, r: r, callID: sip.GenerateTagN(24), expires: cmp.Or(r.Expires, DefaultExpires)}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for registered := false; ; {
		select {
		case <-timer.C:
			next := g.attempt()
			registered = !g.failed
			timer.Reset(next)
		case <-s.stopping:
			if registered {
				g.leave()
			}
			return
		}
	}
}

// leave ends the registration. If that fails it expires.
func (g *registration) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), leaveLimit)
	defer cancel()
	_, _ = g.send(ctx, 0)
}

// attempt registers the name, and returns when to do so again.
func (g *registration) attempt() time.Duration {
	ctx, cancel := context.WithTimeout(context.Background(), ackLimit)
	defer cancel()
	stop := g.s.whenStopping(cancel)
	defer stop()
	valid, err := g.send(ctx, g.expires)
	if err == nil {
		g.failed, g.wait = false, 0
		return max(valid/2, 5*time.Second)
	}
	if !g.failed && ctx.Err() == nil || !g.failed && errors.Is(err, context.DeadlineExceeded) {
		g.s.failed(fmt.Errorf("sip: a registration has failed: %w", err))
	}
	g.failed = true
	g.wait = min(max(2*g.wait, leastRetry), mostRetry)
	return g.wait
}

// send registers the name for a time, 0 to end it, and returns for how long it is registered.
func (g *registration) send(ctx context.Context, expires time.Duration) (time.Duration, error) {
	var question *sip.Response
	for longer := false; ; {
		req, err := g.request(ctx, expires)
		if err != nil {
			return 0, err
		}
		if question != nil {
			if err := (login{g.r.Name, g.r.Password}).onto(req, question, false); err != nil {
				return 0, err
			}
		}
		res, err := g.s.do(ctx, req)
		switch {
		case err != nil:
			return 0, err
		case res.IsSuccess():
			return validity(res, expires), nil
		case asks(res) && question == nil:
			question = res
		case res.StatusCode == 423 && !longer: // the time is too short
			n, err := strconv.Atoi(headerOf(res, "Min-Expires", ""))
			if err != nil || n <= 0 || n > 24*3600 {
				return 0, errStatus{sip.REGISTER, res.StatusCode}
			}
			expires, longer = time.Duration(n)*time.Second, true
			g.expires, question = expires, nil
		default:
			return 0, errStatus{sip.REGISTER, res.StatusCode}
		}
	}
}

// request returns the next request, and admits calls from where it is sent.
func (g *registration) request(ctx context.Context, expires time.Duration) (*sip.Request, error) {
	server, err := g.r.address()
	if err != nil {
		return nil, err
	}
	transport, err := g.s.transportOf(&server)
	if err != nil {
		return nil, err
	}
	req := sip.NewRequest(sip.REGISTER, server)
	port := server.Port
	if port == 0 {
		port = sip.DefaultPort(sip.NetworkToLower(transport))
	}
	req.SetTransport(transport)
	req.SetDestination(fmt.Sprintf("[%s]:%d", strings.Trim(server.Host, "[]"), port))
	if err := g.s.direct(ctx, req); err != nil {
		return nil, err
	}
	at, err := netip.ParseAddrPort(req.Destination())
	if err != nil {
		return nil, err
	}
	g.s.guard.admit(g.r.Server, at.Addr())
	v, contact := g.s.via(transport, at.Addr())
	v.onto(req, transport)
	contact.Address.User = g.r.Name
	account := sip.Uri{Scheme: "sip", User: g.r.Name, Host: server.Host}
	from := sip.FromHeader{Address: account, Params: sip.NewParams()}
	from.Params.Add("tag", sip.GenerateTagN(16))
	to := sip.ToHeader{Address: account}
	callID, most := sip.CallIDHeader(g.callID), sip.MaxForwardsHeader(70)
	g.number++
	req.AppendHeader(&from)
	req.AppendHeader(&to)
	req.AppendHeader(&callID)
	req.AppendHeader(&sip.CSeqHeader{SeqNo: g.number, MethodName: sip.REGISTER})
	req.AppendHeader(&most)
	req.AppendHeader(&contact)
	req.AppendHeader(sip.NewHeader("Expires", strconv.Itoa(int(expires/time.Second))))
	req.AppendHeader(sip.NewHeader("User-Agent", userAgent))
	req.SetBody(nil)
	return req, nil
}

// validity returns for how long a registration is valid, as its answer says.
func validity(res *sip.Response, asked time.Duration) time.Duration {
	text := headerOf(res, "Expires", "")
	if c := res.Contact(); c != nil && len(res.GetHeaders("Contact")) == 1 {
		if v, ok := c.Params.Get("expires"); ok {
			text = v
		}
	}
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n <= 24*3600 {
		return time.Duration(n) * time.Second
	}
	return asked
}

// whenStopping calls f when the server is closed, unless the function that it returns is called before.
func (s *Server) whenStopping(f func()) (stop func()) {
	done, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		select {
		case <-s.stopping:
			f()
		case <-done:
		}
	}()
	return func() {
		close(done)
		<-finished
	}
}
