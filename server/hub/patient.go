package hub

import "time"

// Patient returns the reconnect limit and attempts with which the machine waits a
// little longer than d, so that the leg and not the machine gives up on a lost
// client.
func Patient(d time.Duration) (limit time.Duration, attempts []time.Duration) {
	const margin = 10 * time.Second
	limit = d + 2*margin
	attempts = []time.Duration{time.Second, 3 * time.Second}
	for waited := 4 * time.Second; waited < d+margin; waited += margin {
		attempts = append(attempts, margin)
	}
	return limit, attempts
}
