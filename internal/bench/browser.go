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

// BrowserOptions configures a [Browser].
type BrowserOptions struct {
	Conn net.PacketConn // closed with the browser; a socket of the loopback interface if nil
	// Source returns the next 20 ms as an Opus packet, or nil. It is called every
	// 20 ms by one goroutine while the call is connected.
	Source func() []byte
	// Sink, if not nil, receives each packet. The packet is valid only during the
	// call.
	Sink func(packet []byte)
}

// Browser is the client of a call over WebRTC, like a page in a browser, with
// packets in place of a microphone and a loudspeaker. Its methods must be called by
// one goroutine.
type Browser struct {
	o       BrowserOptions
	pc      *pion.PeerConnection
	mux     *ice.UDPMuxDefault
	track   *pion.TrackLocalStaticRTP
	workers sync.WaitGroup
	stopc   chan struct{} // closed by Close
	upc     chan struct{} // closed when the call is connected
	up      sync.Once
	downc   chan struct{} // closed when the call has failed
	down    sync.Once
}

// NewBrowser returns a browser and opens its port.
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

// run starts the browser's goroutines.
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

// Offer returns the browser's offer with all candidates.
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

// Answer takes the answer to the offer and waits until the call is connected.
func (b *Browser) Answer(ctx context.Context, answer string) error {
	if err := b.pc.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: answer}); err != nil {
		return fmt.Errorf("browser: %w", err)
	}
	select {
	case <-b.upc:
		return nil
	case <-b.downc:
		return errors.New("browser: the call could not be connected")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// talk sends the source's packets at absolute deadlines.
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
			_ = b.track.WriteRTP(&p) // the end of a call is reported elsewhere
		}
	}
}

// hear passes received packets to the sink.
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

// Close ends the call, as closing the page would, and waits for all goroutines.
func (b *Browser) Close() error {
	close(b.stopc)
	var err error
	if b.pc != nil {
		err = b.pc.GracefulClose()
	}
	b.workers.Wait()
	return errors.Join(err, b.mux.Close())
}
