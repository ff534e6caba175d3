package eval

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

// voiceNeighbours are the areas under the curve on AliMeeting that are published with Silero (its
// wiki, Quality Metrics, 2024).
var voiceNeighbours = []Neighbour{
	{"Silero v5", 0.96, false}, {"commercial", 0.91, false}, {"WebRTC", 0.82, false},
}

// scored is a frame of 20 ms: the probability of speech, and whether there is speech.
type scored struct {
	p      float64
	speech bool
}

const (
	// padding is played before a recording, since many are cut at the words. It does not count.
	padding = time.Second
	// snr is the level of speech above the noise that is added to it, in decibels.
	snr = 10
)

// measureVoice runs the detectors on the recordings whose speech is known.
func (e *evaluation) measureVoice(ctx context.Context) error {
	var speech, noise []Recording
	for _, r := range e.manifest.Recordings {
		switch {
		case len(r.Speech) > 0:
			speech = append(speech, r)
		case r.Kind == KindNoise:
			noise = append(noise, r)
		}
	}
	if len(speech) == 0 {
		e.report.note("voice: no recording says where its speech is")
		return nil
	}
	curve := Curve{Name: "voice", Title: "Voice activity, unseen recordings as they are", X: "frames without speech taken for speech, %", Y: "frames of speech found, %"}
	for _, d := range e.detectors {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := map[string]map[string][]scored{} // by name, split
		add := func(name string, r *Recording, list []scored) {
			if rows[name] == nil {
				rows[name] = map[string][]scored{}
			}
			rows[name][r.Split] = append(rows[name][r.Split], list...)
		}
		alarms := tally{}
		rnd := rand.New(rand.NewPCG(1, 1))
		for i := range speech {
			r := &speech[i]
			pcm, err := e.sound(r)
			if err != nil {
				return err
			}
			list, err := score(d, pcm, r.Speech)
			if err != nil {
				return err
			}
			add("AUC, "+r.Set, r, list)
			if len(noise) > 0 {
				n, err := e.sound(&noise[rnd.IntN(len(noise))])
				if err != nil {
					return err
				}
				if list, err = score(d, mixed(pcm, n), r.Speech); err != nil {
					return err
				}
				add(fmt.Sprintf("AUC, all in noise, %d dB", snr), r, list)
			}
			e.progress(PartVoice, i+1, len(speech))
		}
		for i := range noise {
			r := &noise[i]
			pcm, err := e.sound(r)
			if err != nil {
				return err
			}
			list, err := score(d, pcm, nil)
			if err != nil {
				return err
			}
			for _, s := range list {
				alarms.one(&Recording{Split: r.Split, Speaker: r.Set}, s.p > 0.5)
			}
		}
		e.voiceFigures(d.Name(), rows, alarms, &curve)
	}
	e.report.Curves = append(e.report.Curves, curve)
	return nil
}

// voiceFigures reports one detector.
func (e *evaluation) voiceFigures(detector string, rows map[string]map[string][]scored, alarms tally, curve *Curve) {
	var names []string
	for name := range rows {
		names = append(names, name)
	}
	slices.Sort(names)
	var clean []scored
	for _, name := range names {
		f := Figure{Part: PartVoice, Name: detector + ": " + name, Values: map[string]Value{}}
		for split, list := range rows[name] {
			if area, ok := auc(list); ok {
				f.Values[split] = Value{Value: area, N: len(list)}
			}
		}
		f.Neighbours = voiceNeighbours
		e.add(f)
		if name != fmt.Sprintf("AUC, all in noise, %d dB", snr) {
			clean = append(clean, rows[name][Unseen]...)
		}
	}
	if len(alarms) > 0 {
		e.add(Figure{Part: PartVoice, Name: detector + ": noise taken for speech", Unit: "%", Values: alarms.percent()})
	}
	s := Series{Name: detector}
	for t := 0.02; t < 1; t += 0.02 {
		var found, speech, wrong, other int
		for _, f := range clean {
			switch {
			case f.speech:
				speech++
				found += count(f.p > t)
			default:
				other++
				wrong += count(f.p > t)
			}
		}
		if speech > 0 && other > 0 {
			s.Points = append(s.Points, Point{share(wrong, other), share(found, speech), fmt.Sprintf("%.2f", t)})
		}
	}
	if len(s.Points) > 0 {
		curve.Series = append(curve.Series, s)
	}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// score runs a detector on a recording after faint noise.
func score(d port.Detector, pcm []int16, speech []Span) ([]scored, error) {
	s, err := d.Open()
	if err != nil {
		return nil, fmt.Errorf("eval: %w", err)
	}
	if d.Rate() != Rate {
		return nil, fmt.Errorf("eval: the detector %s works at %d Hz: expected %d", d.Name(), d.Rate(), Rate)
	}
	quiet := pieces(rand.New(rand.NewPCG(2, 2)), nil, make([]int16, audio.PosOf(padding, Rate)))
	pcm = slices.Concat(quiet, pcm)
	var out []scored
	n := audio.FrameSamples(Rate)
	for at := 0; at+n <= len(pcm); at += n {
		p := s.Write(pcm[at : at+n])
		if at < len(quiet) {
			continue
		}
		middle := audio.Pos(at+n/2).Duration(Rate) - padding
		out = append(out, scored{p, slices.ContainsFunc(speech, func(s Span) bool { return middle >= s.From && middle < s.To })})
	}
	return out, nil
}

// mixed adds noise at snr below the speech.
func mixed(pcm, noise []int16) []int16 {
	level := audio.RMS(noise)
	if len(noise) == 0 || level == 0 {
		return pcm
	}
	gain := audio.RMS(pcm) / level * audio.FromDBFS(-snr)
	out := slices.Clone(pcm)
	for i := range out {
		v := float64(out[i]) + float64(noise[i%len(noise)])*gain
		out[i] = int16(min(max(v, -32768), 32767))
	}
	return out
}

// auc returns the area under the curve of found speech against false alarms: the probability
// that a frame of speech has a higher value than one without, ties counting half. ok is false if
// there is none of one of them.
func auc(list []scored) (area float64, ok bool) {
	sorted := slices.Clone(list)
	slices.SortFunc(sorted, func(a, b scored) int { return cmp.Compare(a.p, b.p) })
	var speech, other, wins float64
	for i := 0; i < len(sorted); {
		var s, o float64
		j := i
		for ; j < len(sorted) && sorted[j].p == sorted[i].p; j++ {
			if sorted[j].speech {
				s++
			} else {
				o++
			}
		}
		wins += s * (other + o/2)
		speech += s
		other += o
		i = j
	}
	if speech == 0 || other == 0 {
		return 0, false
	}
	return wins / (speech * other), true
}
