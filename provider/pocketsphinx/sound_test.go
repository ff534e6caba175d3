package pocketsphinx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// dataDir returns the folder of the recordings, beside the module.
func dataDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			tb.Skip("the module root was not found, and with it the recordings")
		}
		dir = up
	}
	data := filepath.Join(dir, "..", "shared", "data")
	if _, err := os.Stat(data); err != nil {
		tb.Skip("the recordings in ../shared/data are absent")
	}
	return data
}

// recording reads a mono or stereo 16-bit WAV file as 16 kHz mono, with silence
// around it.
func recording(tb testing.TB, path string, before, after time.Duration) []int16 {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	pcm, rate, err := decodeWAV(b)
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return padded(resample(pcm, rate, Rate), before, after)
}

func padded(pcm []int16, before, after time.Duration) []int16 {
	out := make([]int16, audio.PosOf(before, Rate), int(audio.PosOf(before+after, Rate))+len(pcm))
	out = append(out, pcm...)
	return append(out, make([]int16, audio.PosOf(after, Rate))...)
}

func decodeWAV(b []byte) (pcm []int16, rate int, err error) {
	if len(b) < 12 || string(b[:4]) != "RIFF" {
		return nil, 0, errors.New("not a WAV file")
	}
	channels := 0
	for b = b[12:]; len(b) >= 8; {
		n := int(binary.LittleEndian.Uint32(b[4:]))
		body := b[8:min(len(b), 8+n)]
		switch string(b[:4]) {
		case "fmt ":
			channels, rate = int(binary.LittleEndian.Uint16(body[2:])), int(binary.LittleEndian.Uint32(body[4:]))
			if bits := binary.LittleEndian.Uint16(body[14:]); bits != 16 {
				return nil, 0, fmt.Errorf("%d bits a sample, expected 16", bits)
			}
		case "data":
			for i := 0; i+2*channels <= len(body); i += 2 * channels {
				sum := 0
				for c := range channels {
					sum += int(int16(binary.LittleEndian.Uint16(body[i+2*c:])))
				}
				pcm = append(pcm, int16(sum/channels))
			}
		}
		b = b[min(len(b), 8+n+n&1):]
	}
	return pcm, rate, nil
}

// resample converts by windowed sinc interpolation. It is exact enough for
// speech and slow; the product has a resampler of its own.
func resample(pcm []int16, from, to int) []int16 {
	if from == to {
		return pcm
	}
	const zeros = 32
	cut := math.Min(1, float64(to)/float64(from)) * 0.95
	half := zeros / cut
	out := make([]int16, len(pcm)*to/from)
	for i := range out {
		at := float64(i) * float64(from) / float64(to)
		sum := 0.0
		for j := max(0, int(math.Ceil(at-half))); j <= min(len(pcm)-1, int(at+half)); j++ {
			x := at - float64(j)
			w := cut * (0.5 + 0.5*math.Cos(math.Pi*x/half))
			if p := math.Pi * x * cut; p != 0 {
				w *= math.Sin(p) / p
			}
			sum += w * float64(pcm[j])
		}
		out[i] = int16(max(-32768, min(32767, math.Round(sum))))
	}
	return out
}

func TestResampleKeepsATone(t *testing.T) {
	in := make([]int16, 24000)
	for i := range in {
		in[i] = int16(10000 * math.Sin(2*math.Pi*1000*float64(i)/24000))
	}
	out := resample(in, 24000, 16000)
	for i := 1000; i < 15000; i++ {
		if want := 10000 * math.Sin(2*math.Pi*1000*float64(i)/16000); math.Abs(float64(out[i])-want) > 20 {
			t.Fatalf("sample %d is %d, want %.0f", i, out[i], want)
		}
	}
}
