package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hocketvoice/hocket/internal/httpclient"
	"github.com/hocketvoice/hocket/internal/process"
	"github.com/hocketvoice/hocket/internal/redact"
	"github.com/hocketvoice/hocket/internal/wait"
)

// server runs and restarts one server. It is safe for concurrent use.
type server struct {
	o      *Options
	s      *Server
	client *sdk.Client
	key    string // for the Authorization header

	secrets []string // values of the variables passed by name

	changed chan struct{} // contains a token when the tools have changed
	suspect chan struct{} // contains a token when a call has timed out

	mu    sync.Mutex // guards the fields below
	live  *link      // nil if not connected
	upc   chan struct{}
	tools []tool
	last  error // error of the last failed start
	hears map[string]chan<- update
}

// signOfLife is the time for a server to answer a ping.
const signOfLife = 2 * time.Second

// link is one connection.
type link struct {
	session *sdk.ClientSession
	process *process.Process // nil for HTTP
}

// tool is an offered tool.
type tool struct {
	name   string // the server's name of the tool
	policy Policy
	spec   spec
}

func newServer(o *Options, s *Server) (*server, error) {
	v := &server{
		o: o, s: s, changed: make(chan struct{}, 1), suspect: make(chan struct{}, 1),
		upc: make(chan struct{}), hears: make(map[string]chan<- update),
	}
	for _, name := range append(slices.Clone(s.Env), s.KeyEnv) {
		if name == "" {
			continue
		}
		value, ok := o.Getenv(name)
		if !ok {
			return nil, fmt.Errorf("mcp server %s: the environment variable %s is not set", s.Name, name)
		}
		v.secrets = append(v.secrets, value)
		if name == s.KeyEnv {
			v.key = value
		}
	}
	v.client = sdk.NewClient(&sdk.Implementation{Name: "hocket", Version: "1"}, &sdk.ClientOptions{
		Capabilities:                &sdk.ClientCapabilities{},
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { token(v.changed) },
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { v.progressed(r.Params) },
	})
	return v, nil
}

// token puts a token into a channel of capacity one.
func token(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // The channel already contains one.
	}
}

// run restarts the server whenever it exits, until ctx ends. l is the first
// connection.
func (v *server) run(ctx context.Context, l *link) {
	for {
		if l != nil {
			v.watch(ctx, l)
		}
		if ctx.Err() != nil {
			return
		}
		if l = v.again(ctx); l == nil {
			return
		}
	}
}

// watch monitors a connection until it has ended, and cleans up.
func (v *server) watch(ctx context.Context, l *link) {
	gone := make(chan struct{})
	var waiter sync.WaitGroup
	waiter.Go(func() {
		defer close(gone)
		_ = l.session.Wait() // the reason does not matter
	})
	for ended := false; !ended; {
		select {
		case <-gone:
			ended = true
		case <-ctx.Done():
			ended = true
		case <-v.changed:
			if tools, err := v.list(ctx, l); err == nil {
				v.offer(tools)
			} else if errors.Is(err, context.DeadlineExceeded) {
				v.down(l)
				token(v.suspect)
			}
		case <-v.suspect:
			if ended = !answers(ctx, l); !ended {
				v.up(l)
			}
		}
	}
	v.down(l)
	l.end()
	waiter.Wait()
}

// down hides a connection that has ended, or may have, from calls, which then wait.
func (v *server) down(l *link) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.live == l {
		v.live, v.upc = nil, make(chan struct{})
	}
}

// up publishes a connection to waiting calls.
func (v *server) up(l *link) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.live == nil {
		v.live, v.last = l, nil
		close(v.upc)
	}
}

// end closes a connection and ends its process.
func (l *link) end() {
	if l.process != nil {
		endProcess(l.process) // first, since the session's Close waits for a server that hangs
	}
	_ = l.session.Close() // an error does not matter
}

// answers pings a server. A refusal also counts as an answer.
func answers(ctx context.Context, l *link) bool {
	ctx, cancel := context.WithTimeout(ctx, signOfLife)
	defer cancel()
	err := l.session.Ping(ctx, nil)
	_, refused := errors.AsType[*jsonrpc.Error](err)
	return err == nil || refused
}

