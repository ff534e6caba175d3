package audio

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// noise makes white noise of the given level, the same every time.
func noise(level float64, n int) []int16 {
	pcm := make([]int16, n)
	random := uint64(88172645463325252)
	for i := range pcm {
		random ^= random << 13
		random ^= random >> 7
		random ^= random << 17
		uniform := float64(random>>11)/(1<<52) - 1
		pcm[i] = fromFloat(uniform * level * math.Sqrt(3))
	}
	return pcm
}

func newNoiseFloor(t interface{ Fatal(...any) }, o NoiseFloorOptions) *NoiseFloor {
	n, err := NewNoiseFloor(o)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func samplesOf(d time.Duration, rate int) int { return int(PosOf(d, rate)) }

func TestNoiseFloorFindsTheNoise(t *testing.T) {
	for _, rate := range []int{8000, 16000, 24000, 48000} {
		for _, level := range []float64{0.0005, 0.005, 0.04} {
			n := newNoiseFloor(t, NoiseFloorOptions{Rate: rate})
			pcm := noise(level, 10*rate)
			n.Write(pcm[:3*rate])
			for rest := pcm[3*rate:]; len(rest) > 0; rest = rest[rate/50:] {
				n.Write(rest[:rate/50])
				near(t, "the floor in dBFS", DBFS(n.Floor()), DBFS(level), 2)
			}
		}
	}
}

// Speech 25 dB above the noise, in words of 350 ms with gaps of 80 ms, must not
// raise the floor, however long it lasts.
func TestNoiseFloorUnderSpeech(t *testing.T) {
	const rate, level = 16000, 0.002
	pcm := noise(level, 30*rate)
	voice := noise(level*18, len(pcm))
	for i := range pcm {
		if at := i % samplesOf(430*time.Millisecond, rate); at < samplesOf(350*time.Millisecond, rate) {
			pcm[i] = saturate(int32(pcm[i]) + int32(voice[len(voice)-1-i]))
		}
	}
	n := newNoiseFloor(t, NoiseFloorOptions{Rate: rate})
	for at := 0; at < len(pcm); at += rate / 50 {
		n.Write(pcm[at : at+rate/50])
		if at > rate {
			near(t, "the floor in dBFS", DBFS(n.Floor()), DBFS(level), 3)
		}
	}
}

func TestNoiseFloorFollowsSteps(t *testing.T) {
	const rate = 8000
	n := newNoiseFloor(t, NoiseFloorOptions{Rate: rate})
	n.Write(noise(0.001, 3*rate))
	near(t, "before the step", DBFS(n.Floor()), -60, 2)

	// Rising: not before most of the window has passed, and completely one step
	// after its end.
	n.Write(noise(0.01, samplesOf(2100*time.Millisecond, rate)))
	near(t, "2.1 s after a step up", DBFS(n.Floor()), -60, 2)
	n.Write(noise(0.01, samplesOf(800*time.Millisecond, rate)))
	near(t, "2.9 s after a step up", DBFS(n.Floor()), -40, 2)

	// Down: at once.
	n.Write(noise(0.001, samplesOf(50*time.Millisecond, rate)))
	near(t, "50 ms after a step down", DBFS(n.Floor()), -60, 2.5)
}

func TestNoiseFloorBounds(t *testing.T) {
	const rate = 8000
	n := newNoiseFloor(t, NoiseFloorOptions{Rate: rate})
	near(t, "the floor of nothing", n.Floor(), 0.005, 1e-12)
	n.Write(noise(0.2, rate)) // somebody speaks at once, loudly
	near(t, "the floor after a second of speech", n.Floor(), 0.005, 1e-12)
	n.Write(noise(0.2, 3*rate)) // it was music
	near(t, "the floor under music", n.Floor(), 0.05, 1e-12)
	n.Write(make([]int16, rate))
	near(t, "the floor of a dead line", n.Floor(), 0.0003, 1e-12)
	n.Reset()
	near(t, "the floor after Reset", n.Floor(), 0.005, 1e-12)

	n = newNoiseFloor(t, NoiseFloorOptions{Rate: rate, Window: time.Second, Least: 0.01, Initial: 0.02, Most: 0.03})
	near(t, "Initial", n.Floor(), 0.02, 1e-12)
	n.Write(noise(0.001, rate))
	near(t, "Least", n.Floor(), 0.01, 1e-12)
	n.Write(noise(0.2, rate+rate/5))
	near(t, "Most", n.Floor(), 0.03, 1e-12)
}

// Lost packets filled with zeros do not count as silence; a muted microphone does.
func TestNoiseFloorDigitalSilence(t *testing.T) {
	const rate, level = 16000, 0.004
	n := newNoiseFloor(t, NoiseFloorOptions{Rate: rate})
	for range 10 {
		n.Write(noise(level, rate/2))
		n.Write(make([]int16, samplesOf(160*time.Millisecond, rate)))
		near(t, "the floor with lost packets", DBFS(n.Floor()), DBFS(level), 3)
	}
	n.Write(make([]int16, samplesOf(300*time.Millisecond, rate)))
	near(t, "the floor of a muted microphone", n.Floor(), 0.0003, 1e-12)
}

func TestNoiseFloorIsTheSameHoweverCut(t *testing.T) {
	const rate = 8000
	pcm := noise(0.01, 4*rate)
	clear(pcm[rate : rate+rate/10])
	Ramp(pcm[rate*2:], 0.1, 1)
	rapid.Check(t, func(t *rapid.T) {
		whole, cut := newNoiseFloor(t, NoiseFloorOptions{Rate: rate}), newNoiseFloor(t, NoiseFloorOptions{Rate: rate})
		done := 0
		for done < len(pcm) {
			n := min(len(pcm)-done, rapid.IntRange(1, 5000).Draw(t, "piece"))
			cut.Write(pcm[done : done+n])
			done += n
		}
		whole.Write(pcm)
		if *whole != *cut {
			t.Fatal("the state depends on the cuts")
		}
	})
}

func TestNoiseFloorRelativeLevels(t *testing.T) {
	const rate = 8000
	n := newNoiseFloor(t, NoiseFloorOptions{Rate: rate, Initial: 0.01})
	near(t, "decibels above", n.Above(0.1), 20, 1e-9)
	near(t, "decibels below", n.Above(0.001), -20, 1e-9)
	near(t, "silence", n.Above(0), SilenceDBFS+40, 1e-9)
	near(t, "what background leaves", n.Subtract(0.0149), 0, 0)
	near(t, "what silence leaves", n.Subtract(0), 0, 0)
	near(t, "what speech leaves", n.Subtract(0.025), 0.02, 1e-9)
	near(t, "what loud speech leaves", n.Subtract(0.3), 0.3, 0.001)
}

// Recordings of fluent speech with rain of -45 dBFS: the floor must be the level of
// the rain for every speaker.
func TestNoiseFloorRecording(t *testing.T) {
	rain := recording(t, "esc10-noise/rain/1-17367-A.wav", 16000)
	gain := 0.0056 / RMS(rain)
	Ramp(rain, gain, gain)
	for _, c := range []struct {
		file string
		rate int
	}{
		{"misc-audio/silero_test_60s.wav", 16000},
		{"pyannote-ami-excerpts/trn01.wav", 16000},
		{"pyannote-ami-excerpts/trn03.wav", 16000},
		{"misc-audio/personaplex_input_service.wav", 24000},
		{"vap-phrases/audio/bike_long_female_en-US-Wavenet-C.wav", 24000},
	} {
		speech, err := Resample(recording(t, c.file, c.rate), c.rate, 16000)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(speech); at += len(rain) {
			Mix(speech[at:], rain)
		}
		n := newNoiseFloor(t, NoiseFloorOptions{Rate: 16000})
		frames, off := 0, 0
		for at := 0; at+320 <= len(speech); at += 320 {
			n.Write(speech[at : at+320])
			frames++
			if math.Abs(DBFS(n.Floor())-DBFS(RMS(rain))) > 4 {
				off++
			}
		}
		t.Logf("%s: more than 4 dB off in %d of %d frames", c.file, off, frames)
		if off*20 > frames {
			t.Errorf("%s: the floor is more than 4 dB off the rain in %d of %d frames, want 5 %% at most", c.file, off, frames)
		}
	}
}

func TestNoiseFloorOptions(t *testing.T) {
	for _, o := range []NoiseFloorOptions{
		{},
		{Rate: 4000},
		{Rate: 8000, Window: time.Millisecond},
		{Rate: 8000, Window: -time.Second},
		{Rate: 8000, Window: time.Hour},
		{Rate: 8000, Least: 0.01},
		{Rate: 8000, Initial: 0.1},
		{Rate: 8000, Most: 2},
		{Rate: 8000, Least: -1},
		{Rate: 8000, Initial: math.NaN()},
	} {
		if _, err := NewNoiseFloor(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}
