package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/chain"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/leg/text"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/provider/realtime"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/server/node"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/store/postgres"
	"github.com/hocketvoice/hocket/task"
)

// served is a version of an agent with the parts of its conversations. It must not change
// after equip.
type served struct {
	name       string
	path       string // of its files; empty if they are embedded in the program or cannot be read again
	digest     string // of its files
	files      []byte // encoded for the store
	loadedAt   time.Time
	log        *slog.Logger
	agent      *settings.Agent
	opts       Options
	flowTools  port.Tool // tools that flows call
	modelTools port.Tool // tools that the model may call
	model      port.Model
	upstream   *realtime.Service // nil: none
	speech     *Speech           // nil if only text is available
	late       func(time.Duration)
	heard      func(time.Duration)
	resume     time.Duration
	home       *node.Home // nil if conversations are held in memory only
	store      *Store     // nil if home is
	tasks      port.Tasks // nil if delegated work ends with its conversation
	notice     string     // the greeting of recorded conversations; the usual one if empty
	// instructions are the agent's, or those that a developer has replaced them with.
	instructions string
	// changes are the [api.Changes] of a copy for one conversation, as JSON; nil for the agent
	// itself.
	changes json.RawMessage
}

// loadServed loads the agents of a server.
func (s *Server) loadServed() ([]*served, error) {
	o := s.o
	type named struct {
		name, path string
		def        *settings.Agent
	}
	var loaded []named
	if o.Within != nil {
		loaded, o.Agents = append(loaded, named{withinName, "", o.Within.agent}), nil
	}
	for _, path := range o.Agents {
		def, err := loadAgent(path, o.Config)
		if err != nil {
			return nil, err
		}
		name := settings.AgentName(path)
		if settings.Regular(path) != nil {
			path = "" // it cannot be read again
		}
		loaded = append(loaded, named{name, path, def})
	}
	if len(loaded) == 0 {
		def, err := EmbeddedAgent("flights")
		if err != nil {
			return nil, err
		}
		loaded = append(loaded, named{"flights", "", def})
	}
	list := make([]*served, 0, len(loaded))
	for i, l := range loaded {
		if slices.ContainsFunc(loaded[:i], func(n named) bool { return n.name == l.name }) {
			return nil, inputError{fmt.Errorf("two agents have the name %q, that of their file or folder: names must differ", l.name)}
		}
		one, err := s.newServed(l.name, l.path, l.def, o.Note)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// newServed returns a version of an agent. Before use, equip must be called.
func (s *Server) newServed(name, path string, def *settings.Agent, note func(string)) (*served, error) {
	opts, err := optionsOf(def, s.installation)
	if err != nil {
		return nil, inputError{err}
	}
	if s.o.Within == nil {
		opts.remark(def, name, note)
	} else { // the editor has the model
		noteProblems(def, note)
	}
	a := &served{
		name: name, path: path, agent: def, instructions: def.Instructions(), opts: opts, resume: time.Duration(opts.Server.Resume), loadedAt: time.Now(), log: s.o.Log,
	}
	a.digest, a.files, err = journal.EncodeAgent(def.Files)
	return a, err
}

// share opens the parts that the agents share, and equips the agents.
func (s *Server) share(list []*served, note func(string)) error {
	s.close = append(s.close, s.models.close, s.upstreams.close)
	var err error
	tools := list[0].opts.Tools
	if w := s.o.Within; w != nil {
		tools.Editor = w.Tools
		if w.Model != nil {
			tools.Model = config.Model{} // it is no model of ours
		}
	}
	if s.tools, err = OpenTools(context.Background(), tools); err != nil { // only the config file names them: they are the same for all
		return inputError{err}
	}
	s.close = append(s.close, s.tools.Close)
	opts := list[0].opts
	if s.o.Within != nil {
		opts.Store.Path = ""
	}
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
	if err := s.openTasks(opts); err != nil {
		return err
	}
	for _, a := range list {
		if err := s.equip(a, note); err != nil {
			return err
		}
	}
	s.roster.set(list)
	return nil
}

// equip sets the model, the tools and the speech engines of a version of an agent.
// Versions with the same settings share them. equip requires roster.opening, except
// before the server runs.
func (s *Server) equip(a *served, note func(string)) error {
	if err := s.setModel(a); err != nil {
		return inputError{err}
	}
	a.heard = s.pace.Heard
	var err error
	if a.upstream, err = s.upstreams.get(a.opts.Upstream); err != nil {
		return inputError{err}
	}
	a.late = func(by time.Duration) {
		s.telemetry.FrameLate(by)
		s.pace.Sent(by)
	}
	a.home, a.store = s.home, s.store
	if err := a.checkRecording(); err != nil {
		return inputError{err}
	}
	if s.tasks != nil {
		a.tasks = s.tasks
	}
	if a.flowTools, a.modelTools, err = s.tools.For(context.Background(), a.agent); err != nil {
		return inputError{err}
	}
	if a.upstream != nil {
		a.speech = &Speech{} // the service hears and speaks
		return nil
	}
	engines, ok := s.speech[a.opts.Speech]
	if !ok {
		if engines, err = s.engines(a.opts.Speech, note); err != nil {
			return err
		}
		s.speech[a.opts.Speech] = engines
	}
	a.speech = inLanguage(engines, a, note)
	return nil
}

// openHome opens the store, if there is one, and makes this process a node of it.
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
		s.o.Log.Error("conversations are lost or continue from an older state", "error", d.Damaged())
	}
	if err := store.checkKeys(context.Background()); err != nil {
		return err
	}
	s.home, err = openHome(context.Background(), store, o.Server, time.Duration(c.Keep), s.o.Log)
	if err != nil {
		return err
	}
	s.close = append(s.close, s.home.Close)
	return nil
}

