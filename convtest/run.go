package convtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/timers"
	"github.com/hocketvoice/hocket/journal"
)

// epoch is the beginning of every scenario.
var epoch = time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)

// Step is one step of a run.
type Step struct {
	At          time.Duration // since the beginning
	Event       conv.Event
	Due         []timers.Timer // the deadlines that fired before the event
	Effects     []conv.Effect
	Transitions []conv.Transition
	Turns       []conv.TurnEvent
	Late        bool

	line []byte // in the form of package journal
	text string // in the form of scenarios
}

// Run is a conversation that is stepped in virtual time, checked and recorded. It
// is not safe for concurrent use.
type Run struct {
	Conv  *conv.Conversation
	Steps []Step

	opts    conv.Options
	agent   []agent.File
	now     time.Duration
	checker *Checker
	trace   bytes.Buffer
	writer  *journal.Writer // nil if privacy forbids a trace
	seen    *Coverage
}

// NewRun begins a run. agent contains the files of its dialogue, if any; seen,
// which may be nil, records what the run visits.
func NewRun(o conv.Options, agent []agent.File, seen *Coverage) (*Run, error) {
	r := &Run{opts: o, agent: agent, seen: seen}
	header, err := journal.NewHeader(epoch, o, agent)
	if err != nil {
		return nil, err
	}
	if r.Conv, err = header.Conversation(); err != nil {
		return nil, err
	}
	r.writer, err = journal.NewWriter(&r.trace, header)
	if err != nil && !errors.Is(err, journal.ErrPrivate) {
		return nil, err
	}
	r.checker = NewChecker(r.Conv)
	r.checker.last = epoch
	return r, nil
}

// Now returns the time since the beginning.
func (r *Run) Now() time.Duration { return r.now }

// Do lets time pass until the line's event, firing deadlines on the way, and steps
// the event. It returns the output, and the first violated invariant.
func (r *Run) Do(l Line) (string, error) {
	at := l.At
	if !l.Absolute {
		at += r.now
	}
	if at < r.now {
		return "", fmt.Errorf("at %s: the clock is already at %s", seconds(at), seconds(r.now))
	}
	from := len(r.Steps)
	err := r.pass(at, l.Wait)
	if err == nil && !l.Wait {
		err = r.step(at, l.Event)
	}
	r.now = at
	var b strings.Builder
	for _, s := range r.Steps[from:] {
		b.WriteString(s.text)
	}
	return b.String(), err
}

// maxDeadlines limits how many deadlines may fire for one line.
const maxDeadlines = 100_000

// pass fires the deadlines before a time, and with inclusive those due exactly then.
func (r *Run) pass(at time.Duration, inclusive bool) error {
	for range maxDeadlines {
		next := r.Conv.NextDeadline()
		due := next.Sub(epoch)
		if next.IsZero() || due > at || due == at && !inclusive {
			return nil
		}
		if err := r.step(due, conv.DeadlinePassed{}); err != nil {
			return err
		}
	}
	return errors.New("too many deadlines")
}

func (r *Run) step(at time.Duration, ev conv.Event) error {
	at = max(at, r.now)
	now := epoch.Add(at)
	var due []timers.Timer
	if _, ok := ev.(conv.DeadlinePassed); ok {
		for t, when := range r.Conv.State().Timers {
			if !when.IsZero() && !when.After(now) {
				due = append(due, timers.Timer(t))
			}
		}
	}
	before := r.Conv.Phase()
	err := r.checker.Step(now, ev)
	r.now = at
	out := r.Conv.Last()
	s := Step{
		At: at, Event: ev, Due: due, Late: out.Late,
		Effects:     append([]conv.Effect(nil), out.Effects...),
		Transitions: append([]conv.Transition(nil), out.Transitions...),
		Turns:       append([]conv.TurnEvent(nil), out.Turns...),
	}
	var b strings.Builder
	renderStep(&b, r.Conv, at, ev, due)
	s.text = b.String()
	r.seen.note(before, ev, s.Transitions)
	line, lineErr := describe(r.Conv, at, ev)
	s.line = line
	r.Steps = append(r.Steps, s)
	if r.writer != nil {
		err = errors.Join(err, r.writer.Step(now, r.Conv, ev))
	}
	return errors.Join(err, lineErr)
}

// describe returns the journal's line for the last step.
func describe(c *conv.Conversation, at time.Duration, ev conv.Event) ([]byte, error) {
	line, err := journal.Describe(c, at, ev)
	if err != nil {
		return nil, err
	}
	return json.Marshal(line)
}

// Verify repeats the run in the other ways of driving a conversation, and returns
// an error for the first that differs.
func (r *Run) Verify() error {
	if err := r.again(func(int) bool { return false }); err != nil {
		return fmt.Errorf("stepped again: %w", err)
	}
	if r.writer == nil {
		return nil // privacy forbids traces, and words in snapshots
	}
	if err := r.replay(); err != nil {
		return fmt.Errorf("replayed from its trace: %w", err)
	}
	if err := r.again(func(i int) bool { return i == len(r.Steps)/2 }); err != nil {
		return fmt.Errorf("restored in the middle: %w", err)
	}
	if err := r.again(func(int) bool { return true }); err != nil {
		return fmt.Errorf("restored after every step: %w", err)
	}
	return nil
}

// again steps a new conversation, which is snapshotted and restored before the
// steps that restore selects.
func (r *Run) again(restore func(i int) bool) error {
	header, err := journal.NewHeader(epoch, r.opts, r.agent)
	if err != nil {
		return err
	}
	c, err := header.Conversation()
	if err != nil {
		return err
	}
	o := c.Options()
	for i, s := range r.Steps {
		if restore(i) {
			b, err := c.Snapshot()
			if err != nil {
				return err
			}
			if c, err = conv.Restore(o, b); err != nil {
				return err
			}
		}
		c.Step(epoch.Add(s.At), s.Event)
		line, err := describe(c, s.At, s.Event)
		if err != nil {
			return err
		}
		if !bytes.Equal(line, s.line) {
			return fmt.Errorf("step %d at %s:\nbefore: %s\nnow:    %s", i+1, seconds(s.At), s.line, line)
		}
	}
	return sameEnd(r.Conv, c)
}

// replay replays the trace with package journal.
func (r *Run) replay() error {
	var last *conv.Conversation
	n, err := journal.Replay(bytes.NewReader(r.trace.Bytes()), func(_ journal.Line, _ conv.Event, c *conv.Conversation) { last = c })
	if err != nil {
		return err
	}
	if n != len(r.Steps) {
		return fmt.Errorf("%d steps: expected %d", n, len(r.Steps))
	}
	if last == nil {
		return nil
	}
	return sameEnd(r.Conv, last)
}

// sameEnd compares two conversations by their snapshots.
func sameEnd(a, b *conv.Conversation) error {
	x, err := a.Snapshot()
	if err != nil {
		return err
	}
	y, err := b.Snapshot()
	if err != nil {
		return err
	}
	if !bytes.Equal(x, y) {
		return fmt.Errorf("the state at the end:\nbefore: %s\nnow:    %s", x, y)
	}
	return nil
}
