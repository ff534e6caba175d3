package bench

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/leg/realtime"
	"github.com/hocketvoice/hocket/session"
)

// WSOptions describe a measurement of clients of the OpenAI Realtime protocol, in
// the terms of [WebRTCOptions].
type WSOptions = WebRTCOptions

// WSReport is what was measured. The clients' share is in it: they send sound
// that was encoded before, and read everything.
type WSReport struct {
	Calls   int     `json:"calls"`
	Seconds float64 `json:"seconds"`

	CPU    float64 `json:"cpu_percent_per_call"` // of one core; 0 where the system does not tell
	Memory float64 `json:"memory_kb_per_call"`   // heap and stacks
	Deltas int     `json:"deltas"`               // pieces of sound that clients got
	P50    float64 `json:"lateness_p50_ms"`      // of them, against the sound before them in the response
	P99    float64 `json:"lateness_p99_ms"`      //
	Max    float64 `json:"lateness_max_ms"`      //
	Turns  int     `json:"responses"`            // that were done
	Answer float64 `json:"answer_p50_ms"`        // from the end of speech to the first sound
	Before int     `json:"goroutines_before"`    //
	During int     `json:"goroutines_during"`    //
	After  int     `json:"goroutines_after"`     //
}

// wsRate is that of the protocol's sound, appendEvery how long the pieces are
// that clients send, askEvery when they speak again: behind the answer, because
// an agent that is talked over pauses, and its sound is then late on purpose.
const (
	wsRate      = 24000
	appendEvery = 100 * time.Millisecond
	askEvery    = 12 * time.Second
)

// WS holds conversations over WebSocket and measures them. It returns when all
// have ended.
func WS(ctx context.Context, o WSOptions) (r WSReport, err error) {
	if err := o.Validate(); err != nil {
		return r, err
	}
	if o.Calls == 0 {
		o.Calls = 60
	}
	if o.Duration == 0 {
		o.Duration = 20 * time.Second
	}
	voice, err := newCanned(ctx, o.Synthesizer, []string{greeting, answer, question})
	if err != nil {
		return r, err
	}
	said, silence, err := voice.appends(2)
	if err != nil {
		return r, err
	}
	r.Calls, r.Before = o.Calls, runtime.NumGoroutine()
	before := memory()
	url, stop, err := serveRealtime(ctx, o, voice)
	if err != nil {
		return r, err
	}
	callers := make([]*caller, 0, o.Calls)
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		running.Wait()
		err = errors.Join(err, stop())
		r.After = goroutines(r.Before)
	}()
	for i := range o.Calls {
		c, err := newCaller(ctx, url)
		if err != nil {
			return r, fmt.Errorf("bench: call %d: %w", i+1, err)
		}
		callers = append(callers, c)
		shift := time.Duration(i) * askEvery / time.Duration(o.Calls)
		running.Go(func() { c.listen(ctx) })
		running.Go(func() { c.talk(ctx, said, silence, shift) })
	}
	err = r.measure(ctx, callers, o.Duration, before)
	return r, err
}

// serveRealtime opens a server of the protocol. stop ends it.
func serveRealtime(ctx context.Context, o WSOptions, voice *canned) (url string, stop func() error, err error) {
	parts := session.Options{
		Conv: conv.Options{Greeting: greeting}, Recognizer: o.Recognizer, Synthesizer: voice, Detector: o.Detector,
		Model: answerer{answer}, Turn: o.Turn, Onset: o.Onset,
	}
	if parts.Recognizer == nil {
		parts.Recognizer = scribe{question}
	}
	server, err := realtime.New(realtime.Options{
		Open: func(context.Context, string) (session.Options, func() error, error) { return parts, nil, nil },
	})
	if err != nil {
		return "", nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("bench: %w", err)
	}
	h := &http.Server{Handler: server, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- h.Serve(listener) }()
	stop = func() error { //nolint:contextcheck // it is called when ctx has ended
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err := errors.Join(server.Close(ctx), h.Close())
		if end := <-served; !errors.Is(end, http.ErrServerClosed) {
			err = errors.Join(err, end)
		}
		return err
	}
	return "ws://" + listener.Addr().String() + "/v1/realtime?model=bench", stop, nil
}

