package hosted

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// Speaking is the protocol of one connection to a synthesizer. Its methods are called by one
// goroutine at a time.
type Speaking interface {
	// Open returns the first messages.
	Open() []socket.Message
	// Speak returns the messages with a whole text, under an id that was not used before.
	Speak(id string, u port.Utterance) []socket.Message
	// Cancel returns the messages that stop a text. If ok is false, the connection cannot
	// be used any more.
	Cancel(id string) (messages []socket.Message, ok bool)
	// Keepalive returns the messages that keep an idle connection open. If it returns
	// nothing, a ping does.
	Keepalive() []socket.Message
	// Receive decodes a message. An error is a [*port.Failure], after which the connection
	// is not used any more.
	Receive(m socket.Message) ([]Sound, error)
}

// Sound is what a message says about the text with an id.
type Sound struct {
	ID    string
	PCM   []byte   // s16le; a sample may be split over messages
	Words []Spoken // words whose beginnings are known now
	Done  bool     // nothing follows for the id
	// Err is why the text will not be spoken; it implies Done.
	Err error
}

// VoiceLine is how a connection to a synthesizer is made.
type VoiceLine struct {
	URL       string
	Header    http.Header
	Protocols []string
	Speaking  Speaking
}

// SynthesizerOptions configures a [Synthesizer]. Dialer, Line and Rate must be set.
type SynthesizerOptions struct {
	Dialer *socket.Dialer
	// Line returns a connection for texts like u: its voice and language may be part of the
	// address.
	Line func(u port.Utterance) (VoiceLine, error)
	// Same returns what two utterances must have in common for one connection; if it is
	// nil, all have it.
	Same func(u port.Utterance) string
	Rate int // of the sound, in hertz
	// Keepalive is the time after which a message keeps an idle connection open; 15 s if 0.
	Keepalive time.Duration
	// Idle is the time after which an unused connection is closed; 5 min if 0.
	Idle time.Duration
	// First limits the time to the first sound of a text, and Stall that between sounds; 4 s
	// if 0.
	First, Stall time.Duration
	// Texts is the number of texts that a connection may have at a time, with cancelled
	// ones that the service has not ended; 1 if 0.
	Texts int
	// Forgets says that the service need not tell the end of a cancelled text.
	Forgets bool
	// PerMinute is the number of texts that a connection takes in a minute, and Life the
	// age at which it takes no more; 0 means any.
	PerMinute int
	Life      time.Duration
}

// Synthesizer implements [port.Synthesizer]. A text has a connection of its own, which later
// texts use again. It is safe for concurrent use.
type Synthesizer struct {
	o       SynthesizerOptions
	workers sync.WaitGroup // the goroutines of all connections

	mu     sync.Mutex // guards the fields below
	idle   []*voice   // unused connections, those used last at the end
	open   map[*voice]bool
	number int
	closed bool
}

var _ port.Synthesizer = (*Synthesizer)(nil)

// NewSynthesizer returns a synthesizer. The caller must close it.
func NewSynthesizer(o SynthesizerOptions) *Synthesizer {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&o.Keepalive, 15 * time.Second}, {&o.Idle, 5 * time.Minute}, {&o.First, 4 * time.Second}, {&o.Stall, 4 * time.Second}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if o.Texts == 0 {
		o.Texts = 1
	}
	if o.Same == nil {
		o.Same = func(port.Utterance) string { return "" }
	}
	return &Synthesizer{o: o, open: make(map[*voice]bool)}
}

// Rate implements [port.Synthesizer].
func (s *Synthesizer) Rate() int { return s.o.Rate }

// Close closes the connections and waits for their goroutines. No Speak may run.
func (s *Synthesizer) Close() error {
	s.mu.Lock()
	s.closed = true
	for v := range s.open {
		v.end()
	}
	s.mu.Unlock()
	s.workers.Wait()
	s.o.Dialer.Close()
	return nil
}

// Speak implements [port.Synthesizer]. An error is a [*port.Failure] unless it is that of
// ctx or emit.
func (s *Synthesizer) Speak(ctx context.Context, u port.Utterance, emit func(port.Speech) error) error {
	if strings.TrimSpace(u.Text) == "" || ctx.Err() != nil {
		return ctx.Err()
	}
	for {
		v, used, err := s.take(ctx, u)
		if err != nil {
			return err
		}
		began := time.Now()
		heard, err := s.speak(ctx, v, u, emit)
		if f, ok := errors.AsType[*port.Failure](err); used && !heard && ok && again(f) && time.Since(began) < s.o.First {
			continue // the connection was lost while nobody used it
		}
		return err
	}
}

// speak speaks a text over a connection. heard reports whether there was any sound.
func (s *Synthesizer) speak(ctx context.Context, v *voice, u port.Utterance, emit func(port.Speech) error) (heard bool, err error) {
	t := newText(s.id())
	defer func() {
		if _, failed := errors.AsType[*port.Failure](err); failed && !t.ended() {
			v.end()
		} else if err != nil {
			v.cancel(t.id)
		}
		s.give(v)
	}()
	if err := v.begin(ctx, t, u); err != nil {
		return false, err
	}
	out := output{rate: s.o.Rate, aligner: newAligner(u.Text), emit: emit}
	timer := time.NewTimer(s.o.First)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return out.heard, ctx.Err()
		case <-timer.C:
			return out.heard, v.late(out.heard)
		case <-t.ready:
		}
		all, done, err := t.take()
		for _, sound := range all {
			if err := out.add(ctx, sound); err != nil {
				return out.heard, err
			}
		}
		if err != nil || done {
			return out.heard, errors.Join(err, ctx.Err())
		}
		timer.Reset(s.o.Stall)
	}
}