// again restarts the server with growing delays until it runs. It returns nil when
// ctx ends.
func (v *server) again(ctx context.Context) *link {
	pause := v.o.Backoff
	for {
		if wait.For(ctx, pause) != nil {
			return nil
		}
		l, err := v.start(ctx)
		if err == nil {
			return l
		}
		v.mu.Lock()
		v.last = err
		v.mu.Unlock()
		pause = min(2*pause, longestBackoff)
	}
}

// start connects to the server and publishes its tools.
func (v *server) start(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, v.s.StartTimeout)
	defer cancel()
	l, err := v.connect(ctx)
	if err != nil {
		return nil, err
	}
	tools, err := v.list(ctx, l)
	if err != nil {
		said := ""
		l.end()
		if l.process != nil {
			said = l.process.Said()
		}
		return nil, v.failed("list tools", err, said)
	}
	v.offer(tools)
	v.up(l)
	return l, nil
}

// failed returns the error of a failed start, without keys.
func (v *server) failed(what string, err error, said string) error {
	text := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		text = fmt.Sprintf("no answer within %v", v.s.StartTimeout)
	}
	if said != "" {
		text += " (it says: " + said + ")"
	}
	return fmt.Errorf("mcp server %s: %s: %s", v.s.Name, what, redact.Cut(redact.OneLine(v.hide(text)), 2*maxFailure))
}

// hide removes the values of variables passed by name from a text.
func (v *server) hide(text string) string { return redact.Hide(text, v.secrets...) }

func (v *server) connect(ctx context.Context) (*link, error) {
	if v.s.URL != "" {
		session, err := v.client.Connect(ctx, &sdk.StreamableClientTransport{
			Endpoint: v.s.URL, MaxEventSize: maxMessage,
			HTTPClient: &http.Client{
				Transport:     &httpclient.Transport{Base: http.DefaultTransport, Key: v.key, MaxAnswer: maxMessage},
				CheckRedirect: httpclient.SameServer,
			},
		}, nil)
		if err != nil {
			return nil, v.failed("connect", err, "")
		}
		return &link{session: session}, nil
	}
	p, err := process.Start(process.Options{
		Command: v.s.Command, Args: v.s.Args, Dir: v.s.Dir, Env: v.s.Env, Getenv: v.o.Getenv, Grace: v.o.Grace,
	})
	if err != nil {
		return nil, v.failed("run it", err, "")
	}
	session, err := v.client.Connect(ctx, &sdk.IOTransport{Reader: ended{p.Stdout, p}, Writer: ended{p.Stdin, p}, MaxLineLength: maxMessage}, nil)
	if err != nil {
		endProcess(p)
		return nil, v.failed("connect", err, p.Said())
	}
	return &link{session: session, process: p}, nil
}

// ended is a process's stream whose Close ends the process.
type ended struct {
	*os.File
	process *process.Process
}

// Close ends the process.
func (e ended) Close() error {
	endProcess(e.process)
	return nil
}

// endProcess ends a process whose output is no longer needed.
func endProcess(p *process.Process) {
	p.End()
	_ = p.Stdout.Close() // it may already be closed
}

// connected waits for a connection and returns it.
func (v *server) connected(ctx context.Context) (*link, error) {
	for {
		v.mu.Lock()
		l, up := v.live, v.upc
		v.mu.Unlock()
		if l != nil {
			return l, nil
		}
		select {
		case <-up:
		case <-ctx.Done():
			v.mu.Lock()
			last := v.last // error of the last start meanwhile
			v.mu.Unlock()
			if last != nil {
				return nil, last
			}
			return nil, ctx.Err()
		}
	}
}

func (v *server) offer(tools []tool) {
	v.mu.Lock()
	v.tools = tools
	v.mu.Unlock()
}

func (v *server) offered() []tool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.tools
}

// hear sends the progress of a call to a channel, or stops if it is nil.
func (v *server) hear(call string, to chan<- update) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if to == nil {
		delete(v.hears, call)
		return
	}
	v.hears[call] = to
}

// progressed passes progress on without blocking; it drops progress that is not
// received.
func (v *server) progressed(p *sdk.ProgressNotificationParams) {
	call, ok := p.ProgressToken.(string)
	if !ok {
		return
	}
	v.mu.Lock()
	to := v.hears[call]
	v.mu.Unlock()
	if to == nil {
		return
	}
	select {
	case to <- progressText(p):
	default:
	}
}
