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

// earRate is the sampling rate at which speech is recognized.
const earRate = 16000

// maxEar bounds the samples that wait for the ear. The reader waits.
const maxEar = maxInput

// ear makes out what the client says is one utterance: sound that it commits by
// itself, and sound inside items. Detected speech goes to the session.
type ear struct {
	rec      port.Recognizer // nil: nothing is understood
	language string
	wake     chan struct{} // holds a token when there may be a job
	room     chan struct{} // holds a token when there may be room

	once sync.Once // starts listen

	mu   sync.Mutex // guards all below
	jobs []earJob
	size int
}

// earJob is sound, or the end of an utterance, or its end without a result.
type earJob struct {
	pcm   []int16 // of the leg's rate
	item  string  // the utterance is over, and is this item
	alone bool    // pcm is the whole utterance
	drop  bool
}

func newEar(rec port.Recognizer, language string) *ear {
	return &ear{rec: rec, language: language, wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// push adds a job. It waits for room, until ctx ends.
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

// clear drops the utterance that has not ended.
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

// next waits for a job.
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

// hear gives the ear something to do. It has a goroutine from then on.
func (c *conn) hear(ctx context.Context, j earJob) {
	c.ear.once.Do(func() { c.work <- c.listen }) // there is room for it
	c.ear.push(ctx, j)
}

// listen is the ear's goroutine.
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

// finish tells what an utterance was.
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

// hearing is one utterance. A nil one has understood nothing.
type hearing struct {
	stream port.RecognizerStream
	down   *audio.Resampler
	pcm    []int16
	pos    audio.Pos
	err    error

	mu     sync.Mutex // guards all below
	text   string
	finals int
	final  chan struct{} // holds a token when a final has come
}

var errNoRecognizer = errors.New("no speech recognizer is configured")

// open begins an utterance. What goes wrong is told at its end.
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

// take is the recognizer's sink.
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

// give hands over whole frames.
func (h *hearing) give(frame int) {
	for len(h.pcm) >= frame && h.err == nil {
		h.err = h.stream.Write(audio.Frame{Pos: h.pos, Rate: earRate, PCM: h.pcm[:frame]})
		h.pos += audio.Pos(frame)
		h.pcm = h.pcm[:copy(h.pcm, h.pcm[frame:])]
	}
}

// finalPatience is how long the words of an utterance are waited for.
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
		_ = h.stream.Close() // there is nobody to tell
		h.stream = nil
	}
}
