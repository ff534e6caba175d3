package silero

// synthetic returns a signal of eight seconds, which testdata/golden.py also produces:
// silence, three seconds of vowels, faint noise, a tone, and vowels in noise. It is
// computed with integers, so that both produce the same samples.
func synthetic() []int16 {
	// Resonators of three vowels: 2 r cos w and -r*r, times 2^14.
	vowels := [3][3][2]int64{
		{{31063, -16002}, {29289, -15815}, {18403, -15630}},
		{{32202, -16002}, {20030, -15815}, {12132, -15630}},
		{{32160, -16002}, {30333, -15815}, {20401, -15630}},
	}
	var memory [3][2]int64
	out := make([]int16, 8*sampleRate)
	seed, phase, period := uint32(1), 0, 0
	for n := range out {
		seed = seed*1664525 + 1013904223
		noise := int64(seed>>16) - 32768
		second, x := n/sampleRate, int64(0)
		voice := second >= 1 && second <= 3 || second >= 6
		if voice {
			at := n % 4000 // a syllable of a quarter of a second
			envelope := int64(min(at, 4000-at, 800))
			if phase >= period {
				phase, period = 0, 120+n/50%40
				x = envelope * 8
			}
			phase++
			x += noise * envelope >> 17
			for i, a := range vowels[n/4000%3] {
				m := &memory[i]
				y := x + (a[0]*m[0]+a[1]*m[1])>>14
				m[0], m[1] = y, m[0]
				x = y >> 2
			}
		}
		if second == 4 || second >= 6 {
			x += noise >> 6
		}
		if second == 5 {
			x = 3000
			if n%36 >= 18 {
				x = -3000
			}
		}
		out[n] = int16(max(-32768, min(32767, x)))
	}
	return out
}
