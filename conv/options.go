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
	// Language of the engine's own words and of the word lists: "en" or "de".
	Language string `json:"language,omitzero"`
	// Greeting is what the agent says first; empty: it waits for the user.
	Greeting string `json:"greeting,omitzero"`
	// Endpoint is the end-of-turn policy: "easyturn" (default), "recognizer",
	// "silence", "semantic" or "manual". The machine itself asks only whether a
	// final transcript ends the turn and whether a detected voice opens one;
	// the decision on each frame is package turn's.
	Endpoint string `json:"endpoint,omitzero"`
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
	orDefault(&o.Endpoint, "easyturn")
	orDefault(&o.HistoryLimit, 200)
	orDefault(&o.SummaryTurns, 20)
	orDefault(&o.Privacy, PrivacyKeep)
	o.Limits.setDefaults()
	o.Retry.setDefaults()
	o.BargeIn = o.BargeIn.Resolved()
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

// Validate reports every value that makes no sense, joined.
func (o Options) Validate() error {
	var errs []error
	endpoints := []string{"easyturn", "recognizer", "silence", "semantic", "manual"}
	if !slices.Contains(endpoints, o.Endpoint) {
		errs = append(errs, fmt.Errorf("turn policy %q: expected one of %v", o.Endpoint, endpoints))
	}
	if settings := []Privacy{PrivacyKeep, PrivacySession, PrivacyNone}; !slices.Contains(settings, o.Privacy) {
		errs = append(errs, fmt.Errorf("privacy %q: expected one of %v", string(o.Privacy), settings))
	}
	l := o.Limits
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"start", l.Start},
		{"listening", l.Listening},
		{"no_transcript", l.NoTranscript},
		{"no_endpoint", l.NoEndpoint},
		{"final_words", l.FinalWords},
		{"final_no_words", l.FinalNoWords},
		{"waiting", l.Waiting},
		{"advice", l.Advice},
		{"processing", l.Processing},
		{"speaking", l.Speaking},
		{"playout_stall", l.PlayoutStall},
		{"tool", l.Tool},
		{"task", l.Task},
		{"heartbeat", l.Heartbeat},
		{"interrupted", l.Interrupted},
		{"suspended", l.Suspended},
		{"grace", l.Grace},
		{"reconnect", l.Reconnect},
		{"error", l.Error},
		{"release", l.Release},
		{"session", l.Session},
		{"session_warning", l.SessionWarning},
		{"inactivity", l.Inactivity},
		{"breaker_window", l.BreakerWindow},
		{"breaker_cooldown", l.BreakerCooldown},
	} {
		if d.value <= 0 {
			errs = append(errs, fmt.Errorf("limit %s is %v: expected more than 0", d.name, d.value))
		}
	}
	if l.SessionWarning >= l.Session {
		errs = append(errs, fmt.Errorf("limit session_warning is %v: expected less than the session's %v", l.SessionWarning, l.Session))
	}
	if l.BreakerFaults < 1 || l.Calls < 1 || l.Queue < 1 || l.ResultChars < 1 || o.HistoryLimit < 1 {
		errs = append(errs, errors.New("limits breaker_faults, calls, queue, result_chars and history_limit: expected at least 1"))
	}
	if o.SummaryTurns < -1 || o.SummaryTurns == 0 {
		errs = append(errs, fmt.Errorf("summary_turns is %d: expected at least 1, or -1 for none", o.SummaryTurns))
	}
	for _, list := range [][]time.Duration{o.Retry.Backoff, o.Retry.Reconnect} {
		if len(list) == 0 || slices.Min(list) <= 0 {
			errs = append(errs, errors.New("retry backoff and reconnect: expected at least one time, each more than 0"))
		}
	}
	if o.Retry.Max < -1 || o.Retry.Recover < -1 {
		errs = append(errs, errors.New("retry max and recover: expected -1 (none), 0 (default) or more"))
	}
	for i, f := range l.Feedback {
		if f.After < 0 || (i > 0 && f.After <= l.Feedback[i-1].After) {
			errs = append(errs, fmt.Errorf("feedback %d after %v: expected rising times", i+1, f.After))
		}
	}
	for _, err := range []error{o.BargeIn.Validate(), o.Filter.Validate(), o.DeadAir.Validate()} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	if _, err := turn.Lookup(o.Language); err != nil {
		errs = append(errs, fmt.Errorf("language: %w", err))
	}
	return errors.Join(errs...)
}
