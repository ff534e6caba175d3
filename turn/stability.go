package turn

import (
	"fmt"
	"math"
	"time"
	"unicode/utf8"
)

// StabilityOptions configures [Stability]. The zero value selects the defaults.
type StabilityOptions struct {
	Window     time.Duration // maximum age of samples; default 500 ms
	MinSamples int           // with fewer samples the score is 0; default 5, at most 32
	Spacing    time.Duration // minimum time between samples of an unchanged text; default 50 ms; if Off, every call is a sample
}

// Validate returns an error for the first field that is out of range.
func (o StabilityOptions) Validate() error {
	if err := checkPositive("Window", o.Window); err != nil {
		return err
	}
	if o.MinSamples < 0 || o.MinSamples > maxSamples {
		return &FieldError{Field: "MinSamples", Value: o.MinSamples, Want: fmt.Sprintf("1 to %d", maxSamples)}
	}
	return checkDuration("Spacing", o.Spacing)
}

// The weights of the score, and the limits of the number of samples and of the common
// beginning of two texts that counts, in characters.
const (
	weightSimilarity = 0.6
	weightCertainty  = 0.25
	weightLength     = 0.15

	maxSamples      = 32
	maxStableLength = 64
)

// Stability scores how settled the recognizer's words are (seed 002, TokenStabilityTracker).
// It is not safe for concurrent use. It holds at most 32 samples and one text, and allocates
// nothing after NewStability.
//
// The score, 0 to 1, is the sum over the samples of the last 500 ms of
//
//	0.60 * mean similarity of each text to the previous one
//	0.25 * (1 - 4 * variance of the recognizer's confidence)
//	0.15 * (1 - coefficient of variation of the length)
//
// If the recognizer gives no confidence (NaN), the other terms share the weight of the second.
// Similarity is the share of the longer text that both texts have in common at their beginning
// and end. At most 64 characters of a common beginning count, so a change at the end of a long
// dictation has the same weight as in a short answer.
//
// With fewer than five samples the score is 0. If the caller polls every 100 ms, the fifth
// sample comes 400 ms after the first words. A turn of more than a few words has them long
// before its minimal silence ends. A one-word answer, whose minimal silence is 500 ms, ends later
// by the time by which the first result comes more than 100 ms after the end of speech. To halve
// this, call Update on every frame: an unchanged text is sampled every 50 ms, so that five
// samples take 240 ms with frames of 20 ms, and more frequent calls do not turn one result into
// five samples. If results come more than 125 ms apart, the window never has five; the last five
// count then, whatever their age. Final texts need no samples; see Final.
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

// NewStability returns a tracker without samples. It returns an error if the options are
// invalid.
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

// Reset removes all samples, for a new utterance.
func (s *Stability) Reset() { s.first, s.n, s.text, s.final = 0, 0, "", "" }

// Final records that the recognizer will not change this text. Its score is 1 until the
// text changes.
func (s *Stability) Final(text string) { s.final = text }

// Update adds the recognizer's words at a stream time and returns their score. Calls must
// come in the order of time, at any rate, also with unchanged words. An empty text resets
// the tracker.
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

// similarity returns the share of the longer text that both texts have in common at their
// beginning and end, counted in characters. It returns 1 for equal texts.
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
