package conv

import "time"

// Playout is what is known of the agent's audio on its way to the ear. Its life is
// written out in the package documentation.
type Playout struct {
	Turn    int // the turn that plays, or played last
	Part    int // the part of it that plays, or played last; zero: none yet
	Playing bool
	Sound   Sound         // what is done to the audio for a voice
	Heard   time.Duration // so much of the turn has been heard
	At      time.Time     // when Heard was so
	Text    string        // what was heard, if the playout tells
}

// Sound says what is done to the agent's audio while a voice is heard.
type Sound uint8

// The values of [Sound].
const (
	SoundFull   Sound = iota
	SoundDucked       // it is played more quietly
	SoundPaused       // it is held where it is
)

// of makes it the playout of a turn, of which nothing has played unless it is the
// one of before.
func (p *Playout) of(turn int) {
	if p.Turn != turn {
		*p = Playout{Turn: turn}
	}
}

// started notes that a part plays.
func (p *Playout) started(part int, now time.Time) { p.Part, p.Playing, p.At = part, true, now }

// stopped notes that nothing plays any more.
func (p *Playout) stopped() { p.Playing, p.Sound = false, SoundFull }

// plays reports whether a part of a turn has begun to play.
func (p *Playout) plays(turn, part int) bool { return p.Turn == turn && p.Part == part && p.Part != 0 }

// report keeps the last report of what has been heard.
func (p *Playout) report(heard time.Duration, text string, now time.Time) {
	p.Heard = max(p.Heard, heard)
	if len(text) > len(p.Text) {
		p.Text = text
	}
	p.At = now
}

// estimate is the best estimate of what has been heard by now: the last report, and
// the pacer's clock since.
func (p *Playout) estimate(now time.Time) time.Duration {
	if !p.Playing || p.Sound == SoundPaused {
		return p.Heard
	}
	return p.Heard + now.Sub(p.At)
}

// measure sets what has been heard by now.
func (p *Playout) measure(heard time.Duration, now time.Time) { p.Heard, p.At = heard, now }

// duck lowers the volume for a voice.
func (p *Playout) duck(out *Output) {
	if p.Sound == SoundFull {
		p.Sound = SoundDucked
		out.emit(DuckPlayout{Turn: p.Turn})
	}
}

// pause holds the audio where it is; heard is what has been heard of it.
func (p *Playout) pause(out *Output, heard time.Duration, now time.Time) {
	if p.Sound == SoundPaused {
		return
	}
	p.measure(heard, now)
	p.Sound = SoundPaused
	out.emit(PausePlayout{Turn: p.Turn})
}

// resume takes back what was done to the audio for a voice.
func (p *Playout) resume(out *Output, now time.Time) {
	if p.Sound == SoundFull {
		return
	}
	if p.Sound == SoundPaused {
		p.At = now
	}
	p.Sound = SoundFull
	out.emit(ResumePlayout{Turn: p.Turn})
}
