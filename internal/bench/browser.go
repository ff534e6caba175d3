package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/rtp"
	pion "github.com/pion/webrtc/v4"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/codec/opus"
)

// BrowserOptions make a [Browser].
type BrowserOptions struct {
	Conn net.PacketConn // is closed with the browser; nil: a socket of the loopback interface
	// Source is the next 20 ms as an Opus packet, nil for none. It is asked on the
	// beat once the call stands, by one goroutine.
	Source func() []byte
	// Sink takes what comes, packet by packet; may be nil. The packet is lent.
	Sink func(packet []byte)
}

// Browser is the far end of a call over WebRTC, as a page in a browser is, with
// packets in the place of a microphone and a loudspeaker. Its methods belong to
// one goroutine.
type Browser struct {
	o       BrowserOptions
	pc      *pion.PeerConnection
	mux     *ice.UDPMuxDefault
	track   *pion.TrackLocalStaticRTP
	workers sync.WaitGroup
	stopc   chan struct{} // closed by Close
	upc     chan struct{} // closed when the call stands
	up      sync.Once
	downc   chan struct{} // closed when it has failed
	down    sync.Once
}

// NewBrowser opens its port.
func NewBrowser(o BrowserOptions) (*Browser, error) {
	b := &Browser{o: o, stopc: make(chan struct{}), upc: make(chan struct{}), downc: make(chan struct{})}
	if o.Conn == nil {
		conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			return nil, fmt.Errorf("browser: %w", err)
		}
		o.Conn = conn
	}
	b.mux = ice.NewUDPMuxDefault(ice.UDPMuxParams{UDPConn: o.Conn})
	if err := b.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("browser: %w", err), b.Close())
	}
	return b, nil
}

func (b *Browser) open() error {
	var settings pion.SettingEngine
	settings.SetICEUDPMux(b.mux)
	settings.SetIncludeLoopbackCandidate(true)
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	capability := pion.RTPCodecCapability{
		MimeType: pion.MimeTypeOpus, ClockRate: opus.ClockRate, Channels: 2, SDPFmtpLine: "minptime=10;useinbandfec=1",
	}
	engine, registry := &pion.MediaEngine{}, &interceptor.Registry{}
	err := errors.Join(
		engine.RegisterCodec(pion.RTPCodecParameters{RTPCodecCapability: capability, PayloadType: 111}, pion.RTPCodecTypeAudio),
		pion.ConfigureRTCPReports(registry),
	)
	if err != nil {
		return err
	}
	api := pion.NewAPI(pion.WithMediaEngine(engine), pion.WithSettingEngine(settings), pion.WithInterceptorRegistry(registry))
	if b.pc, err = api.NewPeerConnection(pion.Configuration{}); err != nil {
		return err
	}
	if b.track, err = pion.NewTrackLocalStaticRTP(capability, "microphone", "page"); err != nil {
		return err
	}
	sender, err := b.pc.AddTrack(b.track)
	if err != nil {
		return err
	}
	b.pc.OnConnectionStateChange(func(s pion.PeerConnectionState) {
		switch s {
		case pion.PeerConnectionStateConnected:
			b.up.Do(func() { close(b.upc) })
		case pion.PeerConnectionStateFailed, pion.PeerConnectionStateClosed:
			b.down.Do(func() { close(b.downc) })
		default:
		}
	})
	b.pc.OnTrack(func(t *pion.TrackRemote, _ *pion.RTPReceiver) { b.hear(t) })
	b.run(sender)
	return nil
}

// run starts what lives as long as the browser.
func (b *Browser) run(sender *pion.RTPSender) {
	b.workers.Go(func() {
		for {
			if _, _, err := sender.ReadRTCP(); err != nil {
				return
			}
		}
	})
	b.workers.Go(b.talk)
}

// Offer is the browser's offer, with all candidates.
func (b *Browser) Offer(ctx context.Context) (string, error) {
	offer, err := b.pc.CreateOffer(nil)
	if err != nil {
		return "", fmt.Errorf("browser: %w", err)
	}
	gathered := pion.GatheringCompletePromise(b.pc)
	if err := b.pc.SetLocalDescription(offer); err != nil {
		return "", fmt.Errorf("browser: %w", err)
	}
	select {
	case <-gathered:
		return b.pc.LocalDescription().SDP, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Answer takes the answer to the offer and waits until the call stands.
func (b *Browser) Answer(ctx context.Context, answer string) error {
	if err := b.pc.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: answer}); err != nil {
		return fmt.Errorf("browser: %w", err)
	}
	select {
	case <-b.upc:
		return nil
	case <-b.downc:
		return errors.New("browser: the call does not come about")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// talk sends the source's packets, on absolute deadlines.
func (b *Browser) talk() {
	select {
	case <-b.upc:
	case <-b.stopc:
		return
	}
	const tick = uint32(opus.ClockRate * audio.FrameDuration / time.Second)
	p := rtp.Packet{Header: rtp.Header{Version: 2}}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for due := time.Now(); ; timer.Reset(time.Until(due)) {
		select {
		case <-timer.C:
		case <-b.stopc:
			return
		}
		due = due.Add(audio.FrameDuration)
		p.Timestamp += tick
		if p.Payload = b.o.Source(); p.Payload != nil {
			p.SequenceNumber++
			_ = b.track.WriteRTP(&p) // a call that is over says so itself
		}
	}
}

// hear hands on what comes.
func (b *Browser) hear(track *pion.TrackRemote) {
	buf := make([]byte, opus.MaxPacket)
	var header rtp.Header
	for {
		n, _, err := track.Read(buf)
		if err != nil {
			return
		}
		size, err := header.Unmarshal(buf[:n])
		if err == nil && b.o.Sink != nil {
			b.o.Sink(buf[size:n])
		}
	}
}

// Close ends the call, as closing the page does, and waits for all that runs.
func (b *Browser) Close() error {
	close(b.stopc)
	var err error
	if b.pc != nil {
		err = b.pc.GracefulClose()
	}
	b.workers.Wait()
	return errors.Join(err, b.mux.Close())
}
