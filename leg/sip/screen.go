package sip

import (
	"net"
	"net/netip"
	"time"

	"github.com/emiago/sipgo/sip"
)

// screen is a UDP socket that passes on only what is admitted, so that a stranger's request costs
// neither a transaction nor a goroutine. It answers others itself, and drops those of who sends too many.
//
//	from an address that may call without a password   passed
//	of a call that there is                            passed
//	an answer to a request that we sent                passed
//	with a password                                    passed
//	too many of an address, or of all                  dropped
//	ACK, an answer, what cannot be parsed              dropped
//	other requests                                     answered 401 or 403
type screen struct {
	net.PacketConn
	guard     *guard
	strangers *strangers
	parser    *sip.Parser
	known     func(callID string) bool       // a call has the name
	expects   func(from netip.AddrPort) bool // we have sent a request there
	reads     *fact                          // the library reads: it can send too
}

// maxMessage is the length of a message in bytes.
const maxMessage = 16 << 10

// ReadFrom returns the next message that is admitted.
func (s *screen) ReadFrom(b []byte) (int, net.Addr, error) {
	s.reads.happen()
	for {
		n, addr, err := s.PacketConn.ReadFrom(b)
		if err != nil {
			return n, addr, err
		}
		udp, ok := addr.(*net.UDPAddr)
		if !ok || n > maxMessage {
			continue
		}
		at := udp.AddrPort()
		at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
		if s.admits(time.Now(), at, b[:n], addr) {
			return n, net.UDPAddrFromAddrPort(at), nil
		}
	}
}

// admits reports whether a message is passed on.
func (s *screen) admits(now time.Time, from netip.AddrPort, b []byte, addr net.Addr) bool {
	if s.guard.allows(from.Addr()) || s.expects(from) {
		return true
	}
	if len(b) < 12 || !s.strangers.take(now, from.Addr()) {
		return false
	}
	m, err := s.parser.ParseSIP(b)
	if err != nil {
		return false
	}
	req, ok := m.(*sip.Request)
	if !ok || req.IsAck() && (req.CallID() == nil || !s.known(req.CallID().Value())) {
		return false
	}
	req.SetTransport("UDP")
	req.SetSource(from.String())
	if err := checkRequest(req); err != nil {
		return false
	}
	if s.known(req.CallID().Value()) {
		s.strangers.forgive(from.Addr())
		return true
	}
	v, _ := s.guard.judge(now, req, from.Addr())
	if v == passed {
		s.strangers.forgive(from.Addr())
		return true
	}
	_, _ = s.WriteTo([]byte(s.guard.response(now, req, from.Addr(), v).String()), addr)
	return false
}
