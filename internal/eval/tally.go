package eval

import "slices"

// tally counts shares by split and voice.
type tally map[string]map[string]*[2]int

// add counts hits out of all.
func (t tally) add(r *Recording, hits, all int) {
	if t[r.Split] == nil {
		t[r.Split] = map[string]*[2]int{}
	}
	c := t[r.Split][r.Speaker]
	if c == nil {
		c = new([2]int)
		t[r.Split][r.Speaker] = c
	}
	c[0] += hits
	c[1] += all
}

// percent returns the shares in percent.
func (t tally) percent() map[string]Value {
	out := map[string]Value{}
	for split, voices := range t {
		v := Value{Voices: map[string]float64{}}
		hits := 0
		for name, c := range voices {
			hits += c[0]
			v.N += c[1]
			if c[1] > 0 {
				v.Voices[name] = share(c[0], c[1])
			}
		}
		if v.N == 0 {
			continue
		}
		v.Value = share(hits, v.N)
		out[split] = v
	}
	return out
}

func share(n, all int) float64 { return 100 * float64(n) / float64(all) }

// one counts a single case.
func (t tally) one(r *Recording, hit bool) {
	n := 0
	if hit {
		n = 1
	}
	t.add(r, n, 1)
}

// spread collects values by split and voice, for their medians.
type spread map[string]map[string][]float64

func (s spread) add(r *Recording, v float64) {
	if s[r.Split] == nil {
		s[r.Split] = map[string][]float64{}
	}
	s[r.Split][r.Speaker] = append(s[r.Split][r.Speaker], v)
}

// median returns the medians.
func (s spread) median() map[string]Value {
	out := map[string]Value{}
	for split, voices := range s {
		v := Value{Voices: map[string]float64{}}
		var all []float64
		for name, list := range voices {
			v.Voices[name] = median(list)
			all = append(all, list...)
		}
		v.Value, v.N = median(all), len(all)
		out[split] = v
	}
	return out
}

func median(list []float64) float64 { return slices.Sorted(slices.Values(list))[len(list)/2] }
