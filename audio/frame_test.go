package audio

import "testing"

func TestPositionsSurviveTheWayThroughTime(t *testing.T) {
	for _, rate := range []int{8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000} {
		for _, p := range []Pos{0, 1, 2, 319, 479, Pos(rate) - 1, Pos(rate), 3599*Pos(rate) + 7} {
			if got := PosOf(p.Duration(rate), rate); got != p {
				t.Errorf("%d Hz: position %d comes back as %d", rate, p, got)
			}
		}
	}
}
