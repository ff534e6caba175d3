package device

import (
	"fmt"
	"sync"
)

// Side is a side of a call.
type Side int

// The sides of a call.
const (
	Caller Side = iota // on the left
	Agent              // on the right
)

// Speaker plays both sides of a call that another leg holds.
type Speaker struct {
	stream stream
	mono   []int16 // samples of one side

	mu    sync.Mutex // guards the queues
	sides [2]*queue
}

// OpenSpeaker opens the default speaker. The caller must close it.
func OpenSpeaker(o Options) (*Speaker, error) { return openSpeaker(o, openDevice) }

func openSpeaker(o Options, f opener) (*Speaker, error) {
	o.setDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := &Speaker{mono: make([]int16, o.Rate), sides: [2]*queue{newQueue(o.Rate, reserve), newQueue(o.Rate, reserve)}}
	var err error
	if s.stream, err = f(o.Rate, 0, len(s.sides), s.exchange, func() {}); err != nil {
		return nil, fmt.Errorf("speaker: %w", err)
	}
	return s, nil
}

// Play plays the next samples of a side in real time. It does not keep them. It is safe
// for concurrent use.
func (s *Speaker) Play(side Side, pcm []int16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sides[side].put(pcm)
}

// exchange provides the next samples. It runs on the device's thread.
func (s *Speaker) exchange(played, _ []int16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(played) > 0 {
		part := played[:min(len(played), len(s.sides)*len(s.mono))]
		mono := s.mono[:len(part)/len(s.sides)]
		for i, q := range s.sides {
			for k, v := range mono[:q.take(mono)] {
				part[k*len(s.sides)+i] = v
			}
		}
		played = played[len(part):]
	}
}

// Close closes the device and drops the samples that were not played.
func (s *Speaker) Close() error { return s.stream.Close() }
