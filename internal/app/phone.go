package app

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/leg/telnyx"
	"github.com/hocketvoice/hocket/leg/twilio"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/gate"
	"github.com/hocketvoice/hocket/server/hub"
)

// The environment variables with the secrets of carriers.
const (
	DefaultTwilioSecretEnv    = "TWILIO_AUTH_TOKEN" //nolint:gosec // the name of a variable
	DefaultTwilioAccountEnv   = "TWILIO_ACCOUNT_SID"
	DefaultTelnyxKeyEnv       = "TELNYX_API_KEY"
	DefaultTelnyxPublicKeyEnv = "TELNYX_PUBLIC_KEY"
)

// isNumber matches a telephone number in the form of E.164. A withheld one has another form.
var isNumber = regexp.MustCompile(`^\+[1-9][0-9]{5,14}$`)

// openPhones opens what takes calls: the handlers of carriers that the config has, and SIP.
func (s *Server) openPhones(c config.Server) error {
	s.phones, s.places = make(map[string]http.Handler), make(map[string]placing)
	if c.Twilio.URL != "" {
		if err := s.openTwilio(c.Twilio, c.Dial); err != nil {
			return inputError{fmt.Errorf("server.twilio%w", err)}
		}
	}
	if c.Telnyx.URL != "" {
		if err := s.openTelnyx(c.Telnyx); err != nil {
			return inputError{fmt.Errorf("server.telnyx%w", err)}
		}
	}
	if c.SIP.Addr != "" {
		if err := s.openSIP(c); err != nil {
			return inputError{fmt.Errorf("server.sip%w", err)}
		}
	}
	s.dialer = newDialer(s, c)
	return nil
}

// openTwilio opens the handler of Twilio's calls. The error follows the name of the section.
func (s *Server) openTwilio(c config.Twilio, d config.Dial) error {
	secret, err := secretOf(cmp.Or(c.SecretEnv, DefaultTwilioSecretEnv), "the auth token of the account")
	if err != nil {
		return err
	}
	agent, err := s.answering(c.Agent)
	if err != nil {
		return err
	}
	account := ""
	if len(d.Allow) > 0 && d.Carrier != "telnyx" {
		if account, err = secretOf(cmp.Or(c.AccountEnv, DefaultTwilioAccountEnv), "the name of the account (AC...)"); err != nil {
			return err
		}
	}
	h, err := twilio.New(twilio.Options{
		Secret: secret, URL: c.URL, Account: account, API: c.APIURL, Vouch: gate.Vouch,
		Admit: func(context.Context, twilio.Incoming) error { return s.admitPhone(twilio.ErrBusy) },
		Start: func(_ context.Context, in twilio.Incoming, leg twilio.Leg) error {
			return s.beginPhone(agent, in.From, leg) //nolint:contextcheck // it outlives the request
		},
		Failed: s.phoneFailed,
	})
	if err != nil {
		return fmt.Errorf(": %w", err)
	}
	s.phones["twilio"] = h
	s.places["twilio"] = func(ctx context.Context, d port.Dial) (phoneLeg, error) { return h.Dial(ctx, d) }
	return nil
}

// openTelnyx opens the handler of Telnyx's calls. The error follows the name of the section.
func (s *Server) openTelnyx(c config.Telnyx) error {
	key, err := secretOf(cmp.Or(c.KeyEnv, DefaultTelnyxKeyEnv), "an API key of the account")
	if err != nil {
		return err
	}
	public, err := secretOf(cmp.Or(c.PublicKeyEnv, DefaultTelnyxPublicKeyEnv), "the public key of the account")
	if err != nil {
		return err
	}
	agent, err := s.answering(c.Agent)
	if err != nil {
		return err
	}
	h, err := telnyx.New(telnyx.Options{
		Key: key, PublicKey: public, URL: c.URL, API: c.APIURL, Connection: c.Connection, Codec: strings.ToUpper(c.Codec), Vouch: gate.Vouch,
		Admit: func(context.Context, telnyx.Incoming) error { return s.admitPhone(telnyx.ErrBusy) },
		Start: func(_ context.Context, in telnyx.Incoming, leg telnyx.Leg) error {
			return s.beginPhone(agent, in.From, leg) //nolint:contextcheck // it outlives the request
		},
		Ended: func(_ telnyx.Incoming, h telnyx.Hangup) {
			s.o.Log.Info("a call is over", "cause", h.Cause, "by", h.Source)
		},
		Failed: s.phoneFailed,
	})
	if err != nil {
		return fmt.Errorf(": %w", err)
	}
	s.phones["telnyx"] = h
	s.places["telnyx"] = func(ctx context.Context, d port.Dial) (phoneLeg, error) { return h.Dial(ctx, d) }
	s.close = append(s.close, h.Close)
	return nil
}

// secretOf returns the value of an environment variable.
func secretOf(name, what string) (string, error) {
	secret := os.Getenv(name)
	if secret == "" {
		return "", fmt.Errorf(": the environment variable %s is not set: expected %s", name, what)
	}
	return secret, nil
}

// answering returns the name of the agent that answers calls: the first one if name is empty.
func (s *Server) answering(name string) (string, error) {
	agents := s.roster.list()
	name = cmp.Or(name, agents[0].name)
	if !slices.ContainsFunc(agents, func(a *served) bool { return a.name == name }) {
		return "", fmt.Errorf(".agent: is %q: no agent has this name", name)
	}
	return name, nil
}

func (s *Server) phoneFailed(err error) { s.o.Log.Warn("a call failed", "error", err) }

// admitPhone returns an error that wraps busy if there is no room for a call.
func (s *Server) admitPhone(busy error) error {
	var err error
	switch {
	case s.hub.Draining():
		err = hub.ErrDraining
	case s.hub.Full():
		err = hub.ErrFull
	case s.hub.Late():
		err = hub.ErrLate
	default:
		return nil
	}
	s.hub.Refuse(err)
	return fmt.Errorf("%w: %w", busy, err)
}

// beginPhone begins the conversation of a call. The caller's number is the name under which
// delegated work is told in a later call.
func (s *Server) beginPhone(agent, from string, leg port.Leg) error {
	_, err := s.startPhone(agent, "", from, leg)
	return err
}

// startPhone starts the conversation of a call with a number, on behalf of an owner.
func (s *Server) startPhone(agent, owner, number string, leg port.Leg) (*hub.Conversation, error) {
	call := s.roster.named(agent).call("phone")
	call.Leg, call.Owner = leg, owner
	if isNumber.MatchString(number) {
		call.Caller = api.CallerOf(owner, number)
	}
	return s.hub.Start(call)
}