// openTasks opens the store of delegated work, which outlives its conversation, if there
// is a store of conversations.
func (s *Server) openTasks(o Options) (err error) {
	if s.home == nil {
		return nil
	}
	t, err := besideStore(s.store, o.Store.Path)
	if err != nil {
		return inputError{err}
	}
	t.Log, t.Duplicates, t.Resolve = s.o.Log, duplicates(o.Tools.Tools), s.toolOf
	if s.tasks, err = task.Open(context.Background(), t); err != nil {
		return err
	}
	s.close = append(s.close, s.tasks.Close)
	s.home.Tasks = s.tasks
	return nil
}

// besideStore returns the options for the delegated work of the conversations in a store.
// path is the place of the store.
func besideStore(s *Store, path string) (task.Options, error) {
	place, err := lookUp(path)
	t := task.Options{Keys: s.keys}
	if postgres.IsURL(place) {
		t.URL = place
	} else {
		t.Path = place + ".tasks"
	}
	return t, err
}

// toolOf returns the tools with which a task is carried out: those of flows, or those of
// the model, whose long results are summarized. They belong to the version of the agent
// that the conversation uses, if it is known, or to the current one.
func (s *Server) toolOf(t port.Task) (port.Tool, error) {
	a := s.roster.named(t.Agent)
	if a == nil {
		return nil, fmt.Errorf("this server has no agent %q", t.Agent)
	}
	if was := s.versionOfTask(a, t); was != nil {
		a = was
	}
	if t.Action {
		return a.flowTools, nil
	}
	return a.modelTools, nil
}

// versionOfTask returns the version of the agent that the conversation of a task uses, or
// nil if it is not known.
func (s *Server) versionOfTask(now *served, t port.Task) *served {
	if s.store == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), versionLimit)
	defer cancel()
	c, err := s.store.Load(ctx, t.Conversation)
	if err != nil || c.AgentDigest == "" {
		return nil
	}
	was, err := s.versionOf(ctx, now, c.AgentDigest)
	if err != nil {
		return nil
	}
	return was
}

// engines returns speech engines, or nil if they are not part of this build.
func (s *Server) engines(c config.Speech, note func(string)) (*Speech, error) {
	if s.o.Speech != nil {
		return s.o.Speech, nil
	}
	engines, err := NewSpeech(c)
	switch {
	case missing(err):
		note("text only: " + err.Error())
		return nil, nil
	case err != nil:
		return nil, err
	}
	engines.Report = func(w chain.Switch) {
		s.o.Log.Warn("a speech engine has failed", "kind", w.Kind, "engine", w.From, "next", w.To, "pause", w.Pause, "error", w.Err)
	}
	s.close = append(s.close, engines.Close)
	for _, n := range engines.Notes {
		note(n)
	}
	return engines, nil
}

// inLanguage returns the engines for an agent, or nil if one of them does not support the
// agent's language. The agent is then available by text only.
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
			note(fmt.Sprintf("agent %s: text only: its language is %q, the %s supports %s", a.name, language, e.name, strings.Join(known.Languages(), ", ")))
			return nil
		}
	}
	return engines
}

// covers reports whether a language tag includes another: "en" includes "en-GB".
func covers(tag, language string) bool {
	return language == "" || strings.EqualFold(tag, language) || len(language) > len(tag) && language[len(tag)] == '-' && strings.EqualFold(tag, language[:len(tag)])
}

