package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/leg/realtime"
	"github.com/hocketvoice/hocket/leg/sip"
	"github.com/hocketvoice/hocket/leg/text"
	"github.com/hocketvoice/hocket/leg/webrtc"
	"github.com/hocketvoice/hocket/port"
	serving "github.com/hocketvoice/hocket/server"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/gate"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/server/node"
	"github.com/hocketvoice/hocket/server/panel"
	"github.com/hocketvoice/hocket/server/telemetry"
	"github.com/hocketvoice/hocket/task"
)

// ServeOptions configures a [Server].
type ServeOptions struct {
	Agents []string // paths of files or folders; the embedded agent "flights" if empty
	Config string   // path of a config file; may be empty
	Addr   string   // host:port; that of the config if empty
	// Store is where conversations are stored: the path of a file, the URL of a database,
	// or [NoStore]. If empty it is store.path of the config.
	Store string
	// MaxConversations limits the concurrent conversations; that of the config if 0.
	MaxConversations int
	// MaxLateness is the delay beyond which a frame of sound is late; that of the config
	// if 0. See [hub.NewPace].
	MaxLateness time.Duration
	// Speech, if not nil, replaces the engines that the config names. The caller closes
	// it after the server has stopped.
	Speech *Speech
	// Log receives messages for operators; nil discards them.
	Log *slog.Logger
	// Note, if not nil, receives remarks about the setup, one line each.
	Note func(string)
	// Within, if not nil, makes the server the engine of another program, which holds the
	// only key. Agents, Addr and Store are then ignored.
	Within *Within
	// Reload, if not nil, receives requests to reload the agents, the API keys and the
	// certificate.
	Reload <-chan os.Signal
}

// Server is the program as a server. It listens, and serves when Run is called.
type Server struct {
	o            ServeOptions
	drain        time.Duration
	hub          *hub.Hub
	pace         *hub.Pace
	http         *http.Server
	secure       bool // it serves TLS
	api          *api.Server
	listener     net.Listener
	gate         *gate.Gate
	webrtc       *webrtc.Server
	realtime     *realtime.Server
	phones       map[string]http.Handler // the handlers of calls, by carrier
	sip          *sip.Server             // nil if it takes no calls over SIP
	places       map[string]placing      // what places calls, by carrier
	dialer       *dialer                 // nil if no calls may be placed
	secrets      *secrets
	home         *node.Home // nil if conversations are held in memory only
	store        *Store     // nil if home is
	models       models
	upstreams    upstreams
	tools        *Tools
	speech       map[config.Speech]*Speech
	roster       roster
	installation *config.Config // nil if there is no config file

	tasks     *task.Tasks // nil if delegated work ends with its conversation
	telemetry *telemetry.Telemetry
	close     []func() error // in the order in which the parts were opened
}

// NewServer returns a server that listens on its ports. The caller must call Run, which
// closes it.
func NewServer(o ServeOptions) (_ *Server, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	s := &Server{o: o, speech: make(map[config.Speech]*Speech)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeAll())
		}
	}()
	c, err := s.readConfig()
	if err != nil {
		return nil, inputError{err}
	}
	s.drain = max(0, time.Duration(c.Drain))
	if s.secrets, err = newSecrets(c, o.Log); err != nil {
		return nil, inputError{err}
	}
	if o.Within != nil {
		s.drain, s.secrets.keys = 0, o.Within.keys
	}
	if err := s.observe(); err != nil {
		return nil, err
	}
	agents, err := s.loadServed()
	if err != nil {
		return nil, err
	}
	s.pace = hub.NewPace(time.Duration(c.MaxLateness), o.Log)
	if err := s.share(agents, o.Note); err != nil {
		return nil, err
	}
	if err := s.openHub(c); err != nil {
		return nil, err
	}
	if err := s.listen(c); err != nil {
		return nil, err
	}
	if err := s.openWebRTC(c); err != nil {
		return nil, err
	}
	if err := s.openRealtime(time.Duration(c.Resume)); err != nil {
		return nil, err
	}
	if err := s.openPhones(c); err != nil {
		return nil, err
	}
	if err := s.route(c); err != nil {
		return nil, err
	}
	return s, nil
}

