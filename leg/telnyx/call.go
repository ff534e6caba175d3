package telnyx

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/internal/carrier"
)

// fact is something that happens once. Its methods are safe for concurrent use.
type fact struct {
	once sync.Once
	c    chan struct{} // closed when it has happened
}

func newFact() *fact { return &fact{c: make(chan struct{})} }

// happen reports whether the fact is new.
func (f *fact) happen() (first bool) {
	f.once.Do(func() {
		close(f.c)
		first = true
	})
	return first
}

func (f *fact) happened() bool {
	select {
	case <-f.c:
		return true
	default:
		return false
	}
}

// call is a call from its first webhook until nobody speaks of it any more. What has happened is a
// set of facts, so that webhooks may come late, repeatedly and in any order.
//
//	ringing     answer was sent            until answered
//	connecting  streaming_start was sent   until streaming, or unstreamed
//	streaming   the conversation goes on   until closed, or moved; lost streams are started again
//	            hangup is sent, unless the call is over or moved
type call struct {
	Incoming

	answered *fact // Telnyx says so
	over     *fact // Telnyx says so; hangup is set
	closed   *fact // the conversation's leg is closed, or its first stream was refused
	moved    *fact // the person talks with somebody else

	unstreamed chan string   // has the reason when Telnyx says that a stream failed
	attached   chan struct{} // has a token when a stream has begun
	lost       chan struct{} // has a token when a stream was lost
	out        *outgoing     // nil if the call came in

	// Guarded by the server's mu.
	line     *carrier.Line // nil before the first stream
	hangup   Hangup
	transfer *transfer // nil: none
	admitted bool
	cancel   context.CancelFunc // ends the commands
	forget   time.Time          // when the call is no longer remembered; the zero time while it is held
}

func newCall(in Incoming) *call {
	return &call{
		Incoming: in, answered: newFact(), over: newFact(), closed: newFact(), moved: newFact(),
		unstreamed: make(chan string, 1), attached: make(chan struct{}, 1), lost: make(chan struct{}, 1),
	}
}

// line is the leg of a call.
type line struct {
	*carrier.Line
	s *Server
	c *call
}

// Close ends the stream, after which the call is hung up, unless it was transferred.
func (l *line) Close() error {
	err := l.Line.Close()
	l.c.closed.happen()
	return err
}

// token puts a token into a channel that has room for one.
func token[T any](c chan T, v T) {
	select {
	case c <- v:
	default:
	}
}

// errReported says that why a call could not begin is reported already.
var errReported = errors.New("the stream was refused")

// hold lives through a call that was admitted.
func (s *Server) hold(ctx context.Context, c *call) {
	s.finish(ctx, c, s.begin(ctx, c))
}

// finish lives through the conversation of a call that has begun, if err is nil, and hangs up.
func (s *Server) finish(ctx context.Context, c *call, err error) {
	if err == nil {
		s.converse(ctx, c)
	}
	if errors.Is(err, errOver) || c.over.happened() {
		return
	}
	if c.moved.happened() {
		// The call goes on without us.
		_ = s.command(ctx, c, "streaming_stop", nil) // the stream is closed anyway
		return
	}
	if err != nil && !errors.Is(err, errReported) {
		s.failed(fmt.Errorf("telnyx: a call could not begin: %w", err))
	}
	if err := s.command(ctx, c, "hangup", nil); err != nil && !errors.Is(err, errOver) {
		s.failed(fmt.Errorf("telnyx: a call could not be hung up: %w", err))
	}
}

// refuse rejects a call that was not admitted.
func (s *Server) refuse(ctx context.Context, c *call, busy bool) {
	cause := "CALL_REJECTED"
	if busy {
		cause = "USER_BUSY"
	}
	if err := s.command(ctx, c, "reject", map[string]any{"cause": cause}); err != nil && !errors.Is(err, errOver) {
		s.failed(fmt.Errorf("telnyx: a call could not be rejected: %w", err))
	}
}

// begin answers a call and waits until its conversation has begun. It returns errOver if the
// caller hangs up before.
func (s *Server) begin(ctx context.Context, c *call) error {
	// Without it a call on which nothing is sent may be dropped after a second or two.
	if err := s.command(ctx, c, "answer", map[string]any{"send_silence_when_idle": true}); err != nil {
		return err
	}
	if err := s.await(c, c.answered.c, carrier.Announced, "was not answered"); err != nil {
		return err
	}
	return s.stream(ctx, c, carrier.Announced)
}

// stream starts a stream and waits for it.
func (s *Server) stream(ctx context.Context, c *call, most time.Duration) error {
	token, err := s.expected.Add(c.Call, c)
	if err != nil {
		return err
	}
	select {
	case <-c.unstreamed: // what is said of an earlier stream
	default:
	}
	codec := codecs[s.o.Codec]
	if err := s.command(ctx, c, "streaming_start", map[string]any{
		"stream_url": s.media + token, "stream_track": "inbound_track", "stream_codec": s.o.Codec,
		"stream_bidirectional_mode": "rtp", "stream_bidirectional_codec": s.o.Codec, "stream_bidirectional_sampling_rate": codec.clock,
		"stream_bidirectional_target_legs": "self", "enable_dialogflow": false,
	}); err != nil {
		s.expected.Take(token)
		return err
	}
	err = s.await(c, c.attached, most, "has no stream")
	if _, waiting := s.expected.Take(token); waiting || err == nil {
		return err
	}
	// The stream connects at this moment.
	select {
	case <-c.attached:
		return nil
	case <-c.closed.c:
		return errReported
	}
}

