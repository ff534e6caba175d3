package carrier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/wire/mediastream"
	"github.com/hocketvoice/hocket/port"
)

const (
	maxMessage = 64 << 10         // bytes of a message from the carrier
	starting   = 10 * time.Second // from the connection to the frame with which the stream begins
	silent     = 30 * time.Second // maximum time between two messages from the carrier
	stalled    = 5 * time.Second  // maximum time to send a message
	backlog    = 50               // maximum number of frames of the person's sound that the leg keeps for Read
	keyBacklog = 64               // maximum number of keys that the leg keeps for ReadKey
	quiet      = 5                // number of frames of silence that the leg sends after speech
	window     = 3                // maximum number of frames that may overtake another one
)

var (
	_ port.Leg          = (*Leg)(nil)
	_ port.Acknowledger = (*Leg)(nil)
	_ port.KeyReader    = (*Leg)(nil)
)

// Leg is a call whose sound a carrier streams. Its methods follow the concurrency rules of
// port.Leg.
type Leg struct {
	dialect *mediastream.Dialect
	start   mediastream.Start
	reply   mediastream.Format // of the agent's sound
	ws      *websocket.Conn
	encoder *mediastream.Encoder
	frame   int // samples of 20 ms, in both directions
	keys    chan byte
	ended   chan struct{} // closed when the stream has ended
	done    sync.WaitGroup

	// Used by Read alone.
	pcm []int16
	pos audio.Pos

	write   sync.Mutex // serializes messages; guards the fields below
	encode  func(dst []byte, pcm []int16) []byte
	payload []byte
	out     []byte      // the message
	name    []byte      // of a mark
	late    *time.Timer // closes the connection when a message takes too long
	silence int         // frames of silence written since the last speech
	unsaid  int         // frames sent since the last mark

	mu     sync.Mutex // guards the fields below
	ledger ledger
	in     []int16       // the person's sound, oldest first
	more   chan struct{} // has a token when in has grown
	reason error         // why the stream has ended; nil until then
	stop   bool          // the carrier has ended the stream in order
}

// Options describes how a stream is accepted. Dialect is required.
type Options struct {
	Dialect *mediastream.Dialect
	// Send is the format of the agent's sound. The default is the format of the person's.
	Send mediastream.Format
	// Admit, if not nil, decides whether the stream that begins is expected. Its error refuses
	// the stream.
	Admit func(mediastream.Start) error
	// Refused, if not nil, is called with the carrier's words when it refuses a frame, once for a
	// stream. It must not block.
	Refused func(words string)
}

// Accept reads the carrier's first messages and returns the leg of the stream that begins. The
// caller must close the leg. After an error the connection is closed.
func Accept(ctx context.Context, ws *websocket.Conn, o Options) (*Leg, error) {
	ws.SetReadLimit(maxMessage)
	decoder := mediastream.NewDecoder(o.Dialect)
	limit := time.AfterFunc(starting, func() { _ = ws.CloseNow() })
	start, err := begin(ctx, ws, decoder)
	if err == nil && o.Admit != nil {
		err = o.Admit(start)
	}
	if !limit.Stop() && err == nil {
		err = fmt.Errorf("%s leg: the stream has not begun within %v", o.Dialect.Name, starting)
	}
	if o.Send == (mediastream.Format{}) {
		o.Send = start.Format
	}
	var hear func([]int16) []int16
	if err == nil {
		hear, err = resampler(start.Format.Rate, o.Send.Rate)
	}
	if err != nil {
		_ = ws.Close(websocket.StatusPolicyViolation, "the stream is refused")
		return nil, err
	}
	l := &Leg{
		dialect: o.Dialect, start: start, reply: o.Send, ws: ws, encoder: mediastream.NewEncoder(o.Dialect, start.Stream, o.Send),
		frame: audio.FrameSamples(o.Send.Rate), encode: Encoder(o.Send),
		keys: make(chan byte, keyBacklog), ended: make(chan struct{}), more: make(chan struct{}, 1), silence: quiet,
	}
	l.pcm = make([]int16, l.frame)
	l.late = time.AfterFunc(time.Hour, func() { _ = ws.CloseNow() })
	l.late.Stop()
	l.done.Go(func() { l.receive(decoder, hear, o.Refused) }) //nolint:contextcheck // a context that ends would close the connection in mid-message
	return l, nil
}

