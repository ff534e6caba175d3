package audio

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// ringModel is a simple implementation of Ring.
type ringModel struct {
	pcm     []int16
	pos     Pos
	dropped Pos
}

func (m *ringModel) discard(n int) {
	m.pcm, m.pos = m.pcm[n:], m.pos+Pos(n)
}

// The value of each sample is its position, so that a misplaced sample is detected.
func samplesAt(pos Pos, n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(pos + Pos(i))
	}
	return pcm
}

func TestRingAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.IntRange(1, 20).Draw(t, "capacity")
		start := Pos(rapid.IntRange(-5, 1000).Draw(t, "start"))
		r, err := NewRing(RingOptions{Capacity: capacity, Start: start})
		if err != nil {
			t.Fatal(err)
		}
		m := &ringModel{pos: start}
		length := rapid.IntRange(0, 45)
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				pcm := samplesAt(r.End(), length.Draw(t, "n"))
				want := min(len(pcm), capacity-len(m.pcm))
				m.pcm = append(m.pcm, pcm[:want]...)
				if got := r.Write(pcm); got != want {
					t.Fatalf("Write took %d, want %d", got, want)
				}
			},
			"overwrite": func(t *rapid.T) {
				pcm := samplesAt(r.End(), length.Draw(t, "n"))
				m.pcm = append(m.pcm, pcm...)
				want := max(0, len(m.pcm)-capacity)
				m.discard(want)
				m.dropped += Pos(want)
				if got := r.Overwrite(pcm); got != want {
					t.Fatalf("Overwrite dropped %d, want %d", got, want)
				}
			},
			"read": func(t *rapid.T) {
				dst := make([]int16, length.Draw(t, "n"))
				want := min(len(dst), len(m.pcm))
				got := r.Read(dst)
				if got != want || !slices.Equal(dst[:got], m.pcm[:want]) {
					t.Fatalf("Read gave %v, want %v", dst[:got], m.pcm[:want])
				}
				m.discard(want)
			},
			"copy": func(t *rapid.T) {
				dst := make([]int16, length.Draw(t, "n"))
				at := m.pos + Pos(rapid.IntRange(-3, 25).Draw(t, "offset"))
				var want []int16
				if skip := int(at - m.pos); skip >= 0 && skip < len(m.pcm) {
					want = m.pcm[skip:min(len(m.pcm), skip+len(dst))]
				}
				got := r.CopyAt(dst, at)
				if !slices.Equal(dst[:got], want) {
					t.Fatalf("CopyAt(%d) gave %v, want %v", at, dst[:got], want)
				}
				for i, s := range dst[:got] {
					if Pos(s) != at+Pos(i) {
						t.Fatalf("the sample at %d is that of %d", at+Pos(i), s)
					}
				}
			},
			"discard": func(t *rapid.T) {
				n := rapid.IntRange(-2, 25).Draw(t, "n")
				want := max(0, min(n, len(m.pcm)))
				m.discard(want)
				if got := r.Discard(n); got != want {
					t.Fatalf("Discard removed %d, want %d", got, want)
				}
			},
			"reset": func(t *rapid.T) {
				m.pcm, m.pos = nil, Pos(rapid.IntRange(0, 1000).Draw(t, "at"))
				r.Reset(m.pos)
			},
			"": func(t *rapid.T) {
				if r.Len() != len(m.pcm) || r.Cap() != capacity || r.Room() != capacity-len(m.pcm) {
					t.Fatalf("Len, Cap, Room are %d, %d, %d, want %d, %d, %d", r.Len(), r.Cap(), r.Room(), len(m.pcm), capacity, capacity-len(m.pcm))
				}
				if r.Pos() != m.pos || r.End() != m.pos+Pos(len(m.pcm)) || r.Dropped() != m.dropped {
					t.Fatalf("Pos, End, Dropped are %d, %d, %d, want %d, %d, %d", r.Pos(), r.End(), r.Dropped(), m.pos, m.pos+Pos(len(m.pcm)), m.dropped)
				}
			},
		})
	})
}

func TestRingOptions(t *testing.T) {
	for _, capacity := range []int{-1, 0} {
		if _, err := NewRing(RingOptions{Capacity: capacity}); err == nil {
			t.Errorf("capacity %d was accepted", capacity)
		}
	}
}

// An empty ring frees its buffer and allocates it again.
func TestRingRelease(t *testing.T) {
	r, err := NewRing(RingOptions{Capacity: 4, Start: 10})
	if err != nil {
		t.Fatal(err)
	}
	r.Write([]int16{1, 2, 3})
	r.Release()
	got := make([]int16, 4)
	if n := r.Read(got); n != 3 || got[2] != 3 {
		t.Fatalf("a ring that held samples has %v", got[:n])
	}
	r.Release()
	if r.buf != nil || r.Cap() != 4 || r.Room() != 4 || r.Pos() != 13 || r.Read(got) != 0 {
		t.Errorf("%+v", r)
	}
	if n := r.Overwrite([]int16{4, 5, 6, 7, 8}); n != 1 || r.Pos() != 14 {
		t.Errorf("%d dropped, at %d", n, r.Pos())
	}
	if n := r.Read(got); n != 4 || got[0] != 5 || got[3] != 8 {
		t.Errorf("it holds %v", got[:n])
	}
}
