//go:build pocketsphinx && cgo

package pocketsphinx

import (
	"strings"

	"github.com/hocketvoice/hocket/port"
)

// checkBeam keeps competing paths alive until the end. Only far worse paths are
// pruned.
const checkBeam = 1e-150

// trial compares the explanations of one utterance: the words of the language
// model, the words of the grammar if any, and no words. All are paths of one small
// grammar that is decoded at once, so that their scores are comparable. Scores of
// separate searches are not, since the engine normalizes them by the best sound
// that is active in the search.
type trial struct {
	grammar    port.Transcript // empty text if nothing fits or is expected
	lmEvidence evidence
	gEvidence  evidence
	versusLM   int     // score of the grammar's words minus that of the language model's
	apart      float64 // share of phones in which the two differ
}

// try performs the comparison. The stream's path must belong to lm.
func (s *Stream) try(lm port.Transcript) (*trial, error) {
	t := &trial{lmEvidence: evidenceOf(s.path, true)}
	if s.expected != nil {
		if err := s.decodeExpected(t); err != nil {
			return nil, err
		}
	}
	if lm.Text == "" && t.grammar.Text == "" {
		return t, nil
	}
	b := &builder{g: graph{states: 1}, index: map[string]int{}}
	lmEnd := b.line(strings.Fields(lm.Text))
	gEnd := b.line(strings.Fields(t.grammar.Text))
	none := b.line(nil)
	b.g.final = none
	if err := s.d.addGrammar(checkSearch, &b.g, checkBeam); err != nil {
		return nil, err
	}
	defer s.d.drop(checkSearch)
	if err := s.again(checkSearch); err != nil {
		return nil, err
	}
	t.apart = apart(s.phones(lm.Text), s.phones(t.grammar.Text))
	nScore, nOK := s.d.endScore(checkSearch, none)
	lScore, lOK := s.d.endScore(checkSearch, lmEnd)
	gScore, gOK := s.d.endScore(checkSearch, gEnd)
	t.lmEvidence.margin = margin(lScore, lOK, nScore, nOK, t.lmEvidence.frames)
	t.gEvidence.margin = margin(gScore, gOK, nScore, nOK, t.gEvidence.frames)
	switch {
	case !gOK:
		t.versusLM = -hopeless
	case !lOK:
		t.versusLM = hopeless
	default:
		t.versusLM = gScore - lScore
	}
	return t, nil
}

// decodeExpected finds the best words of the grammar.
func (s *Stream) decodeExpected(t *trial) error {
	if s.loaded != s.expected {
		if err := s.d.addGrammar(grammarSearch, s.expected, 0); err != nil {
			return err
		}
		s.loaded = s.expected
	}
	if err := s.again(grammarSearch); err != nil {
		return err
	}
	s.path = s.d.path(s.path[:0])
	t.grammar = s.transcript(s.path)
	t.gEvidence = evidenceOf(s.path, false)
	return nil
}

// phones returns the first pronunciation of each word.
func (s *Stream) phones(text string) []string {
	var out []string
	for _, w := range strings.Fields(text) {
		out = append(out, strings.Fields(s.d.pronunciation(w))...)
	}
	return out
}

// line adds a path of words from state 0 and returns its last state.
func (b *builder) line(words []string) int {
	at := b.state()
	b.arc(0, at, -1, 1)
	for _, w := range words {
		to := b.state()
		b.arc(at, to, b.word(w), 1)
		at = to
	}
	return at
}

// judge chooses between the language model's transcript lm, to which the stream's
// path belongs, and the expected phrases.
func (s *Stream) judge(lm port.Transcript) (port.Transcript, error) {
	t, err := s.try(lm)
	if err != nil {
		return port.Transcript{}, err
	}
	if accepts(t.gEvidence, t.lmEvidence, t.versusLM, t.apart) {
		t.grammar.Expected = true
		t.grammar.Confidence = acceptance(t.gEvidence, t.lmEvidence, t.versusLM)
		return t.grammar, nil
	}
	lm.Confidence = t.lmEvidence.confidence()
	if isNoise(lm.Confidence, s.expected != nil) {
		return port.Transcript{}, nil
	}
	return lm, nil
}
