package carrier

import (
	"cmp"
	"slices"
)

// sorter puts the payloads of a stream in order: carriers number them, and some do not promise
// their order. It is not safe for concurrent use.
type sorter struct {
	decode func(dst []int16, payload []byte) []int16
	frame  int    // samples of 20 ms, the length of a lost payload
	want   uint64 // number of the next payload; 0 before the first
	early  []payload
	pcm    []int16
}

type payload struct {
	chunk uint64
	data  []byte
}

// longest is how many lost payloads are replaced by silence: after more the carrier has counted
// anew.
const longest = 50

// next takes a payload and returns the samples that are due, which are valid until the next
// call. A payload without a number is due at once. One that comes early waits for up to two
// others; what is missing then is silence, and what comes later is dropped.
func (s *sorter) next(chunk uint64, data []byte) []int16 {
	s.pcm = s.pcm[:0]
	switch {
	case chunk == 0, s.want == 0, chunk == s.want, chunk > s.want+longest, chunk+longest < s.want:
		s.play(chunk, data)
	case chunk < s.want:
		return nil
	default:
		s.keep(chunk, data)
		if len(s.early) < window {
			return nil
		}
		for ; s.want < s.early[0].chunk; s.want++ {
			s.pcm = append(s.pcm, make([]int16, s.frame)...)
		}
	}
	for len(s.early) > 0 && s.early[0].chunk <= s.want {
		if s.early[0].chunk == s.want {
			s.play(s.want, s.early[0].data)
		}
		s.early = s.early[1:]
	}
	return s.pcm
}

// play decodes a payload.
func (s *sorter) play(chunk uint64, data []byte) {
	if chunk+longest < s.want || chunk > s.want+longest {
		s.early = nil
	}
	s.pcm = s.decode(s.pcm, data)
	if chunk > 0 {
		s.want = chunk + 1
	}
}

// keep stores a payload that comes early, in order.
func (s *sorter) keep(chunk uint64, data []byte) {
	i, found := slices.BinarySearchFunc(s.early, chunk, func(p payload, c uint64) int { return cmp.Compare(p.chunk, c) })
	if !found {
		s.early = slices.Insert(s.early, i, payload{chunk, slices.Clone(data)})
	}
}
