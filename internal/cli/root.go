package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/hocketvoice/hocket/internal/app"
	"github.com/hocketvoice/hocket/internal/config"
)

// The exit statuses.
const (
	statusOK      = 0
	statusFinding = 1 // a finding, or a failure
	statusInput   = 2 // bad input or arguments

	statusInterrupted = 130 // by Ctrl-C, as in shells
)

// root is the command line.
type root struct {
	Init          initCmd          `cmd:"" help:"Write a first agent with its config, a tool and a test."`
	Serve         serveCmd         `cmd:"" help:"Serve the panel and the API."`
	Editor        editorCmd        `cmd:"" help:"Serve an editor's extension on the standard streams."`
	Call          callCmd          `cmd:"" help:"Run a call in which recordings and texts play the caller."`
	Talk          talkCmd          `cmd:"" help:"Talk with an agent through the microphone and speaker of this machine."`
	Chat          chatCmd          `cmd:"" help:"Chat with an agent by text, one line per turn."`
	Test          testCmd          `cmd:"" help:"Run conversations written in files and check the agent's answers."`
	Step          stepCmd          `cmd:"" help:"Run only the state machine: read events as JSON lines and print a JSON line for each step."`
	Turn          turnCmd          `cmd:"" help:"Run only the turn controller: read frames of features as JSON lines and print its decisions."`
	Machine       machineCmd       `cmd:"" help:"Print the state machine, or a view of it."`
	Explore       exploreCmd       `cmd:"" help:"Visit every reachable state of the machine and check its properties."`
	Replay        replayCmd        `cmd:"" help:"Repeat the steps of a recorded conversation and compare them."`
	Check         checkCmd         `cmd:"" help:"Check config files and agents."`
	Import        importCmd        `cmd:"" help:"Convert another program's files to an agent."`
	Conversations conversationsCmd `cmd:"" help:"List, show, export and delete the conversations of a store."`
	Callers       callersCmd       `cmd:"" help:"List, export and delete what a store keeps of a caller."`
	Dial          dialCmd          `cmd:"" help:"Place a telephone call by a server."`
	Fake          fakeCmd          `cmd:"" help:"Call a server as a telephone carrier would."`
	Eval          evalCmd          `cmd:"" help:"Measure on recordings how well calls hear."`
	Bench         benchCmd         `cmd:"" help:"Measure the speed and load of hocket."`
	Completion    completionCmd    `cmd:"" help:"Print the completion script for a shell."`
	Man           manCmd           `cmd:"" help:"Print the manual page."`
	Version       versionCmd       `cmd:"" help:"Print the version."`

	Help        helpFlag    `short:"h" help:"Print this help."`
	ShowVersion versionFlag `name:"version" help:"Print the version."`
}

// versionFlag prints the version, like the command.
type versionFlag bool

// BeforeReset implements kong's hook.
func (versionFlag) BeforeReset(ctx *kong.Context) error {
	if _, err := fmt.Fprint(ctx.Stdout, versionLine()); err != nil {
		return err
	}
	return errHelp
}

// streams are the standard streams of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// badInput is an error in the user's input.
type badInput struct{ error }

// Unwrap returns the wrapped error.
func (e badInput) Unwrap() error { return e.error }

func badInputf(format string, args ...any) error { return badInput{fmt.Errorf(format, args...)} }

// told ends a command whose output already contains the reason.
type told struct{ status int }

// Error implements error. The text is not printed.
func (t told) Error() string { return fmt.Sprintf("exit status %d", t.status) }

var (
	errFinding  = told{statusFinding}
	errProblems = told{statusInput}
)

// errHelp ends a command line whose help was printed.
var errHelp = errors.New("help was printed")

// helpFlag prints the help of its command.
type helpFlag bool

// BeforeReset implements kong's hook. It runs before the arguments are checked.
func (helpFlag) BeforeReset(ctx *kong.Context) error {
	if err := ctx.PrintUsage(false); err != nil {
		return err
	}
	return errHelp
}

// Run runs the program with its arguments (without its name) and returns the exit
// status. It may be called concurrently with different streams.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := &streams{in: stdin, out: stdout, err: stderr}
	parser, err := kong.New(&root{},
		kong.Name("hocket"),
		kong.Description("Spoken conversations between people and agents."),
		kong.Writers(stdout, stderr),
		kong.NoDefaultHelp(),
		kong.ConfigureHelp(kong.HelpOptions{NoExpandSubcommands: true, WrapUpperBound: 100}),
	)
	if err != nil {
		return s.report("", err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
		parser.Stdout = stderr
	}
	if args[0] == "help" { // like other programs
		args = append(args[1:len(args):len(args)], "--help")
	}
	ctx, err := parser.Parse(args)
	switch {
	case errors.Is(err, errHelp) && parser.Stdout == stderr:
		return statusInput // no command was given
	case errors.Is(err, errHelp):
		return statusOK
	case err != nil:
		return s.badArguments(parser, args, err)
	}
	return s.report(commandOf(ctx.Selected()), ctx.Run(s, parser.Model))
}

// commandOf returns a command as it is typed, such as "conversations list".
func commandOf(n *kong.Node) string {
	var names []string
	for ; n != nil && n.Type == kong.CommandNode; n = n.Parent {
		names = append([]string{n.Name}, names...)
	}
	return strings.Join(names, " ")
}

// badArguments reports an error in the command line in one line.
func (s *streams) badArguments(parser *kong.Kong, args []string, err error) int {
	var commands []string
	for _, c := range parser.Model.Children {
		commands = append(commands, c.Name)
	}
	if first := args[0]; !strings.HasPrefix(first, "-") && !slices.Contains(commands, first) {
		return s.report("", badInputf("unknown command %q%s", first, meant(first, commands)))
	}
	command := ""
	if p, ok := errors.AsType[*kong.ParseError](err); ok && p.Context.Selected() != nil {
		command = commandOf(p.Context.Selected())
	}
	text := strings.ReplaceAll(err.Error(), ` but got "EOL" (<EOL>)`, "")
	return s.report(command, badInputf("%s; see hocket %s--help", text, strings.TrimLeft(command+" ", " ")))
}

// report prints an error, if any, and returns the exit status.
func (s *streams) report(command string, err error) int {
	if err == nil || closedPipe(err) {
		return statusOK
	}
	if t, ok := errors.AsType[told](err); ok {
		return t.status
	}
	status := statusFinding
	if errors.As(err, new(badInput)) {
		status = statusInput
	}
	name := strings.TrimSpace("hocket " + command)
	if errors.As(err, new(config.Problems)) {
		// Each line begins with the name of the file.
		fmt.Fprintln(s.err, err)
		return status
	}
	fmt.Fprintf(s.err, "%s: %v\n", name, err)
	return status
}

// closedPipe reports whether the reader of the output has closed it, which is not an
// error.
func closedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// printf writes to the output.
func (s *streams) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(s.out, format, args...)
	return err
}

// loadOptions reads a config file, or returns the defaults if path is empty.
func loadOptions(path string) (app.Options, error) {
	if path == "" {
		c, err := config.Parse("", nil)
		if err != nil {
			return app.Options{}, err
		}
		return app.NewOptions(c)
	}
	o, err := app.LoadOptions(path)
	if err != nil {
		return app.Options{}, badInput{err}
	}
	return o, nil
}

// badFile shortens a system error about a file that the user named: it omits the
// operation.
func badFile(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return badInputf("%s: %w", p.Path, p.Err)
	}
	return badInput{err}
}

// open opens a file that the user named.
func open(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, badFile(err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.Join(badInputf("%s is a folder: expected a file", path), f.Close())
	}
	return f, nil
}
