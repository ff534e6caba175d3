package g722

// band is the adaptive predictor and the adaptive quantizer's scale of one of the two bands
// (G.722, clauses 3.5 and 3.6). The names of its fields are those of the Recommendation, as in
// its description of the blocks.
type band struct {
	s    int32    // signal estimate of the predictor: sp + sz
	sz   int32    // output of the zeros
	r    [3]int32 // reconstructed signal, newest first
	p    [3]int32 // partially reconstructed signal
	a    [3]int32 // coefficients of the poles; a[0] is not used
	d    [7]int32 // quantized difference signal
	b    [7]int32 // coefficients of the zeros; b[0] is not used
	nb   int32    // logarithmic scale factor
	det  int32    // scale factor
	most int32    // limit of nb
	log  int32    // the exponent of the scale factor at nb = 0 (blocks SCALEL and SCALEH)
}

// lower and higher return the bands after a reset.
func lower() band  { return band{det: 32, most: 18432, log: 8} }
func higher() band { return band{det: 8, most: 22528, log: 10} }

// scale adapts the scale factor by the multiplier w of the last code.
func (b *band) scale(w int32) {
	b.nb = min(max(b.nb*127>>7+w, 0), b.most)
	linear := powers[b.nb>>6&31]
	if shift := b.log - b.nb>>11; shift < 0 {
		linear <<= -shift
	} else {
		linear >>= shift
	}
	b.det = linear << 2
}

// predict takes the next quantized difference and calculates the estimate of the next sample.
func (b *band) predict(d int32) {
	b.d[0] = d
	b.r[0] = saturate(b.s + d)
	b.p[0] = saturate(b.sz + d)
	b.adaptPoles()
	b.adaptZeros()

	sp := saturate(b.a[1]*saturate(2*b.r[0])>>15 + b.a[2]*saturate(2*b.r[1])>>15)
	b.r[2], b.r[1] = b.r[1], b.r[0]
	b.p[2], b.p[1] = b.p[1], b.p[0]
	copy(b.d[1:], b.d[:6])
	b.sz = 0
	for i := 6; i > 0; i-- {
		b.sz += b.b[i] * saturate(2*b.d[i]) >> 15
	}
	b.sz = saturate(b.sz)
	b.s = saturate(sp + b.sz)
}

// adaptPoles adapts the coefficients of the poles (blocks UPPOL2 and UPPOL1).
func (b *band) adaptPoles() {
	same1, same2 := b.p[0]>>15 == b.p[1]>>15, b.p[0]>>15 == b.p[2]>>15
	second := saturate(4 * b.a[1])
	if same1 {
		second = saturate(-second)
	}
	second = second>>7 + signed(128, same2) + b.a[2]*32512>>15
	second = min(max(second, -12288), 12288)

	limit := saturate(15360 - second)
	first := saturate(signed(192, same1) + b.a[1]*32640>>15)
	b.a[1], b.a[2] = min(max(first, -limit), limit), second
}

// adaptZeros adapts the coefficients of the zeros (block UPZERO).
func (b *band) adaptZeros() {
	var step int32
	if b.d[0] != 0 {
		step = 128
	}
	for i := 1; i < len(b.b); i++ {
		b.b[i] = saturate(signed(step, b.d[i]>>15 == b.d[0]>>15) + b.b[i]*32640>>15)
	}
}

// signed returns v, or -v if not positive.
func signed(v int32, positive bool) int32 {
	if positive {
		return v
	}
	return -v
}

// saturate limits v to 16 bits.
func saturate(v int32) int32 { return min(max(v, -32768), 32767) }
