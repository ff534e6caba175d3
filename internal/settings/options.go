package settings

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/timezone"
	"github.com/hocketvoice/hocket/turn"
)

// Options contains the options of other packages for the sections of a configuration
// that an agent may set.
type Options struct {
	Conversation conv.Options // without the agent
	Turn         turn.Options
	Onset        turn.OnsetOptions
	Stability    turn.StabilityOptions
	Echo         audio.EchoOptions
	Voice        string         // of the synthesizer; its default if empty
	Location     *time.Location // nil means the time zone of the process
}

// New maps a config to options. Fields that it does not set stay zero. New does not
// validate; [Validate] does.
func New(c *config.Config) Options {
	location, _ := timezone.Load(c.Timezone) // nil if the config has none
	return Options{
		Location:     location,
		Conversation: conversation(c),
		Turn:         turnOptions(c.Turn),
		Onset: turn.OnsetOptions{
			Thresholds: thresholds(c.Turn.Thresholds),
			MinSpeech:  time.Duration(c.Turn.Onset.MinSpeech),
			MinSilence: time.Duration(c.Turn.Onset.MinSilence),
			MaxBetween: time.Duration(c.Turn.Onset.MaxBetween),
		},
		Stability: turn.StabilityOptions{
			Window:     time.Duration(c.Turn.Stability.Window),
			MinSamples: int(c.Turn.Stability.MinSamples),
			Spacing:    time.Duration(c.Turn.Stability.Spacing),
		},
		Echo:  echo(c.Filter),
		Voice: c.Speech.Voice,
	}
}

// ForCalls sets the options of a call that differ from the machine's defaults: the
// language is the agent's, and notices are spoken because the caller has no screen. c
// is the config from which o was created.
func (o Options) ForCalls(c *config.Config, language string) Options {
	o.Conversation.Language = language
	if !c.Sets("speak_notices") {
		o.Conversation.SpeakNotices = true
	}
	if !c.Sets("resume_after_false_interruption") {
		o.Conversation.ResumeAfterFalseInterruption = true
	}
	return o
}

// Trained disables the levels that are not set, so that only a trained detector decides
// whether there is speech: the seed's levels are below the noise in a car.
func (o Options) Trained() Options {
	for _, t := range []*turn.Thresholds{
		&o.Turn.Auto.Thresholds, &o.Turn.EasyTurn.Thresholds, &o.Turn.Silence.Thresholds, &o.Turn.Semantic.Thresholds, &o.Onset.Thresholds,
	} {
		if t.EnergyHigh == 0 && t.EnergyLow == 0 {
			t.EnergyHigh, t.EnergyLow = turn.Off, turn.Off
		}
	}
	return o
}

// OfAgent reads the settings of the engine in an agent's files. Package dialog reads
// the other settings. They take precedence over those of the installation:
//
//	OfAgent(files).Or(config)
//
// The error is of type [config.Problems].
func OfAgent(files []agent.File) (*config.Config, error) {
	a, err := config.ParseSettings("", nil)
	for _, f := range files {
		c, problems := config.ParseSettings(f.Name, f.Data, agent.EngineSettings()...)
		a = c.Or(a)
		err = Join(err, problems)
	}
	return a, err
}

// Join returns the problems of both errors.
func Join(a, b error) error {
	first, ok1 := errors.AsType[config.Problems](a)
	second, ok2 := errors.AsType[config.Problems](b)
	switch {
	case a == nil:
		return b
	case ok1 && ok2:
		return slices.Concat(first, second).Err()
	default:
		return a
	}
}

func conversation(c *config.Config) conv.Options {
	return conv.Options{
		Language:     c.Language,
		Greeting:     c.Greeting,
		Endpoint:     turn.Policy(c.Turn.Policy),
		BargeIn:      profiles(c.BargeIn),
		Filter:       turn.FilterOptions{Echo: float64(c.Filter.Echo)},
		DeadAir:      deadAir(c.DeadAir),
		SpeakNotices: c.SpeakNotices,
		Limits:       limits(c.Limits),
		Retry: conv.Retry{
			Max: int(c.Retry.Max), Recover: int(c.Retry.Recover),
			Backoff: durations(c.Retry.Backoff), Reconnect: durations(c.Retry.Reconnect),
		},
		Privacy:                      conv.Privacy(c.Privacy),
		HistoryLimit:                 int(c.HistoryLimit),
		SummaryTurns:                 int(c.SummaryTurns),
		ResumeAfterFalseInterruption: c.ResumeAfterFalseInterruption,
	}
}

