//go:build pocketsphinx && cgo

package pocketsphinx

import "github.com/hocketvoice/hocket/audio"

// timeline maps search frames to stream positions. The engine omits silence, so
// frames and time do not advance together.
type timeline struct{ points []point }

// point records how many frames had been searched when the decoder had the sound up
// to pos.
type point struct {
	frames int
	pos    audio.Pos
}

func (l *timeline) reset() { l.points = l.points[:0] }

func (l *timeline) add(frames int, pos audio.Pos) {
	if n := len(l.points); n > 0 && l.points[n-1].frames >= frames {
		return
	}
	if frames > 0 {
		l.points = append(l.points, point{frames, pos})
	}
}

func (l *timeline) at(frame int) audio.Pos {
	for _, p := range l.points {
		if frame < p.frames {
			return p.pos - audio.Pos((p.frames-frame+lookahead)*frameSamples)
		}
	}
	if n := len(l.points); n > 0 {
		return l.points[n-1].pos
	}
	return 0
}
