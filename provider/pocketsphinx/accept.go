package pocketsphinx

import "github.com/hocketvoice/hocket/internal/edits"

// hopeless is the score difference to a path that was pruned.
const hopeless = 1 << 20

// The words of the grammar are accepted if they explain the sound nearly as well as
// the freely chosen words of the language model, in total and per frame, and much
// better than no words. If the two sound alike ("no", "now"), the language model
// confirms the grammar, and weaker evidence is enough. Scores are in units of
// 0.1024 nats. README.md has the rates of right and wrong results.
const (
	minVersusLM         = -1200
	minVersusLMPerFrame = -20
	minMargin           = 24

	alike                = 0.5 // maximum share of differing phones
	minVersusAlike       = -1300
	minVersusAlikeFrames = -30
	minMarginAlike       = 10
)

// margin returns the score per frame by which words beat no words.
func margin(score int, ok bool, none int, noneOK bool, frames int) float64 {
	switch {
	case frames == 0:
		return 0
	case !ok:
		return -maxMargin
	case !noneOK:
		return maxMargin
	}
	m := float64(score-none) / float64(frames)
	return max(-maxMargin, min(maxMargin, m))
}

// perFrame divides a score difference by the length of the longer explanation.
func perFrame(versusLM int, g, lm evidence) float64 {
	return float64(versusLM) / float64(max(1, g.frames, lm.frames))
}

// apart returns the share of phones in which two pronunciations differ.
func apart(a, b []string) float64 {
	return float64(edits.Distance(a, b)) / float64(max(1, len(a), len(b)))
}

// accepts decides between the words of the grammar and those of the language model.
// apart is the share of phones in which they differ.
func accepts(g, lm evidence, versusLM int, apart float64) bool {
	switch {
	case g.frames == 0:
		return false
	case lm.frames == 0: // the language model has no words to compete
		return g.margin >= minMargin
	case apart <= alike && g.margin >= minMarginAlike && versusLM >= minVersusAlike && perFrame(versusLM, g, lm) >= minVersusAlikeFrames:
		return true
	}
	return g.margin >= minMargin && versusLM >= minVersusLM && perFrame(versusLM, g, lm) >= minVersusLMPerFrame
}

// acceptance returns the confidence in accepted words of a grammar, fitted like
// [evidence.confidence].
func acceptance(g, lm evidence, versusLM int) float64 {
	d := 0.0
	if lm.frames > 0 {
		d = max(minVersusLMPerFrame, min(0, perFrame(versusLM, g, lm)))
	}
	return logistic(-1.96 + 0.088*g.margin + 0.027*d)
}