func echo(f config.Filter) audio.EchoOptions {
	if f.EchoLevel == config.Off {
		return audio.EchoOptions{Off: true}
	}
	return audio.EchoOptions{Coupling: float64(f.EchoLevel), Delay: time.Duration(f.EchoDelay)}
}

func limits(l config.Limits) conv.Limits {
	o := conv.Limits{
		Start:           time.Duration(l.Start),
		Listening:       time.Duration(l.Listening),
		NoTranscript:    time.Duration(l.NoTranscript),
		NoEndpoint:      time.Duration(l.NoEndpoint),
		FinalWords:      time.Duration(l.FinalWords),
		FinalNoWords:    time.Duration(l.FinalNoWords),
		Waiting:         time.Duration(l.Waiting),
		Advice:          time.Duration(l.Advice),
		Processing:      time.Duration(l.Processing),
		Speaking:        time.Duration(l.Speaking),
		PlayoutStall:    time.Duration(l.PlayoutStall),
		Tool:            time.Duration(l.Tool),
		Task:            time.Duration(l.Task),
		Heartbeat:       time.Duration(l.Heartbeat),
		Interrupted:     time.Duration(l.Interrupted),
		Suspended:       time.Duration(l.Suspended),
		Grace:           time.Duration(l.Grace),
		Reconnect:       time.Duration(l.Reconnect),
		Error:           time.Duration(l.Error),
		Release:         time.Duration(l.Release),
		Session:         time.Duration(l.Session),
		SessionWarning:  time.Duration(l.SessionWarning),
		Inactivity:      time.Duration(l.Inactivity),
		BreakerFaults:   int(l.BreakerFaults),
		BreakerWindow:   time.Duration(l.BreakerWindow),
		BreakerCooldown: time.Duration(l.BreakerCooldown),
		ResultChars:     int(l.ResultChars),
		Calls:           int(l.Calls),
		Queue:           int(l.Queue),
	}
	if l.Feedback != nil {
		o.Feedback = make([]conv.Feedback, len(l.Feedback)) // an empty list disables the messages
		for i, f := range l.Feedback {
			o.Feedback[i] = conv.Feedback{After: time.Duration(f.After), Code: f.Code}
		}
	}
	return o
}

func durations(list []config.Duration) []time.Duration {
	var all []time.Duration
	for _, d := range list {
		all = append(all, time.Duration(d))
	}
	return all
}

func deadAir(d config.DeadAir) turn.DeadAirOptions {
	o := turn.DeadAirOptions{Off: d.Off}
	for _, s := range d.Steps {
		o.Steps = append(o.Steps, turn.DeadAirStep{After: time.Duration(s.After), Code: s.Code, End: s.End})
	}
	return o
}

func turnOptions(t config.Turn) turn.Options {
	th := thresholds(t.Thresholds)
	return turn.Options{
		Policy: turn.Policy(t.Policy),
		Auto: turn.AutoOptions{
			Thresholds:    th,
			Complete:      time.Duration(t.Auto.Complete),
			Silence:       time.Duration(t.Auto.Silence),
			Incomplete:    time.Duration(t.Auto.Incomplete),
			Finished:      time.Duration(t.Auto.Finished),
			TextUnchanged: time.Duration(t.Auto.TextUnchanged),
		},
		EasyTurn: easyTurn(t.EasyTurn, th),
		Silence:  turn.SilenceOptions{Thresholds: th, After: time.Duration(t.Silence.After)},
		Semantic: turn.SemanticOptions{
			Thresholds: th,
			Score:      float64(t.Semantic.Score),
			MinSilence: time.Duration(t.Semantic.MinSilence),
			MaxSilence: time.Duration(t.Semantic.MaxSilence),
		},
	}
}

func thresholds(t config.Thresholds) turn.Thresholds {
	return turn.Thresholds{
		EnergyHigh:      float64(t.EnergyHigh),
		EnergyLow:       float64(t.EnergyLow),
		VADSpeaking:     float64(t.VADSpeaking),
		VADSilence:      float64(t.VADSilence),
		InterruptEnergy: float64(t.InterruptEnergy),
		InterruptVAD:    float64(t.InterruptVAD),
	}
}

