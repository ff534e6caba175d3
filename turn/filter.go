package turn

import (
	"cmp"
	"fmt"
)

// VerdictKind says what words that were heard while the agent speaks amount to.
type VerdictKind uint8

// The kinds of a [Verdict], from the weakest to the strongest claim to the
// floor.
const (
	Nothing         VerdictKind = iota // no words
	Echo                               // what the agent itself is saying came back
	Filler                             // "um": nothing but fillers
	Backchannel                        // "mhm", "I see": a listener's signal, perhaps with fillers
	OneWord                            // a single substantial word
	Speech                             // two substantial words or more
	AlwaysInterrupt                    // "stop", "hold on"
)

var verdictNames = [...]string{"nothing", "echo", "filler", "backchannel", "one_word", "speech", "always_interrupt"}

// String is the name of the kind in traces.
func (k VerdictKind) String() string {
	if int(k) < len(verdictNames) {
		return verdictNames[k]
	}
	return fmt.Sprintf("VerdictKind(%d)", uint8(k))
}

// MarshalText writes the kind by its name.
func (k VerdictKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a kind by its name.
func (k *VerdictKind) UnmarshalText(text []byte) error {
	for i, name := range verdictNames {
		if name == string(text) {
			*k = VerdictKind(i)
			return nil
		}
	}
	return fmt.Errorf("verdict %q: want one of %v", text, verdictNames)
}

// Verdict is what [Classify] makes of a text. It is a comparable value.
type Verdict struct {
	Kind        VerdictKind `json:"kind"`
	Words       int         `json:"words"`       // all words
	Substantial int         `json:"substantial"` // words that are neither fillers nor backchannels; 0 for an echo
}

// FilterOptions configure [Classify]. The zero value is the default.
type FilterOptions struct {
	// Echo is the share of the heard words that must be found in the text
	// that plays for them to count as its echo; default 0.7. Off: nothing is
	// an echo, for a leg whose far end cancels it.
	Echo float64
}

// Validate reports a share that is not between 0 and 1.
func (o FilterOptions) Validate() error {
	return checkLevel("Echo", o.Echo)
}

// Classify judges words that were heard while the agent speaks (seed 004,
// features 2 and 6). text holds all words of the utterance so far, playing the
// text that the agent is saying: what lies around the playout position, at most
// its last 128 words count.
//
// Call it while the agent speaks and at no other time: when it is silent,
// "hello", "yes" and "4K" are answers, whatever the lists say. [Unfiltered]
// gives their verdict.
//
// In order: an always-interrupt entry wins, unless it is part of an echo of
// more than itself ("you can say stop at any time" played, "say stop at any"
// heard); then an echo; then the count of substantial words. Numbers are
// substantial, and so is "4K". Words that belong to the user on top of an echo
// are recognized once there are three in a row.
//
// It is pure, safe for concurrent use and allocates nothing for texts of
// ordinary length. w may be nil.
func Classify(text, playing string, w *Words, o FilterOptions) Verdict {
	if w == nil {
		w = &Words{}
	}
	var textBuf [256]byte
	var spanBuf [48]span
	heard := tokens{text: textBuf[:0], spans: spanBuf[:0]}.read(text)
	v := Verdict{Words: len(heard.spans)}
	if v.Words == 0 {
		return v
	}
	var e echoMatch
	if playing != "" && o.Echo != Off {
		e.find(&heard, playing, cmp.Or(o.Echo, 0.7))
	}
	backchannel, interrupt := false, false
	for i := 0; i < v.Words; {
		class, n := w.at(&heard, i)
		switch class {
		case classSubstantial:
			v.Substantial++
		case classBackchannel:
			backchannel = true
		case classInterrupt:
			// It counts as words too, for whoever asks for a number.
			v.Substantial += n
			interrupt = interrupt || !e.covers(i, n)
		case classFiller: // it counts for nothing
		}
		i += n
	}
	switch {
	case interrupt:
		v.Kind = AlwaysInterrupt
	case e.echo:
		v.Kind, v.Substantial = Echo, 0
	case v.Substantial > 1:
		v.Kind = Speech
	case v.Substantial == 1:
		v.Kind = OneWord
	case backchannel:
		v.Kind = Backchannel
	default:
		v.Kind = Filler
	}
	return v
}

// Unfiltered is the verdict on words that were heard while the agent is silent:
// each of them counts (seed 004, feature 6).
func Unfiltered(text string) Verdict {
	var textBuf [256]byte
	var spanBuf [48]span
	heard := tokens{text: textBuf[:0], spans: spanBuf[:0]}.read(text)
	n := len(heard.spans)
	v := Verdict{Words: n, Substantial: n}
	switch {
	case n > 1:
		v.Kind = Speech
	case n == 1:
		v.Kind = OneWord
	}
	return v
}
