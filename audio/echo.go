package audio

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// MaxEchoDelay is the longest delay at which an echo is expected.
const MaxEchoDelay = 500 * time.Millisecond

// EchoOptions configures an [EchoTracker]. The zero value estimates the echo.
type EchoOptions struct {
	Off bool // no echo is expected, because the far end cancels it
	// Coupling is the level of the echo relative to the level that was sent, above 0 and up
	// to 1, if it is known. If it is 0, it is estimated.
	Coupling float64
	// Delay is the time until a known echo comes back, up to [MaxEchoDelay]. If it is 0, the
	// echo is expected at any delay.
	Delay time.Duration
}

// Validate returns an error if an option is out of range.
func (o EchoOptions) Validate() error {
	if !(o.Coupling >= 0 && o.Coupling <= 1) {
		return fmt.Errorf("echo: Coupling is %v: expected 0 to 1", o.Coupling)
	}
	if o.Delay < 0 || o.Delay > MaxEchoDelay {
		return fmt.Errorf("echo: Delay is %v: expected 0 to %v", o.Delay, MaxEchoDelay)
	}
	return nil
}

const (
	echoLags = int(MaxEchoDelay/FrameDuration) + 1
	// echoMean is the number of frames over which levels are averaged before they are
	// compared, so that a delay of half a frame and a short room do not matter.
	echoMean = 5
	// echoRing is the length of the rings: the frames of all lags and of the mean.
	echoRing = 32
	// echoStart is the power of an echo that nothing has been measured of: half the level.
	echoStart = 0.25
	// echoLeast is the power of an echo that nobody hears, from which a limit can still rise.
	echoLeast = 1e-5
	// echoRise is how fast the limits rise if nothing contradicts: 3 dB a second of the
	// agent's speech, so that an echo that becomes louder is followed.
	echoRise = 1.0139
	// echoMargin is the power of the loudest frame of an echo relative to its limit: the limit
	// is a minimum of means, 3 to 5 dB below the echo itself, and some rooms resound at some
	// pitches.
	echoMargin = 10
	// echoKnown is the same for an echo whose mean level is known.
	echoKnown = 3
	// echoFirst is the power of the loudest frame of an echo that has been measured in less
	// than echoFew frames: -10 dB. Without this limit nobody could interrupt the beginning of
	// a greeting, because at each delay the echo might be just about to come.
	echoFirst = 0.1
	echoFew   = 10
	// echoDecay is how fast an echo dies away in a room, for each frame: 100 dB a second, a
	// reverberation time of 600 ms.
	echoDecay = 0.631
	// echoLoud is the power of the frames that limits are measured at, relative to the
	// loudest of late, which fades by echoFade a frame.
	echoLoud = 0.05
	echoFade = 0.998
	// echoAudible is the power below which a sent frame says nothing about the echo.
	echoAudible = 1e-5
	// echoLost is the power below which an echo is not expected any more.
	echoLost = 1e-7
	// echoHold is the number of frames after an echo of at least echoHeard in which a detector
	// of voices may still remember it. Something inaudible is expected then, not nothing.
	echoHold  = 20
	echoHeard = 1e-5
	// echoMuted is the number of frames of zeros after which they count as silence. Fewer are
	// lost packets.
	echoMuted = 10
	// echoSecond is a second of the agent's speech.
	echoSecond = 50
)

// EchoTracker estimates how loud the agent's own voice may be in a frame of the microphone,
// from the levels of what was sent and of what is heard.
//
// For each delay from 0 to [MaxEchoDelay] it keeps a limit: the smallest ratio of the heard
// power to the power that was sent that long before, in the agent's loud frames of late. No
// echo with that delay can be louder. The user's voice and noise only add to the heard power,
// therefore they cannot lower a limit wrongly, and the pauses between words are enough to
// measure it while both speak. At a wrong delay the limit falls to nothing as soon as the
// agent's level changes; at the right one it falls to the level of the echo. Where nothing has
// been measured yet, an echo of at most -10 dB is expected.
//
// The zero value is not usable. An EchoTracker is copied by assignment, allocates nothing and
// is not safe for concurrent use.
//
// Frames of zeros, if they last, are silence or a microphone that is switched off. When there is
// sound again, the limits that were measured before hold.
//
// The method is that of minimum statistics (Martin, IEEE Transactions on Speech and Audio
// Processing, 2001), applied to the ratio instead of the level.
type EchoTracker struct {
	o       EchoOptions
	frames  int               // number of frames so far
	sent    [echoRing]float64 // powers of the last frames
	means   [echoRing]float64 // the same, averaged over the last echoMean frames
	heard   [echoMean]float64
	loudest float64 // of the means of late
	limit   [echoLags]float64
	tail    float64 // power of the expected echo, which dies away
	learned int     // frames that limits were measured at
	hold    int     // frames until nothing is expected
	silent  int     // frames of silence sent last
	mic     microphone
}