// appends is the n-th text as events of a client, and one of silence.
func (c *canned) appends(n int) (said [][]byte, silence []byte, err error) {
	pcm, err := audio.Resample(c.pcm[n], c.rate, wsRate)
	if err != nil {
		return nil, nil, fmt.Errorf("bench: %w", err)
	}
	size := int(audio.PosOf(appendEvery, wsRate))
	event := func(piece []int16) []byte {
		b := make([]byte, 0, 2*size)
		for i := range size {
			s := int16(0)
			if i < len(piece) {
				s = piece[i]
			}
			b = binary.LittleEndian.AppendUint16(b, uint16(s))
		}
		return []byte(`{"type":"input_audio_buffer.append","audio":"` + base64.StdEncoding.EncodeToString(b) + `"}`)
	}
	for piece := range slices.Chunk(pcm, size) {
		said = append(said, event(piece))
	}
	return said, event(nil), nil
}

// caller is one client. talk and listen have a goroutine each.
type caller struct {
	ws *websocket.Conn

	mu        sync.Mutex // guards all below
	late      []time.Duration
	answers   []time.Duration
	responses int
}

func newCaller(ctx context.Context, url string) (*caller, error) {
	ws, w, err := websocket.Dial(ctx, url, nil)
	if err != nil {
		return nil, err
	}
	if w.Body != nil {
		_ = w.Body.Close() // the connection was taken over
	}
	ws.SetReadLimit(4 << 20)
	return &caller{ws: ws}, nil
}

// talk sends sound at the pace of the clock.
func (c *caller) talk(ctx context.Context, said [][]byte, silence []byte, shift time.Duration) {
	period := int(askEvery / appendEvery)
	n := -int(shift/appendEvery) - int(8*time.Second/appendEvery) // the greeting is heard out
	timer := time.NewTimer(0)
	defer timer.Stop()
	for due := time.Now(); ; timer.Reset(time.Until(due)) {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		due = due.Add(appendEvery)
		event := silence
		if at := (n + 2*period) % period; n >= 0 && at < len(said) {
			event = said[at]
		}
		n++
		if c.ws.Write(ctx, websocket.MessageText, event) != nil {
			return
		}
	}
}

// listen reads what the server tells, and notes how late its sound is: each piece
// is due when those before it have been played.
func (c *caller) listen(ctx context.Context) {
	defer func() { _ = c.ws.CloseNow() }() // nobody talks any more
	var first, stopped time.Time
	var played time.Duration
	for {
		_, b, err := c.ws.Read(ctx)
		if err != nil {
			return
		}
		now := time.Now()
		var m struct{ Type, Delta string }
		if json.Unmarshal(b, &m) != nil {
			continue
		}
		switch m.Type {
		case "input_audio_buffer.speech_stopped":
			stopped = now
		case "response.created":
			first, played = time.Time{}, 0
		case "response.done":
			c.mu.Lock()
			c.responses++
			c.mu.Unlock()
		case "response.output_audio.delta":
			c.mu.Lock()
			if first.IsZero() {
				first = now
				if !stopped.IsZero() {
					c.answers = append(c.answers, now.Sub(stopped))
					stopped = time.Time{}
				}
			}
			c.late = append(c.late, max(0, now.Sub(first)-played))
			c.mu.Unlock()
			played += audio.Pos(base64.StdEncoding.DecodedLen(len(m.Delta)) / 2).Duration(wsRate)
		}
	}
}

// restart forgets what was noted so far.
func (c *caller) restart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late, c.answers, c.responses = nil, nil, 0
}

// measure waits and counts.
func (r *WSReport) measure(ctx context.Context, callers []*caller, d time.Duration, before uint64) error {
	if err := wait(ctx, warmUp); err != nil {
		return err
	}
	for _, c := range callers {
		c.restart()
	}
	began := time.Now()
	cpu, known := cpuTime()
	if err := wait(ctx, d); err != nil {
		return err
	}
	elapsed := time.Since(began)
	if after, _ := cpuTime(); known {
		r.CPU = 100 * float64(after-cpu) / float64(elapsed) / float64(len(callers))
	}
	r.Seconds, r.During = elapsed.Seconds(), runtime.NumGoroutine()
	if used := memory(); used > before {
		r.Memory = float64(used-before) / 1024 / float64(len(callers))
	}
	var late, answers []time.Duration
	for i, c := range callers {
		c.mu.Lock()
		n := len(c.late)
		late, answers = append(late, c.late...), append(answers, c.answers...)
		r.Turns += c.responses
		c.mu.Unlock()
		if n == 0 && d >= 2*askEvery {
			return fmt.Errorf("bench: the client of call %d has heard nothing", i+1)
		}
	}
	slices.Sort(late)
	slices.Sort(answers)
	r.Deltas, r.Answer = len(late), millis(quantile(answers, 0.5))
	r.P50, r.P99, r.Max = millis(quantile(late, 0.5)), millis(quantile(late, 0.99)), millis(quantile(late, 1))
	return nil
}
