package conv

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/turn"
)

// Options are the limits and policies of one conversation. A zero field takes
// the default that is named with it; the defaults are the seeds' numbers. An
// Options is not changed once a conversation has it.
type Options struct {
	// Agent is the dialogue that answers; nil leaves every answer to the driver
	// ([RequestReply]).
	Agent *dialog.Agent `json:"-"`
	// NoModel: there is no language model. The flows understand by their own rules, and
	// what they do not cover is not answered, whatever the agent's files say.
	NoModel bool `json:"no_model,omitzero"`
	// Language of the engine's own words and of the word lists: "en" or "de".
	Language string `json:"language,omitzero"`
	// Greeting is what the agent says first; empty: it waits for the user.
	Greeting string `json:"greeting,omitzero"`
	// Endpoint is the end-of-turn policy; empty: [turn.PolicyEasyTurn]. The machine
	// itself asks only whether a final transcript ends the turn and whether a detected
	// voice opens one; the decision on each frame is package turn's.
	Endpoint turn.Policy `json:"endpoint,omitzero"`
	// BargeIn are the profiles by what the agent is doing.
	BargeIn turn.Profiles `json:"barge_in,omitzero"`
	// Filter tunes what counts as an interruption while the agent speaks.
	Filter turn.FilterOptions `json:"filter,omitzero"`
	// DeadAir is the escalation after silence.
	DeadAir turn.DeadAirOptions `json:"dead_air,omitzero"`
	// SpeakNotices has the agent say aloud, too, that an answer failed: a caller
	// without a screen must not be left in silence.
	SpeakNotices bool `json:"speak_notices,omitzero"`
	// ResumeAfterFalseInterruption speaks the unheard rest of a reply when a
	// voice broke in and said nothing.
	ResumeAfterFalseInterruption bool `json:"resume_after_false_interruption,omitzero"`

	// TasksOutlive: delegated work is kept where it outlives the conversation. Who
	// ends the conversation leaves it running, and the machine says when a result
	// has been told ([SettleTask]).
	TasksOutlive bool `json:"tasks_outlive,omitzero"`

	// SessionRenews: the driver renews a session that is about to end, without a gap
	// ([SessionRenewed] answers [SaveContext]): the person is not told of its end.
	SessionRenews bool `json:"session_renews,omitzero"`

	Limits Limits `json:"limits,omitzero"`
	Retry  Retry  `json:"retry,omitzero"`

	// Privacy says what may outlive the step that it was said in: see [Privacy].
	Privacy Privacy `json:"privacy,omitzero"`
	// HistoryLimit bounds the conversation's history, in items: 200.
	HistoryLimit int `json:"history_limit,omitzero"`
	// SummaryTurns is how many of the user's turns a model is given word for word; of
	// those before them it is given a summary, which is asked for when there are as
	// many again ([Summarize]): 20; -1: it is given the whole history.
	SummaryTurns int `json:"summary_turns,omitzero"`
}

// Privacy says how long what was said may be kept (seed 000, SEC-002).
type Privacy string

// The settings of privacy.
const (
	PrivacyKeep    Privacy = "keep"    // the history may be stored; the default
	PrivacySession Privacy = "session" // stored only as long as the conversation lives
	PrivacyNone    Privacy = "none"    // never written: snapshots hold no words
)

