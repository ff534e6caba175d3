package session_test

import (
	"bytes"
	"context"
	"math"
	"os"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/leg/file"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/session"
)

// tone is a caller's utterance without words: the fake recognizer has them.
func tone(d time.Duration) []int16 {
	pcm := make([]int16, int(d.Seconds()*16000))
	for i := range pcm {
		pcm[i] = int16(8000*math.Sin(2*math.Pi*220*float64(i)/16000)) | 1
	}
	return pcm
}

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestVirtualCall(t *testing.T) {
	var trace, mix bytes.Buffer
	leg, err := file.New(file.Options{
		Utterances: []file.Utterance{{PCM: tone(time.Second)}, {PCM: tone(2 * time.Second), BargeIn: 400 * time.Millisecond}},
		Mix:        &mix,
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(session.Options{
		ID: "test", Leg: leg,
		Conv:        conv.Options{Greeting: "Hello, this is the agent. How can I help you?"},
		Recognizer:  &porttest.Recognizer{Texts: []string{"book a flight to boston", "wait a moment please"}},
		Synthesizer: &porttest.Synthesizer{},
		Trace:       &trace,
	})
	if err != nil {
		t.Fatal(err)
	}
	t0 := time.Now()
	if err := s.RunVirtual(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(t0))
	if os.Getenv("SHOW") != "" {
		os.WriteFile("/tmp/t.jsonl", trace.Bytes(), 0o644)
	}
	if n, err := journal.Replay(&trace, nil); err != nil {
		t.Fatal(n, err)
	}
}

var _ = context.Background