// await waits for a fact, as long as it can still happen.
func (s *Server) await(c *call, f <-chan struct{}, most time.Duration, not string) error {
	limit := time.NewTimer(most)
	defer limit.Stop()
	select {
	case <-f:
		return nil
	case <-c.over.c:
		return errOver
	case reason := <-c.unstreamed:
		return fmt.Errorf("the stream failed: %s", reason)
	case <-c.closed.c:
		return errReported
	case <-limit.C:
		return fmt.Errorf("it %s within %v", not, most)
	case <-s.stopping:
		return errors.New("the server is being stopped")
	}
}

// converse waits for the end of the conversation, which ends with the call. It starts streams again
// that were lost.
func (s *Server) converse(ctx context.Context, c *call) {
	s.mu.Lock()
	on := c.line
	s.mu.Unlock()
	for {
		select {
		case <-c.lost:
			s.restream(ctx, c, on)
			continue
		case <-c.closed.c:
			return
		case <-c.over.c:
		case <-s.stopping:
		case <-on.Ended():
		}
		_ = on.Close() // the conversation's Read returns io.EOF
		return
	}
}

const (
	// restarting is how long a stream that was started again may take to connect.
	restarting = 5 * time.Second
	// restartPause is the time before the second attempt to start a stream again; it doubles.
	restartPause = time.Second
)

// restream starts a stream in the place of a lost one, until that succeeds or the line has ended.
func (s *Server) restream(ctx context.Context, c *call, on *carrier.Line) {
	// Telnyx may believe that the old one goes on: a call has one stream.
	_ = s.command(ctx, c, "streaming_stop", nil)
	for pause := restartPause; ; pause *= 2 {
		err := s.stream(ctx, c, restarting)
		if err == nil {
			return
		}
		if errors.Is(err, errOver) {
			on.End()
			return
		}
		limit := time.NewTimer(pause)
		select {
		case <-limit.C:
			continue
		case <-on.Ended():
			s.failed(fmt.Errorf("telnyx: a stream could not be started again: %w", err))
		case <-c.over.c:
		case <-c.closed.c:
		case <-s.stopping:
		}
		limit.Stop()
		return
	}
}

// command sends a command for a call.
func (s *Server) command(ctx context.Context, c *call, action string, fields map[string]any) error {
	return s.commands.send(ctx, c.Call, action, rand.Text(), fields)
}

// admit begins a call that is new, and reports whether there is room for it.
func (s *Server) admit(ctx context.Context, in Incoming) (room bool) {
	c := newCall(in)
	s.mu.Lock()
	known := s.calls[in.Call] != nil // the webhook is repeated, or the caller has hung up already
	room = !s.stopped && s.room()
	if !known && room {
		s.calls[in.Call] = c
	}
	s.mu.Unlock()
	if known || !room {
		return known
	}
	var err error
	if s.o.Admit != nil {
		err = s.o.Admit(ctx, in)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		delete(s.calls, in.Call)
		return false
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // the call outlives the webhook
	c.admitted, c.cancel = err == nil, cancel
	s.running.Go(func() {
		defer s.rest(c)
		if err != nil {
			s.refuse(ctx, c, errors.Is(err, ErrBusy))
		} else {
			s.hold(ctx, c)
		}
	})
	return true
}

// hear takes what Telnyx says of a call.
func (s *Server) hear(e event) {
	s.mu.Lock()
	c := s.calls[e.call.Call]
	if c == nil && e.state != "" {
		if c = s.placed[e.state]; c != nil {
			s.name(c, e.call)
		}
	}
	if c == nil && s.elsewhere(e) {
		s.mu.Unlock()
		return
	}
	if c == nil && e.kind == "call.hangup" && s.room() {
		// The webhook that announces the call comes later: it must not be answered.
		c = newCall(e.call)
		c.forget = time.Now().Add(remembered)
		s.calls[e.call.Call] = c
	}
	admitted := c != nil && c.admitted
	if c != nil && e.kind == "call.hangup" && !c.over.happened() {
		c.hangup = e.hangup
	}
	if c != nil && c.transfer != nil && e.kind == "call.bridged" {
		c.transfer.settle(nil)
	}
	s.mu.Unlock()
	if c == nil {
		return // another server's, or one of long ago
	}
	switch e.kind {
	case "call.answered":
		c.answered.happen()
	case "streaming.failed":
		token(c.unstreamed, e.reason)
	case "call.hangup":
		if c.over.happen() && admitted && s.o.Ended != nil {
			s.o.Ended(c.Incoming, e.hangup)
		}
	}
	if c.out != nil {
		c.out.hear(e)
	}
}

// room forgets what is long over, and reports whether there is room for another call. It requires
// mu.
func (s *Server) room() bool {
	if now := time.Now(); now.After(s.cleared.Add(time.Minute)) || len(s.calls) >= mostCalls {
		s.cleared = now
		for name, c := range s.calls {
			if !c.forget.IsZero() && now.After(c.forget) {
				delete(s.calls, name)
			}
		}
	}
	return len(s.calls) < mostCalls
}

// rest ends a call, which is remembered as long as webhooks of it may come.
func (s *Server) rest(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.cancel()
	c.forget = time.Now().Add(remembered)
}
