package dialing

import (
	"math"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// Verdict says who has answered a call.
type Verdict string

// The verdicts.
const (
	Undecided Verdict = ""
	Human     Verdict = "human"
	Machine   Verdict = "machine" // its greeting goes on
	Recording Verdict = "recording"
)

// Report is what a carrier says of who has answered.
type Report string

// The reports of carriers. An unsure one counts for nothing.
const (
	ReportHuman   Report = "human"
	ReportMachine Report = "machine"
	ReportBeep    Report = "beep"
	ReportFax     Report = "fax"
)

// The rules. A person says a word or two and waits; a machine talks on, and beeps.
const (
	longestHello = 2500 * time.Millisecond // of speech, for a person
	waitsAfter   = 700 * time.Millisecond  // of silence behind it
	talksOn      = 4 * time.Second         // of speech, for a machine
	greetingOver = 2 * time.Second         // of silence behind the greeting of a machine that does not beep
	saysNothing  = 5 * time.Second         // before somebody who says nothing counts as a person
	longest      = 40 * time.Second        // of a greeting
	shortestBeep = 160 * time.Millisecond
)

// loud is the least RMS of a voice.
const loud = 0.006

// Screen tells a person from a machine by the sound of who has answered, and by what the carrier
// says. The zero value has heard nothing. It is not safe for concurrent use.
//
//	undecided -> human      a short hello and a pause; nothing at all; the carrier says so
//	undecided -> machine    much speech; the carrier says so
//	any       -> recording  a beep; a machine that has ended its greeting; the carrier says so
type Screen struct {
	verdict Verdict
	heard   time.Duration // since the answer
	speech  time.Duration
	silence time.Duration // since the last speech
	beep    time.Duration // of the same tone
	pitch   float64       // of the last frame, in hertz
}

// Verdict returns who has answered, as far as it is known.
func (s *Screen) Verdict() Verdict { return s.verdict }

// Carrier takes what the carrier says and returns the verdict. A person stays a person.
func (s *Screen) Carrier(r Report) Verdict {
	switch {
	case r == ReportBeep:
		s.verdict = Recording
	case s.verdict == Undecided && r == ReportHuman:
		s.verdict = Human
	case s.verdict == Undecided && (r == ReportMachine || r == ReportFax):
		s.verdict, s.silence = Machine, 0
	}
	return s.verdict
}

// Frame takes the next 20 ms of who has answered and returns the verdict.
func (s *Screen) Frame(f audio.Frame) Verdict {
	s.heard += audio.FrameDuration
	s.tone(f)
	if s.beep >= shortestBeep {
		s.verdict = Recording
		return s.verdict
	}
	voice := audio.RMS(f.PCM) >= loud
	if voice {
		s.speech, s.silence = s.speech+audio.FrameDuration, 0
	} else {
		s.silence += audio.FrameDuration
	}
	switch s.verdict {
	case Undecided:
		switch {
		case s.speech >= talksOn:
			s.verdict = Machine
		case s.speech > 0 && s.speech <= longestHello && s.silence >= waitsAfter:
			s.verdict = Human
		case s.speech == 0 && s.heard >= saysNothing:
			s.verdict = Human
		case s.silence >= greetingOver && s.speech > longestHello:
			s.verdict = Recording
		}
	case Machine:
		if s.silence >= greetingOver || s.heard >= longest {
			s.verdict = Recording
		}
	case Human, Recording:
		// It is decided; a beep was looked for above.
	}
	return s.verdict
}

// pure is the least share of a frame's energy that a single tone has.
const pure = 0.9

// tone follows a tone: one frequency from 350 to 2500 Hz that holds nearly all the energy and stays.
func (s *Screen) tone(f audio.Frame) {
	pitch := frequency(f)
	steady := pitch >= 350 && pitch <= 2500 && (s.beep == 0 || math.Abs(pitch-s.pitch) < 0.04*s.pitch)
	if !steady || audio.RMS(f.PCM) < loud || purity(f, pitch) < pure {
		s.beep = 0
		return
	}
	s.beep, s.pitch = s.beep+audio.FrameDuration, pitch
}

// frequency estimates the frequency of a frame by its waves.
func frequency(f audio.Frame) float64 {
	first, last, waves := -1.0, 0.0, -1
	for i := 1; i < len(f.PCM); i++ {
		a, b := float64(f.PCM[i-1]), float64(f.PCM[i])
		if a < 0 && b >= 0 {
			at := float64(i-1) + a/(a-b)
			if first < 0 {
				first = at
			}
			last, waves = at, waves+1
		}
	}
	if waves < 1 {
		return 0
	}
	return float64(waves) * float64(f.Rate) / (last - first)
}

// purity returns the share of a frame's energy that a tone has.
func purity(f audio.Frame, pitch float64) float64 {
	var re, im, all float64
	for i, v := range f.PCM {
		sin, cos := math.Sincos(2 * math.Pi * pitch * float64(i) / float64(f.Rate))
		re, im, all = re+float64(v)*cos, im+float64(v)*sin, all+float64(v)*float64(v)
	}
	if all == 0 {
		return 0
	}
	return 2 * (re*re + im*im) / (all * float64(len(f.PCM)))
}