// call returns the description of a new conversation with the agent.
func (a *served) call(transport string) hub.Call {
	call := hub.Call{
		Agent: a.name, Version: a.version(), Transport: transport, Recording: a.records(transport), Wait: a.resume, Privacy: a.opts.Conversation.Privacy,
		Services: map[string]string{"model": a.opts.Model.Name, "recognizer": string(a.opts.Speech.Recognizer), "voice": string(a.opts.Speech.Synthesizer)},
		Session: func(c *hub.Conversation) (*session.Session, error) {
			o := a.session(transport)
			a.attach(&o, c)
			return session.New(o)
		},
	}
	if a.home != nil {
		call.Over = a.home.Over
	}
	return call
}

// resumedCall returns the description of a stored conversation that is resumed.
func (a *served) resumedCall(k journal.Checkpoint, hold port.Hold) hub.Call {
	call := a.call(k.Transport)
	call.ID, call.Started, call.Owner, call.Caller = k.ID, k.Started, k.Owner, k.Caller
	call.Session = func(c *hub.Conversation) (*session.Session, error) {
		o := a.session(k.Transport)
		a.attach(&o, c)
		a.restore(&o, k, hold)
		return session.New(o)
	}
	return call
}

// restore sets the options with which a session continues from a checkpoint.
func (a *served) restore(o *session.Options, k journal.Checkpoint, hold port.Hold) {
	o.Restore, o.Checkpoints.Started = k.Snapshot, k.Started
	o.Checkpoints.Claim, o.Checkpoints.Token = nil, hold.Token
	if was := locationOf(k); was != nil {
		o.Location = was
	}
}

// attach connects the options of a session to the hub's conversation and to the store.
func (a *served) attach(o *session.Options, c *hub.Conversation) {
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
		Store: a.store.marking(c.Caller()), Sealed: a.store.seals(), Journal: a.store.journal, Claim: a.claim,
		Agent: c.Agent(), AgentDigest: a.digest, Transport: c.Transport(), Owner: c.Owner(), Caller: c.Caller(), Awaited: true, Behind: c.Behind,
		Changes: a.changes,
	}
	a.record(o, c.Transport())
}

// version returns the beginning of the digest, for people.
func (a *served) version() string { return journal.ShortDigest(a.digest) }

// claim claims a new conversation and stores the agent's version for it.
func (a *served) claim(ctx context.Context, id string) (int64, error) {
	token, err := a.home.Claim(ctx, id)
	if err != nil || token == 0 {
		return token, err
	}
	return token, a.storeVersion(ctx, port.Hold{ID: id, Token: token})
}

// versionLimit is the timeout of a request to the store for a version.
const versionLimit = 5 * time.Second

// storeVersion stores the agent's version for a conversation. If the store is unavailable
// it logs the error and returns nil, since that must not prevent a call.
func (a *served) storeVersion(ctx context.Context, h port.Hold) error {
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	err := a.store.versions.KeepVersion(ctx, h, a.digest, a.files)
	if err == nil || errors.Is(err, port.ErrFenced) {
		return err
	}
	a.log.Warn("the agent of a conversation was not stored: the conversation may not be resumable after the agent has changed",
		"conversation", h.ID, "agent", a.name, "version", a.version(), "error", err)
	return nil
}

// session returns the options of a session over a transport.
func (a *served) session(transport string) session.Options {
	o := session.Options{
		Conv: a.opts.Conversation, AgentFiles: a.agent.Files,
		Model: a.model, Tools: a.flowTools, ModelTools: a.modelTools, Instructions: a.instructions, Late: a.late, Hearing: a.heard, Location: a.opts.Location,
	}
	o.Conv.Agent = a.agent.Agent
	o.Conv.Limits.Reconnect, o.Conv.Retry.Reconnect = hub.Patient(a.resume)
	if transport == "text" {
		return text.Session(o)
	}
	if a.speech != nil {
		o.Recognizer, o.Synthesizer, o.Detector, o.EndOfTurn = a.speech.Recognizer, a.speech.Synthesizer, a.speech.Detector, a.speech.EndOfTurn
	}
	if a.records(transport) && transport != realtimeTransport && a.notice != "" {
		o.Conv.Greeting = a.notice
	}
	useUpstream(&o, a.upstream, a.agent)
	o.Voice, o.Turn, o.Onset, o.Stability, o.Echo = a.opts.Voice, a.opts.Turn, a.opts.Onset, a.opts.Stability, a.opts.Echo
	return o
}
