package webrtc

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/hocketvoice/hocket/internal/codec/opus"
)

// Options set up a [Server]. Zero fields take the defaults named.
type Options struct {
	// Addr is the UDP address of all calls: "127.0.0.1:0", any port of this
	// machine alone. With an unspecified address ("0.0.0.0:7000") the candidates are
	// those of all interfaces.
	Addr string
	// Conn, if set, is used instead of a socket at Addr. The server closes it.
	Conn net.PacketConn
	// PublicIPs are told to browsers in place of the machine's own addresses, where
	// it stands behind a network address translation that keeps the port.
	PublicIPs []string

	// Rate is that of the legs' frames: 24000. What voices are made at, mostly, and
	// the recognizer's 16000 are in it; 48000 would cost more on both sides and add
	// nothing that either can use. 8000, 12000, 16000 and 48000 are possible.
	Rate int
	// Bitrate of the agent's voice: 32000 bits a second.
	Bitrate int

	// Connect is how long a new connection may take: 20 s.
	Connect time.Duration
	// Linger is how long a leg without a connection waits for one: 30 s, as long as
	// a conversation tries to reconnect. Below zero it ends at once.
	Linger time.Duration
	// MaxLegs bounds the calls: 1000.
	MaxLegs int

	Logger *slog.Logger // nil: nothing is logged
}

func (o *Options) setDefaults() {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if o.Rate == 0 {
		o.Rate = 24000
	}
	if o.Bitrate == 0 {
		o.Bitrate = 32000
	}
	if o.Connect == 0 {
		o.Connect = 20 * time.Second
	}
	if o.Linger == 0 {
		o.Linger = 30 * time.Second
	}
	if o.MaxLegs == 0 {
		o.MaxLegs = 1000
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// Validate says what does not fit.
func (o Options) Validate() error {
	o.setDefaults()
	if err := (opus.EncoderOptions{Rate: o.Rate, Bitrate: o.Bitrate}).Validate(); err != nil {
		return fmt.Errorf("webrtc: %w", err)
	}
	if o.Connect < 0 || o.MaxLegs < 0 {
		return errors.New("webrtc: Connect or MaxLegs is negative")
	}
	if _, err := net.ResolveUDPAddr("udp", o.Addr); o.Conn == nil && err != nil {
		return fmt.Errorf("webrtc: address %q: %w", o.Addr, err)
	}
	for _, ip := range o.PublicIPs {
		if _, err := netip.ParseAddr(ip); err != nil {
			return fmt.Errorf("webrtc: public address %q, expected an IP address", ip)
		}
	}
	return nil
}
