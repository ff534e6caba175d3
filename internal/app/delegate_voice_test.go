//go:build flite && pocketsphinx && cgo

package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/task"
)

// timetable returns a delegate that works for a time, by the clock of its bubble. ended reports
// whether it was cancelled.
func timetable(d time.Duration, calledOff *atomic.Bool) port.Tool {
	return &porttest.Tool{
		Known: []port.ToolSpec{{Name: "research", Long: true}},
		Run: func(ctx context.Context, _ port.ToolCall, progress func(string)) (string, error) {
			progress("I am reading")
			if wait.For(ctx, d) != nil {
				calledOff.Store(true)
				return "", &port.Failure{Code: "CANCELLED", Message: "it was called off"}
			}
			return `{"summary":"` + found + `"}`, nil
		},
	}
}

// TestSpeechWhileADelegateWorks holds calls by voice in which the caller speaks while
// delegated work runs.
func TestSpeechWhileADelegateWorks(t *testing.T) {
	for _, tt := range []struct {
		name  string
		works time.Duration
		cues  []cue
		want  func(*testing.T, *errandCall)
		off   bool // the work is called off
	}{
		{
			name: "over the announcement", works: 15 * time.Second,
			cues: []cue{{over(1500 * time.Millisecond), "are you open today"}},
			want: func(t *testing.T, c *errandCall) {
				c.wantInOrder(t, "One moment.", found, hours)
				c.never(t, announced) // whole
				if c.count("flush_playout") != 1 {
					t.Errorf("%d times something was cut off, expected the announcement alone", c.count("flush_playout"))
				}
			},
		},
		{
			name: "a question", works: 15 * time.Second,
			cues: []cue{{working(time.Second), "are you open today"}},
			want: func(t *testing.T, c *errandCall) {
				c.wantInOrder(t, announced, found, hours)
				if c.count("flush_playout") != 0 {
					t.Error("something was cut off")
				}
			},
		},
		{
			name: "silence", works: 20 * time.Second,
			want: func(t *testing.T, c *errandCall) {
				c.wantInOrder(t, announced, found)
				c.never(t, "Are you still there?")
				if want := []string{"working.0", "progress", "working.1", "working.2"}; !slices.Equal(c.shown, want) {
					t.Errorf("the caller was shown %q, expected %q", c.shown, want)
				}
			},
		},
		{
			name: "never mind", works: time.Hour, off: true,
			cues: []cue{{working(time.Second), "never mind"}},
			want: func(t *testing.T, c *errandCall) {
				c.wantInOrder(t, announced, calledOff)
				c.never(t, "something went wrong")
				if c.count("cancel_tool") != 1 {
					t.Errorf("%d calls were cancelled, expected 1", c.count("cancel_tool"))
				}
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var off atomic.Bool
				c := &errandCall{cues: slices.Concat([]cue{{answering, "find me a train"}}, tt.cues, []cue{{answering, ""}})}
				c.hold(t, timetable(tt.works, &off))
				tt.want(t, c)
				if off.Load() != tt.off {
					t.Errorf("cancelled: %v, expected %v", off.Load(), tt.off)
				}
			})
		})
	}
}