// begin reads up to the frame with which the stream begins.
func begin(ctx context.Context, ws *websocket.Conn, d *mediastream.Decoder) (mediastream.Start, error) {
	for {
		kind, data, err := ws.Read(ctx)
		if err != nil {
			return mediastream.Start{}, fmt.Errorf("the stream has not begun: %w", err)
		}
		if kind != websocket.MessageText {
			return mediastream.Start{}, errors.New("the stream has not begun: expected a text message")
		}
		f, err := d.Decode(data)
		if err != nil {
			return mediastream.Start{}, err
		}
		switch f.Kind {
		case mediastream.Begin:
			return f.Start, nil
		case mediastream.Connected, mediastream.Other:
		default:
			return mediastream.Start{}, errors.New("the stream has not begun: expected the frame start")
		}
	}
}

// Start returns the carrier's description of the stream.
func (l *Leg) Start() mediastream.Start { return l.start }

// Rate returns the sampling rate of both directions in hertz.
func (l *Leg) Rate() int { return l.reply.Rate }

// receive takes the carrier's messages until the stream ends. hear converts the person's sound
// to the rate of the leg; refused is told the first frame that the carrier refuses.
func (l *Leg) receive(d *mediastream.Decoder, hear func([]int16) []int16, refused func(string)) {
	gone := time.AfterFunc(silent, func() { _ = l.ws.CloseNow() })
	defer gone.Stop()
	sort := sorter{decode: Decoder(l.start.Format), frame: audio.FrameSamples(l.start.Format.Rate)}
	for {
		kind, data, err := l.ws.Read(context.Background())
		if err != nil {
			l.end(err)
			return
		}
		gone.Reset(silent)
		if kind == websocket.MessageBinary {
			if l.dialect.Binary {
				l.heard(hear(sort.next(0, data)))
			}
			continue
		}
		f, err := d.Decode(data)
		if err != nil {
			_ = l.ws.Close(websocket.StatusPolicyViolation, "invalid frame")
			l.end(err)
			return
		}
		switch f.Kind {
		case mediastream.Media:
			l.heard(hear(sort.next(f.Chunk, f.Payload)))
		case mediastream.Key:
			select {
			case l.keys <- f.Key:
			default:
			}
		case mediastream.Mark:
			l.mu.Lock()
			l.ledger.returned(f.Mark)
			l.mu.Unlock()
		case mediastream.Failed:
			if refused != nil {
				refused(f.Text)
				refused = nil
			}
		case mediastream.End:
			l.mu.Lock()
			l.stop = l.reason == nil
			l.mu.Unlock()
			l.end(nil)
			_ = l.ws.Close(websocket.StatusNormalClosure, "")
			return
		default:
		}
	}
}

// end notes why the stream has ended; the first reason counts. A connection that the carrier
// closes is the end of the call.
func (l *Leg) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reason != nil {
		return
	}
	switch {
	case err == nil, websocket.CloseStatus(err) != -1, errors.Is(err, io.EOF):
		l.reason = io.EOF
	default:
		l.reason = fmt.Errorf("%s leg: %w: %w", l.dialect.Name, err, io.EOF)
	}
	close(l.ended)
}

// Ended returns a channel that is closed when the stream has ended.
func (l *Leg) Ended() <-chan struct{} { return l.ended }

// Reason returns why the stream has ended, once it has, and whether the carrier has ended it in
// order.
func (l *Leg) Reason() (stopped bool, reason error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stop, l.reason
}

