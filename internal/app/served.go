package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/leg/text"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/provider/flite"
	"github.com/hocketvoice/hocket/provider/pocketsphinx"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/server/node"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/store/postgres"
	"github.com/hocketvoice/hocket/task"
)

// served is an agent with all that its conversations are made of. It never
// changes once the server is built.
type served struct {
	name   string
	agent  *settings.Agent
	opts   Options
	flows  port.Tool // what the flows call
	may    port.Tool // what the model may call
	model  port.Model
	speech *Speech // nil: this build has none
	late   func(time.Duration)
	heard  func(time.Duration)
	resume time.Duration
	home   *node.Home // nil: conversations are in memory alone
	store  *Store     // nil as well
	tasks  port.Tasks // nil: delegated work ends with its conversation
}

// loadServed loads the agents of a server.
func loadServed(o ServeOptions) ([]*served, error) {
	var loaded []*settings.Agent
	names := make([]string, 0, len(o.Agents))
	for _, path := range o.Agents {
		agent, err := loadAgent(path, o.Config)
		if err != nil {
			return nil, err
		}
		loaded, names = append(loaded, agent), append(names, settings.AgentName(path))
	}
	if len(loaded) == 0 {
		agent, err := EmbeddedAgent("flights")
		if err != nil {
			return nil, err
		}
		loaded, names = append(loaded, agent), append(names, "flights")
	}
	list := make([]*served, 0, len(loaded))
	for i, agent := range loaded {
		if slices.Contains(names[:i], names[i]) {
			return nil, inputError{fmt.Errorf("two agents have the name %q, that of their file or folder: expected different ones", names[i])}
		}
		one, err := newServed(names[i], agent, o)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// newServed prepares an agent.
func newServed(name string, agent *settings.Agent, o ServeOptions) (*served, error) {
	opts, err := agentOptions(agent, o.Config)
	if err != nil {
		return nil, inputError{err}
	}
	opts.remark(name, o.Note)
	for _, p := range agent.Problems {
		o.Note(p.String())
	}
	return &served{
		name: name, agent: agent, opts: opts, resume: time.Duration(opts.Server.Resume),
	}, nil
}

// share opens the model and the speech engines, once for all agents with the
// same settings.
func (s *Server) share(list []*served, note func(string)) error {
	s.close = append(s.close, s.models.close)
	tools, err := OpenTools(context.Background(), list[0].opts.Tools) // the config file alone names them
	if err != nil {
		return inputError{err}
	}
	s.close = append(s.close, tools.Close)
	opts := list[0].opts
	switch s.o.Store {
	case "":
	case NoStore:
		opts.Store.Path = ""
	default:
		opts.Store.Path = s.o.Store
	}
	if err := s.openHome(opts); err != nil {
		return err
	}
	if err := s.openTasks(opts, list); err != nil {
		return err
	}
	speech := make(map[config.Speech]*Speech)
	for _, a := range list {
		model, err := s.models.get(a.opts.Model)
		if err != nil {
			return inputError{err}
		}
		a.model, a.heard = model.port(), s.pace.Heard
		a.late = func(by time.Duration) {
			s.telemetry.FrameLate(by)
			s.pace.Sent(by)
		}
		a.home, a.store = s.home, s.store
		if a.flows, a.may, err = tools.For(context.Background(), a.agent); err != nil {
			return inputError{err}
		}
		engines, ok := speech[a.opts.Speech]
		if !ok {
			if engines, err = s.engines(a.opts.Speech, note); err != nil {
				return err
			}
			speech[a.opts.Speech] = engines
		}
		a.speech = inLanguage(engines, a, note)
	}
	return nil
}

// openHome opens where conversations are kept, if they are.
func (s *Server) openHome(o Options) error {
	c := o.Store
	if c.Path == "" {
		return nil
	}
	store, err := OpenStore(context.Background(), c.Path, c, true)
	if err != nil {
		return err
	}
	s.close = append(s.close, store.Close)
	s.store = store
	if d, ok := store.engine.(interface{ Damaged() error }); ok && d.Damaged() != nil {
		s.o.Log.Error("conversations are lost, or go on from an older state", "error", d.Damaged())
	}
	if err := store.opens(context.Background()); err != nil {
		return err
	}
	s.home, err = openHome(context.Background(), store, o.Server, time.Duration(c.Keep), s.o.Log)
	if err != nil {
		return err
	}
	s.close = append(s.close, s.home.Close)
	return nil
}

// openTasks opens where delegated work is kept that outlives its conversation, beside
// the store.
func (s *Server) openTasks(o Options, agents []*served) (err error) {
	if s.home == nil {
		return nil
	}
	place, err := lookUp(o.Store.Path)
	if err != nil {
		return inputError{err}
	}
	t := task.Options{
		Keys: s.store.keys, Log: s.o.Log, Duplicates: duplicates(o.Tools.Tools),
		Resolve: func(t port.Task) (port.Tool, error) { return toolOf(agents, t) },
	}
	if postgres.IsURL(place) {
		t.URL = place
	} else {
		t.Path = place + ".tasks"
	}
	if s.tasks, err = task.Open(context.Background(), t); err != nil {
		return err
	}
	s.close = append(s.close, s.tasks.Close)
	s.home.Tasks = s.tasks
	for _, a := range agents {
		a.tasks = s.tasks
	}
	return nil
}

// toolOf is what has the tool that a task calls: the flows' own, or the model's, whose
// long results are summarised.
func toolOf(agents []*served, t port.Task) (port.Tool, error) {
	i := slices.IndexFunc(agents, func(a *served) bool { return a.name == t.Agent })
	switch {
	case i < 0:
		return nil, fmt.Errorf("this server has no agent %q", t.Agent)
	case t.Action:
		return agents[i].flows, nil
	default:
		return agents[i].may, nil
	}
}

// engines opens speech engines, nil where this build has none.
func (s *Server) engines(c config.Speech, note func(string)) (*Speech, error) {
	if s.o.Speech != nil {
		return s.o.Speech, nil
	}
	engines, err := NewSpeech(c)
	switch {
	case errors.Is(err, flite.ErrMissing), errors.Is(err, pocketsphinx.ErrMissing):
		note("only text: " + err.Error())
		return nil, nil
	case err != nil:
		return nil, err
	}
	s.close = append(s.close, engines.Close)
	for _, n := range engines.Notes {
		note(n)
	}
	return engines, nil
}

// inLanguage returns the engines for an agent, nil if one of them does not know its
// language: the agent is then by text only.
func inLanguage(engines *Speech, a *served, note func(string)) *Speech {
	if engines == nil {
		return nil
	}
	language := a.opts.Conversation.Language
	for _, e := range []struct {
		name   string
		engine any
	}{{"recognizer", engines.Recognizer}, {"voice", engines.Synthesizer}} {
		known, ok := e.engine.(port.Languages)
		if ok && !slices.ContainsFunc(known.Languages(), func(tag string) bool { return covers(tag, language) }) {
			note(fmt.Sprintf("agent %s: only text: its language is %q, the %s knows %s", a.name, language, e.name, strings.Join(known.Languages(), ", ")))
			return nil
		}
	}
	return engines
}

// covers reports whether a language tag stands for another.
func covers(tag, language string) bool {
	return language == "" || strings.EqualFold(tag, language) || len(language) > len(tag) && language[len(tag)] == '-' && strings.EqualFold(tag, language[:len(tag)])
}

// call describes a conversation with the agent.
func (a *served) call(transport string) hub.Call {
	call := hub.Call{
		Agent: a.name, Transport: transport, Privacy: a.opts.Conversation.Privacy,
		Services: map[string]string{"model": a.opts.Model.Name, "recognizer": a.opts.Speech.Recognizer, "voice": a.opts.Speech.Synthesizer},
		Session: func(c *hub.Conversation) (*session.Session, error) {
			o := a.session(transport)
			a.kept(&o, c)
			return session.New(o)
		},
	}
	if a.home != nil {
		call.Over = a.home.Over
	}
	return call
}

// goesOn describes how a conversation of the store goes on.
func (a *served) goesOn(k journal.Checkpoint, hold port.Hold) hub.Call {
	call := a.call(k.Transport)
	call.ID, call.Started, call.Owner, call.Caller = k.ID, k.Started, k.Owner, k.Caller
	call.Session = func(c *hub.Conversation) (*session.Session, error) {
		o := a.session(k.Transport)
		a.kept(&o, c)
		a.restored(&o, k, hold)
		return session.New(o)
	}
	return call
}

// restored has a session go on where its checkpoint was taken.
func (a *served) restored(o *session.Options, k journal.Checkpoint, hold port.Hold) {
	o.Restore, o.Checkpoints.Started = k.Snapshot, k.Started
	o.Checkpoints.Claim, o.Checkpoints.Token = nil, hold.Token
	if was := locationOf(k); was != nil {
		o.Location = was
	}
}

// kept has a session be the hub's conversation, recorded and kept.
func (a *served) kept(o *session.Options, c *hub.Conversation) {
	o.ID, o.Leg, o.Trace, o.TraceLive = c.ID(), c.Leg(), c.Recorder(), true
	o.Retried = c.Retried
	if c.Location() != nil {
		o.Location = c.Location()
	}
	o.Delegation = session.Delegation{Tasks: a.tasks, Sealed: a.store != nil && a.store.seals(), Agent: a.name, Caller: c.Caller()}
	if a.home == nil {
		return
	}
	o.Checkpoints = session.Checkpoints{
		Store: a.store.port, Sealed: a.store.seals(), Journal: a.store.journal, Claim: a.home.Claim,
		Agent: c.Agent(), Transport: c.Transport(), Owner: c.Owner(), Caller: c.Caller(), Awaited: true, Behind: c.Behind,
	}
}

// session are the parts of a conversation.
func (a *served) session(transport string) session.Options {
	o := session.Options{
		Conv: a.opts.Conversation, AgentFiles: a.agent.Files,
		Model: a.model, Tools: a.flows, ModelTools: a.may, Instructions: a.agent.Instructions(), Late: a.late, Hearing: a.heard, Location: a.opts.Location,
	}
	o.Conv.Agent = a.agent.Agent
	o.Conv.Limits.Reconnect, o.Conv.Retry.Reconnect = hub.Patient(a.resume)
	if transport == "text" {
		return text.Session(o)
	}
	if a.speech != nil { // else there is text alone
		o.Recognizer, o.Synthesizer, o.Detector = a.speech.Recognizer, a.speech.Synthesizer, a.speech.Detector
	}
	o.Voice, o.Turn, o.Onset, o.Stability = a.opts.Voice, a.opts.Turn, a.opts.Onset, a.opts.Stability
	return o
}
