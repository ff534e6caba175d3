package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/api"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/explore"
	"github.com/hocketvoice/hocket/internal/hub"
	"github.com/hocketvoice/hocket/internal/leg/text"
	"github.com/hocketvoice/hocket/internal/panel"
	"github.com/hocketvoice/hocket/internal/provider/flite"
	"github.com/hocketvoice/hocket/internal/provider/pocketsphinx"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/turn"
)

// ServeOptions describe a server.
type ServeOptions struct {
	Agents []string // paths of files or folders; empty: the flight agent of the program
	Config string   // path of a config file; may be empty
	Addr   string   // host:port; the config's, or DefaultAddr, if empty
	// Log takes what operators want to know.
	Log *slog.Logger
	// Note takes remarks about the set-up, a line each.
	Note func(string)
}

// DefaultAddr is where a server listens that was told nothing else.
const DefaultAddr = "127.0.0.1:8080"

// Server is the program as a server, built and listening. Run serves.
type Server struct {
	hub      *hub.Hub
	http     *http.Server
	listener net.Listener
	log      *slog.Logger
	close    []func() error // in the order of building
}

// served is an agent with all that its conversations are made of.
type served struct {
	name   string
	agent  *Agent
	opts   Options
	tools  port.Tool
	model  port.Model
	speech *Speech // nil: this build has none
}

// NewServer builds a server and opens its port.
func NewServer(o ServeOptions) (_ *Server, err error) {
	s := &Server{log: o.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeAll())
		}
	}()
	agents, err := s.agents(o)
	if err != nil {
		return nil, err
	}
	if s.hub, err = hub.New(hub.Options{Log: s.log}); err != nil {
		return nil, err
	}
	apiOptions := api.Options{
		Hub: s.hub, Text: func() port.Leg { return text.New(text.Options{}) }, Panel: panel.Files(), Log: s.log,
		Statechart: func(view string) (any, error) { return explore.NewChart(view) },
		Call: func(agent, transport string) (hub.Call, error) {
			i := slices.IndexFunc(agents, func(a *served) bool { return a.name == agent })
			return agents[i].call(transport), nil
		},
	}
	for _, a := range agents {
		apiOptions.Agents = append(apiOptions.Agents, api.Agent{
			Name: a.name, Title: title(a.name), Language: a.agent.Language(), Speech: a.speech != nil,
		})
	}
	handler, err := api.New(apiOptions)
	if err != nil {
		return nil, err
	}
	s.http = &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second, // event streams lift it for themselves
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	addr := o.Addr
	if addr == "" {
		addr = DefaultAddr
	}
	if s.listener, err = net.Listen("tcp", addr); err != nil {
		return nil, inputError{fmt.Errorf("listen on %s: %w", addr, err)}
	}
	s.close = append(s.close, s.listener.Close)
	return s, nil
}

// agents loads the agents and opens what they share.
func (s *Server) agents(o ServeOptions) ([]*served, error) {
	var loaded []*Agent
	names := make([]string, 0, len(o.Agents))
	for _, path := range o.Agents {
		agent, err := LoadAgent(path)
		if err != nil {
			return nil, inputError{err}
		}
		loaded, names = append(loaded, agent), append(names, agentName(path))
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
	return list, s.share(list, o.Note)
}

// newServed prepares an agent.
func newServed(name string, agent *Agent, o ServeOptions) (*served, error) {
	opts, err := agentOptions(agent, o.Config)
	if err != nil {
		return nil, inputError{err}
	}
	tools, err := NewTools(agent)
	if err != nil {
		return nil, inputError{err}
	}
	if o.Note != nil {
		for _, p := range agent.Problems {
			o.Note(p.String())
		}
	}
	return &served{name: name, agent: agent, opts: opts, tools: tools}, nil
}

// share opens the model and the speech engines, once for all agents with the
// same settings.
func (s *Server) share(list []*served, note func(string)) error {
	model, end, err := NewModel(list[0].opts.Model) // the config file alone names it
	if err != nil {
		return inputError{err}
	}
	s.close = append(s.close, end)
	speech := make(map[config.Speech]*Speech)
	for _, a := range list {
		a.model = model
		if _, ok := speech[a.opts.Speech]; !ok {
			engines, err := NewSpeech(a.opts.Speech)
			switch {
			case err == nil:
				s.close = append(s.close, engines.Close)
			case errors.Is(err, flite.ErrMissing), errors.Is(err, pocketsphinx.ErrMissing):
				engines = nil
				if note != nil {
					note("only text: " + err.Error())
				}
			default:
				return err
			}
			speech[a.opts.Speech] = engines
			for i := 0; engines != nil && note != nil && i < len(engines.Notes); i++ {
				note(engines.Notes[i])
			}
		}
		a.speech = speech[a.opts.Speech]
	}
	return nil
}

// call describes a conversation with the agent.
func (a *served) call(transport string) hub.Call {
	return hub.Call{
		Agent: a.name, Transport: transport, Privacy: a.opts.Conversation.Privacy,
		Session: func(id string, leg port.Leg, trace io.Writer) (*session.Session, error) {
			return session.New(a.session(transport, id, leg, trace))
		},
	}
}

// session are the parts of a conversation.
func (a *served) session(transport, id string, leg port.Leg, trace io.Writer) session.Options {
	o := session.Options{
		ID: id, Conv: a.opts.Conversation, AgentFiles: a.agent.Files, Leg: leg,
		Model: a.model, Tools: a.tools, Instructions: a.agent.Instructions(),
		Trace: trace, TraceLive: true,
	}
	o.Conv.Agent = a.agent.Agent
	if transport == "text" {
		// Who reads and types takes their time, and sees what is not said.
		o.Synthesizer = text.Voice{}
		o.Conv.Endpoint, o.Conv.SpeakNotices = "manual", false
		o.Conv.DeadAir = turn.DeadAirOptions{Off: true}
		return o
	}
	o.Recognizer, o.Synthesizer, o.Detector = a.speech.Recognizer, a.speech.Synthesizer, a.speech.Detector
	o.Voice, o.Turn, o.Onset, o.Stability = a.opts.Speech.Voice, a.opts.Turn, a.opts.Onset, a.opts.Stability
	return o
}

// agentName is an agent's name: that of its file or folder.
func agentName(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	name := filepath.Base(path)
	return strings.TrimSuffix(strings.TrimSuffix(name, ".yaml"), ".yml")
}

// title is a name as a heading.
func title(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == ' ' })
	text := strings.Join(words, " ")
	if text == "" {
		return name
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// Addr is where the server listens.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// drainGrace is what conversations have to say goodbye when the limit of a drain
// is over.
const drainGrace = 3 * time.Second

// Run serves until ctx ends, and then drains: what runs may come to its end
// within the limit. Nothing of the server runs any more when it returns.
func (s *Server) Run(ctx context.Context, drain time.Duration) error {
	failed := make(chan error, 1)
	go func() { failed <- s.http.Serve(s.listener) }()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		s.log.Info("shutting down", "conversations", s.hub.Live(), "limit", drain.String())
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	s.hub.Drain(limit, drainGrace)
	last, cancelLast := context.WithTimeout(context.WithoutCancel(ctx), drainGrace)
	defer cancelLast()
	if shut := s.http.Shutdown(last); shut != nil {
		err = errors.Join(err, s.http.Close())
	}
	if err == nil {
		err = <-failed
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, s.closeAll())
}

// closeAll releases what was opened, in reverse.
func (s *Server) closeAll() error {
	var errs []error
	for _, c := range slices.Backward(s.close) {
		if err := c(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	s.close = nil
	return errors.Join(errs...)
}
