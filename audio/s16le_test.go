package audio

import (
	"bytes"
	"slices"
	"testing"
)

func TestS16LE(t *testing.T) {
	pcm := []int16{0, 1, -1, 0x1234, -32768, 32767}
	want := []byte{0, 0, 1, 0, 0xff, 0xff, 0x34, 0x12, 0, 0x80, 0xff, 0x7f}
	if got := AppendS16LE([]byte{9}, pcm); !bytes.Equal(got[1:], want) || got[0] != 9 {
		t.Errorf("%v, want %v", got, want)
	}
	if got := AppendFromS16LE(nil, append(want, 7)); !slices.Equal(got, pcm) {
		t.Errorf("%v, want %v", got, pcm)
	}
}