// heard appends samples of the person. If Read is not called, it drops the oldest ones.
func (l *Leg) heard(pcm []int16) {
	if len(pcm) == 0 {
		return
	}
	l.mu.Lock()
	l.in = append(l.in, pcm...)
	if most := backlog * l.frame; len(l.in) > most {
		l.in = l.in[:copy(l.in, l.in[len(l.in)-most:])]
	}
	l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// Read returns the person's next 20 ms. It returns an error that wraps io.EOF when the stream
// has ended.
func (l *Leg) Read(ctx context.Context) (audio.Frame, error) {
	for {
		l.mu.Lock()
		ready := len(l.in) >= l.frame
		if ready {
			copy(l.pcm, l.in)
			l.in = l.in[:copy(l.in, l.in[l.frame:])]
		}
		reason := l.reason
		l.mu.Unlock()
		if ready {
			f := audio.Frame{Pos: l.pos, Rate: l.Rate(), PCM: l.pcm}
			l.pos = f.End()
			return f, nil
		}
		if reason != nil {
			return audio.Frame{}, reason
		}
		select {
		case <-l.more:
		case <-l.ended:
		case <-ctx.Done():
			return audio.Frame{}, ctx.Err()
		}
	}
}

// ReadKey waits for the next key that the person presses: 0-9, *, #, A-D. It returns io.EOF
// when the stream has ended.
func (l *Leg) ReadKey(ctx context.Context) (byte, error) {
	select {
	case k := <-l.keys:
		return k, nil
	default:
	}
	select {
	case k := <-l.keys:
		return k, nil
	case <-l.ended:
		return 0, io.EOF
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// Write sends the agent's next 20 ms. Of silence it sends the first 100 ms behind speech, which
// is enough for a carrier that fills in the rest: more would pile up in the carrier's buffer
// when the clocks differ. What is written after the end of the stream is lost.
func (l *Leg) Write(ctx context.Context, f audio.Frame) error {
	l.write.Lock()
	defer l.write.Unlock()
	sends, marks := l.count(f)
	if !sends {
		return ctx.Err()
	}
	kind := websocket.MessageText
	if l.dialect.Binary {
		kind = websocket.MessageBinary
	}
	l.payload = l.encode(l.payload[:0], f.PCM)
	l.out = l.encoder.AppendMedia(l.out[:0], l.payload)
	l.send(kind) //nolint:contextcheck // see send
	if marks {
		l.mu.Lock()
		l.name = l.ledger.name(l.name[:0])
		l.mu.Unlock()
		l.out = l.encoder.AppendMark(l.out[:0], l.name)
		l.send(websocket.MessageText) //nolint:contextcheck // see send
	}
	return ctx.Err()
}

// count counts a frame and decides whether it is sent, and whether a mark follows it.
func (l *Leg) count(f audio.Frame) (sends, marks bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ledger.written += audio.Pos(len(f.PCM))
	if audio.Peak(f.PCM) > 0 {
		l.silence = 0
	} else {
		l.silence++
	}
	if l.reason != nil || l.silence > quiet {
		return false, false
	}
	l.ledger.sent = l.ledger.written
	l.unsaid++
	if l.unsaid >= interval || l.silence == quiet {
		l.unsaid = 0
		return true, true
	}
	return true, false
}

// send sends the message in out. A connection on which that takes too long is closed; the
// contexts of callers would close it in mid-message.
func (l *Leg) send(kind websocket.MessageType) {
	l.late.Reset(stalled)
	err := l.ws.Write(context.Background(), kind, l.out)
	l.late.Stop()
	if err != nil {
		l.end(err)
	}
}

// Clear drops what the carrier has accepted and not yet played. Carriers have a buffer of their
// own, so that the frame is sent even if all marks have come back.
func (l *Leg) Clear(ctx context.Context) error {
	l.write.Lock()
	defer l.write.Unlock()
	l.mu.Lock()
	l.ledger.cleared()
	over := l.reason != nil
	l.mu.Unlock()
	l.unsaid = 0
	if !over {
		l.out = l.encoder.AppendClear(l.out[:0])
		l.send(websocket.MessageText) //nolint:contextcheck // see send
	}
	return ctx.Err()
}

// Played returns the position after the last sample that the carrier has reported as played, or
// that was dropped. It is at most 100 ms and the way of the report behind what was heard.
func (l *Leg) Played() audio.Pos {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ledger.heard()
}

// Notify does nothing: a telephone shows nothing.
func (*Leg) Notify(port.Notice) {}

// Close ends the stream and waits for its goroutine. With most carriers the call goes on, or
// ends, by its own instructions.
func (l *Leg) Close() error {
	l.end(nil)
	_ = l.ws.Close(websocket.StatusNormalClosure, "") // it may be closed already
	l.done.Wait()
	return nil
}
