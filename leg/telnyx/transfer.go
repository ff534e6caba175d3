package telnyx

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// transfer is a call that is being connected elsewhere. Its stream goes on until somebody answers.
type transfer struct {
	leg  string     // Telnyx's name of the other call; empty until it is known; guarded by the server's mu
	done chan error // has the outcome
}

// settle notes the outcome, which counts once.
func (t *transfer) settle(err error) { token(t.done, err) }

// slack is how long Telnyx may take to say what became of a transfer after its time is over.
const slack = 5 * time.Second

// elsewhere takes what Telnyx says of the other call of a transfer, which belongs to the session of
// ours. It reports whether there is such a transfer. It requires mu.
func (s *Server) elsewhere(e event) bool {
	if e.call.Session == "" || e.inbound {
		return false
	}
	for _, c := range s.calls {
		t := c.transfer
		if t == nil || c.Session != e.call.Session {
			continue
		}
		t.leg = e.call.Call
		switch e.kind {
		case "call.answered", "call.bridged":
			t.settle(nil)
		case "call.hangup":
			t.settle(reason(e.hangup))
		}
		return true
	}
	return false
}

// reason returns why a call was not answered.
func reason(h Hangup) error {
	switch h.Cause {
	case "user_busy":
		return port.ErrLineBusy
	case "no_answer", "timeout", "originator_cancel":
		return port.ErrNoAnswer
	case "call_rejected", "normal_clearing":
		return port.ErrRejected
	default:
		return port.ErrUnreachable
	}
}

// Transfer implements [port.Forwarder] with the command transfer.
func (l *line) Transfer(ctx context.Context, to port.Transfer) error {
	t := &transfer{done: make(chan error, 1)}
	l.s.mu.Lock()
	busy := l.c.transfer != nil
	if !busy {
		l.c.transfer = t
	}
	if to.From == "" {
		to.From = l.c.number()
	}
	l.s.mu.Unlock()
	if busy {
		return errors.New("telnyx: the call is being transferred already")
	}
	l.Hold(false)
	err := l.s.command(ctx, l.c, "transfer", map[string]any{
		"to": to.To, "from": to.From, "timeout_secs": max(5, int(to.Ring.Seconds())),
	})
	if err == nil {
		err = l.outcome(ctx, to, t)
	}
	if err == nil {
		l.c.moved.happen()
		return nil
	}
	l.s.mu.Lock()
	l.c.transfer = nil
	l.s.mu.Unlock()
	l.Resume()
	return fmt.Errorf("telnyx: %w", err)
}

// number returns our number in a call.
func (c *call) number() string {
	if c.out != nil {
		return c.From
	}
	return c.To
}

// outcome waits for the outcome of a transfer.
func (l *line) outcome(ctx context.Context, to port.Transfer, t *transfer) error {
	limit := time.NewTimer(to.Ring + slack)
	defer limit.Stop()
	var err error
	select {
	case err = <-t.done:
		return err
	case <-l.Ended():
		return io.EOF
	case <-limit.C:
		err = port.ErrNoAnswer
	case <-ctx.Done():
		err = ctx.Err()
	}
	l.s.mu.Lock()
	other := t.leg
	l.s.mu.Unlock()
	if other != "" {
		if wrong := l.s.commands.send(context.WithoutCancel(ctx), other, "hangup", rand.Text(), nil); wrong != nil && !errors.Is(wrong, errOver) {
			l.s.failed(fmt.Errorf("telnyx: a transfer could not be given up: %w", wrong))
		}
	}
	select {
	case said := <-t.done:
		if said == nil {
			return nil // answered at the last moment
		}
	default:
	}
	return err
}
