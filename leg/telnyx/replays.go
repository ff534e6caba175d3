package telnyx

import "time"

// mostSeen limits the webhooks that are remembered.
const mostSeen = 100000

// replays remembers webhooks as long as their signature is valid. The zero value is empty. It is not
// safe for concurrent use.
type replays struct {
	ids   map[string]bool
	order []seen // oldest first
}

// seen is a webhook that was taken.
type seen struct {
	id string
	at time.Time
}

// add reports whether a webhook is new.
func (r *replays) add(id string, now time.Time) bool {
	for len(r.order) > 0 && (now.Sub(r.order[0].at) > remembered || len(r.order) >= mostSeen) {
		delete(r.ids, r.order[0].id)
		r.order = r.order[1:]
	}
	if r.ids[id] {
		return false
	}
	if r.ids == nil {
		r.ids = make(map[string]bool)
	}
	r.ids[id] = true
	r.order = append(r.order, seen{id, now})
	return true
}

// remove forgets the webhook that was added last, which is to be repeated.
func (r *replays) remove(id string) { delete(r.ids, id) }
