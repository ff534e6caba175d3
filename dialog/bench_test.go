package dialog

import (
	"encoding/json"
	"runtime"
	"testing"
	"time"
)

// BenchmarkTurnWithoutNLU handles a simple value for the awaited slot. Goal: below 20 us.
func BenchmarkTurnWithoutNLU(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"city", "New York"}, {"carrier", "I'd like to leave from Boston please"},
	} {
		b.Run(c.name, func(b *testing.B) {
			a := flightsExample(b)
			var st State
			a.Start(&st, tuesday)
			a.Handle(&st, tuesday, Message{Text: "book a flight"})
			benchmarkTurn(b, a, st, c.text, 0)
		})
	}
	b.Run("date", func(b *testing.B) {
		a := testAgent(b, "seed.yaml")
		var st State
		a.Start(&st, tuesday)
		a.Handle(&st, tuesday, Message{Text: "book a flight from boston to denver"})
		benchmarkTurn(b, a, st, "next friday", 0)
	})
	b.Run("yes", func(b *testing.B) {
		a := testAgent(b, "steps.yaml")
		var st State
		a.Start(&st, tuesday)
		a.Handle(&st, tuesday, Message{Text: "ask me for confirmation"})
		a.Handle(&st, tuesday, Message{Text: "apple"})
		benchmarkTurn(b, a, st, "yes please", 0)
	})
}

// BenchmarkLocalNLU handles a message that must be understood. Goal: below 100 us.
func BenchmarkLocalNLU(b *testing.B) {
	a := flightsExample(b)
	var idle State
	a.Start(&idle, tuesday)
	asked := idle.Clone()
	a.Handle(&asked, tuesday, Message{Text: "book a flight"})
	for _, c := range []struct {
		name, text string
		st         State
	}{
		{"start", "hello I would really like to book a flight please", idle},
		{"slots", "I want to book a flight from Boston to Denver next friday", idle},
		{"correction", "actually change the destination to Boston", asked},
		{"nothing", "the quick brown fox jumps over the lazy dog and runs away", asked},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkTurn(b, a, c.st, c.text, 1) })
	}
	for _, c := range []struct{ agent, text string }{
		{"bank", "good morning I wonder whether you could tell me how much money is left in my savings please"},
		{"clinic", "hello my name is Anna Schmidt and I would need to see somebody about my skin next tuesday morning"},
	} {
		b.Run(c.agent, func(b *testing.B) {
			a := exampleAgent(b, c.agent, false)
			var st State
			a.Start(&st, tuesday)
			benchmarkTurn(b, a, st, c.text, 1)
		})
	}
}

// benchmarkTurn handles the same message in the same state repeatedly.
func benchmarkTurn(b *testing.B, a *Agent, st State, text string, nlu int) {
	b.Helper()
	states := make([]State, 256)
	now := tuesday
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		k := i % len(states)
		if k == 0 {
			b.StopTimer()
			for j := range states {
				states[j] = st.Clone()
			}
			b.StartTimer()
		}
		now = now.Add(2 * time.Second)
		a.Handle(&states[k], now, Message{Text: text})
	}
	b.StopTimer()
	if got := states[0].NLUCalls - st.NLUCalls; got != nlu {
		b.Fatalf("%d NLU calls, want %d", got, nlu)
	}
}

// BenchmarkCheckpoint encodes a state as JSON, as for a checkpoint. Goal: below 200 us.
func BenchmarkCheckpoint(b *testing.B) {
	st := longDialogue(b)
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		if _, err := json.Marshal(st); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRestore decodes a state from JSON. Goal: below 500 us.
func BenchmarkRestore(b *testing.B) {
	data, err := json.Marshal(longDialogue(b))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for i := 0; i < b.N; i++ {
		var st State
		if err := json.Unmarshal(data, &st); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkIdle reports the memory of an idle dialogue: after a short call, and with
// history and trace full. Goal: below 20 KB each.
func BenchmarkIdle(b *testing.B) {
	a := flightsExample(b)
	var short State
	a.Start(&short, tuesday)
	for _, text := range []string{"book a flight", "Boston", "Denver"} {
		a.Handle(&short, tuesday, Message{Text: text})
	}
	for name, st := range map[string]State{"short": short, "full": longDialogue(b)} {
		b.Run(name, func(b *testing.B) {
			var size, written int
			for i := 0; i < b.N; i++ {
				size, written = idleBytes(b, st)
			}
			b.ReportMetric(float64(size), "bytes/dialogue")
			b.ReportMetric(float64(written), "bytes/checkpoint")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkParse compiles the example agent, including the training of its understanding.
func BenchmarkParse(b *testing.B) {
	files := testFiles(b, "bank.yaml")
	for i := 0; i < b.N; i++ {
		if a, _ := Parse(files); a == nil {
			b.Fatal("no agent")
		}
	}
}

// longDialogue returns a state whose history and trace are full.
func longDialogue(t testing.TB) State {
	a := flightsExample(t)
	var st State
	now := tuesday
	a.Start(&st, now)
	for range 12 {
		for _, text := range []string{"book a flight", "Boston", "change the origin to Denver", "Chicago", "next friday", "actually make it Austin"} {
			now = now.Add(5 * time.Second)
			a.Handle(&st, now, Message{Text: text})
		}
	}
	return st
}

// TestStateSize measures the memory of an idle dialogue with full history and trace. Goal:
// below 20 KB.
func TestStateSize(t *testing.T) {
	st := longDialogue(t)
	a := flightsExample(t)
	if len(st.Messages) != a.Settings().HistoryLimit || len(st.Trace) < a.Settings().TraceLimit/2 {
		t.Fatalf("%d messages, %d events: the limits are not reached", len(st.Messages), len(st.Trace))
	}
	size, written := idleBytes(t, st)
	t.Logf("%d bytes in memory, %d as JSON", size, written)
	if size > 20<<10 {
		t.Errorf("%d bytes: want at most 20 KB", size)
	}
}

// idleBytes returns the memory of an idle dialogue, and the size of its checkpoint.
func idleBytes(t testing.TB, st State) (size, written int) {
	t.Helper()
	const n = 200
	states := make([]State, n)
	data, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range states {
		if err := json.Unmarshal(data, &states[i]); err != nil { // nothing shared between them
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(states)
	return int((int64(after.HeapAlloc) - int64(before.HeapAlloc)) / n), len(data)
}
