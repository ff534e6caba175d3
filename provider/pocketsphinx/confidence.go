package pocketsphinx

import (
	"math"
	"strings"
)

// segment is one word, filler or silence of a path. Scores are in the engine's unit
// of 1024 ln(1.0001) = 0.1024 nats.
type segment struct {
	word       string // with the dictionary's suffix "(2)" for a second pronunciation
	start, end int    // frames of the search, inclusive
	ascr, lscr int
	post       float64
}

// filler reports whether the segment is silence or noise.
func (s segment) filler() bool {
	return strings.HasPrefix(s.word, "<") || strings.HasPrefix(s.word, "[") || strings.HasPrefix(s.word, "(")
}

// silence reports whether the segment is silence.
func (s segment) silence() bool { return strings.HasPrefix(s.word, "<") }

// base returns the word without its pronunciation number.
func (s segment) base() string {
	if i := strings.IndexByte(s.word, '('); i > 0 {
		return s.word[:i]
	}
	return s.word
}

// maxMargin limits a margin per frame, also if the loser was pruned.
const maxMargin = 60

// evidence is the evidence for the words of a path.
type evidence struct {
	words     int
	frames    int     // of the words
	misfit    float64 // acoustic score per frame below the best sound of each frame
	posterior float64 // of the words in the lattice, weighted by length
	margin    float64 // score per frame above that of no words, within ±maxMargin
}

// evidenceOf computes the evidence of a path. lattice reports that its scores come
// from the lattice, where they are 1024 times larger.
func evidenceOf(path []segment, lattice bool) evidence {
	var e evidence
	score := 0
	for _, s := range path {
		if s.filler() {
			continue
		}
		n := s.end - s.start + 1
		e.words++
		e.frames += n
		score += s.ascr
		e.posterior += float64(n) * s.post
	}
	if e.frames == 0 {
		return evidence{}
	}
	e.misfit = -float64(score) / float64(e.frames)
	if lattice {
		e.misfit /= 1024
	}
	e.posterior /= float64(e.frames)
	return e
}

// logistic maps a weighted sum to a probability.
func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// confidence returns the confidence in the words at the end of an utterance: the
// expected share of correct words. The weights were fitted by logistic regression
// to recordings of speech and noise; README.md has its distribution.
func (e evidence) confidence() float64 {
	if e.frames == 0 {
		return 0
	}
	return logistic(-4.43 + 0.095*e.margin + 2.56*e.posterior - 0.058*e.misfit)
}

// isNoise reports whether a final with this confidence is no words at all. Nobody has been
// understood below these limits; where an answer is expected, a caller who is not
// understood should rather be asked again.
func isNoise(confidence float64, expected bool) bool {
	if expected {
		return confidence < 0.01
	}
	return confidence < 0.03
}

// partialConfidence returns the confidence in words during an utterance. There is
// no lattice and no competing explanation yet, so it depends on how well the sounds
// fit, the amount of speech, and the length of the words, since noise is explained
// by few long words. It is low for a single short word until the speaker pauses.
func (e evidence) partialConfidence() float64 {
	if e.frames == 0 {
		return 0
	}
	perWord := min(60, float64(e.frames)/float64(e.words))
	return logistic(0.34 - 0.090*e.misfit - 0.041*perWord + 0.846*math.Log(float64(e.frames)))
}
