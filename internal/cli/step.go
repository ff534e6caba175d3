package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/turn"
)

// stepCmd steps the machine with events from the input.
type stepCmd struct {
	Config string `placeholder:"FILE" help:"A config file."`
}

// Help returns the long help.
func (stepCmd) Help() string {
	return `Each line of the input is an event: {"at": 1240, "type": "stt.final", "text": "..."}. "at" is in milliseconds since the start; without it, the event has the time of the previous line. Deadlines before an event expire first, and each prints its own line ("event": "deadline"); {"at": 9000, "type": "deadline"} only lets time pass. The turn policy is "recognizer" unless the config names another. Empty lines and lines that begin with # are ignored.

Keys of an event:

  turn                     its turn; the current one by default
  text, confidence, stability, endpoint
                           of the recognizer
  id, name, arguments, long, confirm, output
                           of a tool or a delegated agent; confirm: it needs
                           the user's yes
  code, message, retryable, fatal
                           of a failure
  heard_ms                 how much of the agent's turn was heard
  lag_ms                   how long ago the voice began or ended, or the last
                           word ended
  echo                     the agent's voice may still come back
  barge_in, listen_only    of session.configured
  data                     of context.set: the changes
  source, cause, reason    who or what caused it
  utterance, request, part tell late facts apart
  silent                   a reply without a voice, a start without a greeting

Keys of the output:

  at, event, state         of the event, and the phase after it
  views                    the state in each seed's view
  transitions              each with from, to and cause
  effects                  what is to be done, each with its type
  turns                    those that began or ended
  late                     the event was dropped: what it belonged to is over
  deferred                 it waits for the end of a suspension`
}

const eventExample = `{"type": "user.start"}`

// eventFields are the fields of events, "at" first.
var eventFields = []string{
	"at", "type", "turn", "utterance", "request", "part", "id", "source", "cause", "reason", "text",
	"confidence", "stability", "endpoint", "silent", "name", "arguments", "long", "confirm", "output", "code",
	"message", "retryable", "fatal", "heard_ms", "lag_ms", "echo", "data", "barge_in", "listen_only",
}

// stepLine is a line of the output.
type stepLine struct {
	At          float64              `json:"at"`
	Event       string               `json:"event"`
	State       string               `json:"state"`
	Views       view.Views           `json:"views"`
	Transitions []journal.Transition `json:"transitions"`
	Effects     []json.RawMessage    `json:"effects"`
	Turns       []journal.Turn       `json:"turns,omitempty"`
	Late        bool                 `json:"late"`
	Deferred    bool                 `json:"deferred,omitempty"`
}

// Run runs the command.
func (c *stepCmd) Run(s *streams) error {
	o, err := loadOptions(c.Config)
	if err != nil {
		return err
	}
	if o.Conversation.Endpoint == "" {
		o.Conversation.Endpoint = turn.PolicyRecognizer
	}
	machine, err := conv.New(o.Conversation)
	if err != nil {
		return err
	}
	st := stepper{streams: s, machine: machine, start: time.Unix(0, 0).UTC()}
	return eachLine(s.in, st.line)
}

// stepper contains the machine and its time.
type stepper struct {
	*streams
	machine *conv.Conversation
	start   time.Time
	at      time.Duration // of the last input line
}

// line handles one event.
func (st *stepper) line(b []byte) error {
	at, ev, err := st.parse(b)
	if err != nil {
		return err
	}
	for due := st.machine.NextDeadline(); !due.IsZero() && due.Before(st.start.Add(at)); due = st.machine.NextDeadline() {
		if err := st.step(due.Sub(st.start), conv.DeadlinePassed{}); err != nil {
			return err
		}
	}
	st.at = at
	return st.step(at, ev)
}

// parse parses an event and its time.
func (st *stepper) parse(b []byte) (time.Duration, conv.Event, error) {
	fields, err := object(b, eventExample)
	if err != nil {
		return 0, nil, err
	}
	at := st.at
	ms, ok, err := number(fields, "at", "milliseconds since the start")
	if err != nil {
		return 0, nil, err
	}
	if ok {
		if at, err = journal.Offset(ms); err != nil {
			return 0, nil, badInput{err}
		}
		if at < st.at {
			return 0, nil, badInputf("field at is %v: expected %v or more, the time of the line before", ms, journal.Millis(st.at))
		}
	}
	for _, name := range sortedNames(fields) {
		if !slices.Contains(eventFields, name) {
			return 0, nil, badInputf("unknown field %q%s", name, meant(name, eventFields))
		}
	}
	var kind string
	if json.Unmarshal(fields["type"], &kind) == nil && kind != "" && !slices.Contains(conv.EventTypes(), kind) {
		return 0, nil, badInputf("field type is %q%s", kind, meant(kind, conv.EventTypes()))
	}
	delete(fields, "at")
	rest, err := json.Marshal(fields)
	if err != nil {
		return 0, nil, err
	}
	ev, err := conv.UnmarshalEvent(rest)
	if err != nil {
		return 0, nil, badInputf("%s", plainTypes.Replace(err.Error()))
	}
	return at, ev, nil
}

// plainTypes replaces the names of Go types in error messages.
var plainTypes = strings.NewReplacer("expected float64", "expected a number", "expected int", "expected a whole number", "expected bool", "expected true or false", "expected string", "expected a text")

// meant suggests the choice that was probably meant, or lists all of them.
func meant(word string, choices []string) string {
	if near := config.Nearest(word, choices); near != "" {
		return "; did you mean " + near + "?"
	}
	return ": expected one of " + strings.Join(choices, ", ")
}

func sortedNames(fields map[string]json.RawMessage) []string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// step steps the machine and prints the result.
func (st *stepper) step(at time.Duration, ev conv.Event) error {
	st.machine.Step(st.start.Add(at), ev)
	l, err := journal.Describe(st.machine, at, ev)
	if err != nil {
		return err
	}
	return st.writeLine(stepLine{
		At: l.At, Event: l.Event, State: l.State, Views: st.machine.State().Views(),
		Transitions: l.Transitions, Effects: l.Effects, Turns: l.Turns, Late: l.Late, Deferred: l.Deferred,
	})
}
