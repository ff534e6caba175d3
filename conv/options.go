package conv

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/turn"
)

// Options are the limits and policies of one conversation. A zero field stands for the
// default that its comment names; the defaults are the numbers of the seeds. The caller must
// not change what an Options refers to after [New] or [Restore].
type Options struct {
	// Agent is the dialogue that answers the user. If it is nil, the machine asks the model
	// for every answer ([RequestReply]).
	Agent *dialog.Agent `json:"-"`
	// NoModel says that there is no language model. Flows then understand the user by their
	// own rules, and the agent does not answer what they do not cover, whatever its files say.
	NoModel bool `json:"no_model,omitzero"`
	// Language is the language of the engine's own words and of the word lists, such as "en",
	// "de" or "de-AT". The default is "en".
	Language string `json:"language,omitzero"`
	// Greeting is what the agent says first. If it is empty, an Agent begins with its own
	// first words, and without an Agent the machine waits for the user.
	Greeting string `json:"greeting,omitzero"`
	// Endpoint is the end-of-turn policy. The default is [turn.PolicyAuto]. The machine
	// uses it only to decide whether a final transcript ends the turn and whether a detected
	// voice opens one; package turn decides frame by frame when the turn ends.
	Endpoint turn.Policy `json:"endpoint,omitzero"`
	// BargeIn contains the barge-in options for each kind of thing that the agent does.
	BargeIn turn.Profiles `json:"barge_in,omitzero"`
	// Filter decides which words count as an interruption while the agent speaks.
	Filter turn.FilterOptions `json:"filter,omitzero"`
	// DeadAir says what the agent does in a long silence.
	DeadAir turn.DeadAirOptions `json:"dead_air,omitzero"`
	// SpeakNotices makes the agent also say aloud that an answer failed, for callers without
	// a screen.
	SpeakNotices bool `json:"speak_notices,omitzero"`
	// ResumeAfterFalseInterruption makes the agent go on with a reply after a voice has
	// interrupted it without words that can be trusted: see ADR 0034.
	ResumeAfterFalseInterruption bool `json:"resume_after_false_interruption,omitzero"`

	// Announced are the names of tools that take the person away, such as a transfer of the call:
	// what the agent says before them is heard to its end. No voice interrupts it, and the words
	// of a voice over it wait for the result. The driver runs the tool when [State.Announcing] is
	// false.
	Announced []string `json:"announced,omitzero"`

	// TasksOutlive says that the driver stores delegated work beyond the conversation. Tasks
	// then continue when the conversation ends, and the machine reports when the result of a
	// task has been told ([SettleTask]).
	TasksOutlive bool `json:"tasks_outlive,omitzero"`

	// SessionRenews says that the driver renews a session that is about to end without a gap:
	// it answers [SaveContext] with [SessionRenewed]. The person is then not notified.
	SessionRenews bool `json:"session_renews,omitzero"`

	// SpeechToSpeech says that one service hears the user, answers and speaks. It has heard the
	// user's turn when the turn ends, so it is asked for the answer at once; the words come
	// later ([STTFinal]) and go to their place in the history. The words of its answers are
	// handed over as they come ([Speak]), not in sentences, because they are spoken already.
	SpeechToSpeech bool `json:"speech_to_speech,omitzero"`

	Limits Limits `json:"limits,omitzero"`
	Retry  Retry  `json:"retry,omitzero"`

	// Privacy says how long words may be stored. The default is [PrivacyKeep].
	Privacy Privacy `json:"privacy,omitzero"`
	// HistoryLimit is the maximum number of items in the history. The default is 200.
	HistoryLimit int `json:"history_limit,omitzero"`
	// SummaryTurns is how many of the last turns of the user a model gets word for word. It
	// gets a summary of the turns before them, which the machine asks for when there are as
	// many again ([Summarize]). The default is 20; -1 means that a model always gets the whole
	// history.
	SummaryTurns int `json:"summary_turns,omitzero"`
}

// Privacy says how long what was said may be stored (seed 000, SEC-002).
type Privacy string

// The values of [Privacy].
const (
	PrivacyKeep    Privacy = "keep"    // the history may be stored
	PrivacySession Privacy = "session" // the history may be stored while the conversation lasts
	PrivacyNone    Privacy = "none"    // the history is never stored: snapshots contain no words
)