func (s *Synthesizer) id() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	return strconv.Itoa(s.number)
}

// take returns an unused connection, or makes one. used reports whether it was used before.
func (s *Synthesizer) take(ctx context.Context, u port.Utterance) (_ *voice, used bool, err error) {
	same := s.o.Same(u)
	s.mu.Lock()
	for i := len(s.idle) - 1; i >= 0; i-- {
		if v := s.idle[i]; v.same == same && v.room(time.Now()) {
			s.idle = append(s.idle[:i], s.idle[i+1:]...)
			s.mu.Unlock()
			return v, true, nil
		}
	}
	s.mu.Unlock()
	line, err := s.o.Line(u)
	if err != nil {
		return nil, false, err
	}
	conn, err := s.o.Dialer.Dial(ctx, line.URL, line.Header, line.Protocols...)
	if err != nil {
		return nil, false, err
	}
	if err := conn.Write(ctx, line.Speaking.Open()...); err != nil {
		_ = conn.CloseNow() // it has failed
		return nil, false, err
	}
	v := newVoice(s, conn, line.Speaking, same)
	run, end := context.WithCancel(context.WithoutCancel(ctx))
	v.endNow = end
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		v.end()
		return nil, false, errors.New("the synthesizer is closed")
	}
	s.open[v] = true
	s.workers.Go(func() { v.read(run) })
	s.workers.Go(func() { v.keep(run) })
	return v, false, nil
}

// give returns a connection that is no longer used by its text.
func (s *Synthesizer) give(v *voice) {
	v.rest(time.Now())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[v] {
		s.idle = append(s.idle, v)
	}
}

// forget removes a connection that has ended.
func (s *Synthesizer) forget(v *voice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, v)
	for i, o := range s.idle {
		if o == v {
			s.idle = append(s.idle[:i], s.idle[i+1:]...)
			break
		}
	}
}

// output turns the sound of a text to speech.
type output struct {
	rate    int
	aligner *aligner
	emit    func(port.Speech) error
	heard   bool
	at      audio.Pos // of the next sample
	odd     []byte    // half a sample
	pcm     []int16
	waiting []port.Mark // of sound that has not come
}

// pieceLength is the length of the pieces that are emitted: the services' may be long, and a
// flush must not wait for one.
const pieceLength = 100 * time.Millisecond

func (o *output) add(ctx context.Context, s Sound) error {
	for _, w := range s.Words {
		if m, ok := o.aligner.add(w, o.rate); ok {
			o.waiting = append(o.waiting, m)
		}
	}
	data := slices.Concat(o.odd, s.PCM)
	o.odd = append([]byte(nil), data[len(data)/2*2:]...)
	o.pcm = audio.AppendFromS16LE(o.pcm[:0], data)
	for rest := o.pcm; len(rest) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		piece := rest[:min(len(rest), int(audio.PosOf(pieceLength, o.rate)))]
		rest = rest[len(piece):]
		o.heard = true
		end := o.at + audio.Pos(len(piece))
		if err := o.emit(port.Speech{PCM: piece, Marks: o.marks(end)}); err != nil {
			return err
		}
		o.at = end
	}
	return nil
}

// marks returns the marks of the sound up to a position.
func (o *output) marks(end audio.Pos) []port.Mark {
	n := 0
	for n < len(o.waiting) && o.waiting[n].At <= end {
		n++
	}
	due := o.waiting[:n:n]
	o.waiting = o.waiting[n:]
	return due
}

// text is a text that is being spoken.
type text struct {
	id    string
	ready chan struct{} // holds a token if there is news

	mu     sync.Mutex // guards the fields below
	sounds []Sound
	bytes  int
	done   bool
	err    error
}

// maxSound bounds the sound of a text that waits to be played.
const maxSound = 16 << 20

func newText(id string) *text { return &text{id: id, ready: make(chan struct{}, 1)} }

// put adds what the service has sent.
func (t *text) put(s Sound) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bytes += len(s.PCM); t.bytes > maxSound && t.err == nil {
		s.Err = fmt.Errorf("a text has more than %d bytes of sound", maxSound)
	}
	t.sounds = append(t.sounds, s)
	t.done = t.done || s.Done
	if s.Err != nil && t.err == nil {
		t.err = s.Err
	}
	select {
	case t.ready <- struct{}{}:
	default:
	}
}

// take returns what was put.
func (t *text) take() (all []Sound, done bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all, t.sounds, t.bytes = t.sounds, nil, 0
	return all, t.done, t.err
}

// ended reports whether the service has ended the text, with or without a failure.
func (t *text) ended() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.done
}

// late returns the failure of a text without sound for too long.
func (v *voice) late(heard bool) error {
	v.end() // whatever comes is too late
	limit, what := v.s.o.First, "no sound"
	if heard {
		limit, what = v.s.o.Stall, "no more sound"
	}
	return v.conn.Failure(errclass.NetworkTimeout, fmt.Sprintf("the server has sent %s for %v", what, limit))
}
