package g722

// Rate is the sampling rate of the sound in hertz.
const Rate = 16000

// Encoder encodes sound. The zero value is not valid; it must be used by one goroutine at a
// time. It allocates nothing after construction.
type Encoder struct {
	low, high band
	past      [24]int32 // input of the filter, oldest first
	half      bool      // the first sample of a pair is in the filter
}

// NewEncoder returns an encoder.
func NewEncoder() *Encoder { return &Encoder{low: lower(), high: higher()} }

// AppendEncode appends the code of pcm to dst, a byte for two samples. A sample without its
// second one waits for the next call.
func (e *Encoder) AppendEncode(dst []byte, pcm []int16) []byte {
	for _, sample := range pcm {
		if !e.half {
			copy(e.past[:], e.past[2:])
			e.past[22], e.half = int32(sample), true
			continue
		}
		e.past[23], e.half = int32(sample), false
		even, odd := sums(&e.past)
		dst = append(dst, e.higher((odd-even)>>14)<<6|e.lower((odd+even)>>14))
	}
	return dst
}

// lower encodes the next sample of the lower band in six bits.
func (e *Encoder) lower(x int32) byte {
	diff := saturate(x - e.low.s)
	size := diff
	if diff < 0 {
		size = -(diff + 1)
	}
	step := 0
	for step < len(lowLevels) && size >= lowLevels[step]*e.low.det>>12 {
		step++
	}
	code := lowCode(step, diff < 0)
	e.low.lower(code)
	return code
}

// higher encodes the next sample of the higher band in two bits.
func (e *Encoder) higher(x int32) byte {
	diff := saturate(x - e.high.s)
	size := diff
	if diff < 0 {
		size = -(diff + 1)
	}
	code := highCode(size >= highLevel*e.high.det>>12, diff < 0)
	e.high.higher(code)
	return code
}

// lower and higher adapt the band to a code.
func (b *band) lower(code byte) {
	d := b.det * lowOutput4[code>>2] >> 15
	b.scale(lowScale[code>>2])
	b.predict(d)
}

func (b *band) higher(code byte) {
	d := b.det * highOutput[code] >> 15
	b.scale(highScale[code])
	b.predict(d)
}

// Decoder decodes sound. The zero value is not valid; it must be used by one goroutine at a
// time. It allocates nothing after construction.
type Decoder struct {
	low, high band
	past      [24]int32
}

// NewDecoder returns a decoder.
func NewDecoder() *Decoder { return &Decoder{low: lower(), high: higher()} }

// AppendDecode appends the sound of data to dst, two samples for a byte. Every byte is valid.
func (d *Decoder) AppendDecode(dst []int16, data []byte) []int16 {
	for _, code := range data {
		low := limit(d.low.s + d.low.det*lowOutput6[code&63]>>15)
		d.low.lower(code & 63)
		high := limit(d.high.s + d.high.det*highOutput[code>>6]>>15)
		d.high.higher(code >> 6)

		copy(d.past[:], d.past[2:])
		d.past[22], d.past[23] = low+high, low-high
		even, odd := sums(&d.past)
		dst = append(dst, int16(saturate(odd>>11)), int16(saturate(even>>11)))
	}
	return dst
}

// limit limits the sample of a band to 15 bits (block LIMIT).
func limit(v int32) int32 { return min(max(v, -16384), 16383) }

// sums returns the sums of the filter over the samples at even and at odd places.
func sums(x *[24]int32) (even, odd int32) {
	for i, c := range filter {
		even += x[2*i] * c
		odd += x[2*i+1] * filter[11-i]
	}
	return even, odd
}