// openHub opens the hub, which hands conversations over if the server shares a store.
func (s *Server) openHub(c config.Server) (err error) {
	calls := hub.Options{
		Most: int(c.MaxConversations), PerUser: int(c.MaxPerKey), OnePerCaller: c.OnePerCaller, Log: s.o.Log, Watch: s.telemetry, Pace: s.pace,
	}
	if s.home != nil {
		calls.HandOver, calls.Elsewhere = true, s.home.Elsewhere
	}
	if s.hub, err = hub.New(calls); err != nil {
		return err
	}
	if s.home != nil {
		s.home.Lost = s.hub.Lose
	}
	return nil
}

// readConfig reads the config file, once, since it may be a pipe. It returns the section
// server, with the values of the options and the defaults.
func (s *Server) readConfig() (config.Server, error) {
	o := s.o
	c, err := config.Parse("", nil)
	if err == nil && o.Config != "" {
		c, err = config.Load(o.Config)
		s.installation = c
	}
	if err != nil {
		return config.Server{}, err
	}
	if o.Within != nil {
		c = o.Within.config(c)
		s.installation = c
	}
	opts, err := NewOptions(c)
	if o.Addr != "" {
		opts.Server.Addr = o.Addr
	}
	if o.MaxConversations > 0 {
		opts.Server.MaxConversations = config.Count(o.MaxConversations)
	}
	if o.MaxLateness > 0 {
		opts.Server.MaxLateness = config.Duration(o.MaxLateness)
	}
	return opts.Server, err
}

// observe opens the telemetry.
func (s *Server) observe() (err error) {
	ctx := context.Background()
	endpoint := os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") + os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if s.telemetry, err = telemetry.New(ctx, telemetry.Options{Tracing: endpoint != ""}); err != nil {
		return err
	}
	s.close = append(s.close, func() error {
		ctx, cancel := context.WithTimeout(ctx, drainGrace)
		defer cancel()
		return s.telemetry.Close(ctx)
	})
	return nil
}

// listen opens the port.
func (s *Server) listen(c config.Server) (err error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", c.Addr)
	if err != nil {
		return inputError{fmt.Errorf("listen on %s: %w", c.Addr, err)}
	}
	trusted, err := gate.ParseProxies(c.TrustedProxies)
	if err == nil {
		s.gate, err = gate.New(gate.Options{Most: int(c.MaxConnections), PerAddress: int(c.MaxConnectionsPerAddress), Trusted: trusted})
	}
	if err != nil {
		return inputError{errors.Join(err, listener.Close())}
	}
	s.listener = s.gate.Listener(listener)
	s.close = append(s.close, s.listener.Close)
	if a, ok := s.listener.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() && s.secrets.keys == nil && !c.Open {
		return inputError{fmt.Errorf("listen on %s: without API keys everyone who reaches the server could hold conversations: "+
			"set keys in $%s or server.keys.file, or set server.open in the config", c.Addr, c.Keys.Env)}
	}
	return nil
}

// openWebRTC opens the ports of WebRTC calls.
func (s *Server) openWebRTC(c config.Server) (err error) {
	addr := c.WebRTC.Addr
	if addr == "" {
		addr = s.listener.Addr().String()
	}
	ports, err := portRange(c.WebRTC.Ports)
	if err != nil {
		return inputError{fmt.Errorf("server.webrtc.ports: %w", err)}
	}
	if s.webrtc, err = webrtc.NewServer(webrtc.Options{
		Addr: addr, Ports: ports, TCP: c.WebRTC.TCP, PublicIPs: c.WebRTC.PublicIPs, KeepPrivate: c.WebRTC.KeepPrivate, Linger: time.Duration(c.Resume), MaxLegs: int(c.MaxConversations), Logger: s.o.Log,
	}); err != nil {
		return inputError{fmt.Errorf("open the ports of the calls: %w", err)}
	}
	s.close = append(s.close, s.webrtc.Close)
	s.telemetry.Connecting(s.webrtc.Connecting)
	return nil
}

