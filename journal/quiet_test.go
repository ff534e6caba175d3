package journal_test

import (
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
)

// TestQuiet: an answer's time counts from the last word, not from the report that the voice is
// silent, which comes hundreds of milliseconds later.
func TestQuiet(t *testing.T) {
	const ms = time.Millisecond
	start := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	type fact struct {
		at time.Duration
		ev conv.Event
	}
	began := fact{0, conv.SpeechStarted{}}
	for _, tc := range []struct {
		name  string
		facts []fact
		want  time.Duration
		by    string
	}{
		{"the last word", []fact{began, {1290 * ms, conv.SpeechStopped{Lag: 240 * ms}}, {1400 * ms, conv.STTFinal{Text: "yes", Lag: 400 * ms}}}, 1000 * ms, journal.ByWord},
		{"words before the silence is noticed", []fact{began, {1100 * ms, conv.STTFinal{Text: "yes", Lag: 100 * ms}}, {1290 * ms, conv.SpeechStopped{Lag: 240 * ms}}}, 1000 * ms, journal.ByWord},
		{"no time of words", []fact{began, {1290 * ms, conv.SpeechStopped{Lag: 240 * ms}}, {1400 * ms, conv.STTFinal{Text: "yes"}}}, 1050 * ms, journal.BySpeech},
		{"no words", []fact{began, {1290 * ms, conv.SpeechStopped{Lag: 240 * ms}}, {1400 * ms, conv.STTFinal{Lag: 400 * ms}}}, 1050 * ms, journal.BySpeech},
		{"an old trace", []fact{began, {1290 * ms, conv.SpeechStopped{}}, {1400 * ms, conv.STTFinal{Text: "yes"}}}, 1290 * ms, journal.ByStop},
		{"a line", []fact{began, {1290 * ms, conv.SpeechStopped{}}, {2000 * ms, conv.UserText{Text: "yes"}}}, 2000 * ms, journal.ByLine},
		{"the user speaks on", []fact{began, {1290 * ms, conv.SpeechStopped{Lag: 240 * ms}}, {1400 * ms, conv.STTFinal{Text: "yes", Lag: 400 * ms}}, {1500 * ms, conv.SpeechStarted{}}, {1900 * ms, conv.SpeechStopped{Lag: 200 * ms}}}, 1700 * ms, journal.BySpeech},
	} {
		var q journal.Quiet
		for _, f := range tc.facts {
			q.Step(start.Add(f.at), f.ev)
		}
		if got := q.At.Sub(start); got != tc.want || q.By != tc.by {
			t.Errorf("%s: silent since %v by %s, expected %v by %s", tc.name, got, q.By, tc.want, tc.by)
		}
	}
	if q := (journal.Quiet{}); !q.At.IsZero() {
		t.Error("nobody has spoken")
	}
}
