package audio

import (
	"math/bits"
	"slices"
)

// G711 is one of the two companding laws of telephony: 8000 samples a second, one
// byte each. The zero value is [MuLaw].
//
// A G711 is a plain value; all its methods are safe for concurrent use.
//
// Source: ITU-T Recommendation G.711 (11/1988), tables 1a and 1b (A-law), 2a and 2b
// (mu-law). The recommendation's uniform values are scaled to 16 bits: by 4 for
// mu-law (14-bit), by 8 for A-law (13-bit).
type G711 uint8

// The laws of G.711. Their RTP payload types are 0 and 8 (RFC 3551, section 6).
const (
	MuLaw G711 = iota // PCMU: North America, Japan, and every media-stream API
	ALaw              // PCMA: Europe and most of the world
)

// G711Rate is the sampling rate of both laws, in hertz.
const G711Rate = 8000

const (
	muLawBias = 33 * 4                // shifts the segments' ends to powers of two
	muLawClip = 1<<15 - 1 - muLawBias // the largest magnitude in the last segment after adding the bias
)

// The decoding tables are computed once and never changed.
var (
	muLawPCM = decodingTable(decodeMuLaw)
	aLawPCM  = decodingTable(decodeALaw)
)

func decodingTable(decode func(byte) int16) (t [256]int16) {
	for code := range t {
		t[code] = decode(byte(code))
	}
	return t
}

// String returns the law's name in RTP and SDP: "PCMU" or "PCMA".
func (g G711) String() string {
	if g == ALaw {
		return "PCMA"
	}
	return "PCMU"
}

// Silence returns the code of the quietest sample, for padding: 0xFF for mu-law,
// 0xD5 for A-law (which has no zero; it decodes to 8).
func (g G711) Silence() byte { return g.Encode(0) }

// Encode compresses one sample. Decoding and encoding reproduces every code except
// one: mu-law has a negative zero, 0x7F, which stands for -1 to -3, decodes to 0
// and becomes 0xFF.
func (g G711) Encode(sample int16) byte {
	if g == ALaw {
		return encodeALaw(sample)
	}
	return encodeMuLaw(sample)
}

// Decode expands one code to a 16-bit sample.
func (g G711) Decode(code byte) int16 {
	if g == ALaw {
		return aLawPCM[code]
	}
	return muLawPCM[code]
}

// AppendEncode appends the codes of pcm to dst and returns the extended slice. It
// allocates only if dst lacks the capacity.
func (g G711) AppendEncode(dst []byte, pcm []int16) []byte {
	at := len(dst)
	dst = slices.Grow(dst, len(pcm))[:at+len(pcm)]
	out := dst[at:]
	if g == ALaw {
		for i, s := range pcm {
			out[i] = encodeALaw(s)
		}
		return dst
	}
	for i, s := range pcm {
		out[i] = encodeMuLaw(s)
	}
	return dst
}

// AppendDecode appends the samples of codes to dst and returns the extended slice.
// It allocates only if dst lacks the capacity. Every byte is a valid code.
func (g G711) AppendDecode(dst []int16, codes []byte) []int16 {
	at := len(dst)
	dst = slices.Grow(dst, len(codes))[:at+len(codes)]
	out := dst[at:]
	table := &muLawPCM
	if g == ALaw {
		table = &aLawPCM
	}
	for i, c := range codes {
		out[i] = table[c]
	}
	return dst
}

// encodeMuLaw encodes negative samples by magnitude, so that the law is symmetric
// about zero: a value on a decision boundary belongs to the outer interval on
// either side. Encoders that shift before they negate place the negative boundaries
// up to three samples further in.
func encodeMuLaw(sample int16) byte {
	magnitude, flip := int32(sample), byte(0xFF)
	if magnitude < 0 {
		magnitude, flip = -magnitude, 0x7F
	}
	magnitude = min(magnitude, muLawClip) + muLawBias
	segment := bits.Len32(uint32(magnitude)) - 8
	return flip ^ byte(int32(segment)<<4|magnitude>>(segment+3)&0xF)
}

func decodeMuLaw(code byte) int16 {
	code = ^code
	segment, step := code>>4&7, int16(code&0xF)
	magnitude := (step<<3+muLawBias)<<segment - muLawBias
	if code&0x80 != 0 {
		return -magnitude
	}
	return magnitude
}

// encodeALaw takes the one's complement of negative samples, since the law has no
// zero: its innermost intervals are 0 to 15 and -1 to -16.
func encodeALaw(sample int16) byte {
	magnitude, flip := int32(sample), byte(0xD5) // every second bit is inverted, G.711 section 3.2
	if magnitude < 0 {
		magnitude, flip = ^magnitude, 0x55
	}
	// The two innermost segments have the same step.
	segment := max(bits.Len32(uint32(magnitude))-8, 0)
	return flip ^ byte(int32(segment)<<4|magnitude>>(max(segment, 1)+3)&0xF)
}

func decodeALaw(code byte) int16 {
	code ^= 0x55
	segment, magnitude := code>>4&7, int16(code&0xF)<<4+8
	if segment > 0 {
		magnitude = (magnitude + 0x100) << (segment - 1)
	}
	if code&0x80 == 0 {
		return -magnitude
	}
	return magnitude
}
