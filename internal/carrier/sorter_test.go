package carrier

import (
	"slices"
	"testing"
)

// TestSorter checks the order of payloads by their numbers: each payload is one sample here.
func TestSorter(t *testing.T) {
	for name, tc := range map[string]struct {
		come []uint64
		want []int16 // the numbers of what is played; 0 is silence
	}{
		"in order":             {[]uint64{1, 2, 3}, []int16{1, 2, 3}},
		"one is overtaken":     {[]uint64{1, 3, 2, 4}, []int16{1, 2, 3, 4}},
		"two are overtaken":    {[]uint64{1, 3, 4, 2, 5}, []int16{1, 2, 3, 4, 5}},
		"one is lost":          {[]uint64{1, 3, 4, 5, 6}, []int16{1, 0, 3, 4, 5, 6}},
		"two are lost":         {[]uint64{1, 4, 5, 6}, []int16{1, 0, 0, 4, 5, 6}},
		"one comes too late":   {[]uint64{1, 3, 4, 5, 2, 6}, []int16{1, 0, 3, 4, 5, 6}},
		"one comes twice":      {[]uint64{1, 2, 2, 3}, []int16{1, 2, 3}},
		"an early one twice":   {[]uint64{1, 3, 3, 2}, []int16{1, 2, 3}},
		"two holes":            {[]uint64{1, 3, 5, 6, 7}, []int16{1, 0, 3, 0, 5, 6, 7}},
		"begins in the middle": {[]uint64{70, 71}, []int16{70, 71}},
		"counted anew":         {[]uint64{99, 100, 1, 2}, []int16{99, 100, 1, 2}},
		"a long break":         {[]uint64{1, 90, 91}, []int16{1, 90, 91}},
		"early, then a break":  {[]uint64{1, 3, 90, 91}, []int16{1, 90, 91}},
		"without numbers":      {[]uint64{0, 0}, []int16{-1, -1}},
		"numbers end":          {[]uint64{5, 0, 6}, []int16{5, -1, 6}},
	} {
		s := sorter{frame: 1, decode: func(dst []int16, p []byte) []int16 { return append(dst, int16(int8(p[0]))) }}
		var got []int16
		for _, c := range tc.come {
			n := byte(c)
			if c == 0 {
				n = 255
			}
			got = append(got, s.next(c, []byte{n})...)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v are played as %v, expected %v", name, tc.come, got, tc.want)
		}
	}
}