// Limits are the bounds in time and number. Sources: conformance data of the
// seeds, seed 000 section 3, seed 001 sections 4 and 7.
type Limits struct {
	Start           time.Duration `json:"start,omitzero"`            // a start that finds no session or audio is given up: 10 s
	Listening       time.Duration `json:"listening,omitzero"`        // longest user turn: 30 s
	NoTranscript    time.Duration `json:"no_transcript,omitzero"`    // voice fell silent and no words came: 2 s
	NoEndpoint      time.Duration `json:"no_endpoint,omitzero"`      // words, silence, and nobody ends the turn: 5 s
	FinalWords      time.Duration `json:"final_words,omitzero"`      // wait for the final transcript when partial words are known: 1 s
	FinalNoWords    time.Duration `json:"final_no_words,omitzero"`   // wait for the final transcript when no words are known: 2 s
	Waiting         time.Duration `json:"waiting,omitzero"`          // one try of a request: 8 s
	Advice          time.Duration `json:"advice,omitzero"`           // a model's understanding for the flows, which then do without: 3 s
	Processing      time.Duration `json:"processing,omitzero"`       // all tries together, and the longest stall of a reply: 30 s
	Speaking        time.Duration `json:"speaking,omitzero"`         // a warning: 120 s
	PlayoutStall    time.Duration `json:"playout_stall,omitzero"`    // no sign of the playout while speaking: 5 min
	Tool            time.Duration `json:"tool,omitzero"`             // a quick tool: 30 s
	Task            time.Duration `json:"task,omitzero"`             // a delegated agent: 5 min
	Heartbeat       time.Duration `json:"heartbeat,omitzero"`        // no progress of a delegated agent, a warning: 60 s
	Feedback        []Feedback    `json:"feedback,omitzero"`         // what the person is told while an agent works
	Interrupted     time.Duration `json:"interrupted,omitzero"`      // the pause after a barge-in: 50 ms
	Suspended       time.Duration `json:"suspended,omitzero"`        // a planned pause that does not end: 30 s
	Grace           time.Duration `json:"grace,omitzero"`            // a connection that may come back by itself: 2 s
	Reconnect       time.Duration `json:"reconnect,omitzero"`        // all attempts together: 30 s
	Error           time.Duration `json:"error,omitzero"`            // the stay in Faulted before recovery: 10 s
	Release         time.Duration `json:"release,omitzero"`          // the longest Terminating: 2 s
	Session         time.Duration `json:"session,omitzero"`          // the session's life: 15 min
	SessionWarning  time.Duration `json:"session_warning,omitzero"`  // before its end: 30 s
	Inactivity      time.Duration `json:"inactivity,omitzero"`       // a notification when nobody did anything: 5 min
	BreakerFaults   int           `json:"breaker_faults,omitzero"`   // so many faults ...
	BreakerWindow   time.Duration `json:"breaker_window,omitzero"`   // ... in this time open the circuit breaker: 3 in 60 s
	BreakerCooldown time.Duration `json:"breaker_cooldown,omitzero"` // it stays open: 30 s
	ResultChars     int           `json:"result_chars,omitzero"`     // a longer result is shortened: 4000
	Calls           int           `json:"calls,omitzero"`            // tools and tasks at once: 8
	Queue           int           `json:"queue,omitzero"`            // facts kept while suspended, typed lines not yet read: 64
}

// Feedback is one step of what the person is told while a delegated agent works.
type Feedback struct {
	After time.Duration `json:"after,omitzero"`
	Code  string        `json:"code,omitzero"`
}

// Retry is the budget for failed requests. Sources: seed 001 section 7, seed
// 000 PER-004.
type Retry struct {
	Max       int             `json:"max,omitzero"`       // retries of one request: 3; -1: none
	Backoff   []time.Duration `json:"backoff,omitzero"`   // 1 s, 2 s, 4 s
	Reconnect []time.Duration `json:"reconnect,omitzero"` // 1 s, 3 s, 10 s
	Recover   int             `json:"recover,omitzero"`   // recoveries from Faulted without a completed reply between: 3; -1: none
}

// DefaultOptions returns the seeds' numbers.
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

// withDefaults returns a validated copy with every zero field filled.
func (o Options) withDefaults() (Options, error) {
	orDefault(&o.Language, "en")
	orDefault(&o.Endpoint, turn.PolicyEasyTurn)
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

// Validate reports every value that makes no sense, joined: each is a [turn.FieldError].
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

// language accepts a tag of which the first part is a language: "de-AT" takes "de".
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

// minusOneOr accepts a number that is large enough, and -1, which stands for none.
func minusOneOr(field string, n, least int) error {
	if n == -1 || n >= least {
		return nil
	}
	return &turn.FieldError{Field: field, Value: n, Want: fmt.Sprintf("%d or more, or -1 for none", least)}
}
