package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/explore"
)

// exploreCmd proves what is promised of the machine.
type exploreCmd struct {
	JSON bool `name:"json" help:"The whole report as JSON."`

	configs []explore.Config // what is shipped if nil
}

// Help is the long help.
func (exploreCmd) Help() string {
	return `Visits every state that the shipped machine can reach, with every event and every armed deadline in any order, and checks each view against its seed's table, the invariants, and that the agent always speaks, listens or has hung up again within a stated time. Exit status 1 and the shortest sequence of events on any violation. It takes some tens of seconds.`
}

// exploreReport is the report for programs.
type exploreReport struct {
	*explore.Report
	ElapsedMS int64 `json:"elapsed_ms"`
}

// Run is the command.
func (c *exploreCmd) Run(s *streams) error {
	began := time.Now()
	configs := c.configs
	if configs == nil {
		configs = explore.Shipped()
	}
	progress := terminal(s.err)
	r, err := explore.Run(configs, func(i int, size explore.ConfigSize) {
		fmt.Fprint(progress, progressLine(i, len(configs), size))
	})
	fmt.Fprint(progress, clearLine)
	if err != nil {
		return err
	}
	elapsed := time.Since(began)
	if c.JSON {
		r.Violations = append([]explore.Violation{}, r.Violations...) // never null
		err = s.writeIndented(exploreReport{r, elapsed.Milliseconds()})
	} else {
		err = s.printf("%s", describeReport(r, elapsed))
	}
	if err == nil && len(r.Violations) > 0 {
		return errFinding
	}
	return err
}

// clearLine empties a terminal's line.
const clearLine = "\r\x1b[K"

// progressLine tells how far the exploration is, in the place of the line before.
func progressLine(i, of int, size explore.ConfigSize) string {
	return fmt.Sprintf("%s%d of %d: %s, %s states", clearLine, i+1, of, size.Name, thousands(size.States))
}

// terminal is the writer, if it is a terminal's, and else one that drops everything.
func terminal(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return w
		}
	}
	return io.Discard
}

// describeReport is the report for people.
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
	edges := 0
	for _, from := range conv.Phases() {
		for _, to := range conv.Phases() {
			if from.CanFollow(to) {
				edges++
			}
		}
	}
	out("Its transitions against the phase graph, and each view's against its seed's table:\n\n")
	out("      %s  %9s  %9s\n", pad("", len("agent-voice")), "reached", "outside")
	line := func(name string, reached, rows, outside int) {
		out("    %s %s  %9s  %9d\n", mark(reached == rows && outside == 0), pad(name, len("agent-voice")), fmt.Sprintf("%d of %d", reached, rows), outside)
	}
	line("phases", len(taken), edges, 0)
	for _, v := range r.Views {
		line(string(v.View), len(v.Reached), v.Rows, len(v.Outside))
	}

	holds := func(check string, about ...string) bool {
		return !slices.ContainsFunc(r.Violations, func(v explore.Violation) bool {
			return strings.HasPrefix(v.Check, check) && (len(about) == 0 || slices.ContainsFunc(about, func(s string) bool {
				return strings.Contains(v.What, s)
			}))
		})
	}
	out("\nIn every state:\n\n")
	out("    %s no step panics\n", mark(holds("panic")))
	out("    %s the invariants hold: turns, requests, calls, confirmations, suspensions, playout, deadlines\n", mark(holds("invariant")))
	out("    %s what is late is dropped and changes nothing (%s times)\n", mark(holds("invariant", "was late", "was not dropped")), thousands(r.Late))
	out("    %s the agent speaks, listens or has hung up within %v, the longest from %v\n", mark(holds("liveness")), shortDuration(r.Liveness), r.LivePhase)

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

// describeWaits is the longest wait in each phase.
func describeWaits(waits []explore.Wait) string {
	var b strings.Builder
	b.WriteString("\nHow long a caller waits at most until it does, when nothing happens but deadlines:\n\n")
	for _, w := range waits {
		fmt.Fprintf(&b, "    %s  %9s\n", pad(w.Phase.String(), len("processing.understanding")), shortDuration(w.Longest))
	}
	return b.String()
}

// thousands is a number with commas: "1,234,567".
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// shortDuration is a duration without zeros at its end: "5m", "1m30s".
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
