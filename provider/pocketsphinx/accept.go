package pocketsphinx

// hopeless stands for the score difference to a path that was given up.
const hopeless = 1 << 20

// The grammar's words are accepted when they explain the sound nearly as well as
// the language model's freely chosen words do, in total and per frame, and much
// better than no words. Where the two sound alike ("no", "now"), the language
// model confirms the grammar, and the sound has to prove less. Scores are in
// units of 0.1024 nats. README.md tells how many right and wrong results the
// bounds let through.
const (
	minVersusLM         = -1200
	minVersusLMPerFrame = -20
	minMargin           = 24

	alike                = 0.5 // of the phones differ at most
	minVersusAlike       = -1300
	minVersusAlikeFrames = -30
	minMarginAlike       = 10
)

// margin is the score per frame by which words beat no words.
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

// perFrame spreads a score difference over the longer of the two explanations.
func perFrame(versusLM int, g, lm evidence) float64 {
	return float64(versusLM) / float64(max(1, g.frames, lm.frames))
}

// apart is the share of phones in which two pronunciations differ.
func apart(a, b []string) float64 {
	return float64(editDistance(a, b)) / float64(max(1, len(a), len(b)))
}

// accepts decides between the grammar's words and the language model's, which
// are apart by a share of their phones.
func accepts(g, lm evidence, versusLM int, apart float64) bool {
	switch {
	case g.frames == 0:
		return false
	case lm.frames == 0: // there is no other word to lose against
		return g.margin >= minMargin
	case apart <= alike && g.margin >= minMarginAlike && versusLM >= minVersusAlike && perFrame(versusLM, g, lm) >= minVersusAlikeFrames:
		return true
	}
	return g.margin >= minMargin && versusLM >= minVersusLM && perFrame(versusLM, g, lm) >= minVersusLMPerFrame
}

// acceptance is the confidence in accepted words of a grammar, fitted like
// [evidence.confidence].
func acceptance(g, lm evidence, versusLM int) float64 {
	d := 0.0
	if lm.frames > 0 {
		d = max(minVersusLMPerFrame, min(0, perFrame(versusLM, g, lm)))
	}
	return logistic(-1.96 + 0.088*g.margin + 0.027*d)
}
