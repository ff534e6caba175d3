package realtime

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/leg/realtime/projection"
	"github.com/hocketvoice/hocket/port"
)

// earRate is the sampling rate of speech recognition in hertz.
const earRate = 16000

// maxEar limits the number of queued samples. The reader blocks while the queue is
// full.
const maxEar = maxInput

// ear recognizes speech whose limits the client sets: sound that it commits itself, and
// sound inside items. The session recognizes speech found by turn detection.
type ear struct {
	rec      port.Recognizer // nil if speech recognition is not configured
	language string
	wake     chan struct{} // contains a token when there may be a job
	room     chan struct{} // contains a token when there may be room

	once sync.Once // starts listen

	mu   sync.Mutex // guards the fields below
	jobs []earJob
	size int
}

// earJob is a piece of sound, the end of an utterance, or a request to drop it.
type earJob struct {
	pcm   []int16 // at the leg's rate
	item  string  // if not empty, the utterance ends and belongs to this item
	alone bool    // pcm is the whole utterance
	drop  bool
}

func newEar(rec port.Recognizer, language string) *ear {
	return &ear{rec: rec, language: language, wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// push adds a job. It blocks while the queue is full, until ctx ends.
func (e *ear) push(ctx context.Context, j earJob) {
	for {
		e.mu.Lock()
		if e.size == 0 || e.size+len(j.pcm) <= maxEar {
			e.jobs = append(e.jobs, j)
			e.size += len(j.pcm)
			e.mu.Unlock()
			signal(e.wake)
			return
		}
		e.mu.Unlock()
		select {
		case <-e.room:
		case <-ctx.Done():
			return
		}
	}
}

// clear drops the current utterance.
func (e *ear) clear() {
	e.mu.Lock()
	for n := len(e.jobs); n > 0 && e.jobs[n-1].item == ""; n-- {
		e.size -= len(e.jobs[n-1].pcm)
		e.jobs = e.jobs[:n-1]
	}
	e.jobs = append(e.jobs, earJob{drop: true})
	e.mu.Unlock()
	signal(e.wake)
	signal(e.room)
}

// next waits for a job. It returns false when ctx ends.
func (e *ear) next(ctx context.Context) (earJob, bool) {
	for {
		e.mu.Lock()
		if len(e.jobs) > 0 {
			j := e.jobs[0]
			e.jobs = e.jobs[1:]
			e.size -= len(j.pcm)
			e.mu.Unlock()
			signal(e.room)
			return j, true
		}
		e.mu.Unlock()
		select {
		case <-e.wake:
		case <-ctx.Done():
			return earJob{}, false
		}
	}
}

// hear passes a job to the ear. The first call starts the ear's goroutine.
func (c *conn) hear(ctx context.Context, j earJob) {
	c.ear.once.Do(func() { c.work <- c.listen }) // never blocks: work has room for it
	c.ear.push(ctx, j)
}

// listen handles the ear's jobs until ctx ends.
func (c *conn) listen(ctx context.Context) {
	var current *hearing
	defer func() { current.close() }()
	for {
		j, ok := c.ear.next(ctx)
		if !ok {
			return
		}
		switch {
		case j.drop:
			current.close()
			current = nil
		case j.alone:
			h := c.ear.open(ctx)
			h.write(j.pcm)
			c.finish(ctx, h, j.item)
		case j.item != "":
			c.finish(ctx, current, j.item)
			current = nil
		default:
			if current == nil {
				current = c.ear.open(ctx)
			}
			current.write(j.pcm)
		}
	}
}

// finish ends an utterance and passes its words to the projection.
func (c *conn) finish(ctx context.Context, h *hearing, item string) {
	text, err := h.finish(ctx)
	h.close()
	if ctx.Err() != nil {
		return
	}
	in := projection.Transcribed{Item: item, Text: text}
	if err != nil {
		in.Failure = err.Error()
	}
	c.step(ctx, in)
}

// hearing recognizes one utterance. The words of a nil hearing are empty.
type hearing struct {
	stream port.RecognizerStream
	down   *audio.Resampler
	pcm    []int16
	pos    audio.Pos
	err    error

	mu     sync.Mutex // guards the fields below
	text   string
	finals int
	final  chan struct{} // contains a token when a final result has arrived
}

var errNoRecognizer = errors.New("no speech recognizer is configured")

// open starts an utterance. Its finish method returns any error.
func (e *ear) open(ctx context.Context) *hearing {
	h := &hearing{final: make(chan struct{}, 1)}
	if e.rec == nil {
		h.err = errNoRecognizer
		return h
	}
	if h.down, h.err = audio.NewResampler(audio.ResamplerOptions{From: legRate, To: earRate}); h.err != nil {
		return h
	}
	cfg := port.RecognizerConfig{Rate: earRate, Language: e.language}
	if h.stream, h.err = e.rec.Open(ctx, cfg, h.take); h.err == nil {
		h.err = h.stream.Begin()
	}
	return h
}

// take receives the recognizer's results.
func (h *hearing) take(t port.Transcript) {
	if !t.Final {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.text != "" && t.Text != "" {
		h.text += " "
	}
	h.text += t.Text
	h.finals++
	signal(h.final)
}

func (h *hearing) write(pcm []int16) {
	if h.err != nil {
		return
	}
	h.pcm = h.down.Append(h.pcm, pcm)
	h.give(audio.FrameSamples(earRate))
}

// give passes complete frames to the recognizer.
func (h *hearing) give(frame int) {
	for len(h.pcm) >= frame && h.err == nil {
		h.err = h.stream.Write(audio.Frame{Pos: h.pos, Rate: earRate, PCM: h.pcm[:frame]})
		h.pos += audio.Pos(frame)
		h.pcm = h.pcm[:copy(h.pcm, h.pcm[frame:])]
	}
}

// finalPatience limits the wait for the final result.
const finalPatience = 5 * time.Second

// finish ends the utterance and returns its words.
func (h *hearing) finish(ctx context.Context) (string, error) {
	if h == nil {
		return "", nil
	}
	if h.err != nil {
		return "", h.err
	}
	h.pcm = h.down.Flush(h.pcm)
	frame := audio.FrameSamples(earRate)
	if rest := len(h.pcm) % frame; rest > 0 {
		h.pcm = append(h.pcm, make([]int16, frame-rest)...)
	}
	h.give(frame)
	h.mu.Lock()
	before := h.finals
	h.mu.Unlock()
	if h.err != nil {
		return "", h.err
	}
	if err := h.stream.Finalize(); err != nil {
		return "", err
	}
	timer := time.NewTimer(finalPatience)
	defer timer.Stop()
	for {
		h.mu.Lock()
		text, finals := h.text, h.finals
		h.mu.Unlock()
		if finals > before {
			return text, nil
		}
		select {
		case <-h.final:
		case <-ctx.Done():
			return text, ctx.Err()
		case <-timer.C:
			return text, errors.New("the speech recognizer does not answer")
		}
	}
}

func (h *hearing) close() {
	if h != nil && h.stream != nil {
		_ = h.stream.Close() // the error has no receiver
		h.stream = nil
	}
}
