package webrtc

import (
	"context"
	"errors"
	"fmt"
	"time"

	pion "github.com/pion/webrtc/v4"

	"github.com/hocketvoice/hocket/port"
)

// This file implements the leg's connections and their state.

// Reattach answers the offer of a new connection of the same person, from a
// reloaded page or another device. The new connection replaces and ends the old one
// when it is established.
func (l *Leg) Reattach(ctx context.Context, offer string) (answer string, err error) {
	offer, err = readOffer(offer)
	if err != nil {
		return "", err
	}
	if err := l.lock(ctx); err != nil {
		return "", err
	}
	defer l.unlock()
	p, err := newPeer(l)
	if err != nil {
		return "", err
	}
	if answer, err = p.answer(ctx, offer); err != nil {
		return "", errors.Join(err, p.close())
	}
	p.deadline = time.Now().Add(l.s.o.Connect)
	l.mu.Lock()
	old := l.pending
	ended := l.ended()
	if !ended {
		l.pending = p
	}
	l.mu.Unlock()
	if ended {
		return "", errors.Join(ErrClosed, p.close())
	}
	l.look()
	if old != nil {
		return answer, old.close()
	}
	return answer, nil
}

// Return is like [Leg.Restart]. If the offer is for a new connection, [Leg.Fresh]
// reports it.
func (l *Leg) Return(ctx context.Context, offer string) (answer string, err error) {
	return l.Restart(ctx, offer)
}

// Restart answers the offer of a returning person, which is either for the same
// connection over another network ([Leg.Renegotiate]) or for a new connection
// ([Leg.Reattach]). It compares the certificates to tell which.
func (l *Leg) Restart(ctx context.Context, offer string) (answer string, err error) {
	offer, err = readOffer(offer)
	if err != nil {
		return "", err
	}
	if p := l.latest(); p != nil && p.status() != pion.PeerConnectionStateClosed && p.isFrom(offer) {
		return l.Renegotiate(ctx, offer)
	}
	return l.Reattach(ctx, offer)
}

// latest returns the connection in use, or the first pending one.
func (l *Leg) latest() *peer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current == nil {
		return l.pending
	}
	return l.current
}

// Renegotiate answers an offer on the connection in use: an ICE restart after the
// person's network has changed.
func (l *Leg) Renegotiate(ctx context.Context, offer string) (answer string, err error) {
	offer, err = readOffer(offer)
	if err != nil {
		return "", err
	}
	if err := l.lock(ctx); err != nil {
		return "", err
	}
	defer l.unlock()
	p := l.latest()
	if p == nil || p.status() == pion.PeerConnectionStateClosed {
		return "", fmt.Errorf("%w: no connection to renegotiate: expected the offer of a new one", ErrClosed)
	}
	return p.answer(ctx, offer)
}

// lock ensures that only one negotiation runs at a time.
func (l *Leg) lock(ctx context.Context) error {
	select {
	case l.signaling <- struct{}{}:
	case <-l.state.Ended():
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.ended() {
		l.unlock()
		return ErrClosed
	}
	return nil
}

func (l *Leg) unlock() { <-l.signaling }

func (l *Leg) ended() bool {
	select {
	case <-l.state.Ended():
		return true
	default:
		return false
	}
}

// look makes run check the connections.
func (l *Leg) look() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run follows the connections until the leg ends. Only run ends them.
func (l *Leg) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	stopped := false
	for !stopped {
		next, dead, over := l.settle(time.Now())
		for _, p := range dead {
			l.closePeer(p)
		}
		if over {
			break
		}
		timer.Stop()
		if !next.IsZero() {
			timer.Reset(time.Until(next))
		}
		select {
		case <-l.wake:
		case <-timer.C:
		case <-l.stopc:
			stopped = true
		}
	}
	if stopped {
		l.fadeAway()
	}
	l.end()
}

// lastWords is the time that the agent's last sound may take in the network and the
// browser's buffer.
const lastWords = 300 * time.Millisecond

// fadeAway waits until the person has heard the agent's last words, since a browser
// discards its buffer when a connection ends.
func (l *Leg) fadeAway() {
	l.mu.Lock()
	p := l.current
	l.mu.Unlock()
	rest := lastWords - time.Since(time.Unix(0, l.out.spoke.Load()))
	if p == nil || p.status() != pion.PeerConnectionStateConnected || rest <= 0 {
		return
	}
	timer := time.NewTimer(rest)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return
		case <-l.wake:
			if gone(p.status()) {
				return
			}
		}
	}
}

// end ends the leg.
func (l *Leg) end() {
	l.mu.Lock()
	l.state.End()
	select {
	case <-l.firstc:
	default:
		close(l.firstc)
	}
	current, pending := l.current, l.pending
	l.current, l.pending = nil, nil
	l.mu.Unlock()
	l.closePeer(current)
	l.closePeer(pending)
}

func (l *Leg) closePeer(p *peer) {
	if p == nil {
		return
	}
	if err := p.close(); err != nil {
		l.s.o.Logger.Info("webrtc: close a connection", "error", err)
	}
}

// settle updates the leg from the state of its connections. It returns when to
// check again, the connections to be closed, and whether the connection has been
// lost for too long.
func (l *Leg) settle(now time.Time) (next time.Time, dead []*peer, over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.pending; p != nil {
		switch state := p.status(); {
		case state == pion.PeerConnectionStateConnected:
			if l.current != nil {
				dead = append(dead, l.current)
				l.in.Reset()
				l.box.replaced()
			}
			l.current, l.pending = p, nil
			l.box.renew()
		case gone(state) || !now.Before(p.deadline):
			dead = append(dead, p)
			l.pending = nil
		default:
			next = p.deadline
		}
	}
	l.setLine(now)
	if l.lostAt.IsZero() || l.pending != nil {
		return next, dead, false
	}
	patience := l.s.o.Linger
	if !l.met && !l.returning {
		patience = l.s.o.Connect
	}
	next = l.lostAt.Add(max(0, patience))
	return next, dead, !now.Before(next)
}

func gone(s pion.PeerConnectionState) bool {
	return s == pion.PeerConnectionStateFailed || s == pion.PeerConnectionStateClosed
}

// setLine derives the reported state from the connection in use. Before the first
// connection it is up.
func (l *Leg) setLine(now time.Time) {
	line := port.LineUp
	if l.current != nil {
		switch state := l.current.status(); {
		case gone(state):
			line = port.LineLost
		case state != pion.PeerConnectionStateConnected:
			line = port.LineShaky
		default:
			l.met = true
			select {
			case <-l.firstc:
			default:
				close(l.firstc)
			}
		}
	}
	switch {
	case l.current != nil && line != port.LineLost:
		l.lostAt = time.Time{}
	case l.lostAt.IsZero():
		l.lostAt = now
	}
	l.state.Set(line)
}
