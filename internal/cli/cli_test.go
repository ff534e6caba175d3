package cli

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/turn"
)

var rewrite = flag.Bool("rewrite", false, "write what the commands print now to the golden files and the documentation")

// run runs a command and returns its output and exit status.
func run(t *testing.T, stdin string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, err bytes.Buffer
	status = Run(args, strings.NewReader(stdin), &out, &err)
	return out.String(), err.String(), status
}

// output runs a command that must succeed without output on standard error.
func output(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	stdout, stderr, status := run(t, stdin, args...)
	if status != 0 || stderr != "" {
		t.Fatalf("hocket %s: exit status %d\n%s", strings.Join(args, " "), status, stderr)
	}
	return stdout
}

// golden compares a text with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s (-rewrite writes it anew):\ngot:\n%s\nwant:\n%s", name, got, want)
	}
}

// write writes a file in a new folder and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// recorded steps the events of a file and returns their trace.
func recorded(t *testing.T, file string) []byte {
	t.Helper()
	events, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	o := conv.Options{Endpoint: turn.PolicyRecognizer, Greeting: "Hello. I know the weather."}
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	header, err := journal.NewHeader(start, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := conv.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var trace bytes.Buffer
	w, err := journal.NewWriter(&trace, header)
	if err != nil {
		t.Fatal(err)
	}
	step := func(now time.Time, ev conv.Event) {
		machine.Step(now, ev)
		if err := w.Step(now, machine, ev); err != nil {
			t.Fatal(err)
		}
	}
	st := stepper{machine: machine, start: start}
	err = eachLine(bytes.NewReader(events), func(line []byte) error {
		at, ev, err := st.parse(line)
		if err != nil {
			return err
		}
		for due := machine.NextDeadline(); !due.IsZero() && due.Before(start.Add(at)); due = machine.NextDeadline() {
			step(due, conv.DeadlinePassed{})
		}
		step(start.Add(at), ev)
		st.at = at
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return trace.Bytes()
}

func TestHelp(t *testing.T) {
	help := output(t, "", "--help")
	for _, command := range []string{"step", "turn", "machine", "explore", "replay", "check", "version"} {
		if !strings.Contains(help, "\n  "+command+" ") {
			t.Errorf("the help does not list %s", command)
		}
		if own := output(t, "", command, "-h"); !strings.HasPrefix(own, "Usage: hocket "+command) {
			t.Errorf("hocket %s -h prints\n%s", command, own)
		}
	}
	stdout, stderr, status := run(t, "")
	if stdout != "" || stderr != help || status != statusInput {
		t.Errorf("hocket alone has status %d, prints %q and on the standard error\n%s", status, stdout, stderr)
	}
}

func TestBadArguments(t *testing.T) {
	for _, tc := range []struct{ args, want string }{
		{"stp", `hocket: unknown command "stp"; did you mean step?`},
		{"--foo", "hocket: unknown flag --foo; see hocket --help"},
		{"step --foo", "hocket step: unknown flag --foo; see hocket step --help"},
		{"step more", "hocket step: unexpected argument more; see hocket step --help"},
		{"step --config", "hocket step: --config: expected string value; see hocket step --help"},
		{"step --config none.yaml", "hocket step: none.yaml: no such file or directory"},
		{"turn --config none.yaml", "hocket turn: none.yaml: no such file or directory"},
		{"machine --view foo", `hocket machine: flag --view is "foo": expected one of agent-voice, amplifier, easyturn, interaction`},
		{"machine --view easytrun", `hocket machine: flag --view is "easytrun"; did you mean easyturn?`},
		{"machine --view easyturn --phases", `hocket machine: flags --phases and --view exclude each other: a view has no sub-states`},
		{"machine --format xml", `hocket machine: flag --format is "xml": expected one of table, json, mermaid, dot`},
		{"replay", `hocket replay: expected "<trace>"; see hocket replay --help`},
		{"replay none", "hocket replay: none: no such file or directory"},
		{"replay testdata", "hocket replay: testdata is a folder: expected a file"},
		{"check", `hocket check: expected "<path> ..." or --live; see hocket check --help`},
		{"check none", "hocket check: agent: none: no such file or directory"},
	} {
		stdout, stderr, status := run(t, "", strings.Fields(tc.args)...)
		if status != statusInput || stderr != tc.want+"\n" || stdout != "" {
			t.Errorf("hocket %s: status %d\ngot  %s%s\nwant %s", tc.args, status, stdout, stderr, tc.want)
		}
	}
}

// TestUnknownCommandListsAll checks that all commands are listed if none has a similar
// name.
func TestUnknownCommandListsAll(t *testing.T) {
	_, stderr, status := run(t, "", "frobnicate")
	if status != statusInput || !strings.HasPrefix(stderr, `hocket: unknown command "frobnicate": expected one of `) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestHelpOfACommand checks that `hocket help COMMAND` equals `COMMAND --help`, and
// `hocket help` the whole help.
func TestHelpOfACommand(t *testing.T) {
	for _, command := range []string{"", "call", "bench ws", "import"} {
		want := output(t, "", append(strings.Fields(command), "--help")...)
		if got := output(t, "", append([]string{"help"}, strings.Fields(command)...)...); got != want {
			t.Errorf("hocket help %s prints\n%s", command, got)
		}
	}
	if _, stderr, status := run(t, "", "help", "chta"); status != statusInput || stderr != "hocket: unknown command \"chta\"; did you mean chat?\n" {
		t.Errorf("status %d: %s", status, stderr)
	}
	if got, want := output(t, "", "--version"), output(t, "", "version"); got != want {
		t.Errorf("hocket --version prints %q, hocket version %q", got, want)
	}
}

func TestVersion(t *testing.T) {
	if v := output(t, "", "version"); !strings.HasPrefix(v, "hocket ") || strings.Count(v, "\n") != 1 {
		t.Errorf("got %q", v)
	}
}

// gone is an output whose reader has closed it.
type gone struct{ err error }

func (g gone) Write([]byte) (int, error) { return 0, g.err }

func TestClosedPipe(t *testing.T) {
	trace := write(t, "t.jsonl", string(recorded(t, "testdata/call.events")))
	for _, args := range []string{"step", "turn", "machine", "machine --format json", "replay " + trace, "replay --timeline " + trace, "version"} {
		stdin := eventExample
		if args == "turn" {
			stdin = frameExample
		}
		for _, cause := range []error{syscall.EPIPE, io.ErrClosedPipe} {
			var stderr bytes.Buffer
			status := Run(strings.Fields(args), strings.NewReader(stdin), gone{cause}, &stderr)
			if status != 0 || stderr.Len() > 0 {
				t.Errorf("hocket %s with %v: status %d, %q", args, cause, status, stderr.String())
			}
		}
		var stderr bytes.Buffer
		if status := Run(strings.Fields(args), strings.NewReader(stdin), gone{errors.New("disk full")}, &stderr); status != 1 || !strings.Contains(stderr.String(), "disk full") {
			t.Errorf("hocket %s on a full disk: status %d, %q", args, status, stderr.String())
		}
	}
}

// TestLongLine checks that a line that is too long is refused.
func TestLongLine(t *testing.T) {
	_, stderr, status := run(t, eventExample+"\n"+strings.Repeat("x", maxLine+1), "step")
	if want := "hocket step: line 2 is longer than 16777216 bytes\n"; status != statusInput || stderr != want {
		t.Errorf("status %d: %q", status, stderr)
	}
}
