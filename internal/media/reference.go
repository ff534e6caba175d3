package media

import (
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// referenceKept is how much of what was sent is kept for a [Reference].
const referenceKept = 400 * time.Millisecond

// Reference reads what a [Downlink] has sent, frame by frame beside the person's frames. The
// distance between the two stays the same as long as the clocks allow, because a canceller of
// echoes must learn it. It must be used by one goroutine.
type Reference struct {
	d     *Downlink
	slack audio.Pos // by which what is read is behind, so that a late frame is there when it is read
	at    audio.Pos // of the next frame
	begun bool
}

// Reference returns a reference that stays slack behind the last frame.
func (d *Downlink) Reference(slack time.Duration) *Reference {
	return &Reference{d: d, slack: audio.PosOf(slack, d.o.Rate)}
}

// Read fills dst with the next samples.
func (r *Reference) Read(dst []int16) {
	n := audio.Pos(len(dst))
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	sent := r.d.sent
	ahead, behind := r.at+n > sent.End(), sent.End()-r.at-n > 2*r.slack+n
	if !r.begun || ahead || behind {
		r.begun = true
		r.at = max(sent.End()-n-r.slack, sent.Pos())
	}
	clear(dst[sent.CopyAt(dst, r.at):])
	r.at += n
}
