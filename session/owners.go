package session

import (
	"fmt"
	"sync"
)

// Owners keeps each owner (a window, a caller, a user) to one conversation at a
// time: seed 000, CON-002. The zero value is ready; it is safe for concurrent
// use.
type Owners struct {
	mu     sync.Mutex
	active map[string]bool
}

// ActiveError refuses a second conversation.
type ActiveError struct{ Owner string }

// Error says who has a conversation already.
func (e *ActiveError) Error() string {
	if e.Owner == "" {
		return "a conversation is already active"
	}
	return fmt.Sprintf("%s has an active conversation already", e.Owner)
}

// Acquire takes the owner's one place. It fails with an [*ActiveError] while
// another conversation has it. release gives it back, once.
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
