package cli

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/explore"
)

// exploreCmd checks the properties of the machine.
type exploreCmd struct {
	JSON     bool `name:"json" help:"Print the whole report as JSON."`
	Progress bool `help:"Print the progress on the standard error, even if it is not a terminal."`

	configs []explore.Config // the shipped configurations if nil
}

// Help returns the long help.
func (exploreCmd) Help() string {
	return `Visits every state that the shipped machine can reach, with every event and every armed deadline in any order. Checks each view against the table of its seed, the invariants, and that the agent always speaks, listens or has hung up within a stated time. On a violation, prints the shortest sequence of events that causes it and exits with status 1. Takes a minute or more on all processors.`
}

// exploreReport is the report in JSON.
type exploreReport struct {
	*explore.Report
	ElapsedMS int64 `json:"elapsed_ms"`
}

// Run runs the command.
func (c *exploreCmd) Run(s *streams) error {
	began := time.Now()
	configs := c.configs
	if configs == nil {
		configs = explore.Shipped()
		// Most of the memory stays in use, so frequent garbage collections would be
		// wasted.
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	p := newProgress(s.err, c.Progress, len(configs))
	r, err := explore.Run(configs, p.told)
	p.end()
	if err != nil {
		return err
	}
	elapsed := time.Since(began)
	if c.JSON {
		r.Violations = append([]explore.Violation{}, r.Violations...) // an empty list instead of null
		err = s.writeIndented(exploreReport{r, elapsed.Milliseconds()})
	} else {
		err = s.printf("%s", describeReport(r, elapsed))
	}
	if err == nil && len(r.Violations) > 0 {
		return errFinding
	}
	return err
}

// progress prints the progress of the exploration: on a terminal in one line that is
// overwritten, otherwise in a line for each finished configuration.
type progress struct {
	out      io.Writer
	terminal bool
	sizes    []explore.ConfigSize
	done     int
}

// newProgress returns a progress that prints to a terminal, or to another writer if
// asked to.
func newProgress(w io.Writer, asked bool, configs int) *progress {
	p := &progress{out: terminal(w), terminal: true, sizes: make([]explore.ConfigSize, configs)}
	if p.out == io.Discard {
		p.terminal = false
		if asked {
			p.out = w
		}
	}
	return p
}

// clearLine clears the current line of a terminal.
const clearLine = "\r\x1b[K"

// told handles the size of a configuration.
func (p *progress) told(config int, size explore.ConfigSize, done bool) {
	p.sizes[config] = size
	if done {
		p.done++
	}
	switch {
	case p.terminal:
		states := 0
		for _, s := range p.sizes {
			states += s.States
		}
		fmt.Fprintf(p.out, "%s%d of %d done, %s states: %s", clearLine, p.done, len(p.sizes), thousands(states), size.Name)
	case done:
		fmt.Fprintf(p.out, "%d of %d: %s, %s states, %s steps\n", p.done, len(p.sizes), size.Name, thousands(size.States), thousands(size.Steps))
	}
}

// end clears the line of a terminal.
func (p *progress) end() {
	if p.terminal {
		fmt.Fprint(p.out, clearLine)
	}
}

// terminal returns w if it is a terminal, or else a writer that discards everything.
func terminal(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return w
		}
	}
	return io.Discard
}

// edges returns the number of edges of the phase graph.
func edges() (n int) {
	for _, from := range conv.Phases() {
		for _, to := range conv.Phases() {
			if from.CanFollow(to) {
				n++
			}
		}
	}
	return n
}

// violated reports whether a check was violated, with one of the words in what was found, if there
// are any.
func violated(r *explore.Report, check string, about []string) bool {
	return slices.ContainsFunc(r.Violations, func(v explore.Violation) bool {
		return strings.HasPrefix(v.Check, check) &&
			(len(about) == 0 || slices.ContainsFunc(about, func(s string) bool { return strings.Contains(v.What, s) }))
	})
}

// describeReport returns the report in readable form.
func describeReport(r *explore.Report, elapsed time.Duration) string {
	var b strings.Builder
	out := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	mark := func(ok bool) string {
		if ok {
			return "✓"
		}
		return "✗"
	}

	name := len("all")
	for _, c := range r.Configs {
		name = max(name, len(c.Name))
	}
	out("The machine, with each of its policies:\n\n")
	for _, c := range r.Configs {
		out("    %s  %9s states  %11s steps\n", pad(c.Name, name), thousands(c.States), thousands(c.Steps))
	}
	out("    %s  %9s states  %11s steps\n\n", pad("all", name), thousands(r.States), thousands(r.Steps))

	taken := make(map[[2]conv.Phase]bool)
	for _, e := range r.Phases {
		taken[[2]conv.Phase{e.From, e.To}] = true
	}
	out("Its transitions against the phase graph, and each view's against its seed's table:\n\n")
	out("      %s  %9s  %9s\n", pad("", len("agent-voice")), "reached", "outside")
	line := func(name string, reached, rows, outside int) {
		out("    %s %s  %9s  %9d\n", mark(reached == rows && outside == 0), pad(name, len("agent-voice")), fmt.Sprintf("%d of %d", reached, rows), outside)
	}
	line("phases", len(taken), edges(), 0)
	for _, v := range r.Views {
		line(string(v.View), len(v.Reached), v.Rows, len(v.Outside))
	}

	holds := func(check string, about ...string) bool { return !violated(r, check, about) }
	out("\nIn every state:\n\n")
	out("    %s no step panics\n", mark(holds("panic")))
	out("    %s the invariants hold: turns, requests, calls, confirmations, suspensions, playout, deadlines\n", mark(holds("invariant")))
	out("    %s what is late is dropped and changes nothing (%s times)\n", mark(holds("invariant", "was late", "was not dropped")), thousands(r.Late))
	out("    %s deadlines alone lead to a phase in which the agent speaks, listens or has hung up\n", mark(holds("liveness")))

	b.WriteString(describeWaits(r.Waits))
	for _, v := range r.Violations {
		out("\nViolation of %s", v.Check)
		if v.Config != "" {
			out(" (%s)", v.Config)
		}
		out("\n    %s\n", v.What)
		if len(v.Path) > 0 {
			out("    the shortest way there:\n")
		}
		for _, event := range v.Path {
			out("        %s\n", event)
		}
	}
	verdict := "No violation"
	if n := len(r.Violations); n > 0 {
		verdict = strconv.Itoa(n) + " violation"
		if n > 1 {
			verdict += "s"
		}
	}
	out("\n%s. %.1f s\n", verdict, elapsed.Seconds())
	return b.String()
}

// describeWaits describes the longest wait in each phase.
func describeWaits(waits []explore.Wait) string {
	var b strings.Builder
	name := len("processing.understanding")
	b.WriteString("\nHow long a caller waits at most when nothing happens but deadlines, in the phase and until\nthe agent speaks, listens or has hung up:\n\n")
	fmt.Fprintf(&b, "      %s  %9s  %9s  %9s\n", pad("", name), "in it", "limit", "in all")
	for _, w := range waits {
		mark := "✓"
		if w.Stay > w.Limit {
			mark = "✗"
		}
		fmt.Fprintf(&b, "    %s %s  %9s  %9s  %9s\n", mark, pad(w.Phase.String(), name), shortDuration(w.Stay), shortDuration(w.Limit), shortDuration(w.Longest))
	}
	return b.String()
}

// thousands formats a number with commas: "1,234,567".
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// shortDuration formats a duration without trailing zero units: "5m", "1m30s".
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}
