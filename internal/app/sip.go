package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/leg/sip"
)

// openSIP opens the server of calls over SIP. The error follows the name of the section.
func (s *Server) openSIP(c config.Server) error {
	o, err := sipOptions(c.SIP)
	if err != nil {
		return fmt.Errorf(": %w", err)
	}
	for i, u := range c.SIP.Users {
		if o.Users[i].Password, err = secretOf(u.PasswordEnv, "a password"); err != nil {
			return fmt.Errorf(".users[%d]%w", i, err)
		}
	}
	for i, r := range c.SIP.Register {
		if r.PasswordEnv == "" {
			continue
		}
		if o.Registrars[i].Password, err = secretOf(r.PasswordEnv, "the password of the account"); err != nil {
			return fmt.Errorf(".register[%d]%w", i, err)
		}
	}
	agents := make(map[string]string, len(c.SIP.Numbers))
	for i, n := range c.SIP.Numbers {
		if agents[plainNumber(n.Number)], err = s.answering(n.Agent); err != nil {
			return fmt.Errorf(".numbers[%d]%w", i, err)
		}
	}
	other, err := s.answering(c.SIP.Agent)
	if err != nil {
		return err
	}
	agentOf := func(in sip.Incoming) string {
		if len(agents) == 0 {
			return other
		}
		return agents[plainNumber(in.To)]
	}
	o.MaxCalls = int(c.MaxConversations)
	if o.TLSAddr != "" {
		if o.TLS = s.secrets.tls(); o.TLS == nil {
			return errors.New(".tls_addr: there is no certificate: expected server.tls")
		}
	}
	o.Admit = func(_ context.Context, in sip.Incoming) error {
		if agentOf(in) == "" {
			return sip.ErrUnknown
		}
		return s.admitPhone(sip.ErrBusy)
	}
	o.Start = func(_ context.Context, in sip.Incoming, leg *sip.Leg) error {
		return s.beginPhone(agentOf(in), in.From, leg) //nolint:contextcheck // it outlives the request
	}
	o.Ended = func(_ sip.Incoming, h sip.Hangup) { s.o.Log.Info("a call is over", "cause", h.Cause, "by", h.By) }
	o.Failed = s.phoneFailed
	if s.sip, err = sip.New(o); err != nil {
		return fmt.Errorf(": %w", err)
	}
	s.close = append(s.close, s.sip.Close)
	s.o.Log.Info("calls over SIP are answered", "addr", s.sip.Addr().String())
	return nil
}

// plainNumber returns a number or a name as it is compared: a number may have a plus or not.
func plainNumber(text string) string { return strings.TrimPrefix(text, "+") }

// sipOptions returns the options that the config has, with the names of users, and no passwords.
func sipOptions(c config.SIP) (sip.Options, error) {
	o := sip.Options{
		Addr: c.Addr, TLSAddr: c.TLSAddr, Codecs: c.Codecs, Encrypt: sip.Encryption(c.Encrypt), MaxHold: time.Duration(c.MaxHold),
	}
	var err error
	if c.External != "" {
		if o.External, err = netip.ParseAddr(c.External); err != nil {
			return o, errors.New("external is invalid: expected an IP address")
		}
	}
	if c.Ports != "" {
		p, err := portRange(c.Ports)
		if err != nil {
			return o, fmt.Errorf("ports %w", err)
		}
		o.FirstPort, o.LastPort = int(p.Min), int(p.Max)
	}
	for i, text := range c.Allow {
		p, err := netip.ParsePrefix(text)
		if a, one := netip.ParseAddr(text); one == nil {
			p, err = a.Unmap().Prefix(a.Unmap().BitLen())
		}
		if err != nil {
			return o, fmt.Errorf("allow[%d] is %q: expected an address or a network, such as 192.0.2.0/24", i, text)
		}
		o.Allow = append(o.Allow, p.Masked())
	}
	for _, r := range c.Register {
		o.Registrars = append(o.Registrars, sip.Registrar{Server: r.Server, Name: r.Name, Expires: time.Duration(r.Expires)})
	}
	for _, u := range c.Users {
		o.Users = append(o.Users, sip.User{Name: u.Name})
	}
	return o, nil
}

// sipProblems returns the problems of the section server.sip.
func sipProblems(c *config.Config) config.Problems {
	const key = "server.sip"
	s := c.Server.SIP
	if reflect.ValueOf(s).IsZero() {
		return nil
	}
	problem := func(text string) config.Problems { return config.Problems{c.Problem(key, text)} }
	if s.Addr == "" {
		return problem("has no addr, without which no call is answered: expected one such as " + sip.DefaultAddr)
	}
	if len(s.Allow) == 0 && len(s.Users) == 0 && len(s.Register) == 0 {
		return problem("has neither allow nor users nor register, without which nobody may call")
	}
	o, err := sipOptions(s)
	if err != nil {
		return problem(err.Error())
	}
	for i, u := range s.Users {
		if u.Name == "" || u.PasswordEnv == "" {
			return problem(fmt.Sprintf("users[%d] has no name or no password_env", i))
		}
		o.Users[i].Password = u.PasswordEnv
	}
	seen := make(map[string]bool)
	for i, n := range s.Numbers {
		switch name := plainNumber(n.Number); {
		case name == "":
			return problem(fmt.Sprintf("numbers[%d] has no number", i))
		case seen[name]:
			return problem(fmt.Sprintf("numbers[%d] has a number that another one has", i))
		default:
			seen[name] = true
		}
	}
	o.Start = func(context.Context, sip.Incoming, *sip.Leg) error { return nil }
	o.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	if err := o.Validate(); err != nil {
		// The options have the names of Go.
		return problem(strings.NewReplacer("sip: ", "", "TLSAddr", "tls_addr", "Addr", "addr", "External", "external", "Codecs", "codecs", "Users", "users", "Registrars", "register").Replace(err.Error()))
	}
	return nil
}
