package media

import (
	"testing"

	"github.com/hocketvoice/hocket/audio"
)

// TestReference checks that what was sent is read without a gap while frames are early and late by
// two frames, and that the reading begins anew when they are further apart.
func TestReference(t *testing.T) {
	d, err := NewDownlink(DownlinkOptions{Rate: 8000})
	if err != nil {
		t.Fatal(err)
	}
	const frame = 160
	next := int16(1)
	send := func(frames int) {
		pcm := make([]int16, frame)
		for range frames {
			for i := range pcm {
				pcm[i] = next
				next++
			}
			d.sent.Overwrite(pcm)
		}
	}
	r := d.Reference(2 * audio.FrameDuration)
	last := int16(0)
	read := func(what string, frames int, gap int16) {
		t.Helper()
		pcm := make([]int16, frame)
		for range frames {
			r.Read(pcm)
			for i, v := range pcm {
				if v != last+1 && (i > 0 || v != last+1+gap) {
					t.Fatalf("%s: sample %d follows %d, want a gap of %d", what, v, last, gap)
				}
				last = v
			}
			gap = 0
		}
	}
	send(3)
	read("the first frame", 1, 0)
	send(3) // two too many
	read("after a burst", 1, 0)
	read("at once", 2, 0)
	read("behind it", 2, 0) // the slack
	send(2)
	read("frame by frame", 2, 0)
	for range 20 {
		send(1)
		read("frame by frame", 1, 0)
	}
	send(10)
	read("after a long stop", 1, 7*frame)
	send(1)
	read("then", 1, 0)
}

// TestReferenceWithoutSlack checks that in virtual time the frame before is read.
func TestReferenceWithoutSlack(t *testing.T) {
	d, err := NewDownlink(DownlinkOptions{Rate: 16000})
	if err != nil {
		t.Fatal(err)
	}
	r := d.Reference(0)
	pcm := make([]int16, 320)
	for i := range int16(50) {
		r.Read(pcm)
		if pcm[0] != i || pcm[319] != i {
			t.Fatalf("frame %d: %d is read", i, pcm[0])
		}
		sent := make([]int16, 320)
		for k := range sent {
			sent[k] = i + 1
		}
		d.sent.Overwrite(sent)
	}
}
