package telnyx

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hocketvoice/hocket/internal/carrier"
	"github.com/hocketvoice/hocket/internal/failure"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// outgoing is a call that the server places.
type outgoing struct {
	d       port.Dial
	state   string // its client_state
	answers chan port.Answer
	rung    *fact
	leg     chan *line // has the leg when the stream has begun
}

// hear takes what Telnyx says of the call.
func (o *outgoing) hear(e event) {
	switch e.kind {
	case "call.initiated":
		if o.rung.happen() && o.d.Progress != nil {
			o.d.Progress("ringing")
		}
	case "call.machine.detection.ended", "call.machine.premium.detection.ended":
		answer := port.AnswerUnsure
		switch e.result {
		case "human", "human_residence", "human_business":
			answer = port.AnswerHuman
		case "machine":
			answer = port.AnswerMachine
		case "fax_detected":
			answer = port.AnswerFax
		}
		token(o.answers, answer)
	case "call.machine.greeting.ended", "call.machine.premium.greeting.ended":
		token(o.answers, port.AnswerBeep)
	}
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

// name notes Telnyx's name of a call that was placed. It requires mu.
func (s *Server) name(c *call, in Incoming) {
	if c.Call == "" {
		c.Incoming = in
		s.calls[in.Call] = c
	}
}

// Dial places a call and returns its leg when it is answered and its stream has begun. The leg is
// the caller's, who must close it. If nobody answers, the error wraps the reason, such as
// [port.ErrLineBusy]; if Telnyx refuses the call it is a [*port.Failure].
func (s *Server) Dial(ctx context.Context, d port.Dial) (Leg, error) {
	if s.o.Connection == "" {
		return nil, errors.New("telnyx: the name of the application is empty: it is required to place calls")
	}
	c := newCall(Incoming{})
	c.out = &outgoing{
		d: d, state: base64.StdEncoding.EncodeToString([]byte(rand.Text())), answers: make(chan port.Answer, 8), rung: newFact(), leg: make(chan *line, 1),
	}
	result := make(chan error, 1)
	s.mu.Lock()
	room := !s.stopped && s.room()
	if room {
		s.placed[c.out.state] = c
		c.admitted = true
		var on context.Context
		on, c.cancel = context.WithCancel(context.WithoutCancel(ctx)) // the call outlives who placed it
		s.running.Go(func() {
			defer s.rest(c)
			s.holdPlaced(ctx, on, c, result)
		})
	}
	s.mu.Unlock()
	if !room {
		return nil, fmt.Errorf("telnyx: %w", ErrBusy)
	}
	if err := <-result; err != nil {
		return nil, err
	}
	return <-c.out.leg, nil
}

// holdPlaced lives through a call that is placed while ctx lasts. It reports whether somebody has
// answered, and goes on until the end of on.
func (s *Server) holdPlaced(ctx, on context.Context, c *call, result chan<- error) {
	err := s.place(ctx, c)
	s.mu.Lock()
	delete(s.placed, c.out.state)
	s.mu.Unlock()
	if err != nil {
		result <- err
		return
	}
	if err = s.answer(ctx, c); err == nil {
		result <- nil
		s.finish(on, c, nil)
		return
	}
	s.finish(on, c, errReported)
	select {
	case l := <-c.out.leg:
		err = errors.Join(err, l.Close())
	default:
	}
	result <- err
}

// answer waits until a call is answered and its stream has begun.
func (s *Server) answer(ctx context.Context, c *call) error {
	limit := time.NewTimer(c.out.d.Ring + slack)
	defer limit.Stop()
	select {
	case <-c.answered.c:
	case <-c.over.c:
		return fmt.Errorf("telnyx: %w", s.why(c))
	case <-limit.C:
		return fmt.Errorf("telnyx: %w", port.ErrNoAnswer)
	case <-s.stopping:
		return errors.New("telnyx: the server is being stopped")
	case <-ctx.Done():
		return ctx.Err()
	}
	if c.out.d.Progress != nil {
		c.out.d.Progress("answered")
	}
	err := s.stream(ctx, c, restarting)
	if errors.Is(err, errOver) {
		return fmt.Errorf("telnyx: %w", s.why(c))
	}
	return err
}

// why returns why a call was not answered.
func (s *Server) why(c *call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return reason(c.hangup)
}

// place asks Telnyx to place a call. The request is repeated with the same command_id: Telnyx
// carries it out once.
func (s *Server) place(ctx context.Context, c *call) error {
	d := &c.out.d
	fields := map[string]any{
		"connection_id": s.o.Connection, "to": d.To, "from": d.From, "timeout_secs": max(5, int(d.Ring.Seconds())),
		"client_state": c.out.state, "command_id": rand.Text(), "send_silence_when_idle": true,
	}
	if d.Detect {
		fields["answering_machine_detection"] = "detect"
		if d.AwaitEnd {
			fields["answering_machine_detection"] = "greeting_end"
		}
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	var answer []byte
	err = carrier.Repeat(ctx, func(ctx context.Context) error {
		answer, err = s.commands.post(ctx, s.commands.base+"/calls", "dial", body)
		return err
	})
	if err != nil {
		return err
	}
	var m struct {
		Data struct {
			Call    string `json:"call_control_id"`
			Session string `json:"call_session_id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answer, &m); err != nil || m.Data.Call == "" || len(m.Data.Call) > maxName || len(m.Data.Session) > maxName {
		return failure.New(errclass.ServerError, "telnyx: dial: the answer names no call")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name(c, Incoming{Call: m.Data.Call, Session: m.Data.Session, Connection: s.o.Connection, From: d.From, To: d.To})
	return nil
}
