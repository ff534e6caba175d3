package turn

import (
	"cmp"
	"fmt"
)

// VerdictKind classifies words that were heard while the agent speaks.
type VerdictKind uint8

// The kinds of a [Verdict], from the weakest to the strongest claim to the
// floor.
const (
	Nothing         VerdictKind = iota // no words
	Echo                               // the agent's own words
	Filler                             // "um": fillers only
	Backchannel                        // "mhm", "I see": signals of a listener, perhaps with fillers
	OneWord                            // a single substantial word
	Speech                             // two substantial words or more
	AlwaysInterrupt                    // "stop", "hold on"
)

var verdictNames = [...]string{"nothing", "echo", "filler", "backchannel", "one_word", "speech", "always_interrupt"}

// String returns the name of the kind in traces.
func (k VerdictKind) String() string {
	if int(k) < len(verdictNames) {
		return verdictNames[k]
	}
	return fmt.Sprintf("VerdictKind(%d)", uint8(k))
}

// MarshalText encodes the kind as its name.
func (k VerdictKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText decodes the name of a kind.
func (k *VerdictKind) UnmarshalText(text []byte) error {
	for i, name := range verdictNames {
		if name == string(text) {
			*k = VerdictKind(i)
			return nil
		}
	}
	return fmt.Errorf("verdict %q: expected one of %v", text, verdictNames)
}

// Verdict is the result of [Classify]. It is a comparable value.
type Verdict struct {
	Kind        VerdictKind `json:"kind"`
	Words       int         `json:"words"`       // all words
	Substantial int         `json:"substantial"` // words that are neither fillers nor backchannels; 0 for an echo
	// Alone reports whether one of the words takes the floor without another: "no", or a word
	// that a caller adds because the agent expects it. Only the hybrid policy looks at it.
	Alone bool `json:"alone,omitempty"`
}

// FilterOptions configures [Classify]. The zero value selects the defaults.
type FilterOptions struct {
	// Echo is the share of the heard words that must be in the text that is playing for them
	// to count as an echo; default 0.7. If it is Off, nothing is an echo; use this if the far
	// end cancels the echo.
	Echo float64
}

// Validate returns an error if the share is not between 0 and 1.
func (o FilterOptions) Validate() error {
	return checkLevel("Echo", o.Echo)
}

// Classify classifies words that were heard while the agent speaks (seed 004, features 2
// and 6). text is all words of the utterance so far. playing is the text that the agent is
// saying around the playout position; at most its last 128 words count.
//
// Call Classify only while the agent speaks. While it is silent, "hello", "yes" and "4K"
// are answers even if the lists contain them; use [Unfiltered] then.
//
// An always-interrupt entry comes first, unless it is part of a longer echo ("you can say
// stop at any time" is played, "say stop at any" is heard). Then comes an echo, then the
// number of substantial words. Numbers are substantial, and so is "4K". Words of the user
// within an echo are recognized if there are three in a row.
//
// Classify is pure and safe for concurrent use. It allocates nothing for texts of ordinary
// length. w may be nil.
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
		if n, ok := w.interruptsAlone(&heard, i); ok && !e.covers(i, n) {
			v.Alone = true
		}
		class, n := w.at(&heard, i)
		switch class {
		case classSubstantial:
			v.Substantial++
		case classBackchannel:
			backchannel = true
		case classInterrupt:
			// The entry also counts as substantial words.
			v.Substantial += n
			interrupt = interrupt || !e.covers(i, n)
		case classFiller: // not counted
		}
		i += n
	}
	switch {
	case interrupt:
		v.Kind = AlwaysInterrupt
	case e.echo:
		v.Kind, v.Substantial, v.Alone = Echo, 0, false
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

// Unfiltered returns the verdict on words that were heard while the agent is silent. Every
// word counts as substantial (seed 004, feature 6).
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
