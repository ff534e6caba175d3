package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/llm"
	"github.com/hocketvoice/hocket/internal/model"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/port"
)

// Model is the language model of an agent. It records whether its server answers. It is
// safe for concurrent use.
type Model struct {
	*llm.Model
	Name string // of the model and its server, for people

	mu       sync.Mutex // guards the fields below
	answered bool       // at least one request was answered
	failed   error      // of the last request; nil if it was answered

	probed bool // returned by unprobed; guarded by models.mu
}

var _ port.Model = (*Model)(nil)

// NewModel returns the language model of a config, or nil if the config names none.
func NewModel(c config.Model) (*Model, error) {
	if c == (config.Model{}) {
		return nil, nil
	}
	m, err := model.New(c)
	if err != nil {
		return nil, err
	}
	return &Model{Model: m, Name: c.Name + " at " + model.Host(c)}, nil
}

// Probe checks that the server answers and accepts the key: see [llm.Model.Probe].
func (m *Model) Probe(ctx context.Context) error {
	err := m.Model.Probe(ctx)
	m.note(err, false)
	return err
}

// note records the result of a request.
func (m *Model) note(err error, answered bool) {
	if _, failed := errors.AsType[*port.Failure](err); failed || err == nil {
		m.mu.Lock()
		m.answered, m.failed = m.answered || answered, err
		m.mu.Unlock()
	}
}

// passing reports whether the last request failed with a temporary error.
func (m *Model) passing() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := errors.AsType[*port.Failure](m.failed)
	return ok && f.Retryable
}

// Reply requests an answer of the model: see [llm.Model.Reply].
func (m *Model) Reply(ctx context.Context, r port.Request, emit func(port.Delta) error) error {
	err := m.Model.Reply(ctx, r, emit)
	m.note(err, err == nil)
	return err
}

// port returns the model as an interface, nil if m is nil.
func (m *Model) port() port.Model {
	if m == nil {
		return nil
	}
	return m
}

// reached returns an error if the model does not answer: the one of Failed, if there is one.
func (m *Model) reached(ctx context.Context) error {
	err := m.Probe(ctx)
	if err == nil {
		return nil
	}
	if _, failed := m.Failed(); failed != nil {
		return failed
	}
	return err
}

// Failed returns an error of one line that says why the last request failed, including
// the server's message, or nil if it was answered. never is true if no request was
// answered so far.
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
		reason = f.Message // without the class
	}
	return !m.answered, fmt.Errorf("the language model %s does not answer: %s", m.Name, m.Plain(reason))
}

// models are the open models, one for each config. It is safe for concurrent use.
type models struct {
	mu   sync.Mutex // guards open
	open map[config.Model]*Model
}

// get returns the model of a config, which it opens if needed, or nil if c is zero.
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

// all returns the open models.
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

// close closes the models.
func (m *models) close() error {
	var errs []error
	for _, one := range m.all() {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

// unprobed returns the models that it has not returned before.
func (m *models) unprobed() []*Model {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*Model
	for _, one := range m.open {
		if one != nil && !one.probed {
			one.probed = true
			list = append(list, one)
		}
	}
	return list
}

// probe probes each model once and logs failures, so that the operator learns of a wrong
// key before the first caller does.
func probe(ctx context.Context, list []*Model, log *slog.Logger) {
	for _, one := range list {
		if one.Probe(ctx) == nil || ctx.Err() != nil {
			continue
		}
		if _, err := one.Failed(); err != nil {
			log.Warn("the language model does not answer", "error", err)
		}
	}
}

// modelFailed returns the error of the first model that does not answer, of the agents that
// need their model, or of the others. Versions that only older conversations have do not count.
// A model that has answered before and whose last failure is temporary counts as answering.
func (r *roster) modelFailed(needed bool) error {
	for _, a := range r.list() {
		m, ok := a.model.(*Model)
		if !ok || a.needsModel() != needed {
			continue
		}
		if never, err := m.Failed(); err != nil && (never || !m.passing()) {
			return err
		}
	}
	return nil
}

// needsModel reports whether only its model answers for the agent.
func (a *served) needsModel() bool { return len(a.agent.Flows()) == 0 }

// withoutModel adapts the conversation's options if the config names no model. It returns
// an error if the agent requires one.
func (o *Options) withoutModel(def *settings.Agent) error {
	if o.Model.Name != "" || o.Upstream.Name != "" && len(def.Flows()) == 0 {
		return nil
	}
	without, err := def.WithoutModel()
	o.Conversation.NoModel = o.Conversation.NoModel || without
	return err
}

// remark notes that the agent has no model although it could use one, and the problems of its files.
func (o *Options) remark(a *settings.Agent, name string, note func(string)) {
	if o.Conversation.NoModel {
		note(fmt.Sprintf("%s: no language model is configured: the flows understand by their own rules, and what they do not cover is not answered", name))
	}
	noteProblems(a, note)
}

// noteProblems tells what is odd in an agent's files.
func noteProblems(a *settings.Agent, note func(string)) {
	for _, p := range a.Problems {
		note(p.String())
	}
}

// CheckAgent returns an error if the options in an agent's files are invalid. It does not
// check whether a model is configured for an agent that needs one.
func CheckAgent(files []agent.File) error {
	c, err := settings.OfAgent(files)
	if err != nil {
		return err
	}
	_, err = NewOptions(c)
	return settings.Join(err, foreignKeys(c))
}

// agentModel returns the model of an agent: with a config, the one whose name the agent's
// files give, or the config's default if they give none; without a config, own, the model
// described in the agent's files.
func agentModel(def *settings.Agent, own config.Model, installation *config.Config) (config.Model, error) {
	if installation == nil {
		return own, nil
	}
	name := def.Settings().Model.Name
	if own.Name != "" {
		name = own.Name // the config says which server has it
	}
	models := catalogue[config.Model]{
		what: "model", kind: "model", key: "model", name: func(m *config.Model) string { return m.Name },
		usual: installation.Model, others: installation.Models,
	}
	return models.named(name, installation)
}

// catalogue has the services of a kind that a config describes.
type catalogue[S any] struct {
	what, kind string // what an agent names, in full and in short
	key        string // of the usual one; that of the others has an s more
	name       func(*S) string
	usual      S
	others     []S
}

// named returns the service with a name, or the usual one if the name is empty.
func (s *catalogue[S]) named(name string, installation *config.Config) (S, error) {
	list := s.others
	if s.name(&s.usual) != "" {
		list = append([]S{s.usual}, list...)
	}
	names := make([]string, len(list))
	for i := range list {
		if names[i] = s.name(&list[i]); names[i] == name {
			return list[i], nil
		}
	}
	if name == "" {
		return s.usual, nil
	}
	p := installation.Problem(s.key+"s", fmt.Sprintf("the agent names the %s %q: expected a %s of that name here", s.what, name, s.kind))
	if p.Suggestion = config.Nearest(name, names); len(names) == 0 {
		p.Key, p.Message = s.key, fmt.Sprintf("is missing: the agent names the %s %q, whose server must be given in this config", s.what, name)
	}
	var none S
	return none, config.Problems{p}
}
