package bench

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/carrier"
	"github.com/hocketvoice/hocket/internal/wire/mediastream"
	"github.com/hocketvoice/hocket/port"
)

// PhoneOptions configures a measurement of telephone calls.
type PhoneOptions struct {
	Calls    int
	Duration time.Duration
	Detector port.Detector // of the calls with one; its stream costs what it costs in a conversation
}

// PhoneReport is the result: the same calls, three times.
type PhoneReport struct {
	Bare     PhoneRow `json:"bare"`     // an echo of WebSocket messages, without any of our code
	Echo     PhoneRow `json:"echo"`     // the leg of a call, which says what it hears
	Detector PhoneRow `json:"detector"` // the same, with a detector of voices
}

// PhoneRow is the result of one kind of server. The cost includes the callers, which run in the
// same process.
type PhoneRow struct {
	Usage
	Frames int     `json:"frames"` // that came back while it was measured
	P50    float64 `json:"p50_ms"` // of the time from a frame to its echo
	P90    float64 `json:"p90_ms"`
	P99    float64 `json:"p99_ms"`
	P999   float64 `json:"p999_ms"`
	Max    float64 `json:"max_ms"`
}

// Phone measures calls as Twilio streams them: 50 frames of 20 ms a second in both directions.
func Phone(ctx context.Context, o PhoneOptions) (r PhoneReport, err error) {
	for _, kind := range []struct {
		row   *PhoneRow
		serve func(context.Context, *websocket.Conn) error
	}{
		{&r.Bare, bareEcho},
		{&r.Echo, func(ctx context.Context, ws *websocket.Conn) error { return legEcho(ctx, ws, nil) }},
		{&r.Detector, func(ctx context.Context, ws *websocket.Conn) error { return legEcho(ctx, ws, o.Detector) }},
	} {
		if *kind.row, err = measurePhone(ctx, o, kind.serve); err != nil {
			return r, err
		}
	}
	return r, nil
}

// bareEcho sends each message back that has sound.
func bareEcho(ctx context.Context, ws *websocket.Conn) error {
	for {
		kind, data, err := ws.Read(ctx)
		if err != nil {
			return err
		}
		if len(data) < smallest {
			continue
		}
		if err := ws.Write(ctx, kind, data); err != nil {
			return err
		}
	}
}

// smallest is the size of the smallest message with sound.
const smallest = 200

// legEcho says what the leg of a call hears, past a detector if there is one.
func legEcho(ctx context.Context, ws *websocket.Conn, d port.Detector) error {
	leg, err := carrier.Accept(ctx, ws, carrier.Options{Dialect: mediastream.Twilio})
	if err != nil {
		return err
	}
	line := carrier.NewLine(leg, carrier.LineOptions{StopEnds: true})
	defer line.Close()
	detect := func(audio.Frame) error { return nil }
	if d != nil {
		if detect, err = detecting(d, line.Rate()); err != nil {
			return err
		}
	}
	for {
		f, err := line.Read(ctx)
		if err != nil {
			return err
		}
		if err := detect(f); err != nil {
			return err
		}
		if err := line.Write(ctx, f); err != nil {
			return err
		}
	}
}

// detecting returns a function that steps a detector with frames of a rate.
func detecting(d port.Detector, rate int) (func(audio.Frame) error, error) {
	stream, err := d.Open()
	if err != nil {
		return nil, err
	}
	if rate == d.Rate() {
		return func(f audio.Frame) error { stream.Write(f.PCM); return nil }, nil
	}
	r, err := audio.NewResampler(audio.ResamplerOptions{From: rate, To: d.Rate()})
	if err != nil {
		return nil, err
	}
	var pcm []int16
	return func(f audio.Frame) error {
		pcm = r.Append(pcm[:0], f.PCM)
		stream.Write(pcm)
		return nil
	}, nil
}