// Limits are the limits of a conversation in time and number. Each comment ends with the
// default. Sources: conformance data of the seeds, seed 000 section 3, seed 001 sections 4
// and 7.
type Limits struct {
	Start           time.Duration `json:"start,omitzero"`            // time for the session, and then the audio, to become ready: 10 s
	Listening       time.Duration `json:"listening,omitzero"`        // longest turn of the user: 30 s
	NoTranscript    time.Duration `json:"no_transcript,omitzero"`    // silence that ends the user's turn when no words have come: 2 s
	NoEndpoint      time.Duration `json:"no_endpoint,omitzero"`      // silence that ends the user's turn when words have come and no TurnEnded does: 5 s
	FinalWords      time.Duration `json:"final_words,omitzero"`      // wait for the final transcript when partial words are known: 1 s
	FinalNoWords    time.Duration `json:"final_no_words,omitzero"`   // wait for the final transcript when no words are known: 2 s
	Waiting         time.Duration `json:"waiting,omitzero"`          // one try of a request: 8 s
	Advice          time.Duration `json:"advice,omitzero"`           // a request for advice, without which the flows then continue: 3 s
	Processing      time.Duration `json:"processing,omitzero"`       // all tries of a request together, and the longest stall of a reply: 30 s
	Speaking        time.Duration `json:"speaking,omitzero"`         // time in Speaking before a warning: 120 s
	PlayoutStall    time.Duration `json:"playout_stall,omitzero"`    // longest time in Speaking without a report of the playout: 5 min
	Tool            time.Duration `json:"tool,omitzero"`             // a call of a quick tool: 30 s
	Task            time.Duration `json:"task,omitzero"`             // a call of a delegated agent: 5 min
	Heartbeat       time.Duration `json:"heartbeat,omitzero"`        // time without progress of a delegated agent before a warning: 60 s
	Feedback        []Feedback    `json:"feedback,omitzero"`         // what the person is told while a delegated agent works: after 0, 5, 15 and 30 s
	Interrupted     time.Duration `json:"interrupted,omitzero"`      // the pause after a barge-in: 50 ms
	Suspended       time.Duration `json:"suspended,omitzero"`        // longest planned pause: 30 s
	Grace           time.Duration `json:"grace,omitzero"`            // wait for a connection that may come back by itself: 2 s
	Reconnect       time.Duration `json:"reconnect,omitzero"`        // all attempts to reconnect together: 30 s
	Error           time.Duration `json:"error,omitzero"`            // time in Faulted before recovery: 10 s
	Release         time.Duration `json:"release,omitzero"`          // longest time in Terminating: 2 s
	Session         time.Duration `json:"session,omitzero"`          // longest session with the services: 15 min
	SessionWarning  time.Duration `json:"session_warning,omitzero"`  // time of the warning before the end of the session: 30 s
	Inactivity      time.Duration `json:"inactivity,omitzero"`       // time in ListeningReady before a notification: 5 min
	BreakerFaults   int           `json:"breaker_faults,omitzero"`   // number of faults within BreakerWindow that opens the circuit breaker: 3
	BreakerWindow   time.Duration `json:"breaker_window,omitzero"`   // time after which a fault is forgotten: 60 s
	BreakerCooldown time.Duration `json:"breaker_cooldown,omitzero"` // how long the circuit breaker stays open: 30 s
	ResultChars     int           `json:"result_chars,omitzero"`     // longest result of a call, and longest summary, in bytes; a longer one is cut: 4000
	Calls           int           `json:"calls,omitzero"`            // largest number of calls without a result: 8
	Queue           int           `json:"queue,omitzero"`            // largest number of events during a suspension, and of typed lines and news that wait: 64
}

// Feedback is one step of what the person is told while a delegated agent works.
type Feedback struct {
	After time.Duration `json:"after,omitzero"` // since the agent began to work
	Code  string        `json:"code,omitzero"`  // code of the message
}

