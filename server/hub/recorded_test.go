package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/session"
)

var rewrite = flag.Bool("rewrite", false, "write what the hub tells of the recorded conversations to web/test/fixtures")

const fixtures = "../../web/test/fixtures"

// told contains the hub's messages about a recorded conversation. The panel's tests
// derive the same from the trace and compare.
type told struct {
	Messages []Message
	Metrics  Metrics
	Timings  []Timing

	states []Message // entered and left
}

// foldedBoth are the types of messages that the panel also derives from a trace.
var foldedBoth = map[string]bool{
	TypeState: true, TypeTurn: true, TypeNotification: true, TypeTranscript: true, TypeCaption: true, TypeTask: true,
}

// TestPanelFoldsTheSame checks that the hub's messages about recorded conversations
// are those with which web/test/same.test.ts compares the panel's reading of the
// traces.
func TestPanelFoldsTheSame(t *testing.T) {
	for _, name := range []string{"flights", "desk", "tasks", "restored.2"} {
		t.Run(name, func(t *testing.T) {
			rewritten(t, name)
			got := replayed(t, recorded(t, name))
			var b bytes.Buffer
			for i, m := range got.Messages { // a line each, to be read
				fmt.Fprintf(&b, "%s%s", map[bool]string{true: "{\"messages\":[\n", false: ",\n"}[i == 0], encode(m))
			}
			fmt.Fprintf(&b, "],\n\"metrics\":%s,\n\"timings\":%s}\n", encode(got.Metrics), encode(got.Timings))
			same(t, filepath.Join(fixtures, name+".told.json"), b.Bytes())
		})
	}
}

// TestExitCountsTheWholeState checks that state:exit contains the time since the
// state was entered, over all its phases.
func TestExitCountsTheWholeState(t *testing.T) {
	for _, name := range []string{"flights", "desk", "tasks"} {
		entered, state, long := 0.0, "", 0
		for _, m := range replayed(t, recorded(t, name)).states {
			var p Exit
			if err := json.Unmarshal(m.Payload, &p); err != nil {
				t.Fatal(err)
			}
			if m.Type == TypeEnter {
				entered, state = m.At, p.State
				continue
			}
			if took := m.At - entered; p.State == state && math.Abs(p.Duration-took) > 0.001 {
				t.Errorf("%s: %s is left at %v after %vms, it was entered %vms ago", name, state, m.At, p.Duration, took)
			}
			if p.Duration > 0 {
				long++
			}
		}
		if long == 0 {
			t.Errorf("%s: no state had a duration", name)
		}
	}
}

// same compares a file with its expected content, or writes it.
func same(t *testing.T, path string, want []byte) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from the output of the machine and the hub: 'go test ./server/hub -rewrite' writes it; read the diff", path)
	}
}

// happened is an event of a recorded conversation.
type happened struct {
	at    time.Duration
	event conv.Event
}

// recording is a conversation that can be repeated.
type recording struct {
	started time.Time
	options conv.Options
	// restored is the snapshot from which it continues, if any.
	restored []byte
	events   []happened
}

// rewritten compares a trace with the machine's output for the script beside it, if
// there is one. A script of two processes has two traces.
func rewritten(t *testing.T, name string) {
	t.Helper()
	base, _, two := strings.Cut(name, ".")
	script, err := os.ReadFile(filepath.Join(fixtures, base+".events"))
	if err != nil {
		return // recorded by voice
	}
	first := filepath.Join(fixtures, base+".jsonl")
	if two {
		first = filepath.Join(fixtures, base+".1.jsonl")
	}
	for i, trace := range stepped(t, first, script) {
		path := first
		if i > 0 {
			path = filepath.Join(fixtures, fmt.Sprintf("%s.%d.jsonl", base, i+1))
		}
		same(t, path, trace)
	}
}

// recorded reads a trace.
func recorded(t *testing.T, name string) recording {
	t.Helper()
	path := filepath.Join(fixtures, name+".jsonl")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := journal.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Header().Conversation()
	if err != nil {
		t.Fatal(err)
	}
	rec := recording{started: r.Header().Started, options: c.Options()}
	if r.Header().Restored != nil {
		if rec.restored, err = c.Snapshot(); err != nil { // awake
			t.Fatal(err)
		}
	}
	for {
		line, ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rec
		}
		if err != nil {
			t.Fatal(err)
		}
		at, err := journal.Offset(line.At)
		if err != nil {
			t.Fatal(err)
		}
		if _, own := ev.(conv.DeadlinePassed); !own { // the machine's, which keeps its own time
			rec.events = append(rec.events, happened{at, ev})
		}
	}
}

