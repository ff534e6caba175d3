//go:build pocketsphinx && cgo

package pocketsphinx

/*
#cgo pkg-config: pocketsphinx
#include <stdlib.h>
#include <sphinxbase/ckd_alloc.h>
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

const (
	// maxSegments limits the number of segments in a path.
	maxSegments = 2048
	// lmSearch is the engine's name for the language model's search.
	lmSearch = "_default"
)

// decoder wraps a ps_decoder_t, which costs about 95 MB and 0.3 s. It must be used
// by one goroutine at a time. Between utterances it keeps only its grammars.
type decoder struct {
	ps       *C.ps_decoder_t
	segs     []C.hk_seg
	search   string // the active one
	defaults cepstralMean
	known    map[string]bool // dictionary lookups so far
}

func openDecoder(o Options) (*decoder, error) {
	hmm, lm, dict := C.CString(o.AcousticModel), C.CString(o.LanguageModel), C.CString(o.Dictionary)
	defer C.free(unsafe.Pointer(hmm))
	defer C.free(unsafe.Pointer(lm))
	defer C.free(unsafe.Pointer(dict))
	var reason [512]C.char
	ps := C.hk_open(hmm, lm, dict, &reason[0], C.size_t(len(reason)))
	if ps == nil {
		return nil, fmt.Errorf("pocketsphinx: open decoder: %s", strings.TrimSpace(C.GoString(&reason[0])))
	}
	d := &decoder{ps: ps, segs: make([]C.hk_seg, maxSegments), search: lmSearch, known: map[string]bool{}}
	var s C.hk_cmn
	if C.hk_cmn_get(ps, &s) != 0 {
		d.close()
		return nil, fmt.Errorf("pocketsphinx: open decoder: cepstral vectors are longer than %d", maxCep)
	}
	d.defaults.n = int(s.len)
	for i := range d.defaults.n {
		d.defaults.value[i] = float32(s.mean[i])
	}
	return d, nil
}

func (d *decoder) close() {
	C.ps_free(d.ps)
	d.ps = nil
}

// begin starts an utterance with the given mean.
func (d *decoder) begin(m *cepstralMean) error {
	if C.hk_begin(d.ps, (*C.float)(unsafe.Pointer(&m.value[0])), C.int32_t(m.n)) != 0 {
		return errors.New("pocketsphinx: cannot start an utterance")
	}
	return nil
}

func (d *decoder) write(pcm []int16) error {
	if len(pcm) == 0 {
		return nil
	}
	if C.hk_write(d.ps, (*C.int16_t)(unsafe.Pointer(&pcm[0])), C.size_t(len(pcm))) < 0 {
		return errors.New("pocketsphinx: decoding failed")
	}
	return nil
}

// frames returns the number of frames searched in this utterance.
func (d *decoder) frames() int { return int(C.hk_frames(d.ps)) }

func (d *decoder) end() error {
	if C.hk_end(d.ps) != 0 {
		return errors.New("pocketsphinx: cannot end an utterance")
	}
	return nil
}

// seen returns the mean of the speech in this utterance so far.
func (d *decoder) seen() cepstralMean {
	var s C.hk_cmn
	C.hk_cmn_get(d.ps, &s)
	m := cepstralMean{n: int(s.len), frames: float64(s.frames)}
	if s.frames > 0 {
		for i := range m.n {
			m.value[i] = float32(s.sum[i]) / float32(s.frames)
		}
	}
	return m
}

// path appends the segments of the best path so far to dst. Frames are counted from
// the beginning of what the engine classified as speech.
func (d *decoder) path(dst []segment) []segment {
	n := int(C.hk_path(d.ps, &d.segs[0], C.int(len(d.segs))))
	first := 0
	for i, s := range d.segs[:n] {
		if i == 0 {
			first = int(s.start) // the engine adds an estimated start time here
		}
		dst = append(dst, segment{
			word: C.GoString(s.word), start: int(s.start) - first, end: int(s.end) - first,
			ascr: int(s.ascr), lscr: int(s.lscr), post: float64(s.post),
		})
	}
	return dst
}

// prob returns the posterior of the best path in the lattice, after end.
func (d *decoder) prob() float64 { return float64(C.hk_prob(d.ps)) }

// use selects a search outside an utterance.
func (d *decoder) use(name string) error {
	if d.search == name {
		return nil
	}
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	if C.ps_set_search(d.ps, c) != 0 {
		return fmt.Errorf("pocketsphinx: unknown search %q", name)
	}
	d.search = name
	return nil
}

// drop frees a grammar.
func (d *decoder) drop(name string) {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	if d.search == name {
		d.search = ""
	}
	C.ps_unset_search(d.ps, c)
}

// pronunciation returns the phones of a word, separated by spaces, or an empty
// string if the word is not in the dictionary. A second pronunciation is "word(2)".
func (d *decoder) pronunciation(word string) string {
	c := C.CString(word)
	defer C.free(unsafe.Pointer(c))
	p := C.hk_pronunciation(d.ps, c)
	if p == nil {
		return ""
	}
	defer C.ckd_free(unsafe.Pointer(p))
	return C.GoString(p)
}

// has reports whether the dictionary contains the word and it is not a filler.
func (d *decoder) has(word string) bool {
	return !strings.ContainsAny(word[:1], "<[+") && !strings.Contains(word, "(") && d.pronunciation(word) != ""
}

// addGrammar adds a word graph as a search, replacing a search with the same name.
func (d *decoder) addGrammar(name string, g *graph, beam float64) error {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	arcs := make([]C.hk_arc, len(g.arcs))
	for i, a := range g.arcs {
		arcs[i] = C.hk_arc{from: C.int32_t(a.from), to: C.int32_t(a.to), word: C.int32_t(a.word), prob: C.double(a.prob)}
	}
	// The array contains pointers, so all of it must be in C memory.
	mem := C.calloc(C.size_t(len(g.words)+1), C.size_t(unsafe.Sizeof((*C.char)(nil))))
	defer C.free(mem)
	words := unsafe.Slice((**C.char)(mem), len(g.words)+1)
	defer func() {
		for _, w := range words {
			C.free(unsafe.Pointer(w))
		}
	}()
	for i, w := range g.words {
		words[i] = C.CString(w)
	}
	if C.hk_add_grammar(d.ps, cname, C.double(beam), C.int32_t(g.states), C.int32_t(g.start), C.int32_t(g.final),
		&arcs[0], C.int32_t(len(arcs)), &words[0], C.int32_t(len(g.words))) != 0 {
		return fmt.Errorf("pocketsphinx: cannot add the grammar %q", name)
	}
	return nil
}

// endScore returns the score of the best path of a grammar that ends in state.
func (d *decoder) endScore(name string, state int) (int, bool) {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	var score C.int32_t
	if C.hk_end_score(d.ps, c, C.int32_t(state), &score) != 0 {
		return 0, false
	}
	return int(score), true
}