// Retry says how often failed requests and connections are tried again. Sources: seed 001
// section 7, seed 000 PER-004.
type Retry struct {
	Max       int             `json:"max,omitzero"`       // retries of one request; default 3; -1: none
	Backoff   []time.Duration `json:"backoff,omitzero"`   // pauses before the retries, the last for all further ones; default 1 s, 2 s, 4 s
	Reconnect []time.Duration `json:"reconnect,omitzero"` // pauses before the attempts to reconnect, one for each; default 1 s, 3 s, 10 s
	Recover   int             `json:"recover,omitzero"`   // recoveries from Faulted without a completed reply in between; default 3; -1: none
}

// DefaultOptions returns options in which every field has its default.
func DefaultOptions() Options {
	o, err := Options{}.withDefaults()
	if err != nil {
		panic(fmt.Sprintf("conv: default options are invalid: %v", err))
	}
	return o
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// withDefaults returns a copy with the default in every zero field, and the errors of
// [Options.Validate] about it.
func (o Options) withDefaults() (Options, error) {
	orDefault(&o.Language, "en")
	orDefault(&o.Endpoint, turn.PolicyAuto)
	orDefault(&o.HistoryLimit, 200)
	orDefault(&o.SummaryTurns, 20)
	orDefault(&o.Privacy, PrivacyKeep)
	o.Limits.setDefaults()
	o.Retry.setDefaults()
	o.BargeIn = o.BargeIn.Resolved()
	if o.NoModel && o.Agent != nil {
		o.Agent = o.Agent.WithoutModel()
	}
	return o, o.Validate()
}

func (l *Limits) setDefaults() {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&l.Start, 10 * time.Second},
		{&l.Listening, 30 * time.Second},
		{&l.NoTranscript, 2 * time.Second},
		{&l.NoEndpoint, 5 * time.Second},
		{&l.FinalWords, time.Second},
		{&l.FinalNoWords, 2 * time.Second},
		{&l.Waiting, 8 * time.Second},
		{&l.Advice, 3 * time.Second},
		{&l.Processing, 30 * time.Second},
		{&l.Speaking, 120 * time.Second},
		{&l.PlayoutStall, 5 * time.Minute},
		{&l.Tool, 30 * time.Second},
		{&l.Task, 5 * time.Minute},
		{&l.Heartbeat, time.Minute},
		{&l.Interrupted, 50 * time.Millisecond},
		{&l.Suspended, 30 * time.Second},
		{&l.Grace, 2 * time.Second},
		{&l.Reconnect, 30 * time.Second},
		{&l.Error, 10 * time.Second},
		{&l.Release, 2 * time.Second},
		{&l.Session, 15 * time.Minute},
		{&l.SessionWarning, 30 * time.Second},
		{&l.Inactivity, 5 * time.Minute},
		{&l.BreakerWindow, time.Minute},
		{&l.BreakerCooldown, 30 * time.Second},
	} {
		orDefault(d.field, d.value)
	}
	orDefault(&l.BreakerFaults, 3)
	orDefault(&l.ResultChars, 4000)
	orDefault(&l.Calls, 8)
	orDefault(&l.Queue, 64)
	if l.Feedback == nil {
		l.Feedback = []Feedback{
			{0, "working.0"},
			{5 * time.Second, "working.1"},
			{15 * time.Second, "working.2"},
			{30 * time.Second, "working.3"},
		}
	}
}

func (r *Retry) setDefaults() {
	orDefault(&r.Max, 3)
	orDefault(&r.Recover, 3)
	if len(r.Backoff) == 0 {
		r.Backoff = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}
	}
	if len(r.Reconnect) == 0 {
		r.Reconnect = []time.Duration{time.Second, 3 * time.Second, 10 * time.Second}
	}
}

// Validate returns an error for every invalid field, joined. Each is a [turn.FieldError]. It
// does not fill in defaults, so zero fields are invalid where zero is not a valid value.
func (o Options) Validate() error {
	return errors.Join(
		oneOf("Endpoint", o.Endpoint, turn.Policies()...),
		oneOf("Privacy", o.Privacy, PrivacyKeep, PrivacySession, PrivacyNone),
		language(o.Language),
		positiveCount("HistoryLimit", o.HistoryLimit),
		minusOneOr("SummaryTurns", o.SummaryTurns, 1),
		turn.InField("Limits", o.Limits.validate()),
		turn.InField("Retry", o.Retry.validate()),
		turn.InField("BargeIn", o.BargeIn.Validate()),
		turn.InField("Filter", o.Filter.Validate()),
		turn.InField("DeadAir", o.DeadAir.Validate()),
	)
}

