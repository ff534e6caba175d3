package recording

import "github.com/hocketvoice/hocket/audio"

const (
	// Each side may be so many frames behind the clock before the gap becomes silence.
	// The pacer of a session skips frames when it is later.
	mostBehind = 5
	// The person's frames may come so far ahead of the clock: what a queue held back comes
	// at once. More is dropped.
	mostAhead = 25
	// Silent frames that come so far ahead are left out until the side is in step again.
	inStep = 3
	// quiet is the level below which a frame counts as silent.
	quiet = 0.005
	// mostHeld bounds the frames of a tape: what nobody takes is dropped.
	mostHeld = 2 * 60 * 50
)

// Tape holds the last frames of a call, until they are taken: what was said may still
// turn out to be a secret, and what was sent not to have been heard. It must be used by
// one goroutine at a time.
type Tape struct {
	samples int // of a frame
	first   int // number of frames[0]
	frames  []frame
	free    [][]int16
	person  int // number of the person's next frame
	agent   int // number of the agent's next frame
}

// frame is 20 ms of both sides.
type frame struct {
	pcm  []int16 // person, agent, person, agent, ...
	turn int     // of the agent's speech; 0: there is none
	left int     // samples of the agent that were not cut
}

// NewTape returns a tape for frames of a rate in hertz.
func NewTape(rate int) *Tape { return &Tape{samples: audio.FrameSamples(rate)} }

// Person adds a frame that the person's side has sent, at frame now of the clock.
func (t *Tape) Person(now int, pcm []int16) {
	switch ahead := t.person - now; {
	case ahead > mostAhead, ahead > inStep && audio.RMS(pcm) < quiet:
		return
	case ahead < -mostBehind:
		t.person = now
	}
	if f := t.at(t.person); f != nil {
		put(f.pcm, pcm)
	}
	t.person++
}

// Agent adds a frame that was sent to the person at frame now of the clock, and the turn
// whose speech it contains, or 0.
func (t *Tape) Agent(now, turn int, pcm []int16) {
	if t.agent < now-mostBehind {
		t.agent = now
	}
	if f := t.at(t.agent); f != nil {
		put(f.pcm[1:], pcm)
		if f.turn = turn; turn != 0 {
			f.left = len(pcm)
		}
	}
	t.agent++
}

// put writes one side of a frame.
func put(side, pcm []int16) {
	for i, s := range pcm {
		if 2*i >= len(side) {
			return
		}
		side[2*i] = s
	}
}

// at returns a frame, and makes it if it is missing. It returns nil for one that was taken.
func (t *Tape) at(n int) *frame {
	if n < t.first || n >= t.first+mostHeld {
		return nil
	}
	for t.first+len(t.frames) <= n {
		var pcm []int16
		if last := len(t.free) - 1; last >= 0 {
			pcm, t.free = t.free[last], t.free[:last]
			clear(pcm)
		} else {
			pcm = make([]int16, 2*t.samples)
		}
		t.frames = append(t.frames, frame{pcm: pcm})
	}
	return &t.frames[n-t.first]
}

// Cut silences the last n samples of the agent's speech: they were sent and not heard.
func (t *Tape) Cut(n int) {
	for i := len(t.frames) - 1; i >= 0 && n > 0; i-- {
		f := &t.frames[i]
		k := min(n, f.left)
		for j := f.left - k; j < f.left; j++ {
			f.pcm[2*j+1] = 0
		}
		f.left -= k
		n -= k
	}
}

// HushPerson silences the person from one frame up to, and without, another.
func (t *Tape) HushPerson(from, to int) {
	for n := max(from, t.first); n < min(to, t.first+len(t.frames)); n++ {
		hush(t.frames[n-t.first].pcm, 0)
	}
}

// HushAgent silences a turn of the agent.
func (t *Tape) HushAgent(turn int) {
	for i := range t.frames {
		if f := &t.frames[i]; f.turn == turn && turn != 0 {
			hush(f.pcm, 1)
		}
	}
}

func hush(pcm []int16, side int) {
	for i := side; i < len(pcm); i += 2 {
		pcm[i] = 0
	}
}

// First returns the number of the first frame that was not taken.
func (t *Tape) First() int { return t.first }

// End returns the number of the frame after the last one that the person has sent.
func (t *Tape) End() int { return t.person }

// Take removes the frames before a number and returns their samples, person and agent in
// turn, which the caller owns.
func (t *Tape) Take(before int) []int16 {
	n := min(before-t.first, len(t.frames))
	if n <= 0 {
		return nil
	}
	out := make([]int16, 0, n*2*t.samples)
	for _, f := range t.frames[:n] {
		out = append(out, f.pcm...)
		t.free = append(t.free, f.pcm)
	}
	t.frames = append(t.frames[:0], t.frames[n:]...)
	t.first += n
	return out
}
