package editor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/hocketvoice/hocket/internal/timezone"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/provider/vscode"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/session"
)

// Run serves an editor until the connection ends, the editor asks for the end, or ctx ends. It
// returns when the engine and all goroutines have ended, with an error if the editor has sent what is
// no message.
func Run(ctx context.Context, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &server{o: o, stop: stop}
	frames := newFrames(o.In, o.Out, o.Closer)
	s.peer = newPeer()
	s.peer.run(ctx, frames, s.handle)
	select {
	case <-s.peer.done():
	case <-ctx.Done():
	}
	stop()
	_ = s.peer.conn.Close() // it may be closed already
	s.workers.Wait()
	return errors.Join(frames.failed(), s.failed())
}

// server is one connection. The goroutine that reads calls handle.
type server struct {
	o       Options
	stop    context.CancelFunc
	peer    *peer
	workers sync.WaitGroup // the engine and the relay

	engine Engine // nil before initialize
	relay  *relay

	mu   sync.Mutex // guards the fields below
	err  error      // of the engine
	hold bool       // the microphone is open only while the key is held
}

func (s *server) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func coded(code int64, format string, args ...any) error {
	return &jsonrpc2.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// handle carries out a request or a notification.
func (s *server) handle(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	params := []byte("{}")
	if r.Params != nil {
		params = *r.Params
	}
	switch r.Method {
	case methodInitialize:
		return with(params, func(p Initialize) (any, error) { return s.initialize(ctx, p) })
	case methodShutdown, methodExit:
		s.stop()
		return nil, nil
	case methodCancel:
		return nil, nil // no request takes long
	}
	if s.engine == nil {
		return nil, coded(codeNotInitialized, "%s: expected initialize first", r.Method)
	}
	switch r.Method {
	case methodStart:
		return with(params, func(p Start) (any, error) { return s.start(ctx, p) })
	case methodCommand:
		return with(params, func(p hub.Command) (any, error) { return s.command(p) })
	case methodHold:
		return with(params, s.holds)
	case methodMute:
		return with(params, func(p Muted) (any, error) {
			return s.command(hub.Command{Type: hub.CommandMicrophone, Open: new(!p.Muted)})
		})
	case methodContext:
		return with(params, func(p object) (any, error) { return nil, s.context(ctx, params) })
	case methodShow:
		if c := s.relay.now(); c != nil {
			return c.Details(), nil
		}
		return nil, errNone
	case methodFollow:
		return with(params, func(p Follow) (any, error) {
			id, err := s.relay.follow(ctx, p)
			return Followed{id}, err
		})
	case methodUnfollow:
		return with(params, func(p Followed) (any, error) { s.relay.unfollow(p.Stream); return nil, nil })
	default:
		return nil, coded(jsonrpc2.CodeMethodNotFound, "unknown method %q", r.Method)
	}
}

// with decodes the parameters of a method.
func with[P any](params []byte, carryOut func(P) (any, error)) (any, error) {
	var p P
	d := json.NewDecoder(bytes.NewReader(params))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, coded(jsonrpc2.CodeInvalidParams, "invalid parameters: %v", err)
	}
	return carryOut(p)
}

// initialize opens the engine. After an error it may be called again.
func (s *server) initialize(ctx context.Context, p Initialize) (any, error) {
	switch {
	case s.engine != nil:
		return nil, coded(jsonrpc2.CodeInvalidRequest, "initialize was called before")
	case p.Version != Version:
		return nil, coded(jsonrpc2.CodeInvalidParams, "version is %d: this engine has %d; the extension and the engine must be of one release", p.Version, Version)
	}
	agent, err := p.agent()
	if err != nil {
		return nil, coded(jsonrpc2.CodeInvalidParams, "%v", err)
	}
	tools, err := vscode.NewTools(s.peer, p.Tools)
	if err != nil {
		return nil, coded(jsonrpc2.CodeInvalidParams, "%v", err)
	}
	notes := []string{}
	setup := Setup{Agent: agent, Config: p.Settings.Config, Tools: tools, Note: func(n string) { notes = append(notes, n) }}
	if p.Settings.Model != "config" {
		m, err := vscode.New(vscode.Options{Editor: s.peer})
		if err != nil {
			return nil, err
		}
		setup.Model = port.Model(m)
	}
	engine, err := s.o.Open(setup)
	if err != nil {
		return nil, coded(jsonrpc2.CodeInvalidParams, "%v", err)
	}
	list, err := engine.Hub().Watch(hub.StreamOptions{})
	if err != nil {
		return nil, err
	}
	s.engine = engine
	s.relay = newRelay(engine.Hub(), s.peer, s.begun)
	run := context.WithoutCancel(ctx)
	run, end := context.WithCancel(run)
	s.workers.Go(func() {
		defer end()
		<-s.peer.done()
	})
	s.workers.Go(func() {
		if err := engine.Run(run); err != nil {
			s.mu.Lock()
			s.err = err
			s.mu.Unlock()
		}
		s.stop()
	})
	s.workers.Go(func() { s.relay.run(run, list) })
	s.o.Log.Info("serves an editor", "editor", p.Editor.Name, "version", p.Editor.Version, "trusted", p.Trusted, "tools", len(p.Tools))
	return Initialized{Version: Version, Engine: s.o.Version, URL: engine.URL(), Speech: engine.Speech(), Language: engine.Language(), Notes: notes}, nil
}