// stepped returns the traces of a script, one for each process, with the options of
// the existing trace.
func stepped(t *testing.T, path string, script []byte) [][]byte {
	t.Helper()
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var header journal.Header // its hash is made anew
	first, _, _ := bytes.Cut(old, []byte("\n"))
	if err := json.Unmarshal(first, &header); err != nil {
		t.Fatal(err)
	}
	legs := []*leg{newLeg(t, header, header.Started, nil)}
	for line := range strings.Lines(string(script)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		ms, _ := fields["at"].(float64)
		l := legs[len(legs)-1]
		at := l.started.Add(time.Duration(ms * float64(time.Millisecond)))
		if fields["type"] == "taken up" {
			snapshot, err := l.c.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			legs = append(legs, newLeg(t, header, at, snapshot))
			continue
		}
		delete(fields, "at")
		ev, err := conv.UnmarshalEvent(encode(fields))
		if err != nil {
			t.Fatal(err)
		}
		l.until(t, at)
		l.step(t, at, ev)
	}
	traces := make([][]byte, len(legs))
	for i, l := range legs {
		traces[i] = l.trace.Bytes()
	}
	return traces
}

// leg is the part of a conversation that runs in one process.
type leg struct {
	c       *conv.Conversation
	started time.Time
	trace   bytes.Buffer
	w       *journal.Writer
}

// newLeg begins a conversation, or restores it as package session does.
func newLeg(t *testing.T, like journal.Header, started time.Time, snapshot []byte) *leg {
	t.Helper()
	header, err := journal.NewHeader(started, like.Options, nil)
	if err != nil {
		t.Fatal(err)
	}
	header.Restored = snapshot
	l := &leg{started: started}
	if l.c, err = header.Conversation(); err != nil {
		t.Fatal(err)
	}
	if l.w, err = journal.NewWriter(&l.trace, header); err != nil {
		t.Fatal(err)
	}
	if snapshot != nil {
		l.step(t, started, conv.ConnectionLost{})
		l.step(t, started, conv.ConnectionRestored{})
	}
	return l
}

// until lets the deadlines before a time pass.
func (l *leg) until(t *testing.T, at time.Time) {
	t.Helper()
	for due := l.c.NextDeadline(); !due.IsZero() && due.Before(at); due = l.c.NextDeadline() {
		l.step(t, due, conv.DeadlinePassed{})
	}
}

func (l *leg) step(t *testing.T, at time.Time, ev conv.Event) {
	t.Helper()
	l.c.Step(at, ev)
	if err := l.w.Step(at, l.c, ev); err != nil {
		t.Fatal(err)
	}
}

// replayed repeats a recorded conversation in a bubble's time and returns the hub's
// messages.
func replayed(t *testing.T, rec recording) (all told) {
	synctest.Test(t, func(t *testing.T) {
		h, err := New(Options{Events: 10_000})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		now := func() time.Time { return rec.started.Add(time.Since(began)) }
		m, err := session.NewMachine(session.MachineOptions{Conv: rec.options, Now: now, Restore: rec.restored})
		if err != nil {
			t.Fatal(err)
		}
		c := newConversation(h, "recorded", Call{Agent: "test", Privacy: conv.PrivacyKeep})
		c.started = rec.started
		c.attach(&session.Session{Machine: m}, func() {})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- m.Run(ctx) }()
		for _, e := range rec.events {
			time.Sleep(time.Until(began.Add(e.at)))
			if err := m.Post(e.event); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		cancel()
		<-done
		c.feed.end()
		all = told{
			messagesOf(t, c, foldedBoth), c.figures.m, c.figures.timings,
			messagesOf(t, c, map[string]bool{TypeEnter: true, TypeExit: true}),
		}
	})
	all.Metrics.InterruptionRate = math.Round(all.Metrics.InterruptionRate*1000) / 1000
	all.Metrics.TimeToFirstAudioMS = math.Round(all.Metrics.TimeToFirstAudioMS*1000) / 1000
	return all
}

// messagesOf are the messages of a conversation that have one of the types.
func messagesOf(t *testing.T, c *Conversation, types map[string]bool) (list []Message) {
	t.Helper()
	s, err := c.Stream(StreamOptions{From: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for {
		m, err := s.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		if types[m.Type] {
			list = append(list, m)
		}
	}
}
