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
	mux    *ice.UDPMuxDefault // nil if each call has its own port
	tcp    ice.TCPMux         // nil if there are no calls over TCP
	addr   net.Addr           // of mux, or the address at which ports are opened
	tcpAt  net.Addr           // of tcp
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
	// The certificate does not expire while the server runs. Browsers learn it with
	// each call.
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
	if s.o.PublicIPs, err = publicAddresses(context.Background(), o.PublicIPs); err != nil {
		return nil, err
	}
	if err := s.listen(); err != nil {
		return nil, errors.Join(fmt.Errorf("webrtc: %w", err), s.closePorts())
	}
	settings, err := s.settings()
	if err != nil {
		return nil, errors.Join(err, s.closePorts())
	}
	s.api = pion.NewAPI(pion.WithMediaEngine(engine), pion.WithInterceptorRegistry(registry), pion.WithSettingEngine(settings))
	return s, nil
}

// listen opens the ports that all calls share.
func (s *Server) listen() (err error) {
	switch conn := s.o.Conn; {
	case s.o.Ports != PortRange{}:
		if s.addr, err = net.ResolveUDPAddr("udp", s.o.Addr); err != nil {
			return err
		}
	case conn == nil:
		if conn, err = listen(s.o.Addr); err != nil {
			return err
		}
		fallthrough
	default:
		s.addr = conn.LocalAddr()
		s.mux = ice.NewUDPMuxDefault(ice.UDPMuxParams{UDPConn: conn, Logger: loggers{s.o.Logger}.NewLogger("udp")})
	}
	if s.o.TCP == "" {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", s.o.TCP)
	if err != nil {
		return err
	}
	s.tcpAt = listener.Addr()
	s.tcp = ice.NewTCPMuxDefault(ice.TCPMuxParams{
		Listener: listener, Logger: loggers{s.o.Logger}.NewLogger("tcp"), ReadBufferSize: tcpPackets, WriteBufferSize: tcpWrites,
	})
	return nil
}

const (
	tcpPackets = 64        // received packets of a call over TCP that are not yet read
	tcpWrites  = 256 << 10 // unsent bytes; more are dropped
)

// closePorts closes the ports opened by listen.
func (s *Server) closePorts() error {
	var errs []error
	if s.tcp != nil {
		errs = append(errs, s.tcp.Close())
	}
	if s.mux != nil {
		errs = append(errs, s.mux.Close())
	}
	return errors.Join(errs...)
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
	if s.mux != nil {
		settings.SetICEUDPMux(s.mux)
	} else if err := s.ownPorts(&settings); err != nil {
		return settings, fmt.Errorf("webrtc: ports: %w", err)
	}
	settings.SetICETimeouts(disconnected, failed, keepalive)
	// Do not resolve names under .local, behind which browsers hide their
	// addresses: the browser's connectivity checks reveal the address.
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	types := []pion.NetworkType{pion.NetworkTypeUDP4, pion.NetworkTypeUDP6}
	if s.tcp != nil {
		settings.SetICETCPMux(s.tcp)
		types = append(types, pion.NetworkTypeTCP4, pion.NetworkTypeTCP6)
		settings.DisableActiveTCP(true) // otherwise the server would connect to addresses chosen by the client
	}
	settings.SetNetworkTypes(types)
	settings.SetSCTPMaxMessageSize(maxMessage)
	for _, addr := range []net.Addr{s.addr, s.tcpAt} {
		if addr != nil && isLoopback(addr) {
			settings.SetIncludeLoopbackCandidate(true)
		}
	}
	if len(s.o.PublicIPs) > 0 {
		mode := pion.ICEAddressRewriteReplace
		if s.o.KeepPrivate {
			mode = pion.ICEAddressRewriteAppend
		}
		if err := settings.SetICEAddressRewriteRules(pion.ICEAddressRewriteRule{
			External: s.o.PublicIPs, AsCandidateType: pion.ICECandidateTypeHost, Mode: mode,
		}); err != nil {
			return settings, fmt.Errorf("webrtc: public addresses: %w", err)
		}
	}
	return settings, nil
}

// ownPorts configures a separate port for each call.
func (s *Server) ownPorts(settings *pion.SettingEngine) error {
	if a, ok := s.addr.(*net.UDPAddr); ok && len(a.IP) > 0 && !a.IP.IsUnspecified() {
		// The TCP port has its own addresses.
		settings.SetIPFilter(func(ip net.IP) bool { return ip.Equal(a.IP) || s.tcp != nil && isAt(s.tcpAt, ip) })
	}
	return settings.SetEphemeralUDPPortRange(s.o.Ports.Min, s.o.Ports.Max)
}

// isAt reports whether a TCP listener is reached at an address.
func isAt(tcp net.Addr, ip net.IP) bool {
	a, ok := tcp.(*net.TCPAddr)
	return ok && a.IP.Equal(ip)
}

func isLoopback(addr net.Addr) bool {
	switch a := addr.(type) {
	case *net.UDPAddr:
		return a.IP.IsLoopback()
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	default:
		return false
	}
}

// Addr returns the UDP address of all calls. If [Options].Ports is set, its port is
// meaningless.
func (s *Server) Addr() net.Addr { return s.addr }

// TCPAddr returns the TCP address of calls without UDP, or nil.
func (s *Server) TCPAddr() net.Addr { return s.tcpAt }

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
	return errors.Join(append(errs, s.closePorts())...)
}
