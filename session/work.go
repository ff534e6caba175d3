package session

import "sync"

// work counts who is busy, so that virtual time goes on only while nobody is.
type work struct {
	mu    sync.Mutex
	cond  *sync.Cond
	n     int
	ended bool // the workers end: nobody waits for them here any more

	jobs []func() // to be done by who settles; of the loop's goroutine
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

// end lets settle go: work that is handed over now may find nobody to do it.
func (w *work) end() {
	w.mu.Lock()
	w.ended = true
	w.cond.Broadcast()
	w.mu.Unlock()
}

// later has a job done by settle, in place of a worker. The loop calls it.
func (w *work) later(job func()) { w.jobs = append(w.jobs, job) }

// settle returns when nobody is busy, or when the workers end. The loop calls it.
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

// busy counts jobs that are handed to a worker (n > 0) and done (n < 0).
func (s *Session) busy(n int) {
	if s.work != nil {
		s.work.add(n)
	}
}

// parked is told when the maker of speech waits for room in the playout.
func (s *Session) parked(waiting bool) {
	if waiting {
		s.busy(-1)
	} else {
		s.busy(1)
	}
}
