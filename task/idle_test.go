//go:build unix

package task

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// BenchmarkIdle measures the CPU time per second of an idle worker, and of one with 50
// waiting tasks. Goal: below 20 ms for the idle one.
func BenchmarkIdle(b *testing.B) {
	bothBench(b, func(b *testing.B, o Options) {
		tool := &porttest.Tool{Known: []port.ToolSpec{{Name: "work"}}}
		tool.Run = func(ctx context.Context, _ port.ToolCall, _ func(string)) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}
		o.Resolve, o.Grace = one(tool), time.Millisecond
		tasks := opened(b, o)
		working(b, tasks)
		const second = time.Second
		cpu := func() (all time.Duration) {
			begin := cpuTime(b)
			for range b.N {
				_ = wait.For(b.Context(), second)
			}
			return (cpuTime(b) - begin) / time.Duration(b.N)
		}
		_ = wait.For(b.Context(), second)
		b.ReportMetric(float64(cpu().Microseconds())/1000, "idle-cpu-ms/s")
		for i := range 50 {
			started(b, tasks, asked(fmt.Sprint(i), "work", "{}"))
		}
		_ = wait.For(b.Context(), second)
		b.ReportMetric(float64(cpu().Microseconds())/1000, "busy50-cpu-ms/s")
	})
}

// cpuTime returns the CPU time used by this process.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
