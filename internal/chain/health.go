package chain

import (
	"errors"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// Switch is a change from an engine that has failed to the next.
type Switch struct {
	Kind string // "recognizer", "synthesizer"
	From string
	To   string // empty if there is none left
	// Pause is how long From will not be used.
	Pause time.Duration
	Err   error
}

// The pauses of an engine that has failed: the first, and the longest. They double.
const (
	firstPause   = 5 * time.Second
	longestPause = 5 * time.Minute
)

// health records which of several engines have failed. It is safe for concurrent use.
type health struct {
	kind   string
	names  []string
	report func(Switch)

	mu     sync.Mutex // guards the fields below
	until  []time.Time
	pauses []time.Duration // of the last failure; 0: none since the last success
}

func newHealth(kind string, names []string, report func(Switch)) *health {
	return &health{kind: kind, names: names, report: report, until: make([]time.Time, len(names)), pauses: make([]time.Duration, len(names))}
}

// order returns the engines in the order in which they are to be tried at a time: those that
// work, then those that have failed, the one whose pause ends first before the others.
func (h *health) order(now time.Time) []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	var works, failed []int
	for i, until := range h.until {
		if !now.Before(until) {
			works = append(works, i)
			continue
		}
		at := len(failed)
		for at > 0 && until.Before(h.until[failed[at-1]]) {
			at--
		}
		failed = append(failed[:at], append([]int{i}, failed[at:]...)...)
	}
	return append(works, failed...)
}

// worked records that an engine works.
func (h *health) worked(i int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.until[i], h.pauses[i] = time.Time{}, 0
}

// failed records that an engine has failed, and that the one at next, or none if it is
// negative, is used instead.
func (h *health) failed(i, next int, err error, now time.Time) {
	h.mu.Lock()
	h.pauses[i] = min(max(firstPause, 2*h.pauses[i]), longestPause)
	if f, ok := errors.AsType[*port.Failure](err); ok {
		if errclass.Of(f.Code).Action == errclass.End {
			h.pauses[i] = longestPause // it will not recover by itself
		}
		h.pauses[i] = max(h.pauses[i], f.After)
	}
	h.until[i] = now.Add(h.pauses[i])
	s := Switch{Kind: h.kind, From: h.names[i], Pause: h.pauses[i], Err: err}
	h.mu.Unlock()
	if next >= 0 {
		s.To = h.names[next]
	}
	if h.report != nil {
		h.report(s)
	}
}
