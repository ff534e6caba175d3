package sqlite

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/convtest"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

func flightAgent(t testing.TB) []agent.File {
	t.Helper()
	b, err := os.ReadFile("../../examples/flights/flights.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return []agent.File{{Name: "flights.yaml", Data: b}}
}

// snapshotsOfCall returns the snapshots of a call with the flight agent, one after each
// event, while it books a number of flights.
func snapshotsOfCall(t testing.TB, flights int) (snapshots [][]byte) {
	t.Helper()
	r, err := convtest.NewRun(conv.Options{Endpoint: "recognizer"}, flightAgent(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	do := func(text string) {
		l, err := convtest.ParseLine(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Do(l); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		b, err := r.Conv.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		snapshots = append(snapshots, b)
	}
	// The greeting, and each answer, is heard to its end.
	listen := func() {
		for range 10 {
			if r.Conv.Phase() == conv.ListeningReady {
				return
			}
			do("+20ms playout.started")
			do("+900ms playout.progress heard_ms=900")
			do("+1s playout.finished")
		}
	}
	for _, text := range []string{"user.start", "session.ready", "audio.ready"} {
		do(text)
	}
	listen()
	utterance := 0
	for range flights {
		for _, words := range []string{"i want to book a flight", "from boston", "to denver", "next friday", "yes"} {
			utterance++
			do(fmt.Sprintf("+800ms speech.started utterance=%d", utterance))
			do(fmt.Sprintf("+600ms stt.partial utterance=%d text=%q confidence=0.9", utterance, words))
			do(fmt.Sprintf("+100ms speech.stopped utterance=%d", utterance))
			do(fmt.Sprintf("+200ms stt.final utterance=%d text=%q confidence=0.9", utterance, words))
			listen()
		}
	}
	if n := len(r.Conv.History()); n < 2*utterance {
		t.Fatalf("%d entries of history after %d utterances: the call did not go as planned (phase %v)", n, utterance, r.Conv.Phase())
	}
	return snapshots
}

// TestConversationGoesOn saves a snapshot after every event and checks that the conversation
// restored from it is the same.
func TestConversationGoesOn(t *testing.T) {
	agent, problems := dialog.Parse(flightAgent(t))
	if agent == nil {
		t.Fatal(problems)
	}
	path := newPath(t)
	for i, snapshot := range snapshotsOfCall(t, 1) {
		first := begun(t, Options{Path: path})
		porttest.Save(t, first, "call", string(snapshot))
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		second := begun(t, Options{Path: path})
		loaded, ok, err := second.Load(t.Context(), "call")
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if err := second.Close(); err != nil {
			t.Fatal(err)
		}
		c, err := conv.Restore(conv.Options{Endpoint: "recognizer", Agent: agent}, loaded)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := c.Snapshot(); err != nil || !bytes.Equal(again, snapshot) {
			t.Fatalf("after event %d the conversation differs (%v):\n%s\n%s", i, err, again, snapshot)
		}
	}
}

// lastOf returns different snapshots, which the benchmarks save in turn: SQLite does not write
// unchanged pages.
func lastOf(t testing.TB, flights int) (snapshots [][]byte, size int) {
	t.Helper()
	all := snapshotsOfCall(t, flights)
	snapshots = all[max(0, len(all)-30):]
	for _, b := range snapshots {
		size += len(b)
	}
	return snapshots, size / len(snapshots)
}

// flights are the numbers of flights booked in a short and in a long call.
var flights = []int{1, 12}

// BenchmarkSave measures a checkpoint on the disk while 50 conversations take turns, including its
// share of the time to move the log into the file. Goal: below 200 us.
func BenchmarkSave(b *testing.B) {
	for _, n := range flights {
		snapshots, size := lastOf(b, n)
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			s := begun(b, Options{Path: newPath(b)})
			var ids [50]string
			for i := range ids {
				ids[i] = fmt.Sprintf("conversation-%08d", i)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if err := s.Save(b.Context(), port.Hold{ID: ids[i%len(ids)]}, snapshots[i/len(ids)%len(snapshots)]); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// BenchmarkLoad measures the load that a resumed conversation waits for. Goal: below 200 us.
func BenchmarkLoad(b *testing.B) {
	for _, n := range flights {
		snapshots, size := lastOf(b, n)
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			s := begun(b, Options{Path: newPath(b)})
			porttest.Save(b, s, "call", string(snapshots[len(snapshots)-1]))
			b.ReportAllocs()
			for b.Loop() {
				if _, ok, err := s.Load(b.Context(), "call"); err != nil || !ok {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

// BenchmarkStores measures the calls of a store: see [porttest.BenchmarkStores].
func BenchmarkStores(b *testing.B) {
	porttest.BenchmarkStores(b, func(b *testing.B) porttest.Stores { return views(begun(b, Options{Path: newPath(b)})) })
}

// BenchmarkDelete removes a conversation of 30 KB, and empties the log.
func BenchmarkDelete(b *testing.B) {
	s := begun(b, Options{Path: newPath(b)})
	for b.Loop() {
		porttest.Save(b, s, "call", string(pattern(4)))
		if err := s.Delete(b.Context(), "call"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen measures the opening of an existing file.
func BenchmarkOpen(b *testing.B) {
	path := newPath(b)
	porttest.Save(b, begun(b, Options{Path: path}), "call", "step")
	for b.Loop() {
		s, err := Open(b.Context(), Options{Path: path})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCallers measures how long it takes to find the conversations of a caller: see
// [porttest.BenchmarkCallers].
func BenchmarkCallers(b *testing.B) {
	porttest.BenchmarkCallers(b, func(b *testing.B) porttest.Stores { return views(begun(b, Options{Path: newPath(b)})) })
}
