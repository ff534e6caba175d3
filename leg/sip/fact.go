package sip

import "sync"

// fact is something that happens once. Its methods are safe for concurrent use.
type fact struct {
	once sync.Once
	c    chan struct{} // closed when it has happened
}

func newFact() *fact { return &fact{c: make(chan struct{})} }

// happen notes that the fact has happened. A repetition does nothing.
func (f *fact) happen() { f.once.Do(func() { close(f.c) }) }

func (f *fact) happened() bool {
	select {
	case <-f.c:
		return true
	default:
		return false
	}
}
