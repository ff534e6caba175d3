package bench

import (
	"context"
	"runtime"
	"time"

	"github.com/hocketvoice/hocket/internal/wait"
)

// Usage is the cost of the measured calls, including their callers, which run in
// the same process.
type Usage struct {
	Calls   int     `json:"calls"`
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu_percent_per_call"` // of one core; 0 if the system does not report it
	Memory  float64 `json:"memory_kb_per_call"`   // heap and stacks
	Before  int     `json:"goroutines_before"`
	During  int     `json:"goroutines_during"`
	After   int     `json:"goroutines_after"`

	memory uint64 // before the calls
}

// open records the state before the calls.
func (u *Usage) open(calls int) {
	u.Calls, u.Before, u.memory = calls, runtime.NumGoroutine(), memory()
}

// watch waits for the calls to warm up and then measures their cost for a time.
// begin is called in between.
func (u *Usage) watch(ctx context.Context, d time.Duration, begin func()) error {
	if err := wait.For(ctx, warmUp); err != nil {
		return err
	}
	begin()
	began := time.Now()
	cpu, known := cpuTime()
	if err := wait.For(ctx, d); err != nil {
		return err
	}
	elapsed := time.Since(began)
	if after, _ := cpuTime(); known {
		u.CPU = 100 * float64(after-cpu) / float64(elapsed) / float64(u.Calls)
	}
	u.Seconds, u.During = elapsed.Seconds(), runtime.NumGoroutine()
	if used := memory(); used > u.memory {
		u.Memory = float64(used-u.memory) / 1024 / float64(u.Calls)
	}
	return nil
}

// close waits for ended goroutines to be gone.
func (u *Usage) close() { u.After = goroutines(u.Before) }

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// memory returns the program's heap and stacks in bytes.
func memory() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// goroutines returns the number of goroutines, after waiting for it to fall to
// before.
func goroutines(before int) int {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(settled); time.Now().Before(end) && runtime.NumGoroutine() > before; {
		<-tick.C
	}
	return runtime.NumGoroutine()
}