// microphone says whether a microphone is switched off, which sends zeros.
//
//	heard                  | on                        | off
//	echoMuted frames of 0  | off; keeps the old limits |
//	something              | on                        | on; the old limits hold again
type microphone struct {
	zeros int               // frames of zeros heard last
	old   [echoLags]float64 // the limits before them; 0 if nothing had been measured
}

// off reports whether the microphone is switched off.
func (m *microphone) off() bool { return m.zeros >= echoMuted }

// hear handles the level of the next frame. limit are the limits, and measured reports whether
// the frames before it have measured them.
func (m *microphone) hear(heard float64, limit *[echoLags]float64, measured bool) {
	if heard == 0 {
		if m.zeros == 0 && measured {
			m.old = *limit
		}
		m.zeros++
		return
	}
	if m.off() {
		for lag := range limit {
			limit[lag] = max(limit[lag], m.old[lag])
		}
	}
	m.zeros = 0
}

// NewEchoTracker returns a tracker for a call that begins.
func NewEchoTracker(o EchoOptions) (EchoTracker, error) {
	if err := o.Validate(); err != nil {
		return EchoTracker{}, err
	}
	e := EchoTracker{o: o}
	for lag := range e.limit {
		if known := time.Duration(lag) * FrameDuration; e.known() && o.Delay != 0 && (known-o.Delay).Abs() > FrameDuration {
			continue
		}
		e.limit[lag] = cmp.Or(o.Coupling*o.Coupling, echoStart)
	}
	return e, nil
}

// known reports whether nothing is estimated.
func (e *EchoTracker) known() bool { return e.o.Coupling > 0 }

// Update handles the next 20 ms: the level (see [RMS]) of the frame that was sent last and
// that of the frame that is heard. It returns the level that the echo may have in the heard
// frame at most; a louder frame has something else in it.
func (e *EchoTracker) Update(sent, heard float64) float64 {
	if e.o.Off {
		return 0
	}
	at := e.frames % echoRing
	e.mic.hear(heard, &e.limit, e.learned > 0)
	e.sent[at] = sent * sent
	e.heard[e.frames%echoMean] = heard * heard
	e.frames++
	var sum, mean float64
	measured := !e.known()
	for i := range echoMean {
		sum += e.sent[(at-i+echoRing)%echoRing]
		mean += e.heard[i] / echoMean
		measured = measured && (e.heard[i] > 0 || e.mic.off())
	}
	e.means[at] = sum / echoMean
	e.loudest = max(e.loudest*echoFade, e.means[at])
	e.tail *= echoDecay
	if e.silent++; sent > 0 {
		e.silent = 0
	}
	if e.loudest < echoAudible || e.silent > 2*echoRing { // nothing is on its way
		return 0
	}
	if measured && e.sent[at] > echoAudible {
		e.learned++
	}
	for lag := range echoLags {
		i := (at - lag + echoRing) % echoRing
		if m := e.means[i]; measured && m > echoLoud*e.loudest && m > echoAudible {
			e.limit[lag] = min(e.limit[lag]*echoRise, max(mean/m, echoLeast), echoStart)
		}
		near := max(e.sent[i], e.sent[(i+1)%echoRing], e.sent[(i-1+echoRing)%echoRing])
		if lag == 0 {
			near = max(e.sent[i], e.sent[(i-1+echoRing)%echoRing]) // the next one is not sent yet
		}
		e.tail = max(e.tail, e.loudestAt(lag)*near)
	}
	if e.hold--; e.tail > echoHeard {
		e.hold = echoHold
	}
	if e.tail < echoLost && e.hold <= 0 {
		return 0
	}
	return math.Sqrt(max(e.tail, echoLost))
}

// loudestAt returns the power that a frame of an echo with the given delay may have at most,
// relative to what was sent.
func (e *EchoTracker) loudestAt(lag int) float64 {
	switch {
	case e.known():
		return e.limit[lag] * echoKnown
	case e.learned-lag < echoFew:
		return min(e.limit[lag]*echoMargin, echoFirst)
	default:
		return e.limit[lag] * echoMargin
	}
}

// Plausible reports whether there may be an echo that can be heard. It is false when the agent has
// spoken for a second and nothing of it came back.
func (e *EchoTracker) Plausible() bool {
	return !e.o.Off && (e.learned < echoSecond || slices.Max(e.limit[:]) > 2*echoLeast)
}

// Echo returns the estimated level of the echo relative to the level sent, and its delay in
// whole frames. Before the agent has spoken it returns the value that the estimate begins
// with.
func (e *EchoTracker) Echo() (coupling float64, delay time.Duration) {
	best := 0
	for lag, limit := range e.limit {
		if limit > e.limit[best] {
			best = lag
		}
	}
	return math.Sqrt(e.limit[best]), time.Duration(best) * FrameDuration
}