// measurePhone measures the calls of a server.
func measurePhone(ctx context.Context, o PhoneOptions, serve func(context.Context, *websocket.Conn) error) (r PhoneRow, err error) {
	r.open(o.Calls)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return r, err
	}
	ctx, cancel := context.WithCancel(ctx)
	server := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		ws, err := websocket.Accept(w, q, nil)
		if err == nil {
			_ = serve(ctx, ws) // it ends with the caller
			_ = ws.CloseNow()
		}
	})}
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(listener) })
	callers := make([]*phoneCaller, 0, o.Calls)
	defer func() {
		cancel()
		err = errors.Join(err, server.Close())
		for _, c := range callers {
			_ = c.ws.CloseNow()
		}
		running.Wait()
		r.close()
	}()
	for i := range o.Calls {
		c, err := newPhoneCaller(ctx, "ws://"+listener.Addr().String(), i)
		if err != nil {
			return r, fmt.Errorf("bench: call %d: %w", i+1, err)
		}
		callers = append(callers, c)
		shift := time.Duration(i) * audio.FrameDuration / time.Duration(o.Calls)
		running.Go(func() { c.listen(ctx) })
		running.Go(func() { c.talk(ctx, shift) })
	}
	var counts atomic.Bool
	for _, c := range callers {
		c.counts.Store(&counts)
	}
	if err := r.watch(ctx, o.Duration, func() { counts.Store(true) }); err != nil {
		return r, err
	}
	counts.Store(false)
	var all []time.Duration
	for _, c := range callers {
		c.mu.Lock()
		all = append(all, c.delays...)
		c.mu.Unlock()
	}
	if len(all) == 0 {
		return r, errors.New("bench: nothing came back")
	}
	slices.Sort(all)
	at := func(share float64) float64 { return millis(all[min(len(all)-1, int(share*float64(len(all))))]) }
	r.Frames, r.P50, r.P90, r.P99, r.P999, r.Max = len(all), at(0.5), at(0.9), at(0.99), at(0.999), at(1)
	return r, nil
}

// phoneCaller is Twilio's end of a call.
type phoneCaller struct {
	ws     *websocket.Conn
	name   string
	sound  string // base64
	counts atomic.Pointer[atomic.Bool]

	mu     sync.Mutex // guards the fields below
	sent   []time.Time
	delays []time.Duration
}

func newPhoneCaller(ctx context.Context, url string, n int) (*phoneCaller, error) {
	ws, resp, err := websocket.Dial(ctx, url, nil)
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		return nil, err
	}
	noise := rand.New(rand.NewPCG(uint64(n), 1))
	payload := make([]byte, 160)
	for i := range payload {
		payload[i] = byte(noise.Uint32())
	}
	c := &phoneCaller{ws: ws, name: fmt.Sprintf("MZ%d", n), sound: base64.StdEncoding.EncodeToString(payload)}
	start := `{"event":"start","streamSid":"` + c.name + `","start":{"streamSid":"` + c.name + `","callSid":"CA1"}}`
	return c, ws.Write(ctx, websocket.MessageText, []byte(start))
}

// talk sends a frame each 20 ms, on absolute times.
func (c *phoneCaller) talk(ctx context.Context, shift time.Duration) {
	due := time.Now().Add(shift)
	timer := time.NewTimer(shift)
	defer timer.Stop()
	var message []byte
	for n := 1; ; n++ {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		message = fmt.Appendf(message[:0], `{"event":"media","sequenceNumber":"%d","streamSid":"%s","media":{"track":"inbound","chunk":"%d","timestamp":"%d","payload":"%s"}}`,
			n+1, c.name, n, 20*n, c.sound)
		c.mu.Lock()
		c.sent = append(c.sent, time.Now())
		c.mu.Unlock()
		if c.ws.Write(ctx, websocket.MessageText, message) != nil {
			return
		}
		due = due.Add(audio.FrameDuration)
		timer.Reset(time.Until(due))
	}
}

// listen takes what comes back: the frames in their order, and marks.
func (c *phoneCaller) listen(ctx context.Context) {
	for {
		_, r, err := c.ws.Reader(ctx)
		if err != nil {
			return
		}
		size, err := io.Copy(io.Discard, r)
		if err != nil {
			return
		}
		if size < smallest {
			continue // a mark
		}
		now := time.Now()
		c.mu.Lock()
		if len(c.sent) > 0 {
			if on := c.counts.Load(); on != nil && on.Load() {
				c.delays = append(c.delays, now.Sub(c.sent[0]))
			}
			c.sent = c.sent[:copy(c.sent, c.sent[1:])]
		}
		c.mu.Unlock()
	}
}
