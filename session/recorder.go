package session

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/internal/media"
	"github.com/hocketvoice/hocket/journal"
)

// recorder writes the trace. Steps come from the loop's goroutine, features
// from the uplink's.
type recorder struct {
	mu    sync.Mutex
	live  bool // what is written is handed on at once
	quiet bool // frames are recorded without the words: there may be a secret in them
	buf   *bufio.Writer
	trace *journal.Writer
	err   error
}

// newRecorder begins a trace. Its header is written at once: a place that takes
// nothing is known before the call, not after it.
func newRecorder(w io.Writer, h journal.Header, live bool) (*recorder, error) {
	size := 64 << 10
	if live {
		size = 4 << 10 // each step is handed on at once
	}
	r := &recorder{live: live, buf: bufio.NewWriterSize(w, size)}
	trace, err := journal.NewWriter(r.buf, h)
	if err != nil {
		return nil, err
	}
	r.trace = trace
	if err := r.flush(); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *recorder) step(now time.Time, s conv.Shown) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	if err := r.trace.Put(now, s); err != nil {
		return err
	}
	if !r.live {
		return nil
	}
	if err := r.buf.Flush(); err != nil {
		return fmt.Errorf("write trace: %w", err)
	}
	return nil
}

// featureLine is a frame as `hocket turn` reads it, and the decision made then.
type featureLine struct {
	Timestamp  float64  `json:"timestamp_ms"`
	Energy     *float64 `json:"frame_energy"`
	VAD        *float64 `json:"vad_prob"`
	Silence    float64  `json:"silence_duration_ms"`
	Text       string   `json:"partial_text"`
	Confidence *float64 `json:"asr_confidence"`
	Stability  *float64 `json:"token_stability"`
	State      string   `json:"state"`
	Reason     string   `json:"reason"`
}

func (r *recorder) features(f media.Features) {
	if r.quiet && f.Linguistic.Text != "" {
		f.Linguistic.Text = dialog.Hidden
	}
	b, err := json.Marshal(featureLine{
		Timestamp: journal.Millis(f.Acoustic.At), Energy: known(f.Acoustic.Energy), VAD: known(f.Acoustic.VAD),
		Silence: journal.Millis(f.Acoustic.Silence), Text: f.Linguistic.Text,
		Confidence: known(f.Linguistic.Confidence), Stability: known(f.Linguistic.Stability),
		State: f.Decision.State.String(), Reason: f.Decision.Reason.String(),
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		_, err = r.buf.Write(append(b, '\n'))
	}
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("record features: %w", err)
	}
}

func known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

func (r *recorder) flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.buf.Flush(); err != nil {
		return fmt.Errorf("write trace: %w", err)
	}
	return r.err
}
