package sip

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Defaults of [Options].
const (
	DefaultAddr     = "127.0.0.1:5060"
	DefaultMaxCalls = 100
	DefaultMaxHold  = 10 * time.Minute
)

// User is who may call with a password (digest authentication, RFC 8760 with MD5).
type User struct{ Name, Password string }

// Options configures a [Server]. Start is required, and Allow or Users if anybody is to call; other
// zero fields select the defaults.
type Options struct {
	// Addr is the host:port on which calls are taken over UDP and TCP; [DefaultAddr] if empty. The
	// host is an IP address.
	Addr string
	// TLSAddr, if not empty, is the host:port on which calls are taken over TLS, with the certificate
	// of TLS. Calls that are placed over TLS trust its RootCAs.
	TLSAddr string
	TLS     *tls.Config
	// External, if valid, is the address that others are told in place of the server's own: that of the
	// router behind which it is.
	External netip.Addr
	// FirstPort and LastPort bound the UDP ports of sound, of which each call takes an even one; any
	// port if 0.
	FirstPort, LastPort int
	// Codecs are the names of the forms of sound that calls may have, in the order in which they are
	// offered; all of [CodecNames] if empty. An offer of others is answered in its own order.
	Codecs []string
	// Encrypt says which calls have encrypted sound (SRTP with keys in SDP).
	Encrypt Encryption
	// Allow are the networks from which anybody may call without a password. UDP packets can be sent
	// with a false address: whoever can send such packets to the server can call.
	Allow []netip.Prefix
	// Users are who may call from anywhere. The realm of their passwords is Realm; "hocket" if empty.
	Users []User
	Realm string
	// Registrars are servers at which names are registered, which then send calls here.
	Registrars []Registrar
	// MaxCalls limits the calls at once; DefaultMaxCalls if 0.
	MaxCalls int
	// MaxHold is how long the other side may hold a call, after which it is hung up; [DefaultMaxHold]
	// if 0.
	MaxHold time.Duration
	// Admit, if not nil, decides whether a call is answered. An error that wraps [ErrBusy] makes the
	// caller hear a busy tone, one that wraps [ErrUnknown] that the number does not exist, and others
	// that the call is rejected.
	Admit func(ctx context.Context, in Incoming) error
	// Start begins the conversation of a call. It must not wait for the end of the conversation. From
	// then on the leg is the caller's, who must close it; after an error Start must have closed it.
	Start func(ctx context.Context, in Incoming, leg *Leg) error
	// Ended, if not nil, is called when a call that was answered is over.
	Ended func(in Incoming, h Hangup)
	// Failed, if not nil, is called when a call that was admitted could not begin, or could not be
	// ended as it should. The error contains no numbers. Requests of strangers are not reported.
	Failed func(err error)
}

// Encryption says which calls have encrypted sound.
type Encryption string

// The values of [Options.Encrypt].
const (
	EncryptOffered Encryption = ""         // those whose offer has it; our offers do not
	EncryptAlways  Encryption = "required" // all; others are refused
	EncryptNever   Encryption = "off"      // none
)

func (o *Options) setDefaults() {
	o.Addr = cmp.Or(o.Addr, DefaultAddr)
	o.MaxCalls = cmp.Or(o.MaxCalls, DefaultMaxCalls)
	o.MaxHold = cmp.Or(o.MaxHold, DefaultMaxHold)
	o.Realm = cmp.Or(o.Realm, "hocket")
	if len(o.Codecs) == 0 {
		o.Codecs = CodecNames()
	}
}

// Validate returns an error if an option is invalid.
func (o Options) Validate() error {
	o.setDefaults()
	if _, err := parseAddr(o.Addr); err != nil {
		return fmt.Errorf("sip: Addr %w", err)
	}
	if o.TLSAddr != "" {
		if _, err := parseAddr(o.TLSAddr); err != nil {
			return fmt.Errorf("sip: TLSAddr %w", err)
		}
		if o.TLS == nil {
			return errors.New("sip: TLSAddr is set, and TLS is nil")
		}
	}
	switch first, last := o.FirstPort, o.LastPort; {
	case o.Start == nil:
		return errors.New("sip: Start is nil")
	case (first != 0 || last != 0) && (first < 1024 || last > 65535 || last-first < 1):
		return fmt.Errorf("sip: the ports are %d to %d: expected at least two of 1024 to 65535", first, last)
	case o.External.IsValid() && (o.External.IsUnspecified() || o.External.IsMulticast()):
		return fmt.Errorf("sip: External is %v: expected the address of a host", o.External)
	case o.MaxCalls < 0 || o.MaxHold < 0:
		return errors.New("sip: MaxCalls or MaxHold is negative")
	case o.Encrypt != EncryptOffered && o.Encrypt != EncryptAlways && o.Encrypt != EncryptNever:
		return fmt.Errorf("sip: Encrypt is %q: expected nothing, required or off", o.Encrypt)
	case strings.ContainsAny(o.Realm, "\"\\\r\n"):
		return errors.New("sip: Realm contains a quotation mark, a backslash or the end of a line")
	}
	for i, name := range o.Codecs {
		if codecs[name] == nil {
			return fmt.Errorf("sip: Codecs[%d] is %q: expected one of %s", i, name, strings.Join(CodecNames(), ", "))
		}
		if slices.Contains(o.Codecs[:i], name) {
			return fmt.Errorf("sip: Codecs has %s twice", name)
		}
	}
	for i, u := range o.Users {
		switch {
		case u.Name == "" || u.Password == "":
			return fmt.Errorf("sip: Users[%d] has no name or no password", i)
		case slices.ContainsFunc(o.Users[:i], func(other User) bool { return other.Name == u.Name }):
			return fmt.Errorf("sip: Users has the name of Users[%d] twice", i)
		}
	}
	for i := range o.Registrars {
		if err := o.Registrars[i].validate(); err != nil {
			return fmt.Errorf("sip: Registrars[%d]: %w", i, err)
		}
	}
	return nil
}

// parseAddr parses an address to listen on.
func parseAddr(text string) (netip.AddrPort, error) {
	a, err := netip.ParseAddrPort(text)
	if err != nil || a.Addr().Zone() != "" {
		return netip.AddrPort{}, fmt.Errorf("is %q: expected an IP address and a port, such as %s", text, DefaultAddr)
	}
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()), nil
}
