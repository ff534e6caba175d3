package eval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/turn"
)

// answered is an answer and what became of it.
type answered struct {
	recording *Recording
	Outcome
}

// line names the kind of line of a recording by its rate.
func line(rate int) string {
	if rate <= 8000 {
		return "telephone"
	}
	return "clear voice"
}

// measureAnswers holds a call for each answer whose value is known, in which the agent asks for
// its slot.
func (e *evaluation) measureAnswers(ctx context.Context) error {
	var list []Recording
	for _, r := range e.manifest.Of(KindAnswer) {
		if r.Value != "" {
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		e.report.note("answers: no recording of an answer has a value")
		return nil
	}
	groups := map[string][]answered{}
	for i := range list {
		r := &list[i]
		pcm, rate, err := e.soundAndRate(r)
		if err != nil {
			return err
		}
		a := Answer{Slot: r.Slot, Want: r.Value, PCM: pcm, End: time.Duration(len(pcm)) * time.Second / Rate}
		o, err := Fill(ctx, e.services, e.trained(turn.Options{}), a)
		if err != nil {
			return err
		}
		name := r.Slot + ", " + line(rate)
		groups[name] = append(groups[name], answered{r, o})
		if !o.Right(r.Value) {
			e.detail("answers", r, "%s: heard %q (%.2f), taken %q", r.Value, o.Words, o.Sure, o.Taken)
		}
		e.progress(PartAnswers, i+1, len(list))
	}
	var names []string
	for name := range groups {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		e.answerFigures(name, groups[name])
	}
	return nil
}

// answerFigures reports the answers to one slot on one kind of line.
func (e *evaluation) answerFigures(name string, list []answered) {
	var counts [4]tally
	for i := range counts {
		counts[i] = tally{}
	}
	for _, a := range list {
		want := a.recording.Value
		for i, is := range []bool{a.Right(want), a.Wrong(want), a.Asked, a.Taken == "" && !a.Asked} {
			counts[i].one(a.recording, is)
		}
	}
	goals := [4]*Goal{}
	slot, on := list[0].recording.Slot, name[len(list[0].recording.Slot)+2:]
	if slot == "digit" || slot == "number" {
		goals[0] = &Goal{false, 60}
		goals[1] = &Goal{true, 3}
		if on == line(Rate) {
			goals[0] = &Goal{false, 90}
		}
	}
	for i, what := range []string{"right", "wrong one taken", "asked again", "not heard"} {
		e.add(Figure{Part: PartAnswers, Name: name + ": " + what, Unit: "%", Values: counts[i].percent(), Goal: goals[i]})
	}
	e.answerCurve(name, list)
}

// answerCurve draws right against wrong answers by the confidence that is asked for.
func (e *evaluation) answerCurve(name string, list []answered) {
	curve := Curve{Name: "answers-" + fileName(name), Title: "Answers: " + name + ", by the least confidence", X: "wrong one taken, %", Y: "right, %"}
	for _, split := range []string{Unseen, Seen} {
		var taken []answered
		all := 0
		for _, a := range list {
			if a.recording.Split != split {
				continue
			}
			all++
			if a.Taken != "" {
				taken = append(taken, a)
			}
		}
		if all == 0 {
			continue
		}
		slices.SortFunc(taken, func(a, b answered) int { return cmp.Compare(b.Sure, a.Sure) })
		s := Series{Name: split, Points: []Point{{0, 0, "1.00"}}}
		right, wrong := 0, 0
		for i, a := range taken {
			if a.Right(a.recording.Value) {
				right++
			} else {
				wrong++
			}
			if i+1 == len(taken) || taken[i+1].Sure != a.Sure {
				s.Points = append(s.Points, Point{share(wrong, all), share(right, all), fmt.Sprintf("%.2f", a.Sure)})
			}
		}
		curve.Series = append(curve.Series, s)
	}
	e.report.Curves = append(e.report.Curves, curve)
}
