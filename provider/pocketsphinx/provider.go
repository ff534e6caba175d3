//go:build pocketsphinx && cgo

package pocketsphinx

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/hocketvoice/hocket/port"
)

// ErrBusy reports that Options.MaxStreams streams are open.
var ErrBusy = errors.New("pocketsphinx: all streams are in use")

// ErrClosed reports that the recognizer or the stream was closed.
var ErrClosed = errors.New("pocketsphinx: closed")

// Recognizer opens streams over a bounded pool of decoders. It implements
// port.Recognizer and is safe for concurrent use.
type Recognizer struct {
	opts Options

	// mu guards the pool. Decoders are created without it.
	mu     sync.Mutex
	idle   []*decoder
	open   int // streams open or being opened
	closed bool
}

var _ port.Recognizer = (*Recognizer)(nil)

// New returns a recognizer with Options.Warm decoders, at least one.
func New(o Options) (*Recognizer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	r := &Recognizer{opts: o.withDefaults()}
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
// Options.MaxStreams are open it returns [ErrBusy] at once instead of making a call
// wait. Frames must be 16 kHz, the language English.
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
	d, err := r.take()
	if err != nil {
		return nil, err
	}
	return newStream(r, d, sink), nil
}

func (r *Recognizer) take() (*decoder, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, ErrClosed
	}
	if r.open == r.opts.MaxStreams {
		r.mu.Unlock()
		return nil, ErrBusy
	}
	r.open++
	if n := len(r.idle); n > 0 {
		d := r.idle[n-1]
		r.idle = r.idle[:n-1]
		r.mu.Unlock()
		return d, nil
	}
	r.mu.Unlock()
	d, err := openDecoder(r.opts)
	if err != nil {
		r.mu.Lock()
		r.open--
		r.mu.Unlock()
		return nil, err
	}
	return d, nil
}

// give returns a decoder to the pool. It must be outside an utterance and without
// grammars.
func (r *Recognizer) give(d *decoder) {
	r.mu.Lock()
	r.open--
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
