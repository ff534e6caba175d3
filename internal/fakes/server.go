package fakes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// Fault is something that goes wrong with a connection. The zero value is no fault.
type Fault struct {
	// Status refuses the WebSocket, with RetryAfter (seconds) and Body.
	Status     int
	RetryAfter string
	Body       string
	// Cut breaks the connection after so many messages of the client; 0 means never.
	Cut int
	// Deaf ignores what the client sends after the connection was opened, without reading
	// it if Slow is set.
	Deaf, Slow bool
	// Garbage is sent as soon as the connection is open.
	Garbage string
}

// Server counts connections and records broken rules. It is safe for concurrent use.
type Server struct {
	// Faults, if not nil, returns the fault of the n-th connection, counted from 1.
	Faults func(n int) Fault

	mu     sync.Mutex // guards the fields below
	conns  int
	open   int
	ended  int
	broken []string
}

// Service is a fake with the server behind it.
type Service interface {
	http.Handler
	// Behind returns the server, which has the faults and the record.
	Behind() *Server
}

// Behind implements [Service] for the fakes that embed s.
func (s *Server) Behind() *Server { return s }

// Broken returns the rules that clients have broken, in order.
func (s *Server) Broken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.broken...)
}

// Connections returns the number of connections so far, with refused ones.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}

// Open returns the number of open connections.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Ended returns the number of connections that clients have ended in order.
func (s *Server) Ended() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// End records that a client has ended its connection as the service wants it.
func (s *Server) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended++
}

// Break records a broken rule.
func (s *Server) Break(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = append(s.broken, fmt.Sprintf(format, args...))
}

// Refuse responds to a request in place of a WebSocket, because of a broken rule.
func (s *Server) Refuse(w http.ResponseWriter, status int, format string, args ...any) {
	s.Break(format, args...)
	http.Error(w, fmt.Sprintf(format, args...), status)
}

// Serve opens the WebSocket of a request and calls handle, after which it is closed.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, protocols []string, handle func(c *Conn)) {
	s.mu.Lock()
	s.conns++
	n := s.conns
	s.mu.Unlock()
	var f Fault
	if s.Faults != nil {
		f = s.Faults(n)
	}
	if f.Status != 0 {
		if f.RetryAfter != "" {
			w.Header().Set("Retry-After", f.RetryAfter)
		}
		w.WriteHeader(f.Status)
		_, _ = w.Write([]byte(f.Body)) // the client has gone otherwise
		return
	}
	pings := make(chan struct{}, 1)
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols: protocols, InsecureSkipVerify: true,
		OnPingReceived: func(context.Context, []byte) bool {
			select {
			case pings <- struct{}{}:
			default:
			}
			return true
		},
	})
	if err != nil {
		return // Accept has responded
	}
	defer func() { _ = ws.CloseNow() }() // it may be closed already
	ws.SetReadLimit(1 << 20)
	s.mu.Lock()
	s.open++
	s.mu.Unlock()
	ctx, cancel := context.WithCancel(r.Context())
	c := &Conn{ctx: ctx, s: s, ws: ws, f: f, messages: make(chan message, waiting), pings: pings}
	var reading sync.WaitGroup
	defer func() {
		cancel()
		_ = ws.CloseNow() // it may be closed already
		reading.Wait()
		s.mu.Lock()
		s.open--
		s.mu.Unlock()
	}()
	if f.Slow {
		<-ctx.Done()
		return
	}
	reading.Go(c.read)
	if f.Garbage != "" {
		c.Send(f.Garbage) // the client may write before it reads: its messages wait
	}
	handle(c)
}

// waiting is the number of a client's messages that wait until they are read.
const waiting = 16

// Conn is a WebSocket of a client. Read must be called by one goroutine; the other methods
// are safe for concurrent use.
type Conn struct {
	// Pings says that a ping is a sign of life for Read.
	Pings bool

	ctx      context.Context //nolint:containedctx // that of the request, whose end is the connection's
	s        *Server
	ws       *websocket.Conn
	f        Fault
	messages chan message
	pings    chan struct{} // holds a token if a ping has come
	count    int
}

type message struct {
	binary bool
	data   []byte
	err    error
}

// ErrIdle reports that the client has sent nothing for the time that is allowed.
var ErrIdle = errors.New("the client has sent nothing")

func (c *Conn) read() {
	for {
		kind, data, err := c.ws.Read(c.ctx)
		if c.f.Deaf && err == nil {
			continue
		}
		select {
		case c.messages <- message{kind == websocket.MessageBinary, data, err}:
		case <-c.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// Read returns the next message, or ErrIdle if none comes within idle.
func (c *Conn) Read(idle time.Duration) (data []byte, binary bool, err error) {
	timer := time.NewTimer(idle)
	defer timer.Stop()
	for {
		select {
		case m := <-c.messages:
			if c.count++; m.err == nil && c.f.Cut > 0 && c.count > c.f.Cut {
				_ = c.ws.CloseNow() // the fault
				return nil, false, errors.New("cut")
			}
			return m.data, m.binary, m.err
		case <-c.pings:
			if c.Pings {
				timer.Reset(idle)
			}
		case <-timer.C:
			return nil, false, ErrIdle
		case <-c.ctx.Done():
			return nil, false, c.ctx.Err()
		}
	}
}

// Context ends with the connection.
func (c *Conn) Context() context.Context { return c.ctx }

// Send sends a text. An error ends the connection, which Read reports.
func (c *Conn) Send(text string) { _ = c.ws.Write(c.ctx, websocket.MessageText, []byte(text)) }

// SendJSON sends a value as JSON.
func (c *Conn) SendJSON(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot happen: the values are the fakes' own
	}
	_ = c.ws.Write(c.ctx, websocket.MessageText, b)
}

// SendBinary sends bytes.
func (c *Conn) SendBinary(b []byte) { _ = c.ws.Write(c.ctx, websocket.MessageBinary, b) }

// Close closes the connection with a code.
func (c *Conn) Close(code int, reason string) {
	_ = c.ws.Close(websocket.StatusCode(code), reason) // the client may have gone
}
