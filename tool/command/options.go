package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/toolset"
)

// The defaults of [Program] and [Options].
const (
	DefaultTimeout = 5 * time.Minute
	DefaultStdin   = "json"
	DefaultOutput  = "lines"
	defaultPace    = 100 * time.Millisecond
)

// What no option changes.
const (
	maxLine     = 1 << 20  // bytes of one line
	maxTotal    = 16 << 20 // bytes of all that a program writes
	maxResult   = 1 << 20  // bytes of a result
	maxText     = 32 << 10 // bytes of the end of plain text that are the result
	maxProgress = 500      // bytes of one piece of progress
	maxFailure  = 500      // bytes of what a failure quotes
	maxNews     = 16       // pieces of progress that wait to be told
)

// Options configure [New]. The zero value of each field but Programs means its
// default.
type Options struct {
	Programs []Program
	// Getenv reads the environment; os.LookupEnv if nil.
	Getenv func(name string) (string, bool)
	// Grace is how long a program may take to end by itself, and again after
	// SIGTERM; 2 s if 0.
	Grace time.Duration
	// Pace is the least time between two pieces of progress; 100 ms if 0.
	Pace time.Duration
}

// Program is a tool that is a command.
type Program struct {
	Name, Description string

	// Command with Args is run in Dir, with a small environment (PATH, HOME and the
	// like), the variables that Env names, and the call's idempotency key as
	// HOCKET_IDEMPOTENCY_KEY. In Args {name} stands for an argument of the call.
	Command string
	Args    []string
	Dir     string
	Env     []string
	// Stdin is what the program reads: "json" is the arguments as one line, "none"
	// nothing, any other text is itself with {name} filled in.
	Stdin string
	// Output is how what it writes is read: "lines", "text", "claude", "codex" or
	// "amplifier".
	Output string

	// Schema is the JSON Schema of the arguments, an object.
	Schema []byte
	// Quick marks a program that answers within a turn; others are delegated agents.
	// Repeatable is one of which a second run does no harm, Confirm one that the user
	// has to say yes to.
	Quick, Repeatable, Confirm bool
	Timeout                    time.Duration // of a call
}

// place is where an argument stands.
var place = regexp.MustCompile(`\{([A-Za-z0-9_-]+)\}`)

// Validate reports the first setting that makes no sense.
func (o Options) Validate() error {
	if o.Grace < 0 || o.Pace < 0 {
		return fmt.Errorf("Grace is %v and Pace %v, expected 0 or more", o.Grace, o.Pace)
	}
	for i := range o.Programs {
		p := &o.Programs[i]
		if !toolset.IsName(p.Name) {
			return fmt.Errorf("tool %d has the name %q, expected 1 to 64 letters, digits, - or _", i+1, p.Name)
		}
		if slices.ContainsFunc(o.Programs[:i], func(q Program) bool { return q.Name == p.Name }) {
			return fmt.Errorf("two tools are called %s: expected another name for each", p.Name)
		}
		if err := p.validate(); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

func (p *Program) validate() error {
	switch {
	case p.Command == "":
		return fmt.Errorf("expected a command")
	case place.MatchString(p.Command):
		return fmt.Errorf("the command is %q: expected a program, with the call's values in its arguments alone", p.Command)
	case p.Timeout < 0:
		return fmt.Errorf("the timeout is %v, expected 0 (the default) or more", p.Timeout)
	case p.Output != "" && !slices.Contains(outputs(), p.Output):
		return fmt.Errorf("the output is %q, expected one of %s", p.Output, strings.Join(outputs(), ", "))
	}
	if _, err := toolset.CompileSchema(p.Schema); err != nil {
		return err
	}
	known, err := properties(p.Schema)
	if err != nil {
		return err
	}
	for _, text := range append(slices.Clone(p.Args), p.Stdin) {
		for _, m := range place.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(known, m[1]) {
				return fmt.Errorf("%s in %q is no argument: there are %v", m[0], text, known)
			}
		}
	}
	return nil
}

// properties are the names of the arguments that a schema describes.
func properties(schema []byte) ([]string, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	var s struct {
		Properties map[string]json.RawMessage
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, fmt.Errorf("the schema is no JSON object")
	}
	list := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		list = append(list, name)
	}
	slices.Sort(list)
	return list, nil
}

// ready looks for what a program needs, and finds its file.
func (p *Program) ready(getenv func(string) (string, bool)) error {
	for _, name := range p.Env {
		if _, ok := getenv(name); !ok {
			return fmt.Errorf("the environment has no %s", name)
		}
	}
	if p.Dir != "" {
		dir, err := os.Stat(p.Dir)
		if err != nil {
			return fmt.Errorf("its folder: %w", err)
		}
		if !dir.IsDir() {
			return fmt.Errorf("its folder: %s is a file", p.Dir)
		}
	}
	look := p.Command
	if strings.ContainsRune(look, filepath.Separator) && !filepath.IsAbs(look) {
		look = filepath.Join(p.Dir, look) // a path is one in its folder
	}
	file, err := exec.LookPath(look)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the program %s cannot be run: expected a file that is marked executable", p.Command)
	case err != nil:
		return fmt.Errorf("there is no program %s", p.Command)
	}
	if p.Command, err = filepath.Abs(file); err != nil {
		return err
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.Getenv == nil {
		o.Getenv = os.LookupEnv
	}
	if o.Pace == 0 {
		o.Pace = defaultPace
	}
	o.Programs = slices.Clone(o.Programs)
	for i := range o.Programs {
		p := &o.Programs[i]
		if p.Timeout == 0 {
			p.Timeout = DefaultTimeout
		}
		if p.Stdin == "" {
			p.Stdin = DefaultStdin
		}
		if p.Output == "" {
			p.Output = DefaultOutput
		}
	}
	return o
}
