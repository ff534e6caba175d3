package sip

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/emiago/sipgo"
	"github.com/emiago/sipgo/sip"
)

// What [Options.Admit] may wrap.
var (
	// ErrBusy says that a call is refused because there are too many.
	ErrBusy = errors.New("too many calls")
	// ErrUnknown says that nobody has the number that is called.
	ErrUnknown = errors.New("the number is not in service")
)

// errMerged says that the same call has come on another way too (RFC 3261, section 8.2.2.2).
var errMerged = errors.New("sip: the call has come already")

// ErrClosed says that the server is being closed.
var ErrClosed = errors.New("sip: the server is closed")

const (
	// remembered is how long requests of a call may come after its end: they are repeated for 32 s.
	remembered = 40 * time.Second
	// byeLimit is how long the answer to the last request of a call may take.
	byeLimit = 5 * time.Second
)

// Incoming describes a call.
type Incoming struct {
	Call string // the Call-ID
	// From and To are the user parts of who calls and who is called, such as a number.
	From, To string
	// User is the name of who has shown a password; empty if the network was enough.
	User   string
	Source netip.AddrPort // of the request
}

// Hangup says why a call is over.
type Hangup struct {
	Cause string // such as normal, no_ack, held_too_long, expired, no_sound, transferred
	By    string // caller, agent or server
}

// Server takes and places calls. It is safe for concurrent use.
type Server struct {
	o       Options
	codecs  []*codec
	ua      *sipgo.UserAgent
	guard   *guard
	screen  *screen
	streams []*listener
	addrs   map[string]netip.AddrPort // where it listens, by transport
	ports   *ports
	running sync.WaitGroup // everything that Close waits for
	leaving sync.WaitGroup // registrations, which end before the sockets

	stopping chan struct{} // closed by Close
	stop     sync.Once

	mu       sync.Mutex       // guards the fields below
	stopped  bool             // no call is taken any more
	ended    bool             // no request is taken any more
	calls    map[string]*call // by key
	live     int              // calls that are not over
	names    map[string]int   // number of the calls of a Call-ID
	expected map[netip.AddrPort]time.Time
	swept    time.Time
}

// New returns a server that listens. The caller must close it.
func New(o Options) (_ *Server, err error) {
	o.setDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := &Server{
		o: o, guard: newGuard(&o), addrs: make(map[string]netip.AddrPort), stopping: make(chan struct{}), calls: make(map[string]*call),
		names: make(map[string]int), expected: make(map[netip.AddrPort]time.Time),
	}
	for _, name := range o.Codecs {
		s.codecs = append(s.codecs, codecs[name])
	}
	quiet := slog.New(slog.DiscardHandler) // the library logs whole messages
	prepareLibrary()
	client := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.TLS != nil {
		client.RootCAs = o.TLS.RootCAs
	}
	s.ua, err = sipgo.NewUA(
		sipgo.WithUserAgent(userAgent), sipgo.WithUserAgentParser(newParser()), sipgo.WithUserAgenTLSConfig(client),
		sipgo.WithUserAgentTransportLayerOptions(sip.WithTransportLayerLogger(quiet)),
		sipgo.WithUserAgentTransactionLayerOptions(sip.WithTransactionLayerLogger(quiet), sip.WithTransactionLayerUnhandledResponseHandler(s.repeated)),
	)
	if err != nil {
		return nil, fmt.Errorf("sip: %w", err)
	}
	srv, err := sipgo.NewServer(s.ua, sipgo.WithServerLogger(quiet))
	if err != nil {
		return nil, fmt.Errorf("sip: %w", err)
	}
	s.handle(srv)
	if err := s.listen(srv); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	for _, r := range o.Registrars {
		s.leaving.Go(func() { s.register(r) })
	}
	return s, nil
}

func newParser() *sip.Parser {
	p := sip.NewParser()
	p.MaxMessageLength = maxMessage
	return p
}

