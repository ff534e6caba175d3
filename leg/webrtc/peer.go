package webrtc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	pion "github.com/pion/webrtc/v4"

	"github.com/hocketvoice/hocket/internal/codec/opus"
	"github.com/hocketvoice/hocket/internal/rtpsound"
)

// peer is one WebRTC connection of a leg. Its methods are safe for concurrent use,
// but close must not be called by the library's goroutines.
type peer struct {
	l        *Leg
	pc       *pion.PeerConnection
	deadline time.Time // for connecting; set before the leg knows the peer
	state    atomic.Int32
	closec   chan struct{} // closed when close begins
	workers  sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	closed  bool
	claimed bool              // the client has opened a channel
	channel *pion.DataChannel // for messages; nil if none is open
}

func newPeer(l *Leg) (*peer, error) {
	pc, err := l.s.api.NewPeerConnection(l.s.config)
	if err != nil {
		return nil, fmt.Errorf("webrtc: %w", err)
	}
	p := &peer{l: l, pc: pc, closec: make(chan struct{})}
	pc.OnConnectionStateChange(func(s pion.PeerConnectionState) {
		p.state.Store(int32(s))
		l.look()
	})
	pc.OnTrack(func(t *pion.TrackRemote, r *pion.RTPReceiver) {
		p.work(func() { p.listen(t) })
		p.work(func() { drain(r) })
	})
	pc.OnDataChannel(p.open)
	sender, err := pc.AddTrack(l.track)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("webrtc: %w", err), p.close())
	}
	p.work(func() { p.reports(sender) })
	return p, nil
}

// work runs a function in a goroutine that close waits for.
func (p *peer) work(job func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.workers.Go(job)
	}
}

func (p *peer) status() pion.PeerConnectionState { return pion.PeerConnectionState(p.state.Load()) }

// answer answers an offer and waits until the answer contains the candidates.
func (p *peer) answer(ctx context.Context, offer string) (string, error) {
	if err := p.pc.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeOffer, SDP: offer}); err != nil {
		return "", badOffer("%v", err)
	}
	answer, err := p.pc.CreateAnswer(nil)
	if err != nil {
		return "", badOffer("%v", err)
	}
	if !strings.Contains(answer.SDP, "m=audio ") || strings.Contains(answer.SDP, "m=audio 0 ") {
		return "", badOffer("unsupported audio: expected opus/48000/2 over UDP/TLS/RTP/SAVPF")
	}
	gathered := pion.GatheringCompletePromise(p.pc)
	if err := p.pc.SetLocalDescription(answer); err != nil {
		return "", fmt.Errorf("webrtc: %w", err)
	}
	select {
	case <-gathered:
		sdp := p.pc.LocalDescription().SDP
		if p.l.s.mux == nil && !strings.Contains(sdp, "a=candidate:") {
			return "", fmt.Errorf("%w: no port is free", ErrFull)
		}
		return sdp, nil
	case <-p.closec:
		return "", ErrClosed
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// isFrom reports whether an offer comes from the client of this connection.
func (p *peer) isFrom(offer string) bool {
	d := p.pc.RemoteDescription()
	return d != nil && fingerprint(d.SDP) != "" && fingerprint(d.SDP) == fingerprint(offer)
}

// close ends the connection and waits for all its goroutines.
func (p *peer) close() error {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.closec)
	}
	p.mu.Unlock()
	err := p.pc.GracefulClose()
	p.workers.Wait()
	return err
}

// listen receives the person's packets until the connection ends.
func (p *peer) listen(track *pion.TrackRemote) {
	buf := make([]byte, opus.MaxPacket)
	var header rtp.Header
	for {
		n, _, err := track.Read(buf)
		if err != nil {
			if errors.Is(err, io.ErrShortBuffer) {
				continue
			}
			return
		}
		at := time.Now()
		if payload, ok := rtpsound.Unpack(&header, buf[:n]); ok && p.inUse() {
			p.l.in.Push(at, &header, payload)
		}
	}
}

// inUse reports whether this is the leg's current connection.
func (p *peer) inUse() bool {
	p.l.mu.Lock()
	defer p.l.mu.Unlock()
	return p.l.current == p
}

// drain reads the sender reports. The library processes them as they are read, and
// stalls if nobody reads them.
func drain(r *pion.RTPReceiver) {
	buf := make([]byte, opus.MaxPacket)
	for {
		if _, _, err := r.Read(buf); err != nil {
			return
		}
	}
}

// reports tracks the packet loss that the browser reports.
func (p *peer) reports(s *pion.RTPSender) {
	loss := 0.0
	for {
		packets, _, err := s.ReadRTCP()
		if err != nil {
			return
		}
		for _, packet := range packets {
			report, ok := packet.(*rtcp.ReceiverReport)
			if !ok {
				continue
			}
			for _, r := range report.Reports {
				loss += (float64(r.FractionLost)/256 - loss) / 4
				p.l.loss.Store(int32(100*loss + 0.5))
			}
		}
	}
}
