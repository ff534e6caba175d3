package webrtc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
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
	// Ports, if set, gives each call its own UDP port in this range. Addr then only
	// determines the host.
	Ports PortRange
	// TCP, if not empty, is a TCP address ("0.0.0.0:7000") that calls can use where UDP
	// is blocked (RFC 6544).
	TCP string
	// PublicIPs are announced to browsers instead of the machine's own addresses, for a
	// machine behind a network address translation that keeps the ports. Host names are
	// resolved when the server is created.
	PublicIPs []string
	// KeepPrivate also announces the machine's own addresses, for browsers in the same
	// network.
	KeepPrivate bool

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

// PortRange is a range of ports, including both ends. The zero value means that no
// range is set.
type PortRange struct{ Min, Max uint16 }

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
	if o.Ports != (PortRange{}) && (o.Ports.Min == 0 || o.Ports.Max < o.Ports.Min) {
		return fmt.Errorf("webrtc: ports %d-%d must be a range from 1 to 65535", o.Ports.Min, o.Ports.Max)
	}
	if o.Ports != (PortRange{}) && o.Conn != nil {
		return errors.New("webrtc: Ports and Conn must not both be set")
	}
	if o.TCP != "" {
		if _, err := net.ResolveTCPAddr("tcp", o.TCP); err != nil {
			return fmt.Errorf("webrtc: TCP address %q: %w", o.TCP, err)
		}
	}
	for _, name := range o.PublicIPs {
		if !IsHost(name) {
			return fmt.Errorf("webrtc: public address %q must be an IP address or a host name", name)
		}
	}
	return nil
}

// IsHost reports whether a text has the form of an IP address or a host name (RFC 1123,
// section 2.1).
func IsHost(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	labels := strings.Split(strings.TrimSuffix(text, "."), ".")
	for _, label := range labels {
		odd := func(r rune) bool {
			return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-'
		}
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || strings.ContainsFunc(label, odd) {
			return false
		}
	}
	last := labels[len(labels)-1]
	return len(text) <= 253 && strings.Trim(last, "0123456789") != "" // otherwise it is an invalid IP address
}

// publicAddresses resolves names to addresses.
func publicAddresses(ctx context.Context, names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name) // returns an address unchanged
		if err != nil {
			return nil, fmt.Errorf("webrtc: public address %q: %w", name, err)
		}
		for _, ip := range found {
			if text := ip.Unmap().String(); !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return all, nil
}
