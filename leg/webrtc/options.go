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

// Options configures a [Server]. Zero fields select the defaults.
type Options struct {
	// Addr is the UDP address of all calls. The default "127.0.0.1:0" is any port
	// of the loopback interface. With an unspecified address ("0.0.0.0:7000") the
	// candidates are the addresses of all interfaces.
	Addr string
	// Conn, if not nil, is used instead of a socket at Addr. The server closes it.
	Conn net.PacketConn
	// PublicIPs are announced to browsers in place of the machine's own addresses,
	// for a machine behind a network address translation that keeps the port.
	PublicIPs []string

	// Rate is the sampling rate of the legs' frames in hertz: 8000, 12000, 16000,
	// 24000 (the default) or 48000. Most voices produce 24000, and it contains the
	// recognizer's 16000; 48000 costs more and has no benefit.
	Rate int
	// Bitrate of the agent's voice in bits per second; default 32000.
	Bitrate int

	// Connect is the time limit for establishing a connection, and how long a leg
	// lives that was never connected; default 20 s.
	Connect time.Duration
	// Linger is how long a leg waits for a new connection after a loss. The default
	// of 30 s equals the conversation's time limit for reconnecting. A negative
	// value ends the leg at once.
	Linger time.Duration
	// MaxLegs limits the number of calls; default 1000.
	MaxLegs int

	Logger *slog.Logger // nil disables logging
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

// Validate returns an error if an option is invalid.
func (o Options) Validate() error {
	o.setDefaults()
	if err := (opus.EncoderOptions{Rate: o.Rate, Bitrate: o.Bitrate}).Validate(); err != nil {
		return fmt.Errorf("webrtc: %w", err)
	}
	if o.Connect < 0 || o.MaxLegs < 0 {
		return errors.New("webrtc: Connect and MaxLegs must not be negative")
	}
	if _, err := net.ResolveUDPAddr("udp", o.Addr); o.Conn == nil && err != nil {
		return fmt.Errorf("webrtc: address %q: %w", o.Addr, err)
	}
	for _, ip := range o.PublicIPs {
		if _, err := netip.ParseAddr(ip); err != nil {
			return fmt.Errorf("webrtc: public address %q must be an IP address", ip)
		}
	}
	return nil
}
