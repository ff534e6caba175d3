package audio

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// roomResponse is the impulse response of a room, its first 50 ms, with an energy of 1.
func roomResponse(t *testing.T, n int) []float64 {
	t.Helper()
	pcm := recording(t, fmt.Sprintf("misc-audio/speechbrain_rir%d.wav", n), 16000)
	first := 0
	for i, s := range pcm {
		if math.Abs(float64(s)) > math.Abs(float64(pcm[first])) {
			first = i
		}
	}
	var taps []float64
	sum := 0.0
	for _, s := range pcm[max(first-32, 0):min(first+800, len(pcm))] {
		taps = append(taps, float64(s))
		sum += float64(s) * float64(s)
	}
	for i := range taps {
		taps[i] /= math.Sqrt(sum)
	}
	return taps
}

// TestEchoTrackerRooms checks with recorded voices in recorded rooms that what the tracker
// expects covers the echo, from the first word on, and lets a voice over it pass.
func TestEchoTrackerRooms(t *testing.T) {
	const rate, frame = 16000, 320
	var voices [4][]int16
	for i, name := range []string{"female_en-US-Wavenet-C", "female_en-US-Wavenet-E", "male_en-US-Wavenet-A", "male_en-US-Wavenet-B"} {
		for _, phrase := range []string{"basketball", "bike", "experiment", "student"} {
			part := recording(t, fmt.Sprintf("vap-phrases/audio/%s_long_%s.wav", phrase, name), 24000)
			part, err := Resample(part, 24000, rate)
			if err != nil {
				t.Fatal(err)
			}
			voices[i] = append(append(voices[i], part...), make([]int16, 4000)...)
		}
	}
	for i := range voices {
		var levels []float64
		for f := 0; f+frame <= len(voices[i]); f += frame {
			levels = append(levels, RMS(voices[i][f:f+frame]))
		}
		slices.Sort(levels)
		k := 0.25 / levels[len(levels)*9/10]
		for j, s := range voices[i] {
			voices[i][j] = int16(max(min(float64(s)*k, 32767), -32768))
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for room := range 5 {
		taps := []float64{1}
		if room > 0 {
			taps = roomResponse(t, room)
		}
		var runs, leaks, quiet, passed, voiced, late int
		var off []float64
		for range 2 {
			db, delay := -10-20*rng.Float64(), 60+340*rng.Float64()
			agent, caller := voices[rng.IntN(4)], voices[rng.IntN(4)]
			echo := make([]float64, len(agent)+rate)
			at, gain := int(delay*rate/1000), FromDBFS(db)
			for i, s := range agent {
				if s != 0 {
					for k, tap := range taps {
						echo[at+i+k] += gain * tap * float64(s)
					}
				}
			}
			e, err := NewEchoTracker(EchoOptions{})
			if err != nil {
				t.Fatal(err)
			}
			level := FromDBFS(-6 * rng.Float64())
			from := len(agent) / 2
			run := 0
			for f := frame; f+frame <= len(agent); f += frame {
				var mic, own [frame]int16
				for i := range mic {
					v := echo[f+i] + 20*rng.NormFloat64() // the noise of a line
					if f >= from {
						own[i] = int16(level * float64(caller[f+i-from]))
					}
					mic[i] = int16(min(max(v+float64(own[i]), math.MinInt16), math.MaxInt16))
				}
				heard := RMS(mic[:])
				limit := e.Update(RMS(agent[f-frame:f]), heard)
				loud := math.Sqrt(max(heard*heard-limit*limit, 0)) > 0.005
				switch {
				case f < from:
					quiet++
					if run++; !loud {
						run = 0
					}
					if loud {
						leaks++
					}
					late = max(late, run)
					if run == 3 {
						runs++
					}
				case RMS(own[:]) > 0.03:
					voiced++
					if loud {
						passed++
					}
				}
			}
			_, d := e.Echo()
			off = append(off, math.Abs(d.Seconds()*1000-delay))
		}
		slices.Sort(off)
		t.Logf("room %d: of the echo's frames %.2f %% pass, at most %d in a row, %d runs of 3; of the voice's %.1f %%; the delay is off by %.0f ms (median), %.0f ms (most)",
			room, 100*float64(leaks)/float64(quiet), late, runs, 100*float64(passed)/float64(voiced), off[0], off[1])
		if runs > 0 {
			t.Errorf("room %d: the echo passes for 60 ms", room)
		}
		if 2*passed < voiced {
			t.Errorf("room %d: half of a voice over the echo does not pass", room)
		}
	}
}
