package hub

import "time"

// Patient makes the machine wait for a client that has gone as long as its leg
// does, and a little longer: it is the leg that gives up.
func Patient(d time.Duration) (limit time.Duration, attempts []time.Duration) {
	const margin = 10 * time.Second
	limit = d + 2*margin
	attempts = []time.Duration{time.Second, 3 * time.Second}
	for waited := 4 * time.Second; waited < d+margin; waited += margin {
		attempts = append(attempts, margin)
	}
	return limit, attempts
}
