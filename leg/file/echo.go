package file

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// longestEcho is the maximum delay of an [Echo].
const longestEcho = 2 * time.Second

// Echo is the agent's own voice in the caller's microphone, as on a line or a device
// without echo cancellation. The zero value is a microphone without it.
type Echo struct {
	Gain float64 // of the agent's voice, 0 to 1; 0 means no echo
	// Delay is the time until the voice comes back. The echo of a frame comes with the
	// next frame at the earliest.
	Delay time.Duration
	// Room is the impulse response of the room at the leg's rate. It is scaled to an energy
	// of 1. If it is empty, the echo has one path.
	Room []float64
}

// ParseEcho reads an echo of one path, such as "-15dB@200ms".
func ParseEcho(text string) (Echo, error) {
	level, after, ok := strings.Cut(text, "@")
	number, isLevel := strings.CutSuffix(level, "dB")
	db, err := strconv.ParseFloat(number, 64)
	delay, err2 := time.ParseDuration(after)
	e := Echo{Gain: audio.FromDBFS(db), Delay: delay}
	if !ok || !isLevel || err != nil || err2 != nil || e.validate() != nil || e.Gain == 0 {
		return Echo{}, fmt.Errorf("%q: expected a level up to 0 dB and a delay up to %v, such as -15dB@200ms", text, longestEcho)
	}
	return e, nil
}

func (e *Echo) validate() error {
	if !(e.Gain >= 0 && e.Gain <= 1) {
		return fmt.Errorf("file leg: Gain of the echo is %v: expected 0 to 1", e.Gain)
	}
	if e.Delay < 0 || e.Delay > longestEcho {
		return fmt.Errorf("file leg: Delay of the echo is %v: expected 0 to %v", e.Delay, longestEcho)
	}
	if len(e.Room) > 0 && !(energyOf(e.Room) > 0) {
		return errors.New("file leg: Room of the echo is silent")
	}
	return nil
}

// air holds the echo that is on its way to the microphone.
type air struct {
	taps  []float64 // the impulse response, scaled
	delay int       // samples until the first tap
	sound []float64 // ring: the coming samples of the echo, the next one at pos
	pos   int       // the next sample of the microphone
}

func newAir(e Echo, rate int) *air {
	room := e.Room
	if len(room) == 0 {
		room = []float64{1}
	}
	a := &air{delay: max(int(audio.PosOf(e.Delay, rate)), audio.FrameSamples(rate))}
	for _, v := range room {
		a.taps = append(a.taps, v*e.Gain/math.Sqrt(energyOf(room)))
	}
	a.sound = make([]float64, a.delay+len(a.taps)+2*audio.FrameSamples(rate))
	return a
}

// play adds a frame of the agent. The microphone has taken the frame of the same time before.
func (a *air) play(pcm []int16) {
	from := a.pos - len(pcm) + a.delay
	for i, s := range pcm {
		if s == 0 {
			continue
		}
		v := float64(s)
		at := (from + i) % len(a.sound)
		for _, tap := range a.taps {
			a.sound[at] += v * tap
			if at++; at == len(a.sound) {
				at = 0
			}
		}
	}
}

// hear adds the echo to the next frame of the microphone.
func (a *air) hear(pcm []int16) {
	for i := range pcm {
		at := (a.pos + i) % len(a.sound)
		pcm[i] = clip(float64(pcm[i]) + a.sound[at])
		a.sound[at] = 0
	}
	a.pos += len(pcm)
}

func energyOf(taps []float64) (sum float64) {
	for _, v := range taps {
		sum += v * v
	}
	return sum
}

func clip(v float64) int16 {
	return int16(math.Round(min(max(v, math.MinInt16), math.MaxInt16)))
}
