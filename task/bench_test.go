package task

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/pgtest"
	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// durable flushes to the disk, as a production server does.
var durable = pgtest.Server{Durable: true} //nolint:gochecknoglobals // one for the benchmarks of this package; TestMain stops it

func bothBench(b *testing.B, run func(b *testing.B, at Options)) {
	b.Helper()
	b.Run("sqlite", func(b *testing.B) { run(b, Options{Path: newPath(b), Keys: [][]byte{key32(1)}}) })
	b.Run("postgres", func(b *testing.B) { run(b, Options{URL: durable.Database(b), Keys: [][]byte{key32(1)}}) })
}

func quantiles(b *testing.B, name string, all []time.Duration) {
	slices.Sort(all)
	ms := func(q int) float64 { return float64(all[min(len(all)-1, len(all)*q/100)]) / float64(time.Millisecond) }
	b.ReportMetric(ms(50), name+"-p50-ms")
	b.ReportMetric(ms(95), name+"-p95-ms")
}

// BenchmarkTask measures what a task costs in addition to its tool, one at a time: from
// Start to the call of the tool, and from the tool's end to the end of Follow. Goal:
// below 50 ms each.
func BenchmarkTask(b *testing.B) {
	bothBench(b, func(b *testing.B, o Options) {
		called, ended := make(chan time.Time, 1), make(chan time.Time, 1)
		tool := &porttest.Tool{Known: []port.ToolSpec{{Name: "work"}}}
		tool.Run = func(context.Context, port.ToolCall, func(string)) (string, error) {
			called <- time.Now()
			time.AfterFunc(time.Millisecond, func() { ended <- time.Now() })
			at := <-ended
			ended <- at
			return "done", nil
		}
		o.Resolve = one(tool)
		tasks := opened(b, o)
		working(b, tasks)
		var starts, calls, ends []time.Duration
		for i := 0; b.Loop(); i++ {
			key := fmt.Sprint(i)
			begin := time.Now()
			started(b, tasks, asked(key, "work", `{"question": "what is the weather in Berlin?"}`))
			starts = append(starts, time.Since(begin))
			wantOutput(b, tasks, key, "done")
			ends = append(ends, time.Since(<-ended))
			calls = append(calls, (<-called).Sub(begin))
			if err := tasks.Settle(b.Context(), key); err != nil {
				b.Fatal(err)
			}
		}
		quantiles(b, "start", starts)
		quantiles(b, "call", calls)
		quantiles(b, "result", ends)
	})
}

// BenchmarkCancel measures how long a tool in another process continues after its task
// was cancelled. Goal: below 1 s.
func BenchmarkCancel(b *testing.B) {
	bothBench(b, func(b *testing.B, o Options) {
		begun, ended := make(chan struct{}, 1), make(chan time.Time, 1)
		tool := &porttest.Tool{Known: []port.ToolSpec{{Name: "work"}}}
		tool.Run = func(ctx context.Context, _ port.ToolCall, _ func(string)) (string, error) {
			begun <- struct{}{}
			<-ctx.Done()
			ended <- time.Now()
			return "", ctx.Err()
		}
		asks := opened(b, o)
		o.Resolve = one(tool)
		working(b, opened(b, o))
		var all []time.Duration
		for i := 0; b.Loop(); i++ {
			key := fmt.Sprint(i)
			started(b, asks, asked(key, "work", "{}"))
			<-begun
			_ = wait.For(b.Context(), poll+rand.N(poll)) // at any time between two polls
			begin := time.Now()
			if err := asks.Cancel(b.Context(), key); err != nil {
				b.Fatal(err)
			}
			all = append(all, (<-ended).Sub(begin))
		}
		quantiles(b, "cancel", all)
	})
}

// BenchmarkTakeover measures how long after the death of a worker its tool is called
// again by another one. Goal: below 10 s.
func BenchmarkTakeover(b *testing.B) {
	bothBench(b, func(b *testing.B, o Options) {
		o.Keys = nil // the other process has none
		called := make(chan time.Time, 1)
		tool := &porttest.Tool{Known: []port.ToolSpec{{Name: "work"}}}
		tool.Run = func(context.Context, port.ToolCall, func(string)) (string, error) {
			called <- time.Now()
			return "done", nil
		}
		o.Resolve = one(tool)
		count := filepath.Join(b.TempDir(), "count")
		if err := os.WriteFile(count, nil, 0o600); err != nil {
			b.Fatal(err)
		}
		tasks := opened(b, o)
		var all []time.Duration
		for i := 0; b.Loop(); i++ {
			dies := spawned(b, o, count, childCalm+"=1")
			started(b, tasks, asked(fmt.Sprint(i), "work", "{}"))
			for line := ""; !strings.HasPrefix(line, "begin"); {
				line = take(b, dies.lines)
			}
			dies.kill(b)
			begin := time.Now()
			stop := working(b, tasks)
			all = append(all, take(b, called).Sub(begin))
			stop()
		}
		quantiles(b, "takeover", all)
	})
}

// BenchmarkMany measures how long 200 simultaneous tasks take, and how much memory a
// waiting task needs, with its tool and its follower. Goal: below 100 KB each.
func BenchmarkMany(b *testing.B) {
	bothBench(b, func(b *testing.B, o Options) {
		const many = 200
		goOn := make(chan struct{})
		var at sync.WaitGroup
		tool := &porttest.Tool{Known: []port.ToolSpec{{Name: "work"}}}
		tool.Run = func(context.Context, port.ToolCall, func(string)) (string, error) {
			at.Done()
			<-goOn
			return "done", nil
		}
		o.Resolve, o.Parallel = one(tool), many
		tasks := opened(b, o)
		working(b, tasks)
		memory := func() float64 {
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return float64(m.HeapInuse + m.StackInuse)
		}
		for round := 0; b.Loop(); round++ {
			goOn = make(chan struct{})
			at.Add(many)
			before, begin := memory(), time.Now()
			var follow sync.WaitGroup
			for i := range many {
				key := fmt.Sprint(round, "-", i)
				started(b, tasks, asked(key, "work", `{"question": "what is the weather in Berlin?"}`))
				follow.Go(func() {
					if _, err := tasks.Follow(b.Context(), key, nil); err != nil {
						b.Error(err)
					}
				})
			}
			at.Wait()
			b.ReportMetric(float64(many)/time.Since(begin).Seconds(), "starts/s")
			b.ReportMetric((memory()-before)/many/1024, "KB/task")
			begin = time.Now()
			close(goOn)
			follow.Wait()
			b.ReportMetric(float64(many)/time.Since(begin).Seconds(), "ends/s")
		}
	})
}
