package journal_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
)

// goesOn records a conversation that continues from the state of the call.
func goesOn(t testing.TB, events []conv.Event) []byte {
	t.Helper()
	h, err := journal.NewHeader(started, options(), nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := h.Conversation()
	if err != nil {
		t.Fatal(err)
	}
	for i, ev := range call()[:8] {
		c.Step(started.Add(time.Duration(i)*time.Second), ev)
	}
	if h.Restored, err = c.Snapshot(); err != nil {
		t.Fatal(err)
	}
	h.Started = started.Add(time.Hour)
	if c, err = h.Conversation(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := journal.NewWriter(&b, h)
	if err != nil {
		t.Fatal(err)
	}
	for i, ev := range events {
		now := h.Started.Add(time.Duration(i) * time.Second)
		c.Step(now, ev)
		if err := w.Step(now, c, ev); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// TestSeveralTraces checks that consecutive traces are replayed in order, each by
// its own machine.
func TestSeveralTraces(t *testing.T) {
	first, second := record(t, options(), call()), goesOn(t, []conv.Event{conv.ConnectionLost{}, conv.ConnectionRestored{}, conv.UserText{Text: "to Zürich"}})
	all := string(first) + string(second) + "\n" + string(second)
	var machines []*conv.Conversation
	n, err := journal.Replay(strings.NewReader(all), func(l journal.Line, _ conv.Event, c *conv.Conversation) {
		if len(machines) == 0 || machines[len(machines)-1] != c {
			machines = append(machines, c)
		}
	})
	if want := len(call()) + 6; err != nil || n != want || len(machines) != 3 {
		t.Fatalf("%d steps, expected %d, of %d machines, error %v", n, want, len(machines), err)
	}
	if h := machines[1].History(); len(h) == 0 || h[0].Text != `book a <flight> & "more"` {
		t.Errorf("it does not go on: %v", h)
	}

	r, err := journal.NewReader(strings.NewReader(all))
	if err != nil {
		t.Fatal(err)
	}
	for range call() {
		if _, _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // io.EOF is repeated until More is called
		if _, _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("error %v, expected the end of the trace", err)
		}
	}
	if ok, err := r.More(); !ok || err != nil || !r.Header().Started.Equal(started.Add(time.Hour)) || len(r.Header().Restored) == 0 {
		t.Errorf("more %v, error %v, header %+v", ok, err, r.Header())
	}
	if ok, err := r.More(); ok || err != nil { // not before its end
		t.Errorf("more %v, error %v", ok, err)
	}
	if l, _, err := r.Next(); err != nil || l.Event != "connection.lost" {
		t.Errorf("%+v, error %v", l, err)
	}
}

// TestBadTraceBehind checks that an error in a later trace names the line within
// the whole file.
func TestBadTraceBehind(t *testing.T) {
	first := string(record(t, options(), call()))
	lines := strings.SplitAfter(string(goesOn(t, []conv.Event{conv.ConnectionLost{}})), "\n")
	fresh, _, ok := strings.Cut(lines[0], `"restored":`)
	if !ok {
		t.Fatalf("it does not go on from a snapshot: %s", lines[0])
	}
	for name, c := range map[string]struct{ trace, want string }{
		"another version":     {strings.Replace(lines[0], `"version":2`, `"version":1`, 1), "trace line 20: the trace has version 1"},
		"no snapshot":         {fresh + `"restored":{"version":99}}` + "\n" + lines[1], "snapshot"},
		"cut in the header":   {lines[0][:60], "trace line 20"},
		"cut in a step":       {lines[0] + lines[1][:30], "trace line 21: not a step"},
		"a changed step":      {lines[0] + strings.Replace(lines[1], `"state":"`, `"state":"x`, 1), "trace line 21: the replay differs"},
		"a header of nothing": {`{"format":"x"}`, `trace line 20: the first line is not a header: field format is "x"`},
	} {
		n, err := journal.Replay(strings.NewReader(first+c.trace), nil)
		if err == nil || n != len(call()) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d steps, error %v, expected %q", name, n, err, c.want)
		}
	}
}
