package pocketsphinx

// hush detects the end of a pause. It compares the level of new frames with the
// loudest silence in the pause.
type hush struct {
	recent [16]int // levels of the last frames, a ring
	n      int     // frames so far
	peak   int     // the highest level so far

	loudest int // of the silence
	loud    int // consecutive frames that are certainly not silence
	doubts  int // frames that may not be silence
}

// level returns the mean magnitude of a frame.
func level(pcm []int16) int {
	if len(pcm) == 0 {
		return 0
	}
	sum := 0
	for _, v := range pcm {
		sum += max(int(v), -int(v))
	}
	return sum / len(pcm)
}

// add adds a frame.
func (h *hush) add(pcm []int16) {
	l := level(pcm)
	h.recent[h.n%len(h.recent)] = l
	h.peak = max(h.peak, l)
	h.n++
	if l > 2*h.loudest+ditherAmplitude {
		h.loud++
	} else {
		h.loud = 0
	}
	if l > h.loudest*3/2+ditherAmplitude/2 {
		h.doubts++
	}
}

// start begins a pause if the last frames, at most 16, are 12 dB below the loudest
// sound.
func (h *hush) start(frames int) bool {
	loudest := 0
	for i := range min(frames, len(h.recent), h.n) {
		loudest = max(loudest, h.recent[(h.n-1-i)%len(h.recent)])
	}
	if 4*loudest > h.peak {
		return false
	}
	h.loudest, h.loud, h.doubts = loudest, 0, 0
	return true
}

// broken reports whether speech has resumed.
func (h *hush) broken() bool { return h.loud >= 2 }

// doubtful reports whether there may have been more than silence.
func (h *hush) doubtful() bool { return h.doubts >= 4 }
