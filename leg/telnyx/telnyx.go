package telnyx

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/internal/carrier"
	"github.com/hocketvoice/hocket/internal/wire/mediastream"
	"github.com/hocketvoice/hocket/port"
)

// ErrBusy says that a call is refused because there are too many. The caller hears a busy tone.
var ErrBusy = carrier.ErrBusy

const (
	maxBody = 64 << 10
	// mostCalls limits the calls that are held or remembered.
	mostCalls = 20000
	// remembered is how long a call that is over is remembered, so that webhooks that come late
	// begin nothing. Later their signature is too old.
	remembered = 2 * tolerance
	// grace is the time of the last commands when the server is closed.
	grace = 5 * time.Second
)

// Leg is the leg of a call. It reports what the person has heard ([port.Acknowledger]): never
// more than Telnyx has played, and at most 200 ms less. It outlives its streams ([port.Watcher]).
type Leg interface {
	port.Leg
	port.Acknowledger
	port.KeyReader
	port.Watcher
	port.Forwarder
	port.AnswerReader
	io.Closer // which hangs up, unless the call was transferred
}

// Server is the handler of Telnyx's requests: POST /voice below the URL, the webhook of an
// application, and GET /media/TOKEN, to which the stream connects. A call's stream is admitted
// once, with a token that only the command has which starts it. It is safe for concurrent use.
type Server struct {
	o        Options
	key      ed25519.PublicKey
	media    string // the URL of streams, to which the token is appended
	commands *commands
	expected carrier.Expected[*call]
	now      func() time.Time // compared with the time of a signature

	stopping chan struct{}  // closed when Close begins
	running  sync.WaitGroup // the calls

	mu      sync.Mutex // guards the fields below, and some of calls
	seen    replays
	calls   map[string]*call
	placed  map[string]*call // that are being placed, by their client_state
	cleared time.Time        // when calls that are over were last forgotten
	stopped bool
}

// New returns a server, which the caller must close. It returns an error if an option is invalid.
func New(o Options) (*Server, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	key, err := ParseKey(o.PublicKey)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, err
	}
	return &Server{
		o: o, key: key, media: "wss://" + u.Host + strings.TrimRight(u.EscapedPath(), "/") + "/media/",
		commands: newCommands(o), now: time.Now, stopping: make(chan struct{}), calls: make(map[string]*call), placed: make(map[string]*call),
	}, nil
}

// Close refuses new calls, hangs up those that there are, and waits for that for five seconds.
func (s *Server) Close() error {
	s.mu.Lock()
	if !s.stopped {
		s.stopped = true
		close(s.stopping)
	}
	s.mu.Unlock()
	limit := time.AfterFunc(grace, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, c := range s.calls {
			if c.cancel != nil {
				c.cancel()
			}
		}
	})
	defer limit.Stop()
	s.running.Wait()
	return nil
}

// ServeHTTP implements [http.Handler]. It looks at the last elements of the path alone, so it can
// be mounted anywhere.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rest, last := cut(strings.TrimSuffix(r.URL.Path, "/"))
	if _, before := cut(rest); before == "media" {
		s.connect(w, r, last)
		return
	}
	if last != "voice" {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "expected POST", http.StatusMethodNotAllowed)
		return
	}
	s.webhook(w, r)
}

// cut cuts the last element off a path.
func cut(path string) (rest, last string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

func (s *Server) failed(err error) {
	if s.o.Failed != nil {
		s.o.Failed(err)
	}
}

func (s *Server) vouch(ctx context.Context) {
	if s.o.Vouch != nil {
		s.o.Vouch(ctx)
	}
}

// webhook takes a webhook. What follows from it is done after the answer, for which Telnyx waits
// two seconds.
func (s *Server) webhook(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "the body is invalid", http.StatusBadRequest)
		return
	}
	if !signed(s.key, r.Header, body, s.now()) {
		// Anybody can send one, so that only its sender is told: Telnyx's portal shows it.
		http.Error(w, "the signature is invalid or too old: the public key must be that of the account", http.StatusForbidden)
		return
	}
	s.vouch(r.Context())
	e, err := decodeEvent(body)
	if err != nil {
		http.Error(w, "the event is invalid: "+err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	again := !s.seen.add(e.id, time.Now())
	s.mu.Unlock()
	switch {
	case again, e.call.Call == "":
	case e.kind == "call.initiated" && e.inbound:
		if !s.admit(r.Context(), e.call) {
			s.failed(fmt.Errorf("telnyx: a call is refused: %w", ErrBusy))
			s.mu.Lock()
			s.seen.remove(e.id)
			s.mu.Unlock()
			http.Error(w, "too many calls", http.StatusServiceUnavailable) // Telnyx tries again, elsewhere too
			return
		}
	default:
		s.hear(e)
	}
	w.WriteHeader(http.StatusOK)
}

// connect takes the stream of a call.
func (s *Server) connect(w http.ResponseWriter, r *http.Request, secret string) {
	c, ok := s.expected.Take(secret)
	if !ok {
		http.Error(w, "the token is invalid: a stream is admitted once, with the token of its command", http.StatusForbidden)
		return
	}
	s.vouch(r.Context())
	leg, err := carrier.Upgrade(w, r, carrier.Options{
		Dialect: mediastream.Telnyx, Send: codecs[s.o.Codec].Format,
		Admit: func(start mediastream.Start) error {
			if start.Call != c.Call {
				return errors.New("the stream is that of another call")
			}
			return nil
		},
		Refused: func(words string) { s.failed(fmt.Errorf("telnyx: the agent's sound is refused: %q", words)) },
	})
	if err != nil {
		s.failed(fmt.Errorf("telnyx: a stream is refused: %w", err))
		s.mu.Lock()
		first := c.line == nil
		s.mu.Unlock()
		if first {
			c.closed.happen()
		}
		return
	}
	if err := s.attach(context.WithoutCancel(r.Context()), c, leg); err != nil { // the call outlives the request
		s.failed(fmt.Errorf("telnyx: a call could not begin: %w", err))
		c.closed.happen()
	}
	token(c.attached, struct{}{})
}

// attach gives a call its stream, the first or another one.
func (s *Server) attach(ctx context.Context, c *call, leg *carrier.Leg) error {
	s.mu.Lock()
	on := c.line
	if on == nil {
		c.line = carrier.NewLine(leg, carrier.LineOptions{Linger: s.o.Linger, Lost: func() { token(c.lost, struct{}{}) }})
	}
	first := &line{c.line, s, c}
	s.mu.Unlock()
	switch {
	case on != nil:
		return on.Attach(leg)
	case c.out != nil:
		c.out.leg <- first
		return nil
	default:
		return s.o.Start(ctx, c.Incoming, first)
	}
}
