package fake

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/carrier"
	"github.com/hocketvoice/hocket/internal/wire/mediastream"
)

// Options describes a call. Dialect and URL are required.
type Options struct {
	// Dialect is "twilio" or "telnyx".
	Dialect string
	// URL is where the stream connects to.
	URL string
	// Client opens the WebSocket; http.DefaultClient if nil.
	Client *http.Client
	// Header is sent when the WebSocket is opened.
	Header http.Header
	// Stream, Call, From and To name the stream, the call and the numbers.
	Stream, Call, From, To string
	// Parameters are passed to the server when the stream begins.
	Parameters map[string]string
	// Encoding is the format of the person's sound: PCMU, PCMA, G722 or L16; PCMU if empty.
	// Twilio has PCMU alone.
	Encoding string
	// Reply is the format of the server's sound; Encoding if empty.
	Reply string
	// Idle is how long the server may send nothing before the call is dropped; 0 means forever.
	Idle time.Duration
	// Shuffle makes the call swap every tenth frame of the person's sound with the next frame.
	// Telnyx does not guarantee the order of frames.
	Shuffle bool
}

// Call is a call with a stream. Its methods are safe for concurrent use.
type Call struct {
	o      Options
	in     sound // of the person
	out    sound // of the server
	encode func(dst []byte, pcm []int16) []byte
	decode func(dst []int16, payload []byte) []int16
	ws     *websocket.Conn
	stop   context.CancelFunc
	done   sync.WaitGroup
	over   chan struct{} // closed when the stream has ended

	mu      sync.Mutex // guards the fields below
	said    []int16
	keys    []byte
	queue   []item
	played  []int16
	dropped int
	clears  int
	seq     int
	chunk   int
	held    []byte // a frame that was overtaken
	idle    int    // steps since the server has sent sound
	late    bool   // the call was dropped for that
	spoke   bool   // the telephone has played speech since the person's last words
	quiet   int    // steps since it did
	hangUp  bool
	fault   error
}

// sound is a format with the name that carriers give it.
type sound struct {
	name  string
	clock int // the rate that a carrier tells
	mediastream.Format
}

// formats are those of the streams. Telnyx documents the rate of G722 as the clock of its
// packets, and L16 as sound of 16 kHz in the order of RFC 3551.
var formats = []sound{
	{"PCMU", 8000, mediastream.Format{Encoding: mediastream.MuLaw, Rate: 8000}},
	{"PCMA", 8000, mediastream.Format{Encoding: mediastream.ALaw, Rate: 8000}},
	{"G722", 8000, mediastream.Format{Encoding: mediastream.G722, Rate: 16000}},
	{"L16", 16000, mediastream.Format{Encoding: mediastream.LinearBE, Rate: 16000}},
}

// named returns the format of a name.
func named(name string) (sound, error) {
	for _, f := range formats {
		if f.name == name {
			return f, nil
		}
	}
	return sound{}, fmt.Errorf("the format %q is unknown: expected PCMU, PCMA, G722 or L16", name)
}

// item is sound that waits to be played, or a mark.
type item struct {
	pcm  []int16
	mark string
}

// Dial begins a call. The caller must end it with HangUp or Close.
func Dial(ctx context.Context, o Options) (*Call, error) {
	in, err := named(cmp.Or(o.Encoding, "PCMU"))
	if err != nil {
		return nil, err
	}
	out, err := named(cmp.Or(o.Reply, in.name))
	if err != nil {
		return nil, err
	}
	ws, resp, err := websocket.Dial(ctx, o.URL, &websocket.DialOptions{HTTPClient: o.Client, HTTPHeader: o.Header})
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &Call{
		o: o, in: in, out: out, encode: carrier.Encoder(in.Format), decode: carrier.Decoder(out.Format),
		ws: ws, stop: stop, over: make(chan struct{}),
	}
	if err := c.begin(ctx); err != nil {
		stop()
		_ = ws.CloseNow()
		return nil, err
	}
	c.done.Go(func() { c.receive(ctx) })
	c.done.Go(func() { c.run(ctx) })
	return c, nil
}

