package audio

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFramerKeepsEverySample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.SampledFrom([]int{8000, 16000, 22050, 24000, 44100, 48000}).Draw(t, "rate")
		start := Pos(rapid.IntRange(0, 10000).Draw(t, "start"))
		f, err := NewFramer(FramerOptions{Rate: rate, Start: start})
		if err != nil {
			t.Fatal(err)
		}
		size := FrameSamples(rate)
		var written, framed []int16
		check := func(frame Frame) {
			if frame.Duration() != FrameDuration || frame.Rate != rate || len(frame.PCM) != size {
				t.Fatalf("a frame of %d samples at %d Hz, want %d at %d", len(frame.PCM), frame.Rate, size, rate)
			}
			if want := start + Pos(len(framed)); frame.Pos != want {
				t.Fatalf("a frame at %d, want it at %d", frame.Pos, want)
			}
			framed = append(framed, frame.PCM...)
		}
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 3000), 0, 20).Draw(t, "pieces") {
			piece := samplesAt(Pos(len(written)), n)
			written = append(written, piece...)
			for frame, rest, ok := f.Next(piece); ok; frame, rest, ok = f.Next(rest) {
				check(frame)
			}
			clear(piece) // the framer must have copied what it kept
			if f.Pending() != len(written)-len(framed) || f.Pending() >= size {
				t.Fatalf("%d samples wait, want %d, less than a frame", f.Pending(), len(written)-len(framed))
			}
			if f.Pos() != start+Pos(len(written)) {
				t.Fatalf("the position is %d, want %d", f.Pos(), start+Pos(len(written)))
			}
		}

		pending := f.Pending()
		frame, sound := f.Flush()
		if sound != pending {
			t.Fatalf("Flush says %d samples of sound, want %d", sound, pending)
		}
		if sound > 0 {
			check(frame)
			written = append(written, make([]int16, size-sound)...)
		}
		if !slices.Equal(framed, written) {
			t.Fatalf("%d samples in frames differ from the %d written", len(framed), len(written))
		}
		if _, sound := f.Flush(); sound != 0 {
			t.Fatalf("a second Flush gave %d samples", sound)
		}
		if f.Pos() != start+Pos(len(framed)) {
			t.Fatalf("the position behind the flush is %d, want %d", f.Pos(), start+Pos(len(framed)))
		}
	})
}

func TestFramerReset(t *testing.T) {
	f, err := NewFramer(FramerOptions{Rate: 8000})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, ok := f.Next(make([]int16, 159)); ok {
		t.Fatal("159 samples made a frame of 160")
	}
	f.Reset(4000)
	frame, rest, ok := f.Next(samplesAt(0, 161))
	if !ok || frame.Pos != 4000 || frame.PCM[0] != 0 || len(rest) != 1 {
		t.Errorf("after Reset: frame at %d (%v), %d samples left; want it at 4000, and 1", frame.Pos, ok, len(rest))
	}
}

func TestFramerOptions(t *testing.T) {
	for _, rate := range []int{0, 7999, 48001, 11025} {
		if _, err := NewFramer(FramerOptions{Rate: rate}); err == nil {
			t.Errorf("a rate of %d Hz was accepted", rate)
		}
	}
}

func TestPositionsSurviveTheWayThroughTime(t *testing.T) {
	for _, rate := range []int{8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000} {
		for _, p := range []Pos{0, 1, 2, 319, 479, Pos(rate) - 1, Pos(rate), 3599*Pos(rate) + 7} {
			if got := PosOf(p.Duration(rate), rate); got != p {
				t.Errorf("%d Hz: position %d comes back as %d", rate, p, got)
			}
		}
	}
}