// prepareLibrary sets what the library has for all its users. Answers over UDP may be longer than a packet
// of Ethernet: an answer must go the way that the request came (RFC 3261, section 18.2.2). The library's
// remarks about its connections help nobody.
var prepareLibrary = sync.OnceFunc(func() {
	sip.UDPMTUSize = maxMessage + 200
	sip.SetDefaultLogger(slog.New(slog.DiscardHandler))
})

// listen opens the ports.
func (s *Server) listen(srv *sipgo.Server) error {
	at, err := parseAddr(s.o.Addr)
	if err != nil {
		return err
	}
	udp, tcp, err := listenBoth(at)
	if err != nil {
		return fmt.Errorf("sip: listen: %w", err)
	}
	s.addrs["UDP"] = addrOf(udp.LocalAddr())
	s.addrs["TCP"] = addrOf(tcp.Addr())
	s.ports = newPorts(at.Addr(), s.o.FirstPort, s.o.LastPort)
	s.screen = &screen{
		PacketConn: udp, guard: s.guard, strangers: newStrangers(time.Now()), parser: newParser(), known: s.known, expects: s.expects,
		reads: newFact(),
	}
	var secure net.Listener // opened before anything is served, which needs the addresses
	if s.o.TLSAddr != "" {
		at, err := parseAddr(s.o.TLSAddr)
		if err == nil {
			secure, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", at.String())
		}
		if err != nil {
			return errors.Join(fmt.Errorf("sip: listen: %w", err), udp.Close(), tcp.Close())
		}
		s.addrs["TLS"] = addrOf(secure.Addr())
	}
	s.serve(func() error { return srv.ServeUDP(s.screen) }, udp.Close)
	<-s.screen.reads.c
	plain := newListener(tcp, s.guard.allows)
	s.streams = append(s.streams, plain)
	if secure != nil {
		encrypted := newListener(secure, s.guard.allows)
		s.streams = append(s.streams, encrypted)
		s.serve(func() error { return srv.ServeTLS(tls.NewListener(encrypted, s.o.TLS)) }, secure.Close)
	}
	s.serve(func() error { return srv.ServeTCP(plain) }, tcp.Close)
	return nil
}

// listenBoth opens the same port for UDP and TCP, any if the port is 0.
func listenBoth(at netip.AddrPort) (net.PacketConn, net.Listener, error) {
	lc := net.ListenConfig{}
	for attempt := 0; ; attempt++ {
		udp, err := lc.ListenPacket(context.Background(), "udp", at.String())
		if err != nil {
			return nil, nil, err
		}
		tcp, err := lc.Listen(context.Background(), "tcp", netip.AddrPortFrom(at.Addr(), addrOf(udp.LocalAddr()).Port()).String())
		if err == nil {
			return udp, tcp, nil
		}
		err = errors.Join(err, udp.Close())
		if at.Port() != 0 || attempt == 10 {
			return nil, nil, err
		}
	}
}

