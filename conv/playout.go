package conv

import "time"

// playout is what the machine knows about the agent's audio that plays or has played. The
// package documentation describes its states.
type playout struct {
	Turn    int           // number of the turn that plays, or played last
	Part    int           // the part of the turn that plays, or played last; zero: no part has played
	Playing bool          // the part plays now
	Sound   sound         // what is done to the audio because a voice is heard
	Heard   time.Duration // how much audio of the turn had been heard at the time At
	At      time.Time     // the time to which Heard refers
	Text    string        // the text that was heard; empty if the playout does not report it
}

// sound says what is done to the agent's audio while a voice is heard.
type sound uint8

// The values of [sound].
const (
	soundFull   sound = iota // the audio plays at full volume
	soundDucked              // the volume is lowered
	soundPaused              // the audio is paused
)

// Paused reports whether the audio is paused because a voice is heard.
func (p *playout) Paused() bool { return p.Sound == soundPaused }

// of makes p the playout of a turn. It resets p if p belongs to another turn.
func (p *playout) of(turn int) {
	if p.Turn != turn {
		*p = playout{Turn: turn}
	}
}

// started notes that a part has begun to play.
func (p *playout) started(part int, now time.Time) { p.Part, p.Playing, p.At = part, true, now }

// stopped notes that nothing plays now.
func (p *playout) stopped() { p.Playing, p.Sound = false, soundFull }

// plays reports whether a part of a turn has begun to play.
func (p *playout) plays(turn, part int) bool { return p.Turn == turn && p.Part == part && p.Part != 0 }

// report takes a report of how much has been heard by now. What was heard never gets less.
func (p *playout) report(heard time.Duration, text string, now time.Time) {
	p.Heard = max(p.Heard, heard)
	if len(text) > len(p.Text) {
		p.Text = text
	}
	p.At = now
}

// estimate returns how much has been heard by now: the last report and, while the audio plays,
// the time since then.
func (p *playout) estimate(now time.Time) time.Duration {
	if !p.Playing || p.Paused() {
		return p.Heard
	}
	return p.Heard + now.Sub(p.At)
}

// measure sets how much has been heard by now.
func (p *playout) measure(heard time.Duration, now time.Time) { p.Heard, p.At = heard, now }

// duck lowers the volume, unless the audio is already ducked or paused.
func (p *playout) duck(out *Output) {
	if p.Sound == soundFull {
		p.Sound = soundDucked
		out.emit(DuckPlayout{Turn: p.Turn})
	}
}

// pause pauses the audio, unless it is paused already. heard is how much has been heard.
func (p *playout) pause(out *Output, heard time.Duration, now time.Time) {
	if p.Paused() {
		return
	}
	p.measure(heard, now)
	p.Sound = soundPaused
	out.emit(PausePlayout{Turn: p.Turn})
}

// resume ends ducking or a pause.
func (p *playout) resume(out *Output, now time.Time) {
	if p.Sound == soundFull {
		return
	}
	if p.Paused() {
		p.At = now
	}
	p.Sound = soundFull
	out.emit(ResumePlayout{Turn: p.Turn})
}
