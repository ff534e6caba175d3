package convtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/timers"
)

// Walk runs every scenario file in dir, without subdirectories, each as a subtest.
// seen may be nil. It reports whether all of them ran: the flag -run may have
// selected some.
func Walk(t *testing.T, dir string, seen *Coverage) (all bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no scenarios in %s", dir)
	}
	ran := 0
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			ran++
			RunFile(t, path, seen)
		})
	}
	return ran == len(files)
}

// RunFile checks a scenario file against its golden output, and runs it in the
// other ways of [Run.Verify].
func RunFile(t *testing.T, path string, seen *Coverage) {
	t.Helper()
	s := &scenario{seen: seen}
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		t.Helper()
		out, err := s.command(d.Cmd, d.CmdArgs, d.Input)
		if err != nil {
			t.Errorf("%s: %s: %v", d.Pos, d.Cmd, err)
		}
		return out
	})
	for i, r := range s.runs {
		if err := r.Verify(); err != nil {
			t.Errorf("%s: conversation %d: %v", path, i+1, err)
		}
	}
}

// Assertions runs a scenario file without comparing its output, and returns the
// first assertion that fails.
func Assertions(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	s := &scenario{}
	commands, err := splitCommands(string(b))
	if err != nil {
		return err
	}
	for _, c := range commands {
		name, args, err := datadriven.ParseLine(c.head)
		if err != nil {
			return err
		}
		if _, err := s.command(name, args, c.input); err != nil {
			return fmt.Errorf("line %d: %w", c.line, err)
		}
	}
	for _, r := range s.runs {
		if err := r.Verify(); err != nil {
			return err
		}
	}
	return nil
}

type command struct {
	line        int
	head, input string
}

// splitCommands parses a datadriven file without running a test.
func splitCommands(text string) ([]command, error) {
	var commands []command
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c := command{line: i + 1, head: line}
		for i++; i < len(lines) && lines[i] != "----"; i++ {
			c.input += lines[i] + "\n"
		}
		if i == len(lines) {
			return nil, fmt.Errorf("line %d: no ---- behind %s", c.line, c.head)
		}
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != ""; i++ {
		}
		c.input = strings.TrimSpace(c.input)
		commands = append(commands, c)
	}
	return commands, nil
}

// scenario is the state of one file.
type scenario struct {
	seen *Coverage
	runs []*Run

	agent []agent.File
	// State at the last assertions.
	from  int
	start conv.Phase
}

// run returns the conversation of the last `new`.
func (s *scenario) run() (*Run, error) {
	if len(s.runs) == 0 {
		return nil, errors.New("no conversation: begin with `new`")
	}
	return s.runs[len(s.runs)-1], nil
}

func (s *scenario) command(name string, args []datadriven.CmdArg, input string) (string, error) {
	switch name {
	case "agent":
		s.agent = []agent.File{{Name: "agent.yaml", Data: []byte(input)}}
		return "", nil
	case "new":
		return s.begin(args, input)
	case "reach":
		return s.reach(args)
	}
	r, err := s.run()
	if err != nil {
		return "", err
	}
	switch name {
	case "begin":
		return s.script(r, Beginning(), false)
	case "step":
		return s.script(r, strings.Split(input, "\n"), true)
	case "expect":
		return s.expect(r, input)
	case "history":
		return renderHistory(r.Conv.History()), nil
	case "timers":
		var b strings.Builder
		for t, at := range r.Conv.State().Timers {
			if !at.IsZero() {
				fmt.Fprintf(&b, "%v at %s\n", timers.Timer(t), seconds(at.Sub(epoch)))
			}
		}
		return b.String(), nil
	case "recent":
		var b strings.Builder
		for _, t := range r.Conv.Recent() {
			fmt.Fprintf(&b, "%v => %v on %s\n", t.From, t.To, t.Cause)
		}
		return b.String(), nil
	case "snapshot":
		b, err := r.Conv.Snapshot()
		if err != nil {
			return "", err
		}
		var object map[string]any
		if err := json.Unmarshal(b, &object); err != nil {
			return "", err
		}
		b, err = json.MarshalIndent(object, "", " ")
		return string(b), err
	default:
		return "", fmt.Errorf("unknown command %q", name)
	}
}

// begin starts a conversation with the options on the line and below it.
func (s *scenario) begin(args []datadriven.CmdArg, input string) (string, error) {
	var o conv.Options
	for _, a := range args {
		if err := SetOption(&o, a.Key, strings.Join(a.Vals, ",")); err != nil {
			return "", err
		}
	}
	for line := range strings.SplitSeq(input, "\n") {
		if err := parseOptions(&o, line); err != nil {
			return "", err
		}
	}
	r, err := NewRun(o, s.agent, s.seen)
	if err != nil {
		return "", err
	}
	s.runs = append(s.runs, r)
	s.mark(r)
	return "", nil
}

// reach starts a conversation with the last options and leads it to the phase.
func (s *scenario) reach(args []datadriven.CmdArg) (string, error) {
	last, err := s.run()
	if err != nil {
		return "", err
	}
	if len(args) != 1 {
		return "", errors.New("expected one phase")
	}
	p, err := conv.ParsePhase(args[0].Key)
	if err != nil {
		return "", err
	}
	r, err := Reach(p, last.opts, s.seen)
	if err != nil {
		return "", err
	}
	s.runs = append(s.runs, r)
	s.mark(r)
	return renderState(r.Conv, epoch) + "\n", nil
}

func (s *scenario) mark(r *Run) { s.from, s.start = len(r.Steps), r.Conv.Phase() }

// script steps lines. It returns the output of each, or only the final state if
// show is false.
func (s *scenario) script(r *Run, lines []string, show bool) (string, error) {
	var b strings.Builder
	for _, text := range lines {
		if text = strings.TrimSpace(text); text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		l, err := ParseLine(text)
		if err != nil {
			return b.String(), fmt.Errorf("%s: %w", text, err)
		}
		out, err := r.Do(l)
		if show {
			b.WriteString(out)
		}
		if err != nil {
			return b.String(), fmt.Errorf("%s: %w", text, err)
		}
	}
	if !show {
		s.mark(r)
	}
	b.WriteString(renderState(r.Conv, epoch) + "\n")
	return b.String(), nil
}

// expect checks every assertion and reports those that fail.
func (s *scenario) expect(r *Run, input string) (string, error) {
	var errs []error
	n := 0
	for line := range strings.SplitSeq(input, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		n++
		if err := r.expectation(line, s.from, s.start); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", line, err))
		}
	}
	s.mark(r)
	return fmt.Sprintf("%d hold\n", n-len(errs)), errors.Join(errs...)
}

// Elapsed returns the time between the last entries of two phases. It is for tests
// in Go.
func (r *Run) Elapsed(a, b conv.Phase) (time.Duration, bool) {
	var from time.Time
	for _, s := range r.Steps {
		for _, t := range s.Transitions {
			if t.To == a {
				from = t.At
			}
			if t.To == b && !from.IsZero() {
				return t.At.Sub(from), true
			}
		}
	}
	return 0, false
}
