package webrtc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/interceptor/pkg/report"
	pion "github.com/pion/webrtc/v4"

	"github.com/hocketvoice/hocket/internal/codec/opus"
)

const (
	// A connection is shaky when nothing has arrived for this time in spite of
	// keepalives, and lost after failed more.
	disconnected = 2 * time.Second
	failed       = 5 * time.Second
	keepalive    = 500 * time.Millisecond

	maxMessage = 64 << 10 // bytes of a text message, in either direction
)

// ErrFull reports that the limit of calls is reached.
var ErrFull = errors.New("webrtc: too many calls")

// ErrClosed reports that the server or the leg has ended.
var ErrClosed = errors.New("webrtc: closed")

// Server answers the offers of browsers. It is safe for concurrent use.
type Server struct {
	o      Options
	mux    *ice.UDPMuxDefault
	addr   net.Addr
	api    *pion.API
	config pion.Configuration

	mu     sync.Mutex // guards the fields below
	legs   map[*Leg]struct{}
	closed bool
}

// NewServer opens the UDP port and creates the certificate of all calls.
func NewServer(o Options) (*Server, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.setDefaults()
	s := &Server{o: o, legs: make(map[*Leg]struct{})}
	// It does not expire while the server runs; browsers learn it with each call.
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("webrtc: create key: %w", err)
	}
	certificate, err := pion.GenerateCertificate(key)
	if err != nil {
		return nil, fmt.Errorf("webrtc: create certificate: %w", err)
	}
	s.config.Certificates = []pion.Certificate{*certificate}
	engine, err := mediaEngine()
	if err != nil {
		return nil, err
	}
	registry, err := interceptors()
	if err != nil {
		return nil, err
	}
	conn := o.Conn
	if conn == nil {
		if conn, err = listen(o.Addr); err != nil {
			return nil, fmt.Errorf("webrtc: %w", err)
		}
	}
	s.addr = conn.LocalAddr()
	s.mux = ice.NewUDPMuxDefault(ice.UDPMuxParams{UDPConn: conn, Logger: loggers{o.Logger}.NewLogger("udp")})
	settings, err := s.settings()
	if err != nil {
		return nil, errors.Join(err, s.mux.Close())
	}
	s.api = pion.NewAPI(pion.WithMediaEngine(engine), pion.WithInterceptorRegistry(registry), pion.WithSettingEngine(settings))
	return s, nil
}

// socketBuffer is the requested size of the socket's buffers. One socket serves all
// calls, and the buffers must hold packets while the program is busy. The system
// may grant less.
const socketBuffer = 2 << 20

