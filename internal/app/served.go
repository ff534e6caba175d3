package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/hub"
	"github.com/hocketvoice/hocket/internal/leg/text"
	"github.com/hocketvoice/hocket/internal/provider/flite"
	"github.com/hocketvoice/hocket/internal/provider/pocketsphinx"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/turn"
)

// served is an agent with all that its conversations are made of. It never
// changes once the server is built.
type served struct {
	name   string
	agent  *Agent
	opts   Options
	tools  port.Tool // of the flows
	may    port.Tool // what the model may call
	model  port.Model
	speech *Speech // nil: this build has none
	late   func(time.Duration)
	resume time.Duration
	store  *Store // nil: conversations are in memory alone
	failed func(error)
}

// loadServed loads the agents of a server.
func loadServed(o ServeOptions) ([]*served, error) {
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
	return list, nil
}

// newServed prepares an agent.
func newServed(name string, agent *Agent, o ServeOptions) (*served, error) {
	opts, err := agentOptions(agent, o.Config)
	if err != nil {
		return nil, inputError{err}
	}
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
	model, end, err := NewModel(list[0].opts.Model) // the config file alone names it
	if err != nil {
		return inputError{err}
	}
	s.close = append(s.close, end)
	tools, err := OpenTools(context.Background(), list[0].opts.Tools) // so does it the tools
	if err != nil {
		return inputError{err}
	}
	s.close = append(s.close, tools.Close)
	var store *Store
	if c := list[0].opts.Store; c.Path != "" {
		if store, err = OpenStore(context.Background(), c.Path, c, true); err != nil {
			return err
		}
		s.close = append(s.close, store.Close)
	}
	speech := make(map[config.Speech]*Speech)
	for _, a := range list {
		a.model, a.late = model, s.telemetry.FrameLate
		a.store, a.failed = store, func(err error) { s.o.Log.Error("a checkpoint was not written", "error", err) }
		if a.tools, a.may, err = tools.For(context.Background(), a.agent); err != nil {
			return inputError{err}
		}
		engines, ok := speech[a.opts.Speech]
		if !ok {
			if engines, err = s.engines(a.opts.Speech, note); err != nil {
				return err
			}
			speech[a.opts.Speech] = engines
		}
		a.speech = engines
	}
	return nil
}

// engines opens speech engines, nil where this build has none.
func (s *Server) engines(c config.Speech, note func(string)) (*Speech, error) {
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
		Model: a.model, Tools: a.tools, ModelTools: a.may, Instructions: a.agent.Instructions(),
		Trace: trace, TraceLive: true, Late: a.late,
	}
	o.Conv.Agent = a.agent.Agent
	if a.store != nil {
		o.Checkpoints = session.Checkpoints{Store: a.store.port, Agent: a.name, Transport: transport, Failed: a.failed}
	}
	o.Conv.Limits.Reconnect, o.Conv.Retry.Reconnect = patient(a.resume)
	if transport == "text" {
		// Who reads and types takes their time, and sees what is not said.
		o.Synthesizer = text.Voice{}
		o.Conv.Endpoint, o.Conv.SpeakNotices = "manual", false
		o.Conv.DeadAir = turn.DeadAirOptions{Off: true}
		return o
	}
	if a.speech != nil { // else there is text alone
		o.Recognizer, o.Synthesizer, o.Detector = a.speech.Recognizer, a.speech.Synthesizer, a.speech.Detector
	}
	o.Voice, o.Turn, o.Onset, o.Stability = a.opts.Speech.Voice, a.opts.Turn, a.opts.Onset, a.opts.Stability
	return o
}

// patient makes the machine wait for a client that has gone as long as its leg
// does, and a little longer: it is the leg that gives up.
func patient(d time.Duration) (limit time.Duration, attempts []time.Duration) {
	const margin = 10 * time.Second
	limit = d + 2*margin
	attempts = []time.Duration{time.Second, 3 * time.Second}
	for waited := 4 * time.Second; waited < d+margin; waited += margin {
		attempts = append(attempts, margin)
	}
	return limit, attempts
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
	text := strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == ' ' }), " ")
	if text == "" {
		return name
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
