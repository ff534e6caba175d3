package plc

import (
	"math"
	"testing"
)

// voice returns a sound of harmonics of 110 Hz, as a voice has them.
func voice(rate, samples int) []int16 {
	pcm := make([]int16, samples)
	for i := range pcm {
		at := 2 * math.Pi * 110 * float64(i) / float64(rate)
		pcm[i] = int16(6000*math.Sin(at) + 3000*math.Sin(2*at+1) + 2000*math.Sin(5*at))
	}
	return pcm
}

func energy(pcm []int16) (sum float64) {
	for _, v := range pcm {
		sum += float64(v) * float64(v)
	}
	return sum
}

// TestVoiceGoesOn: a lost piece of a voice is replaced by one that is much like it, without a click,
// and what arrives afterwards is not changed beyond its first 5 ms.
func TestVoiceGoesOn(t *testing.T) {
	for _, rate := range []int{8000, 16000, 48000} {
		c, err := New(rate)
		if err != nil {
			t.Fatal(err)
		}
		frame := rate / 50
		want := voice(rate, 20*frame)
		var got []int16
		for i := 0; i < len(want); i += frame {
			pcm := append([]int16(nil), want[i:i+frame]...)
			if i == 10*frame {
				clear(pcm)
				c.Conceal(pcm)
			} else {
				c.Arrived(pcm)
			}
			got = append(got, pcm...)
		}
		lost := make([]int16, frame)
		most, steepest := 0, 0
		for i := range want {
			if i > 0 {
				most = max(most, abs(int(got[i])-int(got[i-1])))
				steepest = max(steepest, abs(int(want[i])-int(want[i-1])))
			}
			if at := i - 10*frame; at >= 0 && at < frame {
				lost[at] = got[i] - want[i]
			} else if (i < 10*frame || at >= frame+blend*rate/1000) && got[i] != want[i] {
				t.Fatalf("%d Hz: sample %d is changed", rate, i)
			}
		}
		if off, all := energy(lost), energy(want[10*frame:11*frame]); off > all/4 {
			t.Errorf("%d Hz: the energy of the error is %.2f of the voice's", rate, off/all)
		}
		if most > steepest*3/2 {
			t.Errorf("%d Hz: a step of %d, in the voice itself at most %d", rate, most, steepest)
		}
	}
}

func abs(v int) int { return max(v, -v) }

// TestFades: when nothing arrives any more, the sound becomes silence within 60 ms.
func TestFades(t *testing.T) {
	c, err := New(8000)
	if err != nil {
		t.Fatal(err)
	}
	c.Arrived(voice(8000, 1600))
	last := math.Inf(1)
	for i := range 6 {
		pcm := make([]int16, 160)
		c.Conceal(pcm)
		e := energy(pcm)
		if e >= last && e > 0 {
			t.Errorf("piece %d is not quieter than the one before", i)
		}
		if i >= 3 && e != 0 {
			t.Errorf("piece %d is not silent", i)
		}
		last = e
	}
}

// TestSilenceStays: of silence, and of nothing at all, silence is made.
func TestSilenceStays(t *testing.T) {
	c, err := New(16000)
	if err != nil {
		t.Fatal(err)
	}
	pcm := make([]int16, 320)
	c.Conceal(pcm)
	c.Arrived(pcm)
	c.Arrived(voice(16000, 1600))
	c.Reset()
	c.Conceal(pcm)
	if energy(pcm) != 0 {
		t.Error("it is not silent")
	}
	for _, rate := range []int{0, 7999, 11025, 96000} {
		if _, err := New(rate); err == nil {
			t.Errorf("%d Hz is valid", rate)
		}
	}
}

func TestAllocatesNothing(t *testing.T) {
	c, err := New(8000)
	if err != nil {
		t.Fatal(err)
	}
	pcm := voice(8000, 160)
	if n := testing.AllocsPerRun(100, func() {
		c.Arrived(pcm)
		c.Conceal(pcm)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzConceal checks that any sound in any pieces is taken.
func FuzzConceal(f *testing.F) {
	f.Add([]byte{160, 1, 2, 3, 0, 200, 255, 255, 7})
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := New(8000)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range b {
			pcm := make([]int16, 4*int(v))
			for j := range pcm {
				pcm[j] = int16(uint16(v)<<8 | uint16(j*i))
			}
			if i%2 == 0 {
				c.Arrived(pcm)
			} else {
				c.Conceal(pcm)
			}
		}
	})
}
