package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/journal"
)

func TestReplay(t *testing.T) {
	path := write(t, "call.jsonl", string(recorded(t, "testdata/call.events")))
	if got, want := output(t, "", "replay", path), path+": 34 steps, each the same\n"; got != want {
		t.Errorf("got %q, expected %q", got, want)
	}
	golden(t, "replay.timeline", output(t, "", "replay", path, "--timeline"))
}

// TestReplayDifference checks that the first step that differs is reported field by
// field.
func TestReplayDifference(t *testing.T) {
	trace := string(recorded(t, "testdata/call.events"))
	for _, tc := range []struct{ name, old, changed string }{
		{"state", `"state":"processing.tool"`, `"state":"processing.waiting"`},
		{"effect", `"name":"weather","arguments":"{\"city\":\"Boston\"}"}]`, `"name":"weather","arguments":"{\"city\":\"Austin\"}"},{"type":"listen"}]`},
		{"late", `"effects":[],"late":true`, `"effects":[]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			changed := strings.Replace(trace, tc.old, tc.changed, 1)
			if changed == trace {
				t.Fatal("the trace has no such line")
			}
			path := write(t, "call.jsonl", changed)
			stdout, stderr, status := run(t, "", "replay", path)
			if status != statusFinding || stderr != "" {
				t.Errorf("status %d, %q", status, stderr)
			}
			golden(t, "replay."+tc.name, strings.ReplaceAll(stdout, path, "call.jsonl"))
			// The timeline ends at the difference.
			stdout, _, status = run(t, "", "replay", path, "--timeline")
			if status != statusFinding || !strings.Contains(stdout, "what's the weather in boston") || !strings.Contains(stdout, "something else") {
				t.Errorf("status %d:\n%s", status, stdout)
			}
		})
	}
}

func TestReplayBadTraces(t *testing.T) {
	lines := strings.SplitAfter(string(recorded(t, "testdata/call.events")), "\n")
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "the trace is empty"},
		{"no trace", "hello\n", "trace line 1: invalid character 'h' looking for beginning of value"},
		{"no header", lines[1], `trace line 1: the first line is not a header: field format is "": expected "hocket trace"`},
		{"changed options", strings.Replace(lines[0], "I know the weather", "I know nothing", 1), "options and agent do not match the hash"},
		{"cut off", lines[0] + lines[1] + lines[2][:20], "trace line 3: not a step: unexpected end of JSON input"},
		{"bad event", lines[0] + strings.Replace(lines[1], `"in":{"type":"user.start"}`, `"in":{"type":"user.strat"}`, 1), "trace line 2: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := write(t, "t.jsonl", tc.text)
			stdout, stderr, status := run(t, "", "replay", path)
			if status != statusInput || stdout != "" || !strings.HasPrefix(stderr, "hocket replay: "+path+": ") || !strings.Contains(stderr, tc.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("status %d: %s%s", status, stdout, stderr)
			}
		})
	}
}

// TestReplayOfAClient checks that a trace without the agent needs the agent's files,
// wherever they are.
func TestReplayOfAClient(t *testing.T) {
	files, err := settings.ReadAgent(flights)
	if err != nil {
		t.Fatal(err)
	}
	header, err := journal.NewHeader(time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), conv.Options{}, files)
	if err != nil {
		t.Fatal(err)
	}
	c, err := header.Conversation()
	if err != nil {
		t.Fatal(err)
	}
	var trace bytes.Buffer
	w, err := journal.NewWriter(&trace, header)
	if err != nil {
		t.Fatal(err)
	}
	for i, ev := range []conv.Event{conv.UserStart{}, conv.SessionReady{ID: "one"}, conv.AudioReady{}} {
		at := header.Started.Add(time.Duration(i) * time.Second)
		c.Step(at, ev)
		if err := w.Step(at, c, ev); err != nil {
			t.Fatal(err)
		}
	}
	head, rest, _ := bytes.Cut(trace.Bytes(), []byte("\n"))
	if bytes.Contains(head, []byte("examples/")) {
		t.Errorf("the trace has a path: %.200s", head)
	}
	if head, err = journal.WithoutAgent(head); err != nil {
		t.Fatal(err)
	}
	client := write(t, "client.jsonl", string(head)+string(rest))
	if _, stderr, status := run(t, "", "replay", client); status != statusInput || !strings.Contains(stderr, "--agent") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if got := output(t, "", "replay", client, "--agent", flights); !strings.Contains(got, "each the same") {
		t.Errorf("%s", got)
	}
	if _, stderr, status := run(t, "", "replay", client, "--agent", "../../examples/bank"); status != statusInput || !strings.Contains(stderr, "differ from those of the recorded conversation") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestReplayExplored checks the share of explored steps, and that each other step is
// reported. Since the machine makes no such step, one is added to the count.
func TestReplayExplored(t *testing.T) {
	path := write(t, "call.jsonl", string(recorded(t, "testdata/call.events")))
	if got, want := output(t, "", "replay", path, "--explored"), path+": 34 of 34 steps were met in the exploration (100.0 %)\n"; got != want {
		t.Errorf("got %q, expected %q", got, want)
	}
	var e explored
	e.note(journal.Line{At: 5, Event: "session.ready", Transitions: []journal.Transition{{From: "idle", To: "preparing", Cause: "session.ready"}}})
	e.note(journal.Line{At: 1500, Event: "user.stop", Transitions: []journal.Transition{{From: "idle", To: "speaking", Cause: "user.stop"}}})
	e.note(journal.Line{At: 1600, Event: "stt.partial"})
	var out bytes.Buffer
	err := e.tell(&streams{out: &out}, "call.jsonl")
	want := "call.jsonl: 2 of 3 steps were met in the exploration (66.7 %)\n    1.500 s  user.stop: idle -> speaking (user.stop)\n"
	if !errors.Is(err, errFinding) || out.String() != want {
		t.Errorf("%v, %q; expected a finding, %q", err, out.String(), want)
	}
}