// begin sends the first frames.
func (c *Call) begin(ctx context.Context) error {
	o := c.o
	var first, start map[string]any
	if o.Dialect == "telnyx" {
		first = map[string]any{"event": "connected", "version": "1.0.0"}
		start = map[string]any{"start": map[string]any{
			"user_id": "user", "call_control_id": o.Call, "from": o.From, "to": o.To, "custom_parameters": o.Parameters,
			"media_format": map[string]any{"encoding": c.in.name, "sample_rate": c.in.clock, "channels": 1},
		}}
	} else {
		first = map[string]any{"event": "connected", "protocol": "Call", "version": "1.0.0"}
		start = map[string]any{"start": map[string]any{
			"accountSid": "AC1", "streamSid": o.Stream, "callSid": o.Call, "tracks": []string{"inbound"}, "customParameters": o.Parameters,
			"mediaFormat": map[string]any{"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
		}}
	}
	if err := c.send(ctx, first); err != nil {
		return err
	}
	return c.event(ctx, "start", start)
}

// send sends a frame.
func (c *Call) send(ctx context.Context, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.ws.Write(ctx, websocket.MessageText, data)
}

// event sends a frame with its number and the stream's name.
func (c *Call) event(ctx context.Context, name string, more map[string]any) error {
	c.mu.Lock()
	c.seq++
	seq := fmt.Sprint(c.seq)
	c.mu.Unlock()
	more["event"] = name
	if c.o.Dialect == "telnyx" {
		more["sequence_number"], more["stream_id"] = seq, c.o.Stream
	} else {
		more["sequenceNumber"], more["streamSid"] = seq, c.o.Stream
	}
	return c.send(ctx, more)
}

// run sends and plays 20 ms at a time until the call ends.
func (c *Call) run(ctx context.Context) {
	defer close(c.over)
	tick := time.NewTicker(audio.FrameDuration)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if err := c.step(ctx); err != nil {
			return
		}
	}
}

// step lives through 20 ms of the call.
func (c *Call) step(ctx context.Context) error {
	c.mu.Lock()
	marks := c.play()
	pcm := make([]int16, audio.FrameSamples(c.in.Rate))
	c.said = c.said[copy(pcm, c.said):]
	c.idle++
	c.late = c.late || c.o.Idle > 0 && time.Duration(c.idle)*audio.FrameDuration > c.o.Idle
	keys, hangUp := c.keys, c.hangUp || c.late
	c.keys = nil
	c.chunk++
	chunk := c.chunk
	c.mu.Unlock()
	for _, m := range marks {
		if err := c.event(ctx, "mark", map[string]any{"mark": map[string]any{"name": m}}); err != nil {
			return err
		}
	}
	for _, k := range keys {
		if err := c.event(ctx, "dtmf", map[string]any{"dtmf": map[string]any{"digit": string(k)}}); err != nil {
			return err
		}
	}
	if hangUp {
		_ = c.event(ctx, "stop", map[string]any{"stop": map[string]any{}})
		return context.Canceled
	}
	return c.media(ctx, chunk, pcm)
}

// media sends the person's sound.
func (c *Call) media(ctx context.Context, chunk int, pcm []int16) error {
	m := map[string]any{"media": map[string]any{
		"track": "inbound", "chunk": fmt.Sprint(chunk), "timestamp": fmt.Sprint(20 * chunk),
		"payload": base64.StdEncoding.EncodeToString(c.encode(nil, pcm)),
	}}
	if c.o.Shuffle && chunk%10 == 0 && c.held == nil {
		m["event"], m["stream_id"] = "media", c.o.Stream
		var err error
		c.held, err = json.Marshal(m)
		return err
	}
	if err := c.event(ctx, "media", m); err != nil || c.held == nil {
		return err
	}
	held := c.held
	c.held = nil
	return c.ws.Write(ctx, websocket.MessageText, held)
}

// play takes the next 20 ms from the queue and returns the marks that were reached.
func (c *Call) play() (marks []string) {
	left := audio.FrameSamples(c.out.Rate)
	for len(c.queue) > 0 && (left > 0 || c.queue[0].mark != "") {
		head := &c.queue[0]
		if head.mark != "" {
			marks = append(marks, head.mark)
			c.queue = c.queue[1:]
			continue
		}
		n := min(left, len(head.pcm))
		c.played = append(c.played, head.pcm[:n]...)
		head.pcm = head.pcm[n:]
		left -= n
		if len(head.pcm) == 0 {
			c.queue = c.queue[1:]
		}
	}
	c.played = append(c.played, make([]int16, left)...)
	if audio.Peak(c.played[len(c.played)-audio.FrameSamples(c.out.Rate):]) > 0 {
		c.spoke, c.quiet = true, 0
	} else {
		c.quiet++
	}
	return marks
}

