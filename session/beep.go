package session

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// beep is a soft tone that tells the caller that the line lives while nobody can speak: the
// speech-to-speech service is being reached again. It begins at once.
type beep struct {
	on atomic.Bool
	at audio.Pos // since it was on; only the pacer uses it
}

const (
	beepEvery = 2 * time.Second
	beepTime  = 150 * time.Millisecond
	beepTone  = 440  // hertz
	beepLevel = 2000 // of 32768
)

// ring turns the tone on or off.
func (b *beep) ring(on bool) { b.on.Store(on) }

// mix adds the tone to the next frame.
func (b *beep) mix(pcm []int16, rate int) {
	if !b.on.Load() {
		b.at = 0
		return
	}
	every, long := audio.PosOf(beepEvery, rate), audio.PosOf(beepTime, rate)
	for i := range pcm {
		if at := b.at % every; at < long {
			edge := math.Sin(math.Pi * float64(at) / float64(long)) // no click at the ends
			v := float64(pcm[i]) + beepLevel*edge*math.Sin(2*math.Pi*beepTone*float64(at)/float64(rate))
			pcm[i] = int16(min(max(v, math.MinInt16), math.MaxInt16))
		}
		b.at++
	}
}
