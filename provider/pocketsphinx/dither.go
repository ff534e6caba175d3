package pocketsphinx

// ditherAmplitude is the largest sample that dither adds. Telephone speech that
// was brought to 16 kHz has nothing above 4 kHz, and digital silence has
// nothing at all; the model, trained on microphones, takes the logarithm of
// that for a sound of its own. README.md has the error rates.
const ditherAmplitude = 24

// dither adds a floor of white noise with triangular distribution. It starts
// anew with each utterance, so that the same sound gives the same result.
type dither struct{ state uint32 }

// appendTo appends pcm with noise to dst.
func (d *dither) appendTo(dst, pcm []int16) []int16 {
	x := d.state
	for _, v := range pcm {
		// Numerical Recipes' linear congruential generator; its upper bits.
		x = x*1664525 + 1013904223
		n := int(x>>16) * ditherAmplitude >> 16
		x = x*1664525 + 1013904223
		n += int(x>>16) * ditherAmplitude >> 16
		dst = append(dst, int16(max(-32768, min(32767, int(v)+n-ditherAmplitude))))
	}
	d.state = x
	return dst
}
