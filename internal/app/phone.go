package app

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/leg/twilio"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/gate"
	"github.com/hocketvoice/hocket/server/hub"
)

// DefaultTwilioSecretEnv is the environment variable with the auth token of Twilio's account.
const DefaultTwilioSecretEnv = "TWILIO_AUTH_TOKEN" //nolint:gosec // the name of a variable

// number is a telephone number in the form of E.164. A withheld one has another form.
var number = regexp.MustCompile(`^\+[1-9][0-9]{5,14}$`)

// openTwilio opens the handler of Twilio's calls, if the config has one.
func (s *Server) openTwilio(c config.Twilio) error {
	if c.URL == "" {
		return nil
	}
	name := cmp.Or(c.SecretEnv, DefaultTwilioSecretEnv)
	secret := os.Getenv(name)
	if secret == "" {
		return inputError{fmt.Errorf("server.twilio: the environment variable %s is not set: expected the auth token of the account", name)}
	}
	agents := s.roster.list()
	agent := cmp.Or(c.Agent, agents[0].name)
	if !slices.ContainsFunc(agents, func(a *served) bool { return a.name == agent }) {
		return inputError{fmt.Errorf("server.twilio.agent: is %q: no agent has this name", c.Agent)}
	}
	h, err := twilio.New(twilio.Options{
		Secret: secret, URL: c.URL,
		Admit: func(ctx context.Context, _ twilio.Incoming) error {
			gate.Vouch(ctx)
			return s.admitPhone()
		},
		Start: func(ctx context.Context, in twilio.Incoming, leg twilio.Leg) error {
			return s.beginPhone(ctx, agent, in, leg)
		},
		Failed: func(err error) { s.o.Log.Warn("a call could not begin", "error", err) },
	})
	if err != nil {
		return inputError{fmt.Errorf("server.twilio: %w", err)}
	}
	s.twilio = h
	return nil
}

// admitPhone returns an error if there is no room for a call.
func (s *Server) admitPhone() error {
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
	return fmt.Errorf("%w: %w", twilio.ErrBusy, err)
}

// beginPhone begins the conversation of a call. The caller's number is the name under which
// delegated work is told in a later call.
func (s *Server) beginPhone(ctx context.Context, agent string, in twilio.Incoming, leg twilio.Leg) error {
	gate.Vouch(ctx)
	call := s.roster.named(agent).call("phone")
	call.Leg = leg
	if number.MatchString(in.From) {
		call.Caller = api.CallerOf("", in.From)
	}
	_, err := s.hub.Start(call) //nolint:contextcheck // it outlives the request
	return err
}
