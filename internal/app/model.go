package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/provider/openai"
)

// Model is the language model of an agent. It remembers whether it answers.
type Model struct {
	*openai.Model
	Name string // the model's and its server's, for people

	mu       sync.Mutex
	answered bool  // once at least
	failed   error // the last request, nil if it was answered
}

var _ port.Model = (*Model)(nil)

// NewModel makes the language model of a config. It is nil where the config names none.
func NewModel(c config.Model) (*Model, error) {
	if c == (config.Model{}) {
		return nil, nil
	}
	m, err := openai.New(modelOptions(c))
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	host := cmp.Or(c.BaseURL, openai.DefaultBaseURL)
	if u, err := url.Parse(host); err == nil {
		host = u.Host
	}
	return &Model{Model: m, Name: c.Name + " at " + host}, nil
}

func modelOptions(c config.Model) openai.Options {
	return openai.Options{
		Model: c.Name, BaseURL: c.BaseURL, KeyEnv: c.KeyEnv, APIVersion: c.APIVersion,
		Organization: c.Organization, MaxTokens: int(c.MaxTokens),
	}
}

// Probe asks the server whether it is there and takes the key: see [openai.Model.Probe].
func (m *Model) Probe(ctx context.Context) error {
	err := m.Model.Probe(ctx)
	m.note(err, false)
	return err
}

// note keeps how a request went.
func (m *Model) note(err error, answered bool) {
	if _, failed := errors.AsType[*port.Failure](err); failed || err == nil {
		m.mu.Lock()
		m.answered, m.failed = m.answered || answered, err
		m.mu.Unlock()
	}
}

// passing reports whether the last failure may pass by itself.
func (m *Model) passing() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := errors.AsType[*port.Failure](m.failed)
	return ok && f.Retryable
}

// Reply asks the model: see [openai.Model.Reply].
func (m *Model) Reply(ctx context.Context, r port.Request, emit func(port.Delta) error) error {
	err := m.Model.Reply(ctx, r, emit)
	m.note(err, err == nil)
	return err
}

// port is the model as conversations have it: nothing where there is none.
func (m *Model) port() port.Model {
	if m == nil {
		return nil
	}
	return m
}

// Failed is why the last request failed, in one line with the server's words; nil if it was
// answered. never: no request has been answered so far.
func (m *Model) Failed() (never bool, err error) {
	if m == nil {
		return false, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failed == nil {
		return false, nil
	}
	reason := m.failed.Error()
	if f, ok := errors.AsType[*port.Failure](m.failed); ok {
		reason = f.Message // without the class, which is for programs
	}
	return !m.answered, fmt.Errorf("the language model %s does not answer: %s", m.Name, strings.TrimPrefix(reason, "openai: "))
}

// models are those that are open, each once.
type models struct {
	mu   sync.Mutex // guards open
	open map[config.Model]*Model
}

// get opens a model. It is nil where c is nothing.
func (m *models) get(c config.Model) (*Model, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if one, ok := m.open[c]; ok {
		return one, nil
	}
	one, err := NewModel(c)
	if err != nil {
		return nil, err
	}
	if m.open == nil {
		m.open = make(map[config.Model]*Model)
	}
	m.open[c] = one
	return one, nil
}

// all are those that are open.
func (m *models) all() []*Model {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*Model
	for _, one := range m.open {
		if one != nil {
			list = append(list, one)
		}
	}
	return list
}

// close ends all.
func (m *models) close() error {
	var errs []error
	for _, one := range m.all() {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

// probe asks each model's server once whether it is there and takes the key, so that who
// starts a server with a wrong one reads it before the first caller hears it.
func (m *models) probe(ctx context.Context, log *slog.Logger) {
	for _, one := range m.all() {
		if one.Probe(ctx) == nil || ctx.Err() != nil {
			continue
		}
		if _, err := one.Failed(); err != nil {
			log.Warn("the language model does not answer", "error", err)
		}
	}
}

// ready reports the first model that does not answer. One whose last request failed as others
// may have, and that has answered before, is ready: a request finds out.
func (m *models) ready(context.Context) error {
	for _, one := range m.all() {
		if never, err := one.Failed(); err != nil && (never || !one.passing()) {
			return err
		}
	}
	return nil
}

// withoutModel makes the conversation's options those of an agent without a model, where the
// config names none. The error is that of an agent that cannot do without.
func (o *Options) withoutModel(def *settings.Agent) error {
	if o.Model.Name != "" {
		return nil
	}
	m := def.Settings().Model
	if !m.Answers && !m.Understanding {
		return nil
	}
	if len(def.Flows()) == 0 {
		return fmt.Errorf("%s: the agent has instructions and no flows, and no language model is configured: "+
			"name one under model: in this file or in the config file (--config), or have hocket init write both", def.Files[0].Name)
	}
	o.Conversation.NoModel = true
	return nil
}

// remark tells what the agent does without.
func (o *Options) remark(name string, note func(string)) {
	if o.Conversation.NoModel {
		note(fmt.Sprintf("%s: no language model is configured: the flows understand by their own rules, and what they do not cover is not answered", name))
	}
}

// CheckAgent is what is wrong with the options that an agent's files set. Whether there is a
// model where the agent needs one is for who runs it.
func CheckAgent(files []agent.File) error {
	c, err := settings.OfAgent(files)
	if err != nil {
		return err
	}
	_, err = NewOptions(c)
	return settings.Join(err, foreignKey(c))
}

// agentModel chooses the model of an agent: the one of the config that its files name, or else
// the config's own; where there is no config, the one that the agent's own file describes.
func agentModel(def *settings.Agent, own config.Model, installation *config.Config) (config.Model, error) {
	if installation == nil {
		return own, nil
	}
	name := def.Settings().Model.Name
	if own.Name != "" {
		name = own.Name // which server has it the config says
	}
	list := installation.Models
	if installation.Model.Name != "" {
		list = append([]config.Model{installation.Model}, list...)
	}
	if i := slices.IndexFunc(list, func(m config.Model) bool { return m.Name == name }); i >= 0 {
		return list[i], nil
	}
	if name == "" {
		return installation.Model, nil
	}
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	p := installation.Problem("models", fmt.Sprintf("the agent names the model %q: expected a model of that name here", name))
	if p.Suggestion = config.Nearest(name, names); len(names) == 0 {
		p.Key, p.Message = "model", fmt.Sprintf("is missing: the agent names the model %q, and where there is a config that alone names its server", name)
	}
	return config.Model{}, config.Problems{p}
}

// foreignKey refuses a model of an agent's own file that would send a vendor's key elsewhere.
func foreignKey(c *config.Config) error {
	if host := modelOptions(c.Model).ForeignKey(); host != "" {
		key := "model.key_env"
		if !c.Sets(key) {
			key = "model.api_version"
		}
		return config.Problems{c.Problem(key, "the key belongs to "+host+": only a config file (--config) may send it to another server")}
	}
	return nil
}
