package webrtc

import (
	"context"
	"errors"
	"fmt"
	"time"

	pion "github.com/pion/webrtc/v4"

	"github.com/hocketvoice/hocket/port"
)

// This file: the leg's connections, and what is told of them.

// Reattach answers the offer of a new connection of the same person, from a page
// that was loaded again or another device. It takes the old one's place, and ends
// it, when it stands; until then the old one is in use.
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

// Return is [Leg.Restart]; where the offer is that of a new connection, [Leg.Fresh]
// learns of it.
func (l *Leg) Return(ctx context.Context, offer string) (answer string, err error) {
	return l.Restart(ctx, offer)
}

// Restart answers whatever offer the person comes back with: that of the same
// connection over another network ([Leg.Renegotiate]), or of a new one
// ([Leg.Reattach]). The certificate tells them apart.
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

// latest is the connection in use, or the first one that is to be.
func (l *Leg) latest() *peer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current == nil {
		return l.pending
	}
	return l.current
}

// Renegotiate answers an offer on the connection that is in use: an ICE restart,
// after the person's network has changed.
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
		return "", fmt.Errorf("%w: there is no connection to renegotiate, expected the offer of a new one", ErrClosed)
	}
	return p.answer(ctx, offer)
}

// lock lets one negotiation happen at a time.
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

// look has run look at the connections.
func (l *Leg) look() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run follows the connections until the leg ends. It alone ends them.
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

// lastWords is what a browser may hold of the agent's voice, and what the network
// may.
const lastWords = 300 * time.Millisecond

// fadeAway lets the person hear the agent's last words to their end: a browser
// drops what it holds of a connection that ends.
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

// end is the end of the leg.
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

// settle takes the state of the connections in: which one is in use, what the
// line is, and whether it has been lost for too long. dead ones are to be closed.
func (l *Leg) settle(now time.Time) (next time.Time, dead []*peer, over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.pending; p != nil {
		switch state := p.status(); {
		case state == pion.PeerConnectionStateConnected:
			if l.current != nil {
				dead = append(dead, l.current)
				l.in.reset()
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
	next = l.lostAt.Add(max(0, l.s.o.Linger))
	return next, dead, !now.Before(next)
}

func gone(s pion.PeerConnectionState) bool {
	return s == pion.PeerConnectionStateFailed || s == pion.PeerConnectionStateClosed
}

// setLine derives the line from the connection in use. Before the first it is
// up: nobody waits for it yet.
func (l *Leg) setLine(now time.Time) {
	line := port.LineUp
	if l.current != nil {
		switch state := l.current.status(); {
		case gone(state):
			line = port.LineLost
		case state != pion.PeerConnectionStateConnected:
			line = port.LineShaky
		default:
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
