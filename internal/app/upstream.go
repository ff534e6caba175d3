package app

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/model"
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
	one, err := realtime.New(model.UpstreamOptions(c))
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
	list := installation.Upstreams
	if installation.Upstream.Name != "" {
		list = append([]config.Upstream{installation.Upstream}, list...)
	}
	if i := slices.IndexFunc(list, func(u config.Upstream) bool { return u.Name == name }); i >= 0 {
		return list[i], nil
	}
	if name == "" {
		return installation.Upstream, nil
	}
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	p := installation.Problem("upstreams", fmt.Sprintf("the agent names the speech-to-speech service %q: expected a service of that name here", name))
	if p.Suggestion = config.Nearest(name, names); len(names) == 0 {
		p.Key, p.Message = "upstream", fmt.Sprintf("is missing: the agent names the speech-to-speech service %q, whose server must be given in this config", name)
	}
	return config.Upstream{}, config.Problems{p}
}
