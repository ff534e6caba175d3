package carrier

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// ErrBusy says that a call is refused because there are too many.
var ErrBusy = errors.New("too many calls")

const (
	// Announced is how long the stream of an announced call is expected. A stream connects
	// within a second or two; carriers give up a webhook after 15 s at most.
	Announced = time.Minute
	// mostAnnounced limits the calls whose streams are expected.
	mostAnnounced = 1000
)

// Expected are the calls whose streams have not connected yet, by the token that admits each
// stream once. The zero value is empty. It is safe for concurrent use.
type Expected[C any] struct {
	// Now returns the time; [time.Now] if nil.
	Now func() time.Time

	mu      sync.Mutex // guards pending
	pending map[string]expected[C]
}

// expected is a call whose stream has not connected yet.
type expected[C any] struct {
	id    string
	call  C
	until time.Time
}

func (e *Expected[C]) now() time.Time {
	if e.Now == nil {
		return time.Now()
	}
	return e.Now()
}

// Add returns the token with which the stream of a call is admitted. An earlier token of the same
// call becomes invalid. It returns an error that wraps [ErrBusy] if too many calls are expected.
func (e *Expected[C]) Add(id string, call C) (token string, err error) {
	token = rand.Text()
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	for t, p := range e.pending {
		if p.id == id || now.After(p.until) {
			delete(e.pending, t)
		}
	}
	if len(e.pending) >= mostAnnounced {
		return "", ErrBusy
	}
	if e.pending == nil {
		e.pending = make(map[string]expected[C])
	}
	e.pending[token] = expected[C]{id: id, call: call, until: now.Add(Announced)}
	return token, nil
}

// Take returns the call of a token, which is then spent.
func (e *Expected[C]) Take(token string) (call C, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, ok := e.pending[token]
	delete(e.pending, token)
	return p.call, ok && !e.now().After(p.until)
}

// Upgrade answers the request with which a carrier opens a stream, and accepts the stream. The
// caller must have admitted the request: its origin is not checked. The leg outlives the request.
func Upgrade(w http.ResponseWriter, r *http.Request, o Options) (*Leg, error) {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return nil, err
	}
	return Accept(context.WithoutCancel(r.Context()), ws, o)
}
