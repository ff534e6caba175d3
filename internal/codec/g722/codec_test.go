package g722_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hocketvoice/hocket/internal/codec/g722"
)

// hard returns two seconds of sound: a tone that rises through both bands at full scale, noise,
// a square wave that overdrives the filter, and silence.
func hard() []int16 {
	const n = g722.Rate / 2
	noise := rand.New(rand.NewPCG(7, 22))
	pcm := make([]int16, 4*n)
	for i := range n {
		at := float64(i) / n
		pcm[i] = int16(math.Round(32767 * math.Sin(2*math.Pi*4000*at*at*0.5)))
		pcm[n+i] = int16(noise.IntN(1 << 16))
		pcm[2*n+i] = []int16{32767, -32768}[i/5%2]
	}
	return pcm
}

// garbage returns two seconds of random codes.
func garbage() []byte {
	random := rand.New(rand.NewPCG(22, 7))
	data := make([]byte, g722.Rate)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}

func digest(pcm []int16) string {
	sum := sha256.New()
	_ = binary.Write(sum, binary.LittleEndian, pcm)
	return hex.EncodeToString(sum.Sum(nil))
}

// TestAsFFmpeg compares both directions, bit for bit, with what ffmpeg 5.1.9 made of the same
// input ("-c:a g722", and back to "-f s16le"), of which the digests stand here.
func TestAsFFmpeg(t *testing.T) {
	code := g722.NewEncoder().AppendEncode(nil, hard())
	sum := sha256.Sum256(code)
	for name, pair := range map[string][2]string{
		"the input":             {digest(hard()), "5babdae08dd9f5ade925eccca0e51363b854d440f4195465e2c4e46b05f9143d"},
		"the code":              {hex.EncodeToString(sum[:]), "847ed9edf76b23b702c18fbec3cc104d9e7150d5c0f2dfa34d207ae1312aebea"},
		"the sound of the code": {digest(g722.NewDecoder().AppendDecode(nil, code)), "ce4cafb71a5507f60a674404ef10f2c4a1580cad64d3c460ac25fff6eecf2d88"},
		"the sound of garbage":  {digest(g722.NewDecoder().AppendDecode(nil, garbage())), "ba68c42ddbdb871e4733d3c6d83b7be3087732cb4b4466566d07a9a1badf1a26"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s has the digest %s, expected %s", name, pair[0], pair[1])
		}
	}
}

// TestPieces checks that a stream may be cut anywhere.
func TestPieces(t *testing.T) {
	pcm := hard()
	whole := g722.NewEncoder().AppendEncode(nil, pcm)
	e, d := g722.NewEncoder(), g722.NewDecoder()
	var code []byte
	var sound []int16
	for size := 1; len(pcm) > 0; size = size*7%331 + 1 {
		size = min(size, len(pcm))
		n := len(code)
		code = e.AppendEncode(code, pcm[:size])
		sound = d.AppendDecode(sound, code[n:])
		pcm = pcm[size:]
	}
	if !slices.Equal(code, whole) {
		t.Error("the code differs from that of the whole")
	}
	if want := g722.NewDecoder().AppendDecode(nil, whole); !slices.Equal(sound, want) {
		t.Error("the sound differs from that of the whole")
	}
}

// TestQuality checks the signal-to-noise ratio of tones in both bands behind the delay of the
// filters, 22 samples.
func TestQuality(t *testing.T) {
	for _, tone := range []struct {
		hertz, least float64 // least in decibels
	}{{300, 35}, {1000, 30}, {3000, 25}, {6000, 10}} {
		pcm := make([]int16, g722.Rate)
		for i := range pcm {
			pcm[i] = int16(8000 * math.Sin(2*math.Pi*tone.hertz*float64(i)/g722.Rate))
		}
		got := g722.NewDecoder().AppendDecode(nil, g722.NewEncoder().AppendEncode(nil, pcm))
		var signal, noise float64
		for i := g722.Rate / 10; i < len(got); i++ {
			s := float64(pcm[i-22])
			n := float64(got[i]) - s
			signal, noise = signal+s*s, noise+n*n
		}
		if db := 10 * math.Log10(signal/noise); db < tone.least {
			t.Errorf("%g Hz: %.1f dB, expected at least %g", tone.hertz, db, tone.least)
		} else {
			t.Logf("%g Hz: %.1f dB", tone.hertz, db)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	e, d := g722.NewEncoder(), g722.NewDecoder()
	pcm, code, sound := hard()[:320], make([]byte, 0, 160), make([]int16, 0, 320)
	if n := testing.AllocsPerRun(100, func() { sound = d.AppendDecode(sound[:0], e.AppendEncode(code[:0], pcm)) }); n != 0 {
		t.Errorf("%g allocations in a frame, expected none", n)
	}
}

func BenchmarkFrame(b *testing.B) {
	e, d := g722.NewEncoder(), g722.NewDecoder()
	pcm, code, sound := hard()[:320], make([]byte, 0, 160), make([]int16, 0, 320)
	for b.Loop() {
		sound = d.AppendDecode(sound[:0], e.AppendEncode(code[:0], pcm))
	}
}
