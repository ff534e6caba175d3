//go:build pocketsphinx && cgo

package pocketsphinx

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// ErrBusy reports that Options.MaxStreams streams are in use.
var ErrBusy = errors.New("pocketsphinx: all streams are in use")

// ErrClosed reports that the recognizer or the stream was closed.
var ErrClosed = errors.New("pocketsphinx: closed")

// lendAfter is how long after its last utterance a stream lends its decoder to
// another one: a caller who is away, or listens to a long reply.
const lendAfter = 20 * time.Second

// Recognizer opens streams over a bounded pool of decoders. It implements
// port.Recognizer and is safe for concurrent use.
type Recognizer struct {
	opts Options

	// mu guards the pool. Decoders are created without it. A stream that holds its
	// own mutex may lock mu; the reverse is tried only (see borrow).
	mu      sync.Mutex
	idle    []*decoder
	used    int                  // decoders in the hands of streams, or being created
	holders map[*Stream]struct{} // streams with a decoder
	closed  bool
}

var _ port.Recognizer = (*Recognizer)(nil)

// New returns a recognizer with Options.Warm decoders, at least one.
func New(o Options) (*Recognizer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	r := &Recognizer{opts: o.withDefaults(), holders: make(map[*Stream]struct{})}
	if err := r.opts.checkFiles(); err != nil {
		return nil, err
	}
	for range max(1, o.Warm) {
		d, err := openDecoder(r.opts)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.idle = append(r.idle, d)
	}
	return r, nil
}

// Open takes a decoder from the pool, or creates one, which takes about 0.3 s. If
// Options.MaxStreams decoders are in use, it borrows the one of a stream whose caller
// has been silent for 20 s. If there is none, it returns [ErrBusy] at once instead of
// making a call wait. Frames must be 16 kHz, the language English.
func (r *Recognizer) Open(ctx context.Context, cfg port.RecognizerConfig, sink func(port.Transcript)) (port.RecognizerStream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if cfg.Rate != Rate {
		return nil, fmt.Errorf("pocketsphinx: frames at %d Hz: expected %d: resample before the recognizer", cfg.Rate, Rate)
	}
	if l := cfg.Language; l != "" && l != "en" && !strings.HasPrefix(l, "en-") {
		return nil, fmt.Errorf("pocketsphinx: language %q is not supported: expected en", l)
	}
	if sink == nil {
		return nil, errors.New("pocketsphinx: sink must not be nil")
	}
	st := newStream(r, sink)
	if err := st.hold(); err != nil {
		return nil, err
	}
	return st, nil
}

// take returns a decoder for a stream, which the caller has locked.
func (r *Recognizer) take(s *Stream) (*decoder, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrClosed
	}
	var d *decoder
	switch n := len(r.idle); {
	case n > 0:
		d = r.idle[n-1]
		r.idle = r.idle[:n-1]
		r.used++
	case r.used < r.opts.MaxStreams:
		r.used++
		r.mu.Unlock()
		var err error
		d, err = openDecoder(r.opts)
		r.mu.Lock()
		if err != nil {
			r.used--
			return nil, err
		}
	default:
		if d = r.borrow(); d == nil {
			return nil, ErrBusy
		}
	}
	r.holders[s] = struct{}{}
	return d, nil
}

// borrow takes the decoder of the stream that has been without an utterance for the
// longest time, at least lendAfter. It returns nil if there is no such stream. A stream
// that is locked is in use.
func (r *Recognizer) borrow() *decoder {
	var from *Stream
	for s := range r.holders {
		if !s.mu.TryLock() {
			continue
		}
		if s.open || time.Since(s.used) < lendAfter || from != nil && !s.used.Before(from.used) {
			s.mu.Unlock()
			continue
		}
		if from != nil {
			from.mu.Unlock()
		}
		from = s
	}
	if from == nil {
		return nil
	}
	defer from.mu.Unlock()
	delete(r.holders, from)
	return from.release()
}

// give returns the decoder of a stream to the pool. It must be outside an utterance and
// without grammars.
func (r *Recognizer) give(s *Stream, d *decoder) {
	r.mu.Lock()
	r.used--
	delete(r.holders, s)
	if !r.closed {
		r.idle = append(r.idle, d)
		d = nil
	}
	r.mu.Unlock()
	if d != nil {
		d.close()
	}
}

// Close frees the idle decoders. Those of open streams are freed when the streams
// are closed. Open fails afterwards. A second Close does nothing.
func (r *Recognizer) Close() error {
	r.mu.Lock()
	r.closed = true
	idle := r.idle
	r.idle = nil
	r.mu.Unlock()
	for _, d := range idle {
		d.close()
	}
	return nil
}
