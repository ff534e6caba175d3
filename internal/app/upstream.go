package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/provider/realtime"
	"github.com/hocketvoice/hocket/session"
)

// upstreams are the open speech-to-speech services, one for each config. It is safe for
// concurrent use.
type upstreams struct {
	mu   sync.Mutex // guards open
	open map[config.Upstream]*realtime.Service
}

// get returns the service of a config, which it opens if needed, or nil if c is zero.
func (u *upstreams) get(c config.Upstream) (*realtime.Service, error) {
	if c == (config.Upstream{}) {
		return nil, nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if one, ok := u.open[c]; ok {
		return one, nil
	}
	one, err := realtime.New(upstreamOptions(c))
	if err != nil {
		return nil, fmt.Errorf("upstream: %w", err)
	}
	if u.open == nil {
		u.open = make(map[config.Upstream]*realtime.Service)
	}
	u.open[c] = one
	return one, nil
}

// close closes the services.
func (u *upstreams) close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	var errs []error
	for _, one := range u.open {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

// useUpstream makes a speech-to-speech service the ear and the voice of a call. It also answers for
// an agent without flows, which then has no dialogue. Without a service it does nothing.
func useUpstream(o *session.Options, service *realtime.Service, def *settings.Agent) {
	if service == nil {
		return
	}
	o.Upstream = service
	o.Recognizer, o.Detector, o.Synthesizer = nil, nil, nil
	if len(def.Flows()) == 0 {
		if o.Conv.Greeting == "" {
			o.Conv.Greeting = def.Settings().Greeting
		}
		o.Conv.Agent, o.AgentFiles = nil, nil
	}
}

// agentUpstream returns the speech-to-speech service of an agent: with a config, the one whose name
// the agent's files give, or the config's default if they give none; without a config, own, the one
// described in the agent's files.
func agentUpstream(def *settings.Agent, own config.Upstream, installation *config.Config) (config.Upstream, error) {
	name := def.Settings().Upstream
	if own.Name != "" {
		name = own.Name // the config says which server has it
	}
	if installation == nil {
		if own.Name == "" {
			own.Name = name // at OpenAI
		}
		return own, nil
	}
	upstreams := catalogue[config.Upstream]{
		what: "speech-to-speech service", kind: "service", key: "upstream", name: func(u *config.Upstream) string { return u.Name },
		usual: installation.Upstream, others: installation.Upstreams,
	}
	return upstreams.named(name, installation)
}

// upstreamOptions returns the options of a described speech-to-speech service.
func upstreamOptions(c config.Upstream) realtime.Options {
	o := realtime.Options{
		Model: c.Name, URL: c.URL, KeyEnv: c.KeyEnv, APIVersion: c.APIVersion, Beta: c.Beta, Secrets: c.Secrets,
		Voice: c.Voice, Detection: c.Detection, Silence: time.Duration(c.Silence), Threshold: float64(c.Threshold),
		Eagerness: c.Eagerness, Transcriber: c.Transcriber, Noise: c.Noise, Format: c.Format, MaxTokens: int(c.MaxTokens),
	}
	if c.Entra != (config.Entra{}) {
		o.Entra = &realtime.Entra{Tenant: c.Entra.Tenant, Client: c.Entra.Client, SecretEnv: c.Entra.SecretEnv}
	}
	return o
}

// foreignUpstreamKey returns an error if the service of an agent's own file would send a vendor's
// key to another server.
func foreignUpstreamKey(c *config.Config) error {
	if c.Upstream.Name == "" {
		return nil
	}
	return c.ForeignKey(upstreamOptions(c.Upstream).ForeignKey(), "upstream", "secrets")
}

// upstreamProblems returns the problems of the sections upstream and upstreams. Keys are checked
// when the services are opened.
func upstreamProblems(c *config.Config) config.Problems {
	var all config.Problems
	one := func(key string, u config.Upstream) {
		if u.Name == "" {
			return // nothing, or reported already
		}
		if err := upstreamOptions(u).Validate(); err != nil {
			message := strings.TrimPrefix(err.Error(), "realtime: ")
			if strings.HasPrefix(message, "the URL") || strings.HasPrefix(message, "an API version") {
				key += ".url"
			}
			all = append(all, c.Problem(key, message))
		}
	}
	one("upstream", c.Upstream)
	for i, u := range c.Upstreams {
		key := fmt.Sprintf("upstreams[%d]", i)
		one(key, u)
		if u.Name != "" && slices.ContainsFunc(c.Upstreams[:i], func(o config.Upstream) bool { return o.Name == u.Name }) {
			all = append(all, c.Problem(key+".name", fmt.Sprintf("is %q: another service has this name", u.Name)))
		}
	}
	return all
}
