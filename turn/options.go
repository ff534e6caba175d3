package turn

import (
	"cmp"
	"math"
	"time"
)

// Off turns a rule off. It is a value for numeric fields of options structs, in which zero
// selects the default. A minimum that is Off (of a silence, a length or a score) is not
// required, a waiting time is zero, a threshold of energy or voice activity is never
// crossed, and a rule with its own duration does not apply. Validate refuses Off where a
// field does not allow it, and all other negative values.
const Off = -1

// Thresholds are the acoustic limits of seed 002, for [EasyTurn] and [Onset]. Energy is the
// root mean square of a frame's samples, with 1 as full scale; VAD is the probability of
// speech. All comparisons are strict.
//
// If the voice activity comes from a trained model and the connection is noisy, set
// EnergyHigh, EnergyLow and InterruptEnergy to Off: the energy of a car or a fan exceeds
// the seed's 0.02 all the time.
type Thresholds struct {
	EnergyHigh      float64 // energy above it is speech; default 0.02
	EnergyLow       float64 // energy below it, with VAD below VADSilence, is silence; default 0.005; if Off, energy does not matter
	VADSpeaking     float64 // VAD above it is speech; default 0.7
	VADSilence      float64 // VAD below it, with energy below EnergyLow, is silence; default 0.3; if Off, VAD does not matter
	InterruptEnergy float64 // energy above it interrupts the agent; default 0.015
	InterruptVAD    float64 // VAD above it interrupts the agent; default 0.6
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

// Validate returns an error for the first threshold that is not between 0 and 1, and for a
// silence threshold above its speech threshold. Both thresholds of a pair must not be Off,
// since nothing would be speech then.
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

// speaking implements the seed's is_user_speaking. An unknown (NaN) feature does not count
// as speech.
func (t Thresholds) speaking(energy, vad float64) bool {
	return energy > t.EnergyHigh || vad > t.VADSpeaking
}

// interrupting implements the more sensitive test of the seed's evaluate_speak_state.
func (t Thresholds) interrupting(energy, vad float64) bool {
	return energy > t.InterruptEnergy || vad > t.InterruptVAD
}

// silent implements the NO branch of the seed's decision tree. If one feature is unknown
// (NaN), the other decides; if both are, silent reports false.
func (t Thresholds) silent(energy, vad float64) bool {
	noEnergy, noVAD := math.IsNaN(energy), math.IsNaN(vad)
	if noEnergy && noVAD {
		return false
	}
	return (noEnergy || energy < t.EnergyLow) && (noVAD || vad < t.VADSilence)
}

// threshold returns the effective value of a threshold: infinity for Off.
func threshold(v, def float64) float64 {
	if v == Off {
		return math.Inf(1)
	}
	return cmp.Or(v, def)
}

// minimum returns the effective value of a minimum: 0 for Off.
func minimum[T int | float64 | time.Duration](v, def T) T {
	return max(cmp.Or(v, def), 0)
}

// off is the value of [Off] in errors.
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

// checkPositive returns an error if d is negative. Zero selects the default.
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
