package turn

import (
	"fmt"
	"math"
	"time"
	"unicode/utf8"
)

// StabilityOptions configure [Stability]. The zero value is the default.
type StabilityOptions struct {
	Window     time.Duration // how far back results count; default 500 ms
	MinSamples int           // fewer results than this are rated 0; default 5, at most 32
	Spacing    time.Duration // repeats of an unchanged text closer than this are one sample; default 50 ms; Off: every call is one
}

// Validate reports the first field that is out of range.
func (o StabilityOptions) Validate() error {
	if err := checkPositive("Window", o.Window); err != nil {
		return err
	}
	if o.MinSamples < 0 || o.MinSamples > maxSamples {
		return &FieldError{Field: "MinSamples", Value: o.MinSamples, Want: fmt.Sprintf("1 to %d", maxSamples)}
	}
	return checkDuration("Spacing", o.Spacing)
}

// Weights of the score, and the stretch of unchanged text that a change is
// compared with at most, in characters.
const (
	weightSimilarity = 0.6
	weightCertainty  = 0.25
	weightLength     = 0.15

	maxSamples      = 32
	maxStableLength = 64
)

// Stability rates how settled the recognizer's words are (seed 002,
// TokenStabilityTracker). It is used by one goroutine, holds at most 32 samples
// and one text, and allocates nothing after NewStability.
//
// The score, 0 to 1, is over the samples of the last 500 ms
//
//	0.60 * mean similarity of each text to the one before
//	0.25 * (1 - 4 * variance of the recognizer's confidence)
//	0.15 * (1 - coefficient of variation of the length)
//
// where the middle term drops out, and the others share its weight, when the
// recognizer gives no confidence (NaN). Similarity is the share of the longer
// text that the two have in common at their beginning and end, where at most
// 64 characters of a common beginning count: a change at the end of a long
// dictation weighs as much as in a short answer.
//
// At least five samples are wanted, else the score is 0. What that costs: with
// a poll every 100 ms the fifth sample comes 400 ms after the first words,
// which a turn of more than a few words has behind it long before its minimal
// silence is over. For a one-word answer it delays the end of the turn by
// whatever the first result comes later than 100 ms after the end of speech
// (five samples then fill the 500 ms of the short utterance). To halve that,
// call Update on every frame: repeats of an unchanged text count once per 50
// ms, so that five samples take 240 ms at 20 ms frames, and faster calls cannot
// pass off one result as five. A recognizer whose results come more than 125 ms
// apart would never have five in the window: the last five count then, however
// old. Words that are final do not need to be watched: see Final.
type Stability struct {
	window     time.Duration
	minSamples int
	spacing    time.Duration

	ring  [maxSamples]stabilitySample
	first int // of the oldest sample
	n     int
	text  string // of the newest sample
	final string // not empty: this text is settled
}

type stabilitySample struct {
	at         time.Duration
	similarity float64 // to the sample before
	confidence float64
	length     float64 // characters
}

// NewStability returns a tracker without samples, or the error of o.Validate.
func NewStability(o StabilityOptions) (*Stability, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &Stability{
		window:     minimum(o.Window, 500*time.Millisecond),
		minSamples: minimum(o.MinSamples, 5),
		spacing:    minimum(o.Spacing, 50*time.Millisecond),
	}, nil
}

// Reset forgets all samples, for a new utterance.
func (s *Stability) Reset() { s.first, s.n, s.text, s.final = 0, 0, "", "" }

// Final tells that the recognizer will not revise this text any more: it is
// rated 1 until the text changes.
func (s *Stability) Final(text string) { s.final = text }

// Update takes the recognizer's words as they stand at a stream time and rates
// them. Calls come in the order of time, at any rate, also with unchanged
// words. An empty text starts anew.
func (s *Stability) Update(text string, confidence float64, at time.Duration) float64 {
	if text == "" || s.n > 0 && at < s.newest().at {
		s.Reset()
	}
	if text == "" {
		return 0
	}
	switch {
	case s.n == 0:
		s.push(text, 1, confidence, at)
	case text != s.text:
		s.push(text, similarity(s.text, text), confidence, at)
	case at-s.newest().at >= s.spacing:
		s.push(text, 1, confidence, at)
	default:
		s.newest().confidence = confidence
	}
	for s.n > s.minSamples && s.ring[s.first].at < at-s.window {
		s.first = (s.first + 1) % maxSamples
		s.n--
	}
	if text == s.final {
		return 1
	}
	if s.n < s.minSamples {
		return 0
	}
	return s.score()
}

func (s *Stability) newest() *stabilitySample {
	return &s.ring[(s.first+s.n-1)%maxSamples]
}

func (s *Stability) push(text string, similarity, confidence float64, at time.Duration) {
	if s.n == maxSamples {
		s.first = (s.first + 1) % maxSamples
		s.n--
	}
	s.n++
	*s.newest() = stabilitySample{at, similarity, confidence, float64(utf8.RuneCountInString(text))}
	s.text = text
}

func (s *Stability) score() float64 {
	var similar, conf, confSquared, length, lengthSquared float64
	for i := range s.n {
		x := &s.ring[(s.first+i)%maxSamples]
		if i > 0 {
			similar += x.similarity
		}
		conf += x.confidence
		confSquared += x.confidence * x.confidence
		length += x.length
		lengthSquared += x.length * x.length
	}
	n := float64(s.n)
	if s.n > 1 {
		similar /= n - 1
	} else {
		similar = 1
	}
	mean := length / n
	variation := math.Sqrt(max(lengthSquared/n-mean*mean, 0)) / mean
	sum := weightSimilarity*similar + weightLength*max(1-variation, 0)
	if math.IsNaN(conf) || math.IsInf(conf, 0) {
		return clamp01(sum / (weightSimilarity + weightLength))
	}
	variance := max(confSquared/n-(conf/n)*(conf/n), 0)
	return clamp01(sum + weightCertainty*max(1-4*variance, 0))
}

// similarity is the share of the longer text that both have in common at their
// beginning and end, counted in characters; 1 for equal texts.
func similarity(a, b string) float64 {
	if a == b {
		return 1
	}
	short := min(len(a), len(b))
	prefix := 0
	for prefix < short && a[prefix] == b[prefix] {
		prefix++
	}
	for prefix > 0 && (prefix < len(a) && !utf8.RuneStart(a[prefix]) || prefix < len(b) && !utf8.RuneStart(b[prefix])) {
		prefix--
	}
	suffix := 0
	for suffix < short-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	for suffix > 0 && !utf8.RuneStart(a[len(a)-suffix]) {
		suffix--
	}
	begin := utf8.RuneCountInString(a[:prefix])
	end := utf8.RuneCountInString(a[len(a)-suffix:])
	longer := max(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	beyond := max(begin-maxStableLength, 0)
	return float64(begin-beyond+end) / float64(longer-beyond)
}
