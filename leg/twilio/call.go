package twilio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/carrier"
	"github.com/hocketvoice/hocket/port"
)

// returning is how long a person who was not connected elsewhere may take to come back.
const returning = 10 * time.Second

// call is a call from its first stream, or from its placing, until its leg is closed.
type call struct {
	Incoming

	out *outgoing // nil if the call came in

	// Guarded by the server's mu.
	line     *carrier.Line // nil before the first stream
	transfer *transfer     // nil: none
}

// transfer is a call that is being connected elsewhere.
//
//	asked     the stream is being closed; Twilio asks what follows, and is told to call
//	          -> answered, or back
//	answered  the person talks with somebody else: the leg is of no use any more
//	back      nobody has answered, err is set: Twilio is told to stream again
type transfer struct {
	port.Transfer

	answered bool
	err      error
	done     chan error // has the outcome, when the person talks with somebody, or is back
}

// settle notes the outcome, which counts once.
func (t *transfer) settle(err error) {
	select {
	case t.done <- err:
	default:
	}
}

// line is the leg of a call.
type line struct {
	*carrier.Line
	s *Server
	c *call
}

// Close ends the stream, after which Twilio asks what follows, and is told to hang up.
func (l *line) Close() error {
	l.s.mu.Lock()
	if l.s.calls[l.c.Call] == l.c {
		delete(l.s.calls, l.c.Call)
	}
	if l.c.out != nil {
		delete(l.s.placed, l.c.out.token)
	}
	l.s.mu.Unlock()
	return l.Line.Close()
}

// ReadAnswer implements [port.AnswerReader].
func (l *line) ReadAnswer(ctx context.Context) (port.Answer, error) {
	var answers chan port.Answer
	if l.c.out != nil {
		answers = l.c.out.answers
	}
	select {
	case a := <-answers:
		return a, nil
	case <-l.Ended():
		return "", io.EOF
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// attach gives a call its stream, the first or another one.
func (s *Server) attach(ctx context.Context, c *call, leg *carrier.Leg) error {
	s.mu.Lock()
	on := c.line
	if on == nil {
		c.line = carrier.NewLine(leg, carrier.LineOptions{Linger: s.o.Linger, StopEnds: true})
		s.calls[c.Call] = c
	}
	t := c.transfer
	s.mu.Unlock()
	switch {
	case on == nil && c.out != nil:
		return c.out.connected(&line{c.line, s, c})
	case on == nil:
		return s.o.Start(ctx, c.Incoming, &line{c.line, s, c})
	}
	if err := on.Attach(leg); err != nil {
		return err
	}
	if t != nil {
		t.settle(t.err)
	}
	return nil
}

// found returns the call of a webhook whose leg is in use, or nil.
func (s *Server) found(sid string) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[sid]
}

// again says what follows when a stream has ended: a call elsewhere, another stream if the
// conversation goes on, or the end.
func (s *Server) again(w http.ResponseWriter, r *http.Request) {
	c := s.found(r.PostForm.Get("CallSid"))
	if c == nil {
		write(w, response{Hangup: &empty{}})
		return
	}
	s.mu.Lock()
	t := c.transfer
	elsewhere := t != nil && t.err == nil
	s.mu.Unlock()
	if !elsewhere {
		s.stream(w, c)
		return
	}
	d := &dial{Action: s.base + "/dialed", Timeout: max(5, int(t.Ring.Seconds())), From: t.From}
	to := &noun{Callback: s.base + "/status", Events: "answered", To: t.To}
	if strings.HasPrefix(t.To, "sip") {
		d.SIP = to
	} else {
		d.Number = to
	}
	write(w, response{Dial: d})
}

// dialed takes the outcome of a transfer.
func (s *Server) dialed(w http.ResponseWriter, r *http.Request) {
	c := s.found(r.PostForm.Get("CallSid"))
	if c == nil {
		write(w, response{Hangup: &empty{}}) // they have talked
		return
	}
	status := r.PostForm.Get("DialCallStatus")
	s.mu.Lock()
	t := c.transfer
	if t != nil && t.err == nil && !t.answered {
		if t.err = reason(status); t.err == nil {
			t.answered = true // the webhook that says so was lost or is late
		}
	}
	over := t != nil && t.answered
	s.mu.Unlock()
	if over {
		t.settle(nil)
		write(w, response{Hangup: &empty{}})
		return
	}
	s.stream(w, c)
}

// status takes what Twilio says of a call that is being placed, or of that of a transfer.
func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	status := r.PostForm.Get("CallStatus")
	if token := r.URL.Query().Get("dial"); token != "" {
		s.progress(token, status)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	c := s.found(r.PostForm.Get("ParentCallSid"))
	if c != nil && (status == "in-progress" || status == "answered") {
		s.mu.Lock()
		t := c.transfer
		if t != nil && t.err == nil {
			t.answered = true
			t.settle(nil)
		}
		s.mu.Unlock()
	}
	w.WriteHeader(http.StatusNoContent)
}

// reason returns why a call of a status was not answered, or nil if it was.
func reason(status string) error {
	switch status {
	case "completed", "answered", "in-progress":
		return nil
	case "busy":
		return port.ErrLineBusy
	case "no-answer":
		return port.ErrNoAnswer
	case "canceled":
		return port.ErrRejected
	default:
		return port.ErrUnreachable
	}
}

// Transfer implements [port.Forwarder]. It closes the stream: Twilio then asks what follows, and
// is told to call. If nobody answers, Twilio is told to stream again.
func (l *line) Transfer(ctx context.Context, to port.Transfer) error {
	t := &transfer{Transfer: to, done: make(chan error, 1)}
	l.s.mu.Lock()
	busy := l.c.transfer != nil
	if !busy {
		l.c.transfer = t
		if t.From == "" {
			t.From = l.c.number()
		}
	}
	l.s.mu.Unlock()
	if busy {
		return errors.New("twilio: the call is being transferred already")
	}
	l.Hold(true)
	err := l.outcome(ctx, t)
	if err == nil {
		return nil
	}
	l.s.mu.Lock()
	l.c.transfer = nil
	l.s.mu.Unlock()
	return fmt.Errorf("twilio: %w", err)
}

// number returns our number in a call.
func (c *call) number() string {
	if c.out != nil {
		return c.From
	}
	return c.To
}

// outcome waits for the outcome of a transfer.
func (l *line) outcome(ctx context.Context, t *transfer) error {
	limit := time.NewTimer(t.Ring + returning)
	defer limit.Stop()
	var err error
	select {
	case err = <-t.done:
		return err
	case <-l.Ended():
		return io.EOF
	case <-limit.C:
		err = port.ErrUnreachable
	case <-ctx.Done():
		err = ctx.Err()
	}
	l.s.mu.Lock()
	answered := t.answered
	if !answered {
		t.err = err
	}
	l.s.mu.Unlock()
	if answered {
		return nil
	}
	return l.recall(context.WithoutCancel(ctx), t)
}

// recall takes the person back from a call elsewhere that nobody has answered yet.
func (l *line) recall(ctx context.Context, t *transfer) error {
	ctx, cancel := context.WithTimeout(ctx, returning)
	defer cancel()
	switch err := l.s.update(ctx, l.c.Incoming, "Url", l.s.base+"/again"); {
	case errors.Is(err, errOver):
		l.End()
		return io.EOF
	case err != nil:
		l.s.failed("a transfer could not be given up: %w", err)
	}
	select {
	case err := <-t.done:
		return err
	case <-l.Ended():
	case <-ctx.Done():
		l.End()
	}
	return t.err
}
