package bench

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/leg/text"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

// mute is a voice that speaks every text as one frame of silence.
type mute struct{}

func (mute) Rate() int { return 8000 }

func (mute) Speak(_ context.Context, _ port.Utterance, emit func(port.Speech) error) error {
	return emit(port.Speech{PCM: make([]int16, audio.FrameSamples(8000))})
}

// chats starts conversations by text, which run until end is called.
func chats(b *testing.B, n int, sound bool, each func(session.TurnEvent)) (list []*session.Session, end func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	var running sync.WaitGroup
	for range n {
		o := text.Session(session.Options{
			Leg: text.New(text.Options{}), Model: answerer{answer}, Conv: conv.Options{Greeting: greeting},
		})
		if sound {
			o.Text, o.Synthesizer = false, mute{}
		}
		s, err := session.New(o)
		if err != nil {
			b.Fatal(err)
		}
		if each != nil {
			s.OnTurnEvent(each)
		}
		running.Go(func() { _ = s.Run(ctx) }) // ends with ctx
		list = append(list, s)
	}
	for _, s := range list {
		for s.State().Phase != conv.ListeningReady {
			_ = wait.For(ctx, time.Millisecond)
		}
	}
	return list, func() { cancel(); running.Wait() }
}

// media are two ways to hold a conversation by text: over an audio path that carries
// silence, as in earlier versions, and without one.
var media = []struct {
	name  string
	sound bool
	idle  int // conversations that the machine can hold
}{{"silence", true, 300}, {"text", false, 10_000}}

// BenchmarkTextIdle measures the cost of idle conversations by text. Goal: 10,000
// take less than 0.05 of a core.
func BenchmarkTextIdle(b *testing.B) {
	for _, m := range media {
		b.Run(m.name, func(b *testing.B) {
			before := memory()
			_, end := chats(b, m.idle, m.sound, nil)
			defer end()
			used := memory() - before
			goroutines := runtime.NumGoroutine()
			began := time.Now()
			cpu, known := cpuTime()
			if !known {
				b.Skip("the system does not tell what a process has used")
			}
			for b.Loop() {
				if err := wait.For(b.Context(), 5*time.Second); err != nil {
					b.Fatal(err)
				}
			}
			after, _ := cpuTime()
			b.ReportMetric(float64(after-cpu)/float64(time.Since(began))*10_000/float64(m.idle), "cores/10000")
			b.ReportMetric(float64(used)/1024/float64(m.idle), "KB/conversation")
			b.ReportMetric(float64(goroutines)/float64(m.idle), "goroutines/conversation")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkTextTurn measures the time from a person's line to the end of the answer,
// with a model that answers at once. Goal: 2 ms.
func BenchmarkTextTurn(b *testing.B) {
	for _, m := range media {
		b.Run(m.name, func(b *testing.B) {
			done := make(chan struct{}, 1)
			list, end := chats(b, 1, m.sound, func(e session.TurnEvent) {
				if e.Role == conv.RoleAgent && e.Type == conv.TurnCompleted && e.Kind == conv.ReplyAnswer {
					done <- struct{}{}
				}
			})
			defer end()
			for b.Loop() {
				if err := list[0].SendText("what is the weather in Lisbon"); err != nil {
					b.Fatal(err)
				}
				<-done
			}
		})
	}
}
