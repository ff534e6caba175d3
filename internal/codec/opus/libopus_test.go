//go:build cgo && libopus

package opus

import (
	"testing"
	"time"

	libopus "gopkg.in/hraban/opus.v2"

	"github.com/hocketvoice/hocket/audio"
)

// Packets from libopus are decoded to the same samples as by libopus, at every
// rate, including packets recovered from copies. Concealment differs between
// versions of libopus, so it is compared with the lost sound instead.
func TestDecoderIsLibopus(t *testing.T) {
	for _, rate := range rates {
		for _, bitrate := range []int{12000, 32000, 96000} {
			packets := libopusPackets(t, bitrate)
			got, want := decodeBoth(t, rate, packets, func(int) lossKind { return arrives })
			same(t, rate, bitrate, 1, got, want)

			copies := 0
			got, want = decodeBoth(t, rate, packets, func(i int) lossKind {
				if i%5 == 3 && i+1 < len(packets) && HasCopy(packets[i+1]) {
					copies++
					return hasCopy
				}
				return arrives
			})
			if copies < 5 && bitrate > 12000 {
				t.Errorf("%d bit/s: %d copies", bitrate, copies)
			}
			// The copy does not contain the high band, which is guessed.
			same(t, rate, bitrate, 200, got, want)

			got, want = decodeBoth(t, rate, packets, func(i int) lossKind {
				if i%10 == 7 {
					return lost
				}
				return arrives
			})
			sound := voice(rate, 2*time.Second)
			if a, b := similarity(sound, got, rate), similarity(sound, want, rate); a < b-0.02 {
				t.Errorf("%d Hz, %d bit/s: similarity with concealed packets %.3f, libopus reaches %.3f", rate, bitrate, a, b)
			}
		}
	}
}

type lossKind int

const (
	arrives lossKind = iota
	hasCopy          // lost, but the next packet contains a copy
	lost
)

// decodeBoth decodes packets with both decoders.
func decodeBoth(t *testing.T, rate int, packets [][]byte, loss func(i int) lossKind) (got, want []int16) {
	t.Helper()
	ours := decoder(t, rate)
	theirs, err := libopus.NewDecoder(rate, 1)
	must(t, err)
	frame := audio.FrameSamples(rate)
	a, b := make([]int16, audio.PosOf(maxDuration, rate)), make([]int16, audio.PosOf(maxDuration, rate))
	for i, p := range packets {
		n := frame
		switch loss(i) {
		case hasCopy:
			must(t, ours.Recover(a[:frame], packets[i+1]))
			must(t, theirs.DecodeFEC(packets[i+1], b[:frame:frame])) // fills up to the capacity
		case lost:
			must(t, ours.Conceal(a[:frame]))
			must(t, theirs.DecodePLC(b[:frame:frame]))
		default:
			n, err = ours.Decode(a, p)
			must(t, err)
			m, err := theirs.Decode(p, b)
			must(t, err)
			if n != m {
				t.Fatalf("%d Hz: packet %d is %d samples, libopus makes %d", rate, i, n, m)
			}
		}
		got, want = append(got, a[:n]...), append(want, b[:n]...)
	}
	return got, want
}

// libopusPackets returns two seconds of a voice encoded by libopus, with copies for
// lost packets.
func libopusPackets(t *testing.T, bitrate int) (packets [][]byte) {
	t.Helper()
	e, err := libopus.NewEncoder(48000, 1, libopus.AppVoIP)
	must(t, err)
	must(t, e.SetBitrate(bitrate))
	must(t, e.SetInBandFEC(true))
	must(t, e.SetPacketLossPerc(10))
	sound := voice(48000, 2*time.Second)
	for ; len(sound) >= 960; sound = sound[960:] {
		p := make([]byte, MaxPacket)
		n, err := e.Encode(sound[:960], p)
		must(t, err)
		packets = append(packets, p[:n])
	}
	return packets
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// same fails if a sample differs by more than the limit.
func same(t *testing.T, rate, bitrate, most int, got, want []int16) {
	t.Helper()
	worst := 0
	for i := range want {
		worst = max(worst, int(got[i])-int(want[i]), int(want[i])-int(got[i]))
	}
	if worst > most {
		t.Errorf("%d Hz, %d bit/s: a sample differs by %d, want at most %d", rate, bitrate, worst, most)
	}
}

// libopus decodes our packets with nearly the same quality as its own.
func TestEncoderIsUnderstoodByLibopus(t *testing.T) {
	for _, rate := range []int{16000, 24000, 48000} {
		sound := voice(rate, 2*time.Second)
		theirs, err := libopus.NewEncoder(rate, 1, libopus.AppVoIP)
		must(t, err)
		must(t, theirs.SetBitrate(32000))
		must(t, theirs.SetComplexity(5))
		var reference [][]byte
		frame := audio.FrameSamples(rate)
		for i := 0; i+frame <= len(sound); i += frame {
			p := make([]byte, MaxPacket)
			n, err := theirs.Encode(sound[i:i+frame], p)
			must(t, err)
			reference = append(reference, p[:n])
		}
		ours := libopusHears(t, rate, encode(t, rate, 0, sound))
		best := libopusHears(t, rate, reference)
		a, b := similarity(sound, ours, rate), similarity(sound, best, rate)
		t.Logf("%d Hz: similarity %.4f, libopus %.4f", rate, a, b)
		if a < b-0.02 {
			t.Errorf("%d Hz: similarity %.4f, libopus reaches %.4f", rate, a, b)
		}
	}
}

func libopusHears(t *testing.T, rate int, packets [][]byte) (heard []int16) {
	t.Helper()
	d, err := libopus.NewDecoder(rate, 1)
	must(t, err)
	pcm := make([]int16, audio.PosOf(maxDuration, rate))
	for _, p := range packets {
		n, err := d.Decode(p, pcm)
		must(t, err)
		heard = append(heard, pcm[:n]...)
	}
	return heard
}
