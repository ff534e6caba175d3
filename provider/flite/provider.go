//go:build flite && cgo

package flite

/*
#cgo LDFLAGS: -lflite_cmu_us_slt -lflite_cmu_us_rms -lflite_cmu_us_kal16 -lflite_usenglish -lflite_cmulex -lflite -lm
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime/cgo"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/clauses"
	"github.com/hocketvoice/hocket/port"
)

// Lengths in samples at Rate.
const (
	// pieceSamples is the minimum length of a piece passed to emit: one frame.
	pieceSamples = Rate / 50
	// leadSamples is how much of flite's initial pause is kept before the first
	// word. The pause is about 0.2 s of digital silence, which would delay the
	// answer.
	leadSamples = Rate / 100
)

// Synthesizer speaks with flite. It implements port.Synthesizer and is safe for
// concurrent use. Each Speak runs on its own thread and shares only read-only voice
// data with the others.
type Synthesizer struct {
	opts Options

	// mu guards voices.
	mu     sync.Mutex
	voices [C.HK_VOICES]*C.cst_voice
}

var _ port.Synthesizer = (*Synthesizer)(nil)

// engine initializes flite once per process.
var engine = sync.OnceValue(func() int { return int(C.flite_init()) })

// registration serializes the creation of voices, which writes flite's globals,
// over all Synthesizers.
var registration sync.Mutex

// New returns a synthesizer and loads the default voice. Other voices are loaded
// when first used.
func New(o Options) (*Synthesizer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if engine() != 0 {
		return nil, errors.New("flite: initialization failed")
	}
	s := &Synthesizer{opts: o.withDefaults()}
	if _, err := s.voice(s.opts.Voice); err != nil {
		return nil, err
	}
	return s, nil
}

// Close releases the synthesizer. The voices are static data of the flite libraries
// and stay in the process.
func (s *Synthesizer) Close() error { return nil }

// Rate returns the sampling rate of the speech in hertz.
func (s *Synthesizer) Rate() int { return Rate }

func (s *Synthesizer) voice(name string) (*C.cst_voice, error) {
	i := slices.Index(Voices(), name)
	if i < 0 {
		return nil, fmt.Errorf("flite: voice %q is unknown: expected one of %s", name, strings.Join(Voices(), ", "))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.voices[i] == nil {
		registration.Lock()
		s.voices[i] = C.hk_voice(C.int(i))
		registration.Unlock()
	}
	if s.voices[i] == nil {
		return nil, fmt.Errorf("flite: voice %q cannot be loaded", name)
	}
	return s.voices[i], nil
}

// Speak synthesizes clause by clause and passes pieces of at least 20 ms to emit as
// flite produces them. The text analysis and parameters of a clause are computed
// before its first sample and cannot be interrupted; after that, the end of ctx and
// an error of emit take effect within one piece. The same utterance always yields
// the same samples. Marks are at the first sample of each word and after the last
// one. An utterance without a speakable word emits nothing.
func (s *Synthesizer) Speak(ctx context.Context, u port.Utterance, emit func(port.Speech) error) error {
	if l := u.Language; l != "" && l != "en" && !strings.HasPrefix(l, "en-") {
		return fmt.Errorf("flite: language %q is not supported: expected en", l)
	}
	pace := u.Rate
	if pace == 0 {
		pace = 1
	}
	if !(pace >= minPace && pace <= maxPace) {
		return fmt.Errorf("flite: rate is %g: expected %g to %g", u.Rate, float64(minPace), float64(maxPace))
	}
	name := u.Voice
	if name == "" {
		name = s.opts.Voice
	}
	voice, err := s.voice(name)
	if err != nil {
		return err
	}
	var at audio.Pos
	for _, c := range clauses.Split(u.Text, s.opts.ClauseWords) {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := &take{ended: ctx.Err, emit: emit, clause: c, at: at}
		if err := t.speak(voice, 1/pace); err != nil {
			return err
		}
		at = t.at
	}
	return nil
}

// take is the synthesis of one clause. It stays on the thread of its Speak.
type take struct {
	ended  func() error // for the context of Speak
	emit   func(port.Speech) error
	clause clauses.Clause

	at    audio.Pos // position of the next sample in the utterance
	base  audio.Pos // position of the clause's sample 0
	made  audio.Pos // samples of the clause produced by flite
	skip  audio.Pos // samples to omit at the start of the clause
	marks []C.int32_t
	next  int // first mark that was not emitted
	begun bool
	err   error
	out   []port.Mark
}

func (t *take) speak(voice *C.cst_voice, stretch float64) error {
	text := C.CString(t.clause.Text())
	defer C.free(unsafe.Pointer(text))
	n := len(t.clause.Fields)
	t.out = make([]port.Mark, 0, n+1)
	// C writes the marks during calls back into Go, so they must be in C memory.
	mem := C.malloc(C.size_t(n) * C.size_t(unsafe.Sizeof(C.int32_t(0))))
	defer C.free(mem)
	t.marks = unsafe.Slice((*C.int32_t)(mem), n)
	h := cgo.NewHandle(t)
	defer h.Delete()
	rv := C.hk_speak(voice, text, C.double(stretch), pieceSamples, (*C.int32_t)(mem), C.int(n), C.uintptr_t(h))
	switch {
	case t.err != nil:
		return t.err
	case rv != 0:
		return fmt.Errorf("flite: synthesis of %q failed", t.clause.Text())
	}
	// The text up to the next clause counts as spoken here.
	return t.emit(port.Speech{Marks: []port.Mark{{At: t.at, Text: t.clause.End}}})
}

// goFliteChunk receives samples from flite. It returns 1 to stop it.
//
//export goFliteChunk
func goFliteChunk(receiver C.uintptr_t, pcm *C.short, n C.int) C.int {
	t, ok := cgo.Handle(receiver).Value().(*take)
	if !ok {
		return 1
	}
	t.err = t.receive(unsafe.Slice((*int16)(unsafe.Pointer(pcm)), int(n)))
	if t.err != nil {
		return 1
	}
	return 0
}

func (t *take) receive(pcm []int16) error {
	if err := t.ended(); err != nil {
		return err
	}
	if !t.begun {
		t.begun = true
		if first := t.firstMark(); t.at == 0 && first > leadSamples {
			t.skip = first - leadSamples
		}
		t.base = t.at - t.skip
	}
	from := t.made
	t.made += audio.Pos(len(pcm))
	if t.made <= t.skip {
		return nil
	}
	if from < t.skip {
		pcm = pcm[t.skip-from:]
	}
	end := t.base + t.made
	t.out = t.out[:0]
	for ; t.next < len(t.marks); t.next++ {
		m := t.marks[t.next]
		if m < 0 {
			continue
		}
		at := t.base + audio.Pos(m)
		if at >= end {
			break
		}
		t.out = append(t.out, port.Mark{At: max(at, t.at), Text: t.clause.Fields[t.next].At})
	}
	err := t.emit(port.Speech{PCM: pcm, Marks: t.out})
	t.at = end
	return err
}

func (t *take) firstMark() audio.Pos {
	for _, m := range t.marks {
		if m >= 0 {
			return audio.Pos(m)
		}
	}
	return 0
}
