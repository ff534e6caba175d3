package bench

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/leg/realtime"
	"github.com/hocketvoice/hocket/session"
)

// WSOptions configures a measurement of clients of the OpenAI Realtime protocol.
type WSOptions = WebRTCOptions

// WSReport is the result. It includes the cost of the clients, which send sound
// encoded in advance and read everything.
type WSReport struct {
	Usage
	Lateness         // delay of pieces of sound relative to the preceding sound of the response
	Deltas   int     `json:"deltas"`        // pieces of sound received by the clients
	Turns    int     `json:"responses"`     // completed responses
	Answer   float64 `json:"answer_p50_ms"` // from the end of speech to the first sound
}

// wsRate is the protocol's sampling rate, appendEvery the length of the pieces that
// clients send, and askEvery the interval of their utterances: after the answer,
// because an interrupted agent pauses, which would count as lateness.
const (
	wsRate      = 24000
	appendEvery = 100 * time.Millisecond
	askEvery    = 12 * time.Second
)

// WS runs conversations over WebSocket and measures them. It returns when all have
// ended.
func WS(ctx context.Context, o WSOptions) (r WSReport, err error) {
	voice, err := o.prepare(ctx)
	if err != nil {
		return r, err
	}
	said, silence, err := voice.appends(2)
	if err != nil {
		return r, err
	}
	r.open(o.Calls)
	_, url, stop, err := serveRealtime(ctx, o, voice, realtime.Options{})
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
		r.close()
	}()
	for i := range o.Calls {
		c, err := newCaller(ctx, url, nil)
		if err != nil {
			return r, fmt.Errorf("bench: call %d: %w", i+1, err)
		}
		callers = append(callers, c)
		shift := time.Duration(i) * askEvery / time.Duration(o.Calls)
		running.Go(func() { c.listen(ctx) })
		running.Go(func() { c.talk(ctx, said, silence, shift) })
	}
	err = r.measure(ctx, callers, o.Duration)
	return r, err
}

// serveRealtime starts a server of the protocol. stop stops it.
func serveRealtime(
	ctx context.Context, o WSOptions, voice *canned, ro realtime.Options,
) (server *realtime.Server, url string, stop func() error, err error) {
	parts := session.Options{
		Conv: conv.Options{Greeting: greeting}, Recognizer: o.Recognizer, Synthesizer: voice, Detector: o.Detector,
		Model: answerer{answer}, Turn: o.Turn, Onset: o.Onset,
	}
	if parts.Recognizer == nil {
		parts.Recognizer = scribe{question}
	}
	ro.Open = func(context.Context, realtime.Caller) (realtime.Parts, error) {
		return realtime.Parts{Session: parts}, nil
	}
	if server, err = realtime.New(ro); err != nil {
		return nil, "", nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", nil, fmt.Errorf("bench: %w", err)
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
	return server, "ws://" + listener.Addr().String() + "/v1/realtime?model=bench", stop, nil
}

// appends returns the n-th text, and silence, as client events.
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

// measure waits for the duration and collects the results.
func (r *WSReport) measure(ctx context.Context, callers []*caller, d time.Duration) error {
	err := r.watch(ctx, d, func() {
		for _, c := range callers {
			c.restart()
		}
	})
	if err != nil {
		return err
	}
	late, answers := []time.Duration(nil), []time.Duration(nil)
	for i, c := range callers {
		n := c.noted()
		late, answers, r.Turns = append(late, n.late...), append(answers, n.answers...), r.Turns+n.responses
		if len(n.late) == 0 && d >= 2*askEvery {
			return fmt.Errorf("bench: the client of call %d received no sound", i+1)
		}
	}
	slices.Sort(answers)
	r.Deltas, r.Answer, r.Lateness = len(late), millis(quantile(answers, 0.5)), newLateness(late)
	return nil
}
