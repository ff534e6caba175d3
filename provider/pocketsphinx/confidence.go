package pocketsphinx

import (
	"math"
	"strings"
)

// segment is one word, filler or silence of a path. Scores are in the engine's
// unit of 1024 ln(1.0001) = 0.1024 nats.
type segment struct {
	word       string // with the dictionary's "(2)" for a second pronunciation
	start, end int    // frames of the search, inclusive
	ascr, lscr int
	post       float64
}

// filler says that the segment is silence or noise.
func (s segment) filler() bool {
	return strings.HasPrefix(s.word, "<") || strings.HasPrefix(s.word, "[") || strings.HasPrefix(s.word, "(")
}

// silence says that the segment is nothing but silence.
func (s segment) silence() bool { return strings.HasPrefix(s.word, "<") }

// base is the word without its pronunciation number.
func (s segment) base() string {
	if i := strings.IndexByte(s.word, '('); i > 0 {
		return s.word[:i]
	}
	return s.word
}

// maxMargin bounds a margin per frame, also where the loser was given up.
const maxMargin = 60

// evidence is what speaks for the words of a path.
type evidence struct {
	words     int
	frames    int     // of the words
	misfit    float64 // acoustic score per frame below the best sound of each frame
	posterior float64 // of the words in the lattice, weighted by length
	margin    float64 // score per frame above that of no words at all, within ±maxMargin
}

// evidenceOf sums up a path. lattice says that its scores come from the lattice,
// where the engine keeps them 1024 times larger.
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

// logistic maps a weighted sum of evidence to a probability.
func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// confidence is the belief in the words at the end of an utterance: the
// expected share of right words. The weights were fitted by logistic regression
// to recordings of speech and noise; README.md has the distributions.
func (e evidence) confidence() float64 {
	if e.frames == 0 {
		return 0
	}
	return logistic(-4.43 + 0.095*e.margin + 2.56*e.posterior - 0.058*e.misfit)
}

// partialConfidence is the belief in words while somebody still speaks. There is
// no lattice yet and nothing to compete with, so it rests on how well the sounds
// fit, on how much was heard, and on the length of the words: noise is explained
// by few long words. It is low for a single short word until the speaker pauses.
func (e evidence) partialConfidence() float64 {
	if e.frames == 0 {
		return 0
	}
	perWord := min(60, float64(e.frames)/float64(e.words))
	return logistic(0.34 - 0.090*e.misfit - 0.041*perWord + 0.846*math.Log(float64(e.frames)))
}