func easyTurn(e config.EasyTurn, th turn.Thresholds) turn.EasyTurnOptions {
	o := turn.EasyTurnOptions{
		Thresholds:       th,
		MinSilence:       time.Duration(e.MinSilence),
		ShortUtterance:   int(e.ShortUtterance),
		MinSilenceShort:  time.Duration(e.MinSilenceShort),
		MinTextLength:    int(e.MinTextLength),
		MinConfidence:    float64(e.MinConfidence),
		MinStability:     float64(e.MinStability),
		TextUnchanged:    time.Duration(e.TextUnchanged),
		Hysteresis:       time.Duration(e.Hysteresis),
		ShortAnswerAfter: time.Duration(e.ShortAnswerAfter),
		MaxSilence:       time.Duration(e.MaxSilence),
	}
	if e.Aggressive {
		o = Aggressive(o)
	}
	return o
}

// Aggressive sets the fields of o that are not set to the preset of [turn.Aggressive].
func Aggressive(o turn.EasyTurnOptions) turn.EasyTurnOptions {
	preset := turn.Aggressive()
	o.MinSilence = cmp.Or(o.MinSilence, preset.MinSilence)
	o.Hysteresis = cmp.Or(o.Hysteresis, preset.Hysteresis)
	return o
}

// profiles applies the common settings to each profile, unless the engine has a
// different default for that phase.
func profiles(b config.BargeIn) turn.Profiles {
	common := bargeIn(b.Profile)
	if b.Policy == presetSeeds { // the seed allows barge-in in every phase
		return turn.Profiles{
			Greeting: bargeIn(b.Greeting).Or(common), Reply: bargeIn(b.Reply).Or(common),
			ReadBack: bargeIn(b.ReadBack).Or(common), Thinking: bargeIn(b.Thinking),
		}
	}
	of := func(p config.Profile, special turn.BargeInOptions) turn.BargeInOptions {
		own := bargeIn(p)
		if common == (turn.BargeInOptions{}) {
			return own // the engine sets the others
		}
		return own.Or(differing(special, turn.DefaultBargeIn())).Or(common)
	}
	special := turn.Profiles{}.Resolved()
	return turn.Profiles{
		Greeting: of(b.Greeting, special.Greeting),
		Reply:    of(b.Reply, special.Reply),
		ReadBack: of(b.ReadBack, special.ReadBack),
		Thinking: of(b.Thinking, special.Thinking),
	}
}

// presetSeeds selects a policy with the numbers of seed 000: [turn.SeedsBargeIn].
const presetSeeds = "seeds"

// differing returns the fields of o that differ from d; the others are zero.
func differing(o, d turn.BargeInOptions) turn.BargeInOptions {
	return turn.BargeInOptions{
		Policy:      unless(o.Policy, d.Policy),
		MinWords:    unless(o.MinWords, d.MinWords),
		OnSpeech:    unless(o.OnSpeech, d.OnSpeech),
		Steady:      unless(o.Steady, d.Steady),
		MinSpeech:   unless(o.MinSpeech, d.MinSpeech),
		MaxFiltered: unless(o.MaxFiltered, d.MaxFiltered),
		ResumeAfter: unless(o.ResumeAfter, d.ResumeAfter),
		WordsWithin: unless(o.WordsWithin, d.WordsWithin),
	}
}

func unless[T comparable](v, same T) T {
	if v == same {
		var zero T
		return zero
	}
	return v
}

func bargeIn(p config.Profile) turn.BargeInOptions {
	if p.Policy == presetSeeds {
		p.Policy = ""
		return bargeIn(p).Or(turn.SeedsBargeIn())
	}
	return turn.BargeInOptions{
		Policy:      turn.BargeInPolicy(p.Policy),
		MinWords:    int(p.MinWords),
		OnSpeech:    turn.OnSpeech(p.OnSpeech),
		Steady:      time.Duration(p.Steady),
		MinSpeech:   time.Duration(p.MinSpeech),
		MaxFiltered: time.Duration(p.MaxFiltered),
		ResumeAfter: time.Duration(p.ResumeAfter),
		WordsWithin: time.Duration(p.WordsWithin),
	}
}