func listen(addr string) (net.PacketConn, error) {
	at, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, err
	}
	conn, err := net.ListenUDP("udp", at)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(conn.SetReadBuffer(socketBuffer), conn.SetWriteBuffer(socketBuffer)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// codec returns the only codec, as browsers offer it (RFC 7587). Retransmission is
// negotiated with clients that offer it.
func codec() pion.RTPCodecParameters {
	return pion.RTPCodecParameters{
		PayloadType: 111,
		RTPCodecCapability: pion.RTPCodecCapability{
			MimeType: pion.MimeTypeOpus, ClockRate: opus.ClockRate, Channels: 2,
			SDPFmtpLine: "minptime=10;useinbandfec=1", RTCPFeedback: []pion.RTCPFeedback{{Type: "nack"}},
		},
	}
}

func mediaEngine() (*pion.MediaEngine, error) {
	engine := &pion.MediaEngine{}
	if err := engine.RegisterCodec(codec(), pion.RTPCodecTypeAudio); err != nil {
		return nil, fmt.Errorf("webrtc: %w", err)
	}
	return engine, nil
}

// interceptors request and answer retransmissions and exchange reception reports.
func interceptors() (*interceptor.Registry, error) {
	registry := &interceptor.Registry{}
	asker, err := nack.NewGeneratorInterceptor(nack.GeneratorInterval(20*time.Millisecond), nack.GeneratorSize(64))
	if err != nil {
		return nil, fmt.Errorf("webrtc: %w", err)
	}
	giver, err := nack.NewResponderInterceptor(nack.ResponderSize(64)) // packets of 20 ms
	if err != nil {
		return nil, fmt.Errorf("webrtc: %w", err)
	}
	receiver, err := report.NewReceiverInterceptor(report.ReceiverInterval(time.Second))
	if err != nil {
		return nil, fmt.Errorf("webrtc: %w", err)
	}
	sender, err := report.NewSenderInterceptor(report.SenderInterval(time.Second))
	if err != nil {
		return nil, fmt.Errorf("webrtc: %w", err)
	}
	for _, f := range []interceptor.Factory{giver, asker, receiver, sender} {
		registry.Add(f)
	}
	return registry, nil
}

func (s *Server) settings() (pion.SettingEngine, error) {
	settings := pion.SettingEngine{LoggerFactory: loggers{s.o.Logger}}
	settings.SetICEUDPMux(s.mux)
	settings.SetICETimeouts(disconnected, failed, keepalive)
	// Do not resolve names under .local, behind which browsers hide their
	// addresses: the browser's connectivity checks reveal the address.
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	settings.SetNetworkTypes([]pion.NetworkType{pion.NetworkTypeUDP4, pion.NetworkTypeUDP6})
	settings.SetSCTPMaxMessageSize(maxMessage)
	if a, ok := s.addr.(*net.UDPAddr); ok && a.IP.IsLoopback() {
		settings.SetIncludeLoopbackCandidate(true)
	}
	if len(s.o.PublicIPs) > 0 {
		if err := settings.SetICEAddressRewriteRules(pion.ICEAddressRewriteRule{
			External: s.o.PublicIPs, AsCandidateType: pion.ICECandidateTypeHost, Mode: pion.ICEAddressRewriteReplace,
		}); err != nil {
			return settings, fmt.Errorf("webrtc: public addresses: %w", err)
		}
	}
	return settings, nil
}

// Addr returns the UDP address of all calls.
func (s *Server) Addr() net.Addr { return s.addr }

// Accept answers a browser's offer. The answer contains all candidates; the leg
// connects when the browser has received it. Errors about the offer wrap
// [ErrOffer]. The caller must close the leg.
func (s *Server) Accept(ctx context.Context, offer string) (*Leg, string, error) {
	offer, err := readOffer(offer)
	if err != nil {
		return nil, "", err
	}
	l, err := newLeg(s)
	if err != nil {
		return nil, "", err
	}
	if err := s.add(l); err != nil {
		return nil, "", err
	}
	answer, err := l.Reattach(ctx, offer)
	if err != nil {
		s.remove(l)
		return nil, "", err
	}
	l.start()
	return l, answer, nil
}

func (s *Server) add(l *Leg) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ErrClosed
	case len(s.legs) >= s.o.MaxLegs:
		return ErrFull
	}
	s.legs[l] = struct{}{}
	return nil
}

func (s *Server) remove(l *Leg) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.legs, l)
}

// Legs returns the number of legs.
func (s *Server) Legs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.legs)
}

// Connecting returns the number of legs that were never connected.
func (s *Server) Connecting() int {
	s.mu.Lock()
	legs := slices.Collect(maps.Keys(s.legs))
	s.mu.Unlock()
	n := 0
	for _, l := range legs {
		if l.Connecting() {
			n++
		}
	}
	return n
}

// Close ends all legs, waits for them, and closes the port.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	legs := make([]*Leg, 0, len(s.legs))
	for l := range s.legs {
		l.halt()
		legs = append(legs, l)
	}
	s.mu.Unlock()
	var errs []error
	for _, l := range legs {
		errs = append(errs, l.Close())
	}
	return errors.Join(append(errs, s.mux.Close())...)
}
