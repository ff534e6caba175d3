package task

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// The defaults of [Options].
const (
	DefaultLimit    = 5 * time.Minute // seed 001, 4.6
	DefaultKeep     = 7 * 24 * time.Hour
	DefaultParallel = 64
	DefaultAttempts = 5
	DefaultGrace    = 5 * time.Second
	DefaultTakeover = 4 * time.Second
	DefaultLife     = 10 * time.Second
)

// MaxArguments bounds the arguments of a task, in bytes.
const MaxArguments = 1 << 20

// What no option changes.
const (
	poll        = 250 * time.Millisecond // for what other processes do
	beatEvery   = time.Second            // the signs of life of those who run
	sweepEvery  = 5 * time.Second
	noteEvery   = 250 * time.Millisecond // between two progress texts that are written
	maxKey      = 512                    // bytes
	maxText     = 4 << 10                // of a progress, bytes; the rest is cut
	maxOutput   = 1 << 20                // of a result, bytes; the rest is cut
	schemaOfOwn = "hocket_tasks"         // in PostgreSQL
)

// Options configure [Tasks]. Path or URL must be set; the zero value of every other
// field is its default.
type Options struct {
	Path string // the SQLite file; its folder must be there
	URL  string // or the PostgreSQL database: postgres://...
	// Keys, of 32 bytes, encrypt what tasks say: the first seals, all open. Without
	// one it is readable.
	Keys [][]byte
	// Resolve finds what has the tool that a task calls, by its Agent and Action;
	// needed to Run. It must be safe for concurrent use.
	Resolve func(task port.Task) (port.Tool, error)
	// Duplicates is the policy for a second task of a tool while one runs; nil
	// allows them all. It must be safe for concurrent use.
	Duplicates func(agent, tool string) Policy

	Keep     time.Duration // an ended task that nobody settles; [DefaultKeep] if 0
	Parallel int           // tasks that run at once in this process, others wait; [DefaultParallel] if 0
	Attempts int           // how often a tool is called when its workers die; [DefaultAttempts] if 0
	Grace    time.Duration // for running tools when Run is to stop; [DefaultGrace] if 0
	Takeover time.Duration // a worker's silence after which it is dead; [DefaultTakeover] if 0
	Life     time.Duration // between a working task's signs of life; [DefaultLife] if 0

	beat, sweep time.Duration // beatEvery and sweepEvery if 0; tests hurry

	Now func() time.Time // time.Now if nil; safe for concurrent use
	Log *slog.Logger     // nothing is logged if nil
}

// Validate reports the first setting that makes no sense.
func (o Options) Validate() error {
	switch {
	case (o.Path == "") == (o.URL == ""):
		return errors.New("tasks: expected either Path or URL")
	case o.URL != "" && !strings.HasPrefix(o.URL, "postgres://") && !strings.HasPrefix(o.URL, "postgresql://"):
		return errors.New("tasks: the URL is of no known kind, expected one that begins with postgres://")
	case o.Keep < 0 || o.Grace < 0 || o.Takeover < 0 || o.Life < 0:
		return errors.New("tasks: a time is negative, expected 0 or more")
	case o.Takeover > 0 && o.Takeover < 2*o.withDefaults().beat:
		return fmt.Errorf("tasks: Takeover is %v, expected at least %v", o.Takeover, 2*o.withDefaults().beat)
	case o.Parallel < 0 || o.Attempts < 0:
		return errors.New("tasks: a number is negative, expected 0 or more")
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

// lock is how long the engine's hold of an activity lasts without being renewed.
func (o Options) lock() time.Duration { return 3 * o.beat }
