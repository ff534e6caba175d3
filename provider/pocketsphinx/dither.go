package pocketsphinx

// ditherAmplitude is the largest sample that dither adds. Telephone speech
// resampled to 16 kHz has no energy above 4 kHz, and digital silence has none at
// all; the model, trained on microphone recordings, takes the logarithm of zero
// energy for a sound. README.md has the error rates.
const ditherAmplitude = 24

// dither adds white noise with a triangular distribution. It restarts with each
// utterance, so that the same sound yields the same result.
type dither struct{ state uint32 }

// appendTo appends pcm with noise to dst.
func (d *dither) appendTo(dst, pcm []int16) []int16 {
	x := d.state
	for _, v := range pcm {
		// the upper bits of Numerical Recipes' linear congruential generator
		x = x*1664525 + 1013904223
		n := int(x>>16) * ditherAmplitude >> 16
		x = x*1664525 + 1013904223
		n += int(x>>16) * ditherAmplitude >> 16
		dst = append(dst, int16(max(-32768, min(32767, int(v)+n-ditherAmplitude))))
	}
	d.state = x
	return dst
}
