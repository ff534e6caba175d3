package session

import "sync"

// work counts the jobs in progress, so that virtual time stands until all are done.
type work struct {
	mu    sync.Mutex
	cond  *sync.Cond
	n     int
	ended bool // the workers end, and settle no longer waits for them

	jobs []func() // done by settle; only the loop's goroutine uses it
}

func newWork() *work {
	w := &work{}
	w.cond = sync.NewCond(&w.mu)
	return w
}

func (w *work) add(n int) {
	w.mu.Lock()
	w.n += n
	if w.n == 0 {
		w.cond.Broadcast()
	}
	w.mu.Unlock()
}

// end makes settle return from now on without waiting, because workers may be gone.
func (w *work) end() {
	w.mu.Lock()
	w.ended = true
	w.cond.Broadcast()
	w.mu.Unlock()
}

// later queues a job that settle does in place of a worker. The loop calls it.
func (w *work) later(job func()) { w.jobs = append(w.jobs, job) }

// settle does the queued jobs, and then waits until no job is in progress, or until the workers
// end. The loop calls it.
func (w *work) settle() {
	for len(w.jobs) > 0 {
		job := w.jobs[0]
		w.jobs = w.jobs[1:]
		job()
	}
	w.mu.Lock()
	for w.n > 0 && !w.ended {
		w.cond.Wait()
	}
	w.mu.Unlock()
}

// busy counts n jobs that are handed to a worker, or -n that are done if n is negative. In real
// time it does nothing.
func (s *Session) busy(n int) {
	if s.work != nil {
		s.work.add(n)
	}
}

// parked notes whether the synthesizer waits for room in the playout. It is then not busy.
func (s *Session) parked(waiting bool) {
	if waiting {
		s.busy(-1)
	} else {
		s.busy(1)
	}
}