// route creates the HTTP server with the handlers of all routes.
func (s *Server) route(c config.Server) error {
	linger := time.Duration(c.Resume)
	services, err := iceServices(c.WebRTC.ICEServers)
	if err != nil {
		return inputError{err}
	}
	o := api.Options{
		ICEServices: services,
		Hub:         s.hub, Text: func() port.Leg { return text.New(text.Options{Linger: linger}) }, WebRTC: serving.Accept(s.webrtc),
		Panel: panel.Files(), Log: s.o.Log, Metrics: s.telemetry.Handler(), Requests: s.telemetry,
		Call: func(agent, transport string) (hub.Call, error) {
			return s.roster.named(agent).call(transport), nil
		},
		Workbench: workbench{s, c},
		Realtime:  http.HandlerFunc(s.serveRealtime), Vouch: gate.Vouch, Path: c.Path, Phones: s.phones,
		Connecting: s.webrtc.Connecting, Keys: s.secrets.keys, Open: c.Open, Origins: c.Origins, MaxStreams: int(c.MaxStreams),
	}
	if s.dialer != nil {
		o.Dialer = s.dialer
	}
	if s.home != nil {
		o.Home, o.Stored, o.ClientTokens = apiHome{s.home, s}, newArchive(s.store, s.tasks), s.home.Tokens("client_token", api.MaxClientTokens)
		o.Ready = append(o.Ready, api.Check{Name: "store", Check: s.home.Ready})
	}
	o.Ready = append(o.Ready,
		api.Check{Name: "model", Check: func(context.Context) error { return s.roster.modelFailed(true) }},
		api.Check{Name: "model", Check: func(context.Context) error { return s.roster.modelFailed(false) }, Optional: true})
	if c.AccessLog {
		o.Access = s.o.Log
	}
	o.Agents = s.roster.shown
	handler, err := api.New(o)
	if err != nil {
		return err
	}
	s.api = handler
	certificates := s.secrets.tls()
	s.secure = certificates != nil
	s.http = &http.Server{
		Handler:           s.gate.Handler(handler, api.TooManyRequests),
		ConnState:         s.gate.ConnState,
		ConnContext:       s.gate.ConnContext,
		TLSConfig:         certificates,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second, // event streams remove it
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(s.o.Log.Handler(), slog.LevelWarn),
	}
	return nil
}

// URL returns the URL of the server on its listening address.
func (s *Server) URL() string {
	scheme := "http"
	if s.secure { // http.Server changes its TLSConfig while it runs
		scheme = "https"
	}
	return scheme + "://" + s.listener.Addr().String()
}

// drainGrace is the time for conversations to say goodbye after the time limit of a
// drain.
const drainGrace = 3 * time.Second

// Run serves until ctx ends, and then drains: running conversations may continue until
// the limit server.drain. When it returns, all goroutines of the server have ended.
func (s *Server) Run(ctx context.Context) error {
	watched, unwatch := context.WithCancel(context.WithoutCancel(ctx))
	watcher := make(chan struct{})
	go func() {
		defer close(watcher)
		var watchers sync.WaitGroup
		if s.home != nil {
			watchers.Go(func() { s.home.Run(watched) })
			watchers.Go(func() {
				if err := s.tasks.Run(watched); err != nil && watched.Err() == nil {
					s.o.Log.Error("the worker of delegated work has stopped", "error", err)
				}
			})
		}
		s.watch(watched)
		watchers.Wait()
	}()
	served := make(chan error, 1)
	go func() { served <- s.serve() }()
	var errs []error
	over := false // serve has returned
	select {
	case err := <-served:
		errs, over = append(errs, err), true
	case <-ctx.Done():
		s.o.Log.Info("shutting down", "conversations", s.hub.Live(), "limit", s.drain.String())
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.drain)
	defer cancel()
	s.hub.Drain(limit, drainGrace)
	last, cancelLast := context.WithTimeout(context.WithoutCancel(ctx), drainGrace)
	defer cancelLast()
	errs = append(errs, s.realtime.Close(last))
	if s.http.Shutdown(last) != nil {
		errs = append(errs, s.http.Close())
	}
	if !over {
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			errs = append(errs, err)
		}
	}
	unwatch()
	<-watcher
	return errors.Join(append(errs, s.closeAll())...)
}

func (s *Server) serve() error {
	if s.secure {
		return s.http.ServeTLS(s.listener, "", "")
	}
	return s.http.Serve(s.listener)
}

// closeAll closes the parts in reverse order.
func (s *Server) closeAll() error {
	s.roster.opening.Lock() // so that parts being opened for a version are closed too
	defer s.roster.opening.Unlock()
	var errs []error
	for _, c := range slices.Backward(s.close) {
		if err := c(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	s.close = nil
	return errors.Join(errs...)
}
