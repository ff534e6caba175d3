package audio

// AppendS16LE appends samples to dst as signed 16-bit little-endian integers.
func AppendS16LE(dst []byte, pcm []int16) []byte {
	for _, s := range pcm {
		dst = append(dst, byte(s), byte(uint16(s)>>8))
	}
	return dst
}

// AppendFromS16LE appends the samples of signed 16-bit little-endian integers to dst. It
// ignores the last byte of an odd number.
func AppendFromS16LE(dst []int16, b []byte) []int16 {
	for ; len(b) >= 2; b = b[2:] {
		dst = append(dst, int16(uint16(b[0])|uint16(b[1])<<8))
	}
	return dst
}
