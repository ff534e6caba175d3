package turn

import (
	"cmp"
	"math"
	"time"
)

// Off switches a rule off: it is a value of a numeric field of an options struct, where
// zero stands for the default. Where it is allowed, a minimum is not required (a silence, a length, a
// score), a waiting time is zero, a threshold of energy or voice activity is
// never crossed, and a rule with a duration of its own does not apply. Every
// other negative value is refused by Validate.
const Off = -1

// Thresholds are the acoustic limits of seed 002, shared by [EasyTurn] and
// [Onset]. Energy is the root mean square of a frame's samples, full scale = 1;
// VAD is a probability of speech. All comparisons are strict.
//
// Where the voice activity comes from a trained model and the line is noisy,
// set EnergyHigh, EnergyLow and InterruptEnergy to Off: the energy of a car or
// a fan exceeds the seed's 0.02 all the time.
type Thresholds struct {
	EnergyHigh      float64 // above it a frame is speech; default 0.02; Off: never
	EnergyLow       float64 // below it, with VADSilence, a frame is silence; default 0.005; Off: not required
	VADSpeaking     float64 // above it a frame is speech; default 0.7; Off: never
	VADSilence      float64 // below it, with EnergyLow, a frame is silence; default 0.3; Off: not required
	InterruptEnergy float64 // above it a frame interrupts the agent; default 0.015; Off: never
	InterruptVAD    float64 // above it a frame interrupts the agent; default 0.6; Off: never
}

// defaultEnergyLow is ENERGY_THRESHOLD_LOW of seed 002.
const defaultEnergyLow = 0.005

func (t Thresholds) resolved() Thresholds {
	return Thresholds{
		EnergyHigh:      threshold(t.EnergyHigh, 0.02),
		EnergyLow:       threshold(t.EnergyLow, defaultEnergyLow),
		VADSpeaking:     threshold(t.VADSpeaking, 0.7),
		VADSilence:      threshold(t.VADSilence, 0.3),
		InterruptEnergy: threshold(t.InterruptEnergy, 0.015),
		InterruptVAD:    threshold(t.InterruptVAD, 0.6),
	}
}

// Validate reports the first threshold that is not a level between 0 and 1, or
// a silence threshold above its speech threshold. Both pairs Off at once are
// refused too: nothing would be speech.
func (t Thresholds) Validate() error {
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"EnergyHigh", t.EnergyHigh},
		{"EnergyLow", t.EnergyLow},
		{"VADSpeaking", t.VADSpeaking},
		{"VADSilence", t.VADSilence},
		{"InterruptEnergy", t.InterruptEnergy},
		{"InterruptVAD", t.InterruptVAD},
	} {
		if err := checkLevel(f.name, f.value); err != nil {
			return err
		}
	}
	r := t.resolved()
	switch {
	case t.EnergyLow != Off && r.EnergyLow > r.EnergyHigh:
		return &FieldError{Field: "EnergyLow", Value: r.EnergyLow, Want: "at most", Other: "EnergyHigh", OtherValue: r.EnergyHigh}
	case t.VADSilence != Off && r.VADSilence > r.VADSpeaking:
		return &FieldError{Field: "VADSilence", Value: r.VADSilence, Want: "at most", Other: "VADSpeaking", OtherValue: r.VADSpeaking}
	case t.EnergyHigh == Off && t.VADSpeaking == Off:
		return &FieldError{Field: "EnergyHigh", Value: off{}, Want: "a level here or in", Other: "VADSpeaking"}
	case t.InterruptEnergy == Off && t.InterruptVAD == Off:
		return &FieldError{Field: "InterruptEnergy", Value: off{}, Want: "a level here or in", Other: "InterruptVAD"}
	}
	return nil
}

// speaking is the seed's is_user_speaking. An absent (NaN) feature does not
// speak.
func (t Thresholds) speaking(energy, vad float64) bool {
	return energy > t.EnergyHigh || vad > t.VADSpeaking
}

// interrupting is the more sensitive test of the seed's evaluate_speak_state.
func (t Thresholds) interrupting(energy, vad float64) bool {
	return energy > t.InterruptEnergy || vad > t.InterruptVAD
}

// silent is the NO branch of the seed's decision tree. An absent (NaN) feature
// leaves the decision to the other; without both nothing is known.
func (t Thresholds) silent(energy, vad float64) bool {
	noEnergy, noVAD := math.IsNaN(energy), math.IsNaN(vad)
	if noEnergy && noVAD {
		return false
	}
	return (noEnergy || energy < t.EnergyLow) && (noVAD || vad < t.VADSilence)
}

// threshold is the value of an option that is compared with a level.
func threshold(v, def float64) float64 {
	if v == Off {
		return math.Inf(1)
	}
	return cmp.Or(v, def)
}

// minimum is the value of an option that something must reach: Off is 0, which
// everything does.
func minimum[T int | float64 | time.Duration](v, def T) T {
	return max(cmp.Or(v, def), 0)
}

// off stands for [Off] in errors.
type off struct{}

func (off) String() string { return "off" }

func checkLevel(name string, v float64) error {
	if v == Off || v >= 0 && v <= 1 {
		return nil
	}
	return &FieldError{Field: name, Value: v, Want: "a number from 0 to 1, or Off"}
}

func checkDuration(name string, d time.Duration) error {
	if d == Off || d >= 0 {
		return nil
	}
	return &FieldError{Field: name, Value: d, Want: "a duration of 0 or more, or Off"}
}

// checkPositive refuses what is below 0; 0 is the default.
func checkPositive(name string, d time.Duration) error {
	if d >= 0 {
		return nil
	}
	return &FieldError{Field: name, Value: d, Want: "a duration above 0"}
}

func checkCount(name string, n int) error {
	if n == Off || n >= 0 {
		return nil
	}
	return &FieldError{Field: name, Value: n, Want: "a number of 0 or more, or Off"}
}