func (l Limits) validate() error {
	var errs []error
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"Start", l.Start},
		{"Listening", l.Listening},
		{"NoTranscript", l.NoTranscript},
		{"NoEndpoint", l.NoEndpoint},
		{"FinalWords", l.FinalWords},
		{"FinalNoWords", l.FinalNoWords},
		{"Waiting", l.Waiting},
		{"Advice", l.Advice},
		{"Processing", l.Processing},
		{"Speaking", l.Speaking},
		{"PlayoutStall", l.PlayoutStall},
		{"Tool", l.Tool},
		{"Task", l.Task},
		{"Heartbeat", l.Heartbeat},
		{"Interrupted", l.Interrupted},
		{"Suspended", l.Suspended},
		{"Grace", l.Grace},
		{"Reconnect", l.Reconnect},
		{"Error", l.Error},
		{"Release", l.Release},
		{"Session", l.Session},
		{"SessionWarning", l.SessionWarning},
		{"Inactivity", l.Inactivity},
		{"BreakerWindow", l.BreakerWindow},
		{"BreakerCooldown", l.BreakerCooldown},
	} {
		errs = append(errs, positive(d.name, d.value))
	}
	if l.SessionWarning >= l.Session {
		errs = append(errs, &turn.FieldError{
			Field: "SessionWarning", Value: l.SessionWarning, Want: "less than", Other: "Session", OtherValue: l.Session,
		})
	}
	errs = append(errs,
		positiveCount("BreakerFaults", l.BreakerFaults),
		positiveCount("Calls", l.Calls),
		positiveCount("Queue", l.Queue),
		positiveCount("ResultChars", l.ResultChars),
	)
	for i, f := range l.Feedback {
		field := fmt.Sprintf("Feedback[%d].After", i)
		switch {
		case f.After < 0:
			errs = append(errs, &turn.FieldError{Field: field, Value: f.After, Want: "0 or more"})
		case i > 0 && f.After <= l.Feedback[i-1].After:
			errs = append(errs, &turn.FieldError{
				Field: field, Value: f.After, Want: fmt.Sprintf("more than that of the step before, %v", l.Feedback[i-1].After),
			})
		}
	}
	return errors.Join(errs...)
}

func (r Retry) validate() error {
	errs := []error{minusOneOr("Max", r.Max, 0), minusOneOr("Recover", r.Recover, 0)}
	for i, d := range r.Backoff {
		errs = append(errs, positive(fmt.Sprintf("Backoff[%d]", i), d))
	}
	for i, d := range r.Reconnect {
		errs = append(errs, positive(fmt.Sprintf("Reconnect[%d]", i), d))
	}
	return errors.Join(errs...)
}

// language returns an error unless the first part of a language tag is a known language:
// "de-AT" stands for "de".
func language(tag string) error {
	if _, err := turn.Lookup(tag); err == nil {
		return nil
	}
	return &turn.FieldError{Field: "Language", Value: tag, OneOf: turn.Languages()}
}

func oneOf[T ~string](field string, v T, valid ...T) error {
	if slices.Contains(valid, v) {
		return nil
	}
	names := make([]string, len(valid))
	for i, name := range valid {
		names[i] = string(name)
	}
	return &turn.FieldError{Field: field, Value: string(v), OneOf: names}
}

func positive(field string, d time.Duration) error {
	if d > 0 {
		return nil
	}
	return &turn.FieldError{Field: field, Value: d, Want: "more than 0"}
}

func positiveCount(field string, n int) error {
	if n >= 1 {
		return nil
	}
	return &turn.FieldError{Field: field, Value: n, Want: "1 or more"}
}

// minusOneOr returns an error unless n is at least least, or -1, which means none.
func minusOneOr(field string, n, least int) error {
	if n == -1 || n >= least {
		return nil
	}
	return &turn.FieldError{Field: field, Value: n, Want: fmt.Sprintf("%d or more, or -1 for none", least)}
}
