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

// recorder writes the trace. The loop's goroutine calls step, that of the uplink features.
type recorder struct {
	mu    sync.Mutex
	live  bool // each step is flushed at once
	quiet bool // features are recorded without words, which may contain a secret
	buf   *bufio.Writer
	trace *journal.Writer
	err   error
}

// newRecorder begins a trace. It writes the header at once, so that an error of w is known
// before the call begins.
func newRecorder(w io.Writer, h journal.Header, live bool) (*recorder, error) {
	size := 64 << 10
	if live {
		size = 4 << 10 // room for one step
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

// featureLine is a frame in the form that `hocket turn` reads, with the decision about it.
type featureLine struct {
	Timestamp  float64  `json:"timestamp_ms"`
	Energy     *float64 `json:"frame_energy"`
	VAD        *float64 `json:"vad_prob"`
	Silence    float64  `json:"silence_duration_ms"`
	Text       string   `json:"partial_text"`
	Confidence *float64 `json:"asr_confidence"`
	Stability  *float64 `json:"token_stability"`
	Answer     string   `json:"answer,omitempty"`
	Score      *float64 `json:"finished,omitempty"`
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
		Answer: string(f.Linguistic.Answer), Score: known(f.Score), State: f.Decision.State.String(), Reason: f.Decision.Reason.String(),
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

// known returns a pointer to v, or nil if v is not a number.
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
