package hosted

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// Hearing is the protocol of one connection to a recognizer. Its methods are called by one
// goroutine at a time.
type Hearing interface {
	// Open returns the first messages.
	Open() []socket.Message
	// Audio returns the message with a piece of sound.
	Audio(pcm []int16) socket.Message
	// Finalize returns the request for the final words of the sound so far. If it returns
	// nothing, there is nothing to request: the words are final when that much sound has
	// been processed, which may be the case already.
	Finalize() []socket.Message
	// Keepalive returns the messages that keep an idle connection open. If it returns
	// nothing, a ping does.
	Keepalive() []socket.Message
	// Close returns the messages that end the connection.
	Close() []socket.Message
	// Expect returns the messages that change what is expected. If ok is false, the
	// protocol needs another connection for that.
	Expect(e port.Expectation) (messages []socket.Message, ok bool)
	// Receive decodes a message. An error is a [*port.Failure], after which the connection
	// is not used any more.
	Receive(m socket.Message) ([]Heard, error)
}

// Heard is what a message says.
type Heard struct {
	Fixed    []Token // follow the fixed tokens before and do not change any more
	Volatile []Token // follow the fixed tokens until the next Heard
	Language string  // BCP 47; empty if it is not told
	// Through is the length of the sound that has been processed; 0 if it is not told.
	Through time.Duration
	// EndOfTurn is the probability that the speaker has finished; 0 if it is not told.
	EndOfTurn float64
	// Endpoint reports that the service judges that the speaker has finished.
	Endpoint bool
	// Finalized reports that a Finalize has been answered.
	Finalized bool
}

// Line is how a connection is made.
type Line struct {
	URL       string
	Header    http.Header
	Protocols []string
	Hearing   Hearing
}

// RecognizerOptions configures a [Recognizer]. Dialer and Line must be set.
type RecognizerOptions struct {
	Dialer *socket.Dialer
	// Line returns a connection for a stream.
	Line func(cfg port.RecognizerConfig, e port.Expectation) (Line, error)
	// Keepalive is the time without a message after which one is sent that keeps the
	// connection open; 8 s if 0.
	Keepalive time.Duration
	// FinalWithin is the time after which a Finalize is answered with the words that are
	// known; 900 ms if 0, which is below a conversation's patience.
	FinalWithin time.Duration
}

// Recognizer implements [port.Recognizer]. It is safe for concurrent use.
type Recognizer struct{ o RecognizerOptions }

var _ port.Recognizer = (*Recognizer)(nil)

// NewRecognizer returns a recognizer.
func NewRecognizer(o RecognizerOptions) *Recognizer {
	if o.Keepalive == 0 {
		o.Keepalive = 8 * time.Second
	}
	if o.FinalWithin == 0 {
		o.FinalWithin = 900 * time.Millisecond
	}
	return &Recognizer{o}
}

// Close releases the recognizer. Its streams must have been closed.
func (r *Recognizer) Close() error { r.o.Dialer.Close(); return nil }

// Open connects to the service and starts a stream.
func (r *Recognizer) Open(ctx context.Context, cfg port.RecognizerConfig, sink func(port.Transcript)) (port.RecognizerStream, error) {
	s := &stream{r: r, cfg: cfg, sink: sink, wake: make(chan struct{}, 1), incoming: make(chan arrival, 64)}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	s.listen(run)
	s.workers.Go(func() { s.run(run) })
	return s, nil
}

const (
	// maxQueued is the length of sound that waits for the connection. A service that
	// accepts nothing for so long is not used any more.
	maxQueued = 10 * time.Second
	// maxKept is the length of the end of an utterance that is sent again over another
	// connection.
	maxKept = 30 * time.Second
	// byeWithin limits the time to say that a connection ends.
	byeWithin = 20 * time.Millisecond
)

// stream is one stream. Its methods of [port.RecognizerStream] queue orders, which its worker
// carries out.
type stream struct {
	r        *Recognizer
	cfg      port.RecognizerConfig
	sink     func(port.Transcript)
	cancel   context.CancelFunc
	workers  sync.WaitGroup // the worker and the readers of its connections
	wake     chan struct{}  // holds a token if there are orders
	incoming chan arrival

	mu     sync.Mutex // guards the fields below
	orders []order
	queued int   // samples in orders
	err    error // why the stream has failed
	closed bool

	// The worker alone uses the fields below.
	conn     *socket.Conn // nil if there is no connection
	number   int          // of the connection
	hearing  Hearing
	clock    clock
	wrote    time.Time // of the last message
	expected port.Expectation
	said     port.Expectation // what the connection was told
	words    utterance

	link atomic.Pointer[link] // the connection, for Close; nil if there is none
}

// link is a connection, and the messages that end it.
type link struct {
	conn *socket.Conn
	bye  []socket.Message
}

// order is what a method asks of the worker.
type order struct {
	kind   orderKind
	pcm    []int16
	pos    audio.Pos
	expect port.Expectation
}

type orderKind uint8

const (
	orderBegin orderKind = iota
	orderWrite
	orderExpect
	orderFinalize
	orderDiscard
)

// arrival is a message of a connection, or its end.
type arrival struct {
	number int
	m      socket.Message
	err    error
}

// Begin implements [port.RecognizerStream].
func (s *stream) Begin() error { return s.order(order{kind: orderBegin}) }

// Write implements [port.RecognizerStream].
func (s *stream) Write(f audio.Frame) error {
	return s.order(order{kind: orderWrite, pcm: slices.Clone(f.PCM), pos: f.Pos})
}

// Expect implements [port.RecognizerStream].
func (s *stream) Expect(e port.Expectation) {
	_ = s.order(order{kind: orderExpect, expect: e}) // the next call returns the error
}

