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

// Fixed limits.
const (
	maxLine     = 1 << 20  // bytes of a line
	maxTotal    = 16 << 20 // bytes of a program's whole output
	maxResult   = 1 << 20  // bytes of a result
	maxText     = 32 << 10 // bytes at the end of plain text that form the result
	maxProgress = 500      // bytes of a progress text
	maxFailure  = 500      // bytes quoted in a failure
	maxNews     = 16       // waiting progress texts
)

// Options configures [New]. Programs is required; zero values of the other fields
// select the defaults.
type Options struct {
	Programs []Program
	// Getenv looks up environment variables; os.LookupEnv if nil.
	Getenv func(name string) (string, bool)
	// Grace is the time for a program to exit by itself, and again after SIGTERM; 2
	// s if 0.
	Grace time.Duration
	// Pace is the minimum time between two progress reports; 100 ms if 0.
	Pace time.Duration
}

// Program is a command that serves as a tool.
type Program struct {
	Name, Description string

	// Command is run with Args in Dir. Its environment consists of basic variables
	// (PATH, HOME and others), those named in Env, and the call's idempotency key
	// as HOCKET_IDEMPOTENCY_KEY. In Args, {name} is replaced by an argument of the
	// call.
	Command string
	Args    []string
	Dir     string
	Env     []string
	// Stdin is the program's standard input: "json" is the arguments as one line,
	// "none" is empty, and any other text is used with {name} replaced.
	Stdin string
	// Output is the format of the program's output: "lines", "text", "claude",
	// "codex" or "amplifier".
	Output string

	// Schema is the JSON Schema of the arguments, which must be an object.
	Schema []byte
	// Quick marks a program that answers within a turn; others are delegated
	// agents. Repeatable marks a program that may safely run twice, Confirm one
	// that needs the user's consent.
	Quick, Repeatable, Confirm bool
	Timeout                    time.Duration // for a call
}

// place matches a placeholder for an argument.
var place = regexp.MustCompile(`\{([A-Za-z0-9_-]+)\}`)

// Validate returns an error for the first invalid option.
func (o Options) Validate() error {
	if o.Grace < 0 || o.Pace < 0 {
		return fmt.Errorf("option Grace is %v and Pace %v: expected 0 or more", o.Grace, o.Pace)
	}
	for i := range o.Programs {
		p := &o.Programs[i]
		if !toolset.IsName(p.Name) {
			return fmt.Errorf("tool %d has the name %q: expected 1 to 64 letters, digits, - or _", i+1, p.Name)
		}
		if slices.ContainsFunc(o.Programs[:i], func(q Program) bool { return q.Name == p.Name }) {
			return fmt.Errorf("two tools have the name %s: names must differ", p.Name)
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
		return fmt.Errorf("the command must be set")
	case place.MatchString(p.Command):
		return fmt.Errorf("the command is %q: the program must not depend on the call's values", p.Command)
	case p.Timeout < 0:
		return fmt.Errorf("the timeout is %v: expected 0 (the default) or more", p.Timeout)
	case p.Output != "" && !slices.Contains(outputs(), p.Output):
		return fmt.Errorf("the output is %q: expected one of %s", p.Output, strings.Join(outputs(), ", "))
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
				if len(known) == 0 {
					return fmt.Errorf("%s in %q is not an argument: the tool has no parameters", m[0], text)
				}
				return fmt.Errorf("%s in %q is not an argument: expected one of %v", m[0], text, known)
			}
		}
	}
	return nil
}

// properties returns the names of the arguments in a schema.
func properties(schema []byte) ([]string, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	var s struct {
		Properties map[string]json.RawMessage
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, fmt.Errorf("the schema is not a JSON object")
	}
	list := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		list = append(list, name)
	}
	slices.Sort(list)
	return list, nil
}

// ready checks that the program, its folder and its variables exist, and resolves
// the program's path.
func (p *Program) ready(getenv func(string) (string, bool)) error {
	for _, name := range p.Env {
		if _, ok := getenv(name); !ok {
			return fmt.Errorf("the environment variable %s is not set", name)
		}
	}
	if p.Dir != "" {
		dir, err := os.Stat(p.Dir)
		if err != nil {
			return fmt.Errorf("folder: %w", err)
		}
		if !dir.IsDir() {
			return fmt.Errorf("folder: %s is a file", p.Dir)
		}
	}
	look := p.Command
	if strings.ContainsRune(look, filepath.Separator) && !filepath.IsAbs(look) {
		look = filepath.Join(p.Dir, look) // a relative path refers to the program's folder
	}
	file, err := exec.LookPath(look)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the program %s is not executable", p.Command)
	case err != nil:
		return fmt.Errorf("the program %s does not exist", p.Command)
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