// addrOf returns the address of a socket.
func addrOf(a net.Addr) netip.AddrPort {
	at, _ := netip.ParseAddrPort(a.String())
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// serve runs a listener until the server stops.
func (s *Server) serve(run func() error, end func() error) {
	s.running.Go(func() { _ = run() })
	s.running.Go(func() {
		<-s.stopping
		// Before the calls have ended their answers must still arrive.
		s.settled()
		s.leaving.Wait()
		_ = end()
	})
}

// settled waits until no call is left.
func (s *Server) settled() {
	for {
		s.mu.Lock()
		var one *call
		for _, c := range s.calls {
			if !c.gone.happened() {
				one = c
				break
			}
		}
		s.mu.Unlock()
		if one == nil {
			return
		}
		<-one.gone.c
	}
}

// Addr returns where the server listens for UDP and TCP.
func (s *Server) Addr() netip.AddrPort { return s.addrs["UDP"] }

// Live returns the number of calls that are not over.
func (s *Server) Live() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

// Close hangs up all calls, ends their legs and the server, and waits for its goroutines.
func (s *Server) Close() error {
	s.stop.Do(func() {
		s.mu.Lock()
		s.stopped = true
		s.mu.Unlock()
		close(s.stopping)
	})
	s.settled()
	s.leaving.Wait()
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	err := s.ua.Close()
	s.running.Wait()
	return err
}

// work runs a part of the server, for which Close waits. It reports whether the server takes work.
func (s *Server) work(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.running.Go(f)
	return true
}

// failed reports an error that is no stranger's.
func (s *Server) failed(err error) {
	if s.o.Failed != nil {
		s.o.Failed(err)
	}
}

// add takes a new call. It returns an error if there is no room.
func (s *Server) add(c *call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(time.Now())
	switch {
	case s.stopped:
		return ErrClosed
	case s.live >= s.o.MaxCalls:
		return ErrBusy
	}
	if s.names[c.dialog.callID] > 0 {
		for _, other := range s.calls {
			if other.dialog.callID == c.dialog.callID && other.dialog.remoteTag == c.dialog.remoteTag {
				return errMerged
			}
		}
	}
	s.live++
	s.calls[c.dialog.key()] = c
	s.names[c.dialog.callID]++
	return nil
}

// rest notes that a call is over. It is remembered as long as requests of it may come.
func (s *Server) rest(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live--
	c.forget = time.Now().Add(remembered)
}

// sweep forgets what is long over. It requires mu.
func (s *Server) sweep(now time.Time) {
	if now.Sub(s.swept) < time.Second {
		return
	}
	s.swept = now
	for key, c := range s.calls {
		if !c.forget.IsZero() && now.After(c.forget) {
			delete(s.calls, key)
			if s.names[c.dialog.callID]--; s.names[c.dialog.callID] == 0 {
				delete(s.names, c.dialog.callID)
			}
		}
	}
	for at, until := range s.expected {
		if now.After(until) {
			delete(s.expected, at)
		}
	}
}

// find returns the call to which a request belongs, or nil.
func (s *Server) find(req *sip.Request) *call {
	key, ok := keyOf(req)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[key]
}

// known reports whether a call has a Call-ID.
func (s *Server) known(callID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names[callID] > 0
}

// expects reports whether a request was sent to an address, so that answers may come from there.
func (s *Server) expects(from netip.AddrPort) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	until, ok := s.expected[from]
	return ok && time.Now().Before(until)
}

func (s *Server) expect(to netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.sweep(now)
	s.expected[to] = now.Add(remembered)
}

// vouch takes the limits of strangers from the connection of a request that was admitted.
func (s *Server) vouch(req *sip.Request) {
	if req.Transport() == "UDP" {
		return
	}
	for _, l := range s.streams {
		l.vouch(req.Source())
	}
}

// via returns from where requests to an address are sent, and the contact of the server there.
func (s *Server) via(transport string, to netip.Addr) (via, sip.ContactHeader) {
	at := s.addrs[transport]
	host := s.hostFor(to)
	v := via{host: host.String(), port: int(at.Port()), local: sip.Addr{IP: net.IP(at.Addr().AsSlice()), Port: int(at.Port())}}
	uri := sip.Uri{Scheme: "sip", User: userAgent, Host: v.host, Port: v.port}
	if transport != "UDP" {
		uri.UriParams = sip.NewParams()
		uri.UriParams.Add("transport", sip.NetworkToLower(transport))
	}
	return v, sip.ContactHeader{Address: uri}
}

// hostFor returns the address that another host is told.
func (s *Server) hostFor(to netip.Addr) netip.Addr {
	if s.o.External.IsValid() {
		return s.o.External
	}
	host := s.addrs["UDP"].Addr()
	if !host.IsUnspecified() {
		return host
	}
	// The address of the interface that leads there; nothing is sent.
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(to, 9)))
	if err != nil {
		return host
	}
	defer conn.Close()
	return addrOf(conn.LocalAddr()).Addr()
}