// Finalize implements [port.RecognizerStream].
func (s *stream) Finalize() error { return s.order(order{kind: orderFinalize}) }

// Discard implements [port.RecognizerStream].
func (s *stream) Discard() error { return s.order(order{kind: orderDiscard}) }

// Close implements [port.RecognizerStream].
func (s *stream) Close() error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	if l := s.link.Load(); l != nil && !again {
		ctx, cancel := context.WithTimeout(context.Background(), byeWithin)
		_ = l.conn.Write(ctx, l.bye...) // a service that takes no more is left without it
		cancel()
	}
	s.cancel()
	s.workers.Wait()
	return nil
}

// order queues an order. It never waits.
func (s *stream) order(o order) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errClosed
	case s.err != nil:
		return s.err
	}
	if s.queued += len(o.pcm); audio.Pos(s.queued).Duration(s.cfg.Rate) > maxQueued {
		s.err = s.r.o.Dialer.Failure(errclass.NetworkTimeout, fmt.Sprintf("the server has accepted no sound for %v", maxQueued))
		return s.err
	}
	s.orders = append(s.orders, o)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return nil
}

var errClosed = errors.New("the stream is closed")

// take returns the queued orders.
func (s *stream) take() []order {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.orders
	s.orders, s.queued = nil, 0
	return all
}

// fail ends recognition. The next call of a method returns the error.
func (s *stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// run is the worker.
func (s *stream) run(ctx context.Context) {
	defer s.hangUp()
	timer := time.NewTimer(s.r.o.Keepalive)
	defer timer.Stop()
	for {
		timer.Reset(s.next(time.Now()))
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
			for _, o := range s.take() {
				s.do(ctx, o)
			}
		case a := <-s.incoming:
			if a.number == s.number && s.conn != nil {
				s.receive(ctx, a)
			}
		case <-timer.C:
			s.tick(ctx, time.Now())
		}
	}
}

// next returns the time until tick has something to do.
func (s *stream) next(now time.Time) time.Duration {
	wait := s.r.o.Keepalive
	if s.conn != nil {
		wait = min(wait, s.wrote.Add(s.r.o.Keepalive).Sub(now))
	}
	if at, ok := s.words.deadline(); ok {
		wait = min(wait, at.Sub(now))
	}
	return max(0, wait)
}

// tick does what is due: an answer that the service does not give, or a keepalive.
func (s *stream) tick(ctx context.Context, now time.Time) {
	if at, ok := s.words.deadline(); ok && !now.Before(at) {
		silent := s.words.silent()
		s.emit(s.words.expire())
		if silent {
			s.lost(ctx, s.r.o.Dialer.Failure(errclass.NetworkTimeout, fmt.Sprintf("the server has not answered for %v", s.r.o.FinalWithin)))
		}
	}
	if s.conn != nil && now.Sub(s.wrote) >= s.r.o.Keepalive {
		messages := s.hearing.Keepalive()
		if len(messages) == 0 {
			s.wrote = now
			ping(ctx, &s.workers, s.conn, s.r.o.Keepalive)
		}
		s.write(ctx, messages...)
	}
}

// do carries out an order.
func (s *stream) do(ctx context.Context, o order) {
	switch o.kind {
	case orderExpect:
		s.expected = o.expect
		s.tellExpected(ctx)
	case orderBegin:
		s.tellExpected(ctx)
		if s.words.begin() && s.conn == nil {
			s.reconnect(ctx)
		}
	case orderWrite:
		if !s.words.open {
			return
		}
		s.words.keep(o, int(audio.PosOf(maxKept, s.cfg.Rate)))
		s.send(ctx, o)
	case orderFinalize:
		s.conclude(ctx, true)
	case orderDiscard:
		s.conclude(ctx, false)
	}
}

// send sends sound.
func (s *stream) send(ctx context.Context, o order) {
	if s.conn == nil {
		return
	}
	s.clock.add(o.pos, len(o.pcm))
	s.write(ctx, s.hearing.Audio(o.pcm))
}

// conclude ends the open utterance.
func (s *stream) conclude(ctx context.Context, wanted bool) {
	if !s.words.open {
		return
	}
	request := s.finalize()
	s.emit(s.words.conclude(wanted, s.clock.sent, len(request) == 0, time.Now().Add(s.r.o.FinalWithin)))
	s.write(ctx, request...)
}

func (s *stream) finalize() []socket.Message {
	if s.conn == nil {
		return nil
	}
	return s.hearing.Finalize()
}

// tellExpected tells the service what is expected, if that has changed and nothing is being
// recognized.
func (s *stream) tellExpected(ctx context.Context) {
	if s.conn == nil || slices.Equal(s.expected.Phrases, s.said.Phrases) || s.words.busy() {
		return
	}
	messages, ok := s.hearing.Expect(s.expected)
	if !ok {
		s.hangUp()
		if s.connect(ctx) == nil { // else the next utterance tries again
			s.listen(ctx)
		}
		return
	}
	s.said = s.expected
	s.write(ctx, messages...)
}

// receive handles a message of the connection.
func (s *stream) receive(ctx context.Context, a arrival) {
	if a.err != nil {
		s.lost(ctx, a.err)
		return
	}
	all, err := s.hearing.Receive(a.m)
	if err != nil {
		s.lost(ctx, err)
		return
	}
	for _, h := range all {
		s.emit(s.words.hear(h))
	}
}

// emit passes results on, with their times in the stream.
func (s *stream) emit(results []port.Transcript) {
	for _, t := range results {
		words := slices.Clone(t.Words)
		s.clock.convert(words)
		timed := transcript(words)
		t.Words, t.Start, t.End = words, timed.Start, timed.End
		s.sink(t)
	}
}
