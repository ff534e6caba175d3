package session

import (
	"fmt"
	"sync"
)

// Owners allows each owner (a window, a caller, a user) one conversation at a time (seed 000,
// CON-002). The zero value is ready to use. It is safe for concurrent use and must not be
// copied.
type Owners struct {
	mu     sync.Mutex
	active map[string]bool
}

// ActiveError is the error for a second conversation of an owner. Owner may be empty.
type ActiveError struct{ Owner string }

// Error implements error.
func (e *ActiveError) Error() string {
	if e.Owner == "" {
		return "a conversation is already active"
	}
	return fmt.Sprintf("%s already has an active conversation", e.Owner)
}

// Acquire notes that a conversation of the owner is active, until release is called. It returns
// an [*ActiveError] if one is active already. Further calls of release do nothing.
func (o *Owners) Acquire(owner string) (release func(), err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.active[owner] {
		return nil, &ActiveError{Owner: owner}
	}
	if o.active == nil {
		o.active = make(map[string]bool)
	}
	o.active[owner] = true
	return sync.OnceFunc(func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.active, owner)
	}), nil
}