// TestSpeechEndsAProgram checks that "never mind" ends the running program and its children.
func TestSpeechEndsAProgram(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell to run as the program")
	}
	pids := filepath.Join(t.TempDir(), "pids")
	script := fmt.Sprintf(`sleep 1000 & echo $$ $! >%q; echo '{"type":"progress","text":"I am reading"}'; wait`, pids)
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := "tools:\n  command:\n    - {name: researcher, description: reads, command: sh, args: [-c, " + strconv.Quote(script) + "], repeatable: true}\n"
	agentFile := filepath.Join(t.TempDir(), "errand.yaml")
	if err := errors.Join(os.WriteFile(config, []byte(text), 0o600), os.WriteFile(agentFile, []byte(errand), 0o600)); err != nil {
		t.Fatal(err)
	}
	agent, err := settings.LoadAgent(agentFile)
	if err != nil {
		t.Fatal(err)
	}
	o, err := LoadOptions(config)
	if err != nil {
		t.Fatal(err)
	}
	flows, _ := toolsOf(t, o.Tools, agent)
	// The caller hangs up when the program has ended and the conversation continues.
	gone := func(m porttest.Moment) bool { return answering(m) && !alive(pids) }
	c := &errandCall{cues: []cue{{answering, "find me a train"}, {working(time.Second), "never mind"}, {gone, ""}}}
	c.hold(t, flows)
	c.wantInOrder(t, announced, calledOff)
	c.never(t, "something went wrong")
	if b, err := os.ReadFile(pids); err != nil || len(strings.Fields(string(b))) != 2 {
		t.Errorf("the program has written %q, error %v: expected two process ids", b, err)
	}
}

// alive reports whether a process runs whose id is in the file. It returns true if the file
// has no valid ids.
func alive(file string) bool {
	b, err := os.ReadFile(file)
	if err != nil {
		return true
	}
	for _, field := range strings.Fields(string(b)) {
		pid, err := strconv.Atoi(field)
		if err != nil || pid <= 1 {
			return true
		}
		// A process that has ended may still wait to be reaped.
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if syscall.Kill(pid, 0) == nil && !strings.Contains(string(stat), ") Z ") {
			return true
		}
	}
	return false
}

// TestSpeechOfACallerWhoComesBack checks that delegated work continues when the caller hangs
// up, and that the caller is told its result once, in the next call.
func TestSpeechOfACallerWhoComesBack(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	tool := &porttest.Tool{
		Known: []port.ToolSpec{{Name: "research", Long: true}},
		Run: func(ctx context.Context, _ port.ToolCall, progress func(string)) (string, error) {
			progress("I am reading")
			select {
			case <-done:
				return `{"summary":"` + found + `"}`, nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		},
	}
	tasks, err := task.Open(t.Context(), task.Options{
		Path: filepath.Join(t.TempDir(), "tasks.db"),
		Log:  slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		Resolve: func(task port.Task) (port.Tool, error) {
			if task.Agent != "errand" || !task.Action {
				return nil, fmt.Errorf("%+v is not a task of the flow's action", task)
			}
			return tool, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- tasks.Run(ctx) }()
	defer func() {
		stop()
		if err := errors.Join(<-ended, tasks.Close()); err != nil {
			t.Error(err)
		}
	}()
	call := func(c *errandCall, id string, cues ...cue) {
		c.cues = cues
		c.options.ID = id
		c.options.Delegation = session.Delegation{Tasks: tasks, Agent: "errand", Caller: "somebody"}
		c.hold(t, tool)
	}

	var first, second errandCall
	call(&first, "conv_1", cue{answering, "find me a train"}, cue{working(500 * time.Millisecond), ""})
	if n := first.count("cancel_tool"); n != 0 {
		t.Errorf("%d calls were cancelled, expected none", n)
	}
	first.wantInOrder(t, announced)
	first.never(t, found)

	// It continues without the caller, and is done when the caller is back.
	close(done)
	told := func(m porttest.Moment) bool { return second.settled.Load() && answering(m) }
	call(&second, "conv_2", cue{told, ""})
	second.wantInOrder(t, "Good morning.", "What you asked for earlier is done.", found)
	if n := second.count("settle_task"); n != 1 {
		t.Errorf("%d tasks were settled, expected 1", n)
	}
	if left, err := tasks.Adopt(t.Context(), "somebody", "conv_3"); err != nil || len(left) != 0 {
		t.Errorf("%d tasks are left, error %v: it would be told again", len(left), err)
	}
	if n := len(tool.Calls()); n != 1 {
		t.Errorf("the tool was called %d times, expected once", n)
	}
}
