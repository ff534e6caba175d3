package task

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// The defaults of [Options], and of a task's limit.
const (
	DefaultLimit    = 5 * time.Minute // seed 001, 4.6
	DefaultKeep     = 7 * 24 * time.Hour
	DefaultParallel = 64
	DefaultAttempts = 5
	DefaultGrace    = 5 * time.Second
	DefaultTakeover = 4 * time.Second
	DefaultLife     = 10 * time.Second
)

// MaxArguments limits the size of a task's arguments in bytes.
const MaxArguments = 1 << 20

// Fixed settings.
const (
	poll        = 250 * time.Millisecond // interval between looks for changes by other processes
	beatEvery   = time.Second            // interval between a worker's signs of life
	sweepEvery  = 5 * time.Second
	noteEvery   = 250 * time.Millisecond // minimum interval between writes of a task's progress
	maxKey      = 512                    // bytes
	maxText     = 4 << 10                // bytes of a progress text; the rest is cut off
	maxOutput   = 1 << 20                // bytes of a result; the rest is cut off
	schemaOfOwn = "hocket_tasks"         // in PostgreSQL
)

// Options configures [Tasks]. Exactly one of Path and URL must be set; other zero
// fields select the defaults. The functions must be safe for concurrent use.
type Options struct {
	Path string // of the SQLite file, in an existing folder
	URL  string // of the PostgreSQL database: postgres://...
	// Keys encrypt the contents of tasks, each with 32 bytes. The first key encrypts;
	// all keys decrypt. If there are none, contents are stored in plain text.
	Keys [][]byte
	// Resolve returns what contains the tool that a task calls, selected by the task's
	// Agent and Action. It is required by Run.
	Resolve func(task port.Task) (port.Tool, error)
	// Duplicates returns the policy for a second task of a tool while one is running.
	// If it is nil, all tasks are allowed.
	Duplicates func(agent, tool string) Policy

	Keep     time.Duration // how long an ended task is kept that nobody settles; default [DefaultKeep]
	Parallel int           // tasks that run at once in this process, others wait; default [DefaultParallel]
	Attempts int           // how often a tool is called if its workers die; default [DefaultAttempts]
	Grace    time.Duration // how long running tools may take to end after Run was told to stop; default [DefaultGrace]
	Takeover time.Duration // silence after which a worker counts as dead; default [DefaultTakeover]
	Life     time.Duration // interval between signs of life of a task; default [DefaultLife]

	beat, sweep time.Duration // default beatEvery and sweepEvery; changed by tests

	Now func() time.Time // default time.Now
	Log *slog.Logger     // nil disables logging
}

// Validate returns an error if an option is invalid.
func (o Options) Validate() error {
	switch {
	case (o.Path == "") == (o.URL == ""):
		return errors.New("tasks: exactly one of Path and URL must be set")
	case o.URL != "" && !strings.HasPrefix(o.URL, "postgres://") && !strings.HasPrefix(o.URL, "postgresql://"):
		return errors.New("tasks: URL must begin with postgres://")
	case o.Keep < 0 || o.Grace < 0 || o.Takeover < 0 || o.Life < 0:
		return errors.New("tasks: times must not be negative")
	case o.Takeover > 0 && o.Takeover < 2*o.withDefaults().beat:
		return fmt.Errorf("tasks: Takeover is %v: expected at least %v", o.Takeover, 2*o.withDefaults().beat)
	case o.Parallel < 0 || o.Attempts < 0:
		return errors.New("tasks: Parallel and Attempts must not be negative")
	default:
		return nil
	}
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	set(&o.Keep, DefaultKeep)
	set(&o.Grace, DefaultGrace)
	set(&o.Takeover, DefaultTakeover)
	set(&o.Life, DefaultLife)
	set(&o.beat, beatEvery)
	set(&o.sweep, sweepEvery)
	if o.Parallel == 0 {
		o.Parallel = DefaultParallel
	}
	if o.Attempts == 0 {
		o.Attempts = DefaultAttempts
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// lock returns how long a lock of the engine lasts without renewal.
func (o Options) lock() time.Duration { return 3 * o.beat }