// message contains the members of the frames from the server.
type message struct {
	Event     string
	StreamSid string `json:"streamSid"`
	Media     *struct{ Payload string }
	Mark      *struct{ Name string }
}

// receive takes the server's frames.
func (c *Call) receive(ctx context.Context) {
	defer c.stop()
	c.ws.SetReadLimit(1 << 20)
	for {
		kind, data, err := c.ws.Read(ctx)
		if err != nil {
			return
		}
		if err := c.take(kind, data); err != nil {
			c.mu.Lock()
			c.fault = err
			c.mu.Unlock()
			_ = c.ws.Close(websocket.StatusPolicyViolation, err.Error())
			return
		}
	}
}

// take takes a frame and checks that the carrier would.
func (c *Call) take(kind websocket.MessageType, data []byte) error {
	var m message
	if kind != websocket.MessageText || json.Unmarshal(data, &m) != nil {
		return fmt.Errorf("malformed frame %.80q", data)
	}
	if c.o.Dialect == "twilio" && m.StreamSid != c.o.Stream {
		return fmt.Errorf("the frame %q names the stream %q, expected %q", m.Event, m.StreamSid, c.o.Stream)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case m.Event == "media" && m.Media != nil:
		payload, err := base64.StdEncoding.DecodeString(m.Media.Payload)
		if err != nil {
			return fmt.Errorf("media.payload is not base64")
		}
		c.idle = 0
		if frame := c.out.FrameBytes(); len(payload) < frame || len(payload) > 1500*frame {
			return fmt.Errorf("media.payload has %d bytes: expected 20 ms to 30 s", len(payload))
		}
		c.queue = append(c.queue, item{pcm: c.decode(nil, payload)})
	case m.Event == "mark" && m.Mark != nil && m.Mark.Name != "":
		c.queue = append(c.queue, item{mark: m.Mark.Name})
	case m.Event == "clear":
		c.clears++
		var marks []string
		for _, i := range c.queue {
			if c.dropped += len(i.pcm); i.mark != "" {
				marks = append(marks, i.mark)
			}
		}
		c.queue = nil
		for _, name := range marks {
			// The lock protects the queue; the frames of marks may wait for the next step.
			c.queue = append(c.queue, item{mark: name})
		}
	default:
		return fmt.Errorf("unknown frame %.80q", data)
	}
	return nil
}

// Say appends to what the person says, with the rate of the person's format.
func (c *Call) Say(pcm []int16) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = append(c.said, pcm...)
	c.spoke = false
}

// Press presses keys.
func (c *Call) Press(keys string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys = append(c.keys, keys...)
}

// Played returns what the telephone has played since the call began, silence included, with the
// rate of the server's format.
func (c *Call) Played() []int16 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]int16(nil), c.played...)
}

// Answered reports whether the telephone has played speech since the last Say, and for how long it
// has been silent.
func (c *Call) Answered() (spoke bool, silent time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spoke && len(c.said) == 0, time.Duration(c.quiet) * audio.FrameDuration
}

// Rates returns the rates of what the person says and of what the telephone plays, in hertz.
func (c *Call) Rates() (say, play int) { return c.in.Rate, c.out.Rate }

// Queued returns how much sound waits to be played.
func (c *Call) Queued() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	var n audio.Pos
	for _, i := range c.queue {
		n += audio.Pos(len(i.pcm))
	}
	return n.Duration(c.out.Rate)
}

// Clears returns how often the server has cleared the queue.
func (c *Call) Clears() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clears
}

// HangUp ends the call on behalf of the person.
func (c *Call) HangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hangUp = true
}

// Dropped reports whether the call was dropped because the server sent nothing.
func (c *Call) Dropped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.late
}

// Over returns a channel that is closed when the stream has ended.
func (c *Call) Over() <-chan struct{} { return c.over }

// Close ends the stream without the frame stop, and returns what the server has done that the
// carrier does not allow.
func (c *Call) Close() error {
	c.stop()
	_ = c.ws.CloseNow()
	c.done.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fault
}