var errNone = coded(codeNone, "no conversation runs")

// start begins a conversation, or returns the page that begins it.
func (s *server) start(ctx context.Context, p Start) (any, error) {
	if s.relay.now() != nil {
		return nil, coded(codeActive, "%v", &session.ActiveError{Owner: "this window"})
	}
	if p.Timezone != "" {
		if _, err := timezone.Load(p.Timezone); err != nil {
			return nil, coded(jsonrpc2.CodeInvalidParams, "timezone: %v", err)
		}
	}
	s.mu.Lock()
	s.hold = p.Hold
	s.mu.Unlock()
	switch p.Transport {
	case "text":
		c, err := s.engine.Text(p.Timezone)
		if _, active := errors.AsType[*session.ActiveError](err); active {
			return nil, coded(codeActive, "%v", &session.ActiveError{Owner: "this window"})
		}
		if err != nil {
			return nil, err
		}
		s.relay.set(c)
		if p.Context != nil {
			if err := c.SetContext(ctx, p.Context); err != nil {
				return nil, errors.Join(coded(jsonrpc2.CodeInvalidParams, "context: %v", err), c.Command(hub.Command{Type: "endConversation"}))
			}
		}
		return Started{ID: c.ID()}, nil
	case "voice":
		if !s.engine.Speech() {
			return nil, coded(codeNoSpeech, "this engine has no recognizer or no voice for the language %q: speak by text, or name services of speech in a config", s.engine.Language())
		}
		page, err := s.engine.Page(ctx)
		if err != nil {
			return nil, err
		}
		return Started{Page: page}, nil
	default:
		return nil, coded(jsonrpc2.CodeInvalidParams, "transport is %q: expected text or voice", p.Transport)
	}
}

// begun closes the microphone of a conversation that begins with push to talk.
func (s *server) begun(c *hub.Conversation) {
	s.mu.Lock()
	hold := s.hold
	s.mu.Unlock()
	if hold && c.Transport() != "text" {
		_ = c.Command(hub.Command{Type: hub.CommandMicrophone, Open: new(false)}) // it may be over
	}
}

func (s *server) command(p hub.Command) (any, error) {
	c := s.relay.now()
	if c == nil {
		return nil, errNone
	}
	err := c.Command(p)
	switch {
	case errors.Is(err, hub.ErrCommand):
		return nil, coded(jsonrpc2.CodeInvalidParams, "%v", err)
	case errors.Is(err, session.ErrEnded):
		return nil, errNone
	case errors.As(err, new(*session.ActiveError)):
		return nil, coded(codeActive, "%v", err)
	}
	return nil, err
}

// holds presses or releases the key of push to talk: the microphone is open in between, and the
// release ends the user's turn.
func (s *server) holds(p Pressed) (any, error) {
	open := hub.Command{Type: hub.CommandMicrophone, Open: &p.Pressed}
	hold := hub.Command{Type: "push_to_talk", Pressed: &p.Pressed}
	if _, err := s.command(open); err != nil {
		return nil, err
	}
	return s.command(hold)
}

// context changes the context of the conversation that runs.
func (s *server) context(ctx context.Context, changes []byte) error {
	c := s.relay.now()
	if c == nil {
		return errNone
	}
	err := c.SetContext(ctx, changes)
	if errors.Is(err, session.ErrEnded) {
		return errNone
	}
	if err != nil {
		return coded(jsonrpc2.CodeInvalidParams, "context: %v", err)
	}
	return nil
}
