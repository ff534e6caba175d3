package eval

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/turn"
)

// answersOf reads the recordings for the endpointing part: those that say where their speech is
// or where the speaker may hesitate. There a pause of 200 to 1200 ms is put in, seeded.
func (e *evaluation) answersOf() ([]Answer, error) {
	rnd := rand.New(rand.NewPCG(14, 4))
	var out []Answer
	for _, r := range e.manifest.Of(KindAnswer, KindSpeech) {
		if len(r.Pauses) == 0 && (len(r.Speech) == 0 || r.Slot == "" && r.Text == "") {
			continue
		}
		pcm, err := e.sound(&r)
		if err != nil {
			return nil, err
		}
		end := audio.Pos(len(pcm)).Duration(Rate)
		if n := len(r.Speech); n > 0 {
			end = min(end, r.Speech[n-1].To)
		}
		var sounds [][]int16
		var pauses []time.Duration
		from := 0
		for _, p := range r.Pauses {
			at := int(audio.PosOf(p, Rate))
			if at <= from || at >= len(pcm) {
				return nil, inputError{fmt.Errorf("eval: %s: the pause at %v is not within the recording", r.Path, p)}
			}
			pause := time.Duration(200+rnd.IntN(1000)) * time.Millisecond
			sounds, pauses, end = append(sounds, pcm[from:at]), append(pauses, pause), end+pause
			from = at
		}
		a := Answer{Slot: r.Slot, Want: cmp.Or(r.Text, r.Value), Voice: r.Speaker, End: end}
		a.PCM = pieces(rnd, pauses, append(sounds, pcm[from:])...)
		a.Split, a.Set = r.Split, r.Set
		out = append(out, a)
	}
	return out, nil
}

// measureEndpointing sweeps the policies over the answers.
func (e *evaluation) measureEndpointing(ctx context.Context) error {
	var list []Heard
	var err error
	if e.Recorded != nil {
		if list, err = ReadRecorded(e.Recorded); err != nil {
			err = inputError{fmt.Errorf("the recorded timings: %w", err)}
		}
	} else {
		list, err = e.listen(ctx)
	}
	if err != nil {
		return err
	}
	if len(list) == 0 {
		e.report.note("endpointing: no recording of speech or of an answer says where its speech ends or where the speaker may hesitate")
		return nil
	}
	groups := map[string][]Heard{}
	for _, h := range list {
		name := "answers to a slot"
		if h.Slot == "" {
			name = "free speech"
		}
		groups[name] = append(groups[name], h)
	}
	for _, name := range []string{"answers to a slot", "free speech"} {
		if len(groups[name]) > 0 {
			if err := e.sweep(name, groups[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// listen holds the calls, with the time that the recognizer takes.
func (e *evaluation) listen(ctx context.Context) ([]Heard, error) {
	answers, err := e.answersOf()
	if err != nil {
		return nil, err
	}
	s := e.services
	s.Recognizer = timed{s.Recognizer}
	var list []Heard
	for i, a := range answers {
		heard, err := Listen(ctx, s, []Answer{a})
		if err != nil {
			return nil, err
		}
		if e.Record != nil {
			if err := writeRecorded(e.Record, &heard[0]); err != nil {
				return nil, err
			}
		}
		list = append(list, heard...)
		e.progress(PartEndpointing, i+1, len(answers))
	}
	return list, nil
}

// operating are the goals and neighbours of the figures of a group.
type operating struct {
	cutAt600, deadAirAt10 *Goal
	cuts, deadAirs        []Neighbour
}

var endpointing = map[string]operating{
	"answers to a slot": {&Goal{true, 20}, &Goal{true, 700}, smartCuts, smartDeadAirs},
	"free speech":       {&Goal{true, 25.1}, &Goal{true, 940}, smartCuts, smartDeadAirs},
}

var (
	smartCuts     = []Neighbour{{"Smart Turn v3", 25.1, true}, {"a timer", 37.2, true}}
	smartDeadAirs = []Neighbour{{"Smart Turn v3", 944, true}, {"a timer", 960, true}}
)

// sweep runs the policies of [Policies] on a group.
func (e *evaluation) sweep(group string, list []Heard) error {
	curve := Curve{
		Name: "endpointing-" + fileName(group), Title: "End of turn, " + group + ", unseen", X: "dead air, mean, ms", Y: "cut off, %",
		Goal: &Point{X: 600, Y: endpointing[group].cutAt600.Value},
	}
	at600, at10 := map[string]map[string]Value{}, map[string]map[string]Value{} // by policy and split
	for _, split := range []string{Unseen, Seen} {
		part := ofSplit(list, split)
		if len(part) == 0 {
			continue
		}
		lines, err := Sweep(part, e.trained)
		if err != nil {
			return err
		}
		for _, line := range lines {
			if at600[line.Policy] == nil {
				at600[line.Policy], at10[line.Policy] = map[string]Value{}, map[string]Value{}
			}
			if v := line.CutOffsAt(600 * time.Millisecond); !math.IsNaN(v) {
				at600[line.Policy][split] = Value{Value: 100 * v, N: len(part)}
			}
			if v, ok := line.DeadAirAt(0.1); ok {
				at10[line.Policy][split] = Value{Value: float64(v.Milliseconds()), N: len(part)}
			}
			if split == Unseen {
				curve.Series = append(curve.Series, seriesOf(line))
			}
		}
	}
	for _, policy := range []string{"timer", "easyturn", "auto"} {
		cut := Figure{Part: PartEndpointing, Name: group + ", " + policy + ": cut off at 600 ms of dead air", Unit: "%", Values: at600[policy]}
		deadAir := Figure{Part: PartEndpointing, Name: group + ", " + policy + ": dead air at 10 % cut off", Unit: "ms", Values: at10[policy]}
		if policy == "auto" {
			o := endpointing[group]
			cut.Goal, cut.Neighbours, deadAir.Goal, deadAir.Neighbours = o.cutAt600, o.cuts, o.deadAirAt10, o.deadAirs
		}
		e.add(cut)
		e.add(deadAir)
	}
	e.report.Curves = append(e.report.Curves, curve)
	if err := e.asShipped(group, list); err != nil {
		return err
	}
	return e.leaveOneOut(group, list)
}

func ofSplit(list []Heard, split string) []Heard {
	var out []Heard
	for _, h := range list {
		if h.Split == split {
			out = append(out, h)
		}
	}
	return out
}

// seriesOf draws a line of a sweep.
func seriesOf(line Tradeoff) Series {
	s := Series{Name: line.Policy}
	for _, p := range line.Points {
		s.Points = append(s.Points, Point{float64(p.DeadAir.Milliseconds()), 100 * p.CutOffs, p.Silence.String()})
	}
	return s
}

// asShipped reports the default policy as it is.
func (e *evaluation) asShipped(group string, list []Heard) error {
	cut, never := tally{}, tally{}
	deadAir, complete := spread{}, spread{}
	for i := range list {
		h := &list[i]
		r := &Recording{Split: h.Split, Speaker: h.Voice}
		d, err := Decide(e.trained(turn.Options{}), *h)
		if err != nil {
			return err
		}
		cut.one(r, d.Cut)
		never.one(r, d.Never)
		if !d.Cut && !d.Never {
			deadAir.add(r, float64(d.DeadAir.Milliseconds()))
			if d.Known {
				complete.add(r, float64(d.DeadAir.Milliseconds()))
			}
		}
		if d.Cut || d.Never {
			e.detail("endpointing", &Recording{Path: h.Want, Split: h.Split, Speaker: h.Voice}, "%+v", d)
		}
	}
	name := group + ", as shipped: "
	e.add(Figure{Part: PartEndpointing, Name: name + "cut off", Unit: "%", Values: cut.percent()})
	e.add(Figure{Part: PartEndpointing, Name: name + "not ended within 3 s", Unit: "%", Values: never.percent()})
	e.add(Figure{Part: PartEndpointing, Name: name + "dead air, median", Unit: "ms", Values: deadAir.median()})
	e.add(Figure{Part: PartEndpointing, Name: name + "dead air, complete, median", Unit: "ms", Values: complete.median(), Goal: &Goal{true, 500}})
	return nil
}

// leaveOneOut chooses, for each voice, the shortest silence with at most 10 % cut-offs on the
// other voices, and reports what it does to the voice.
func (e *evaluation) leaveOneOut(group string, list []Heard) error {
	voices := map[string][]Heard{}
	for _, h := range list {
		voices[h.Voice] = append(voices[h.Voice], h)
	}
	if len(voices) < 2 {
		return nil
	}
	cut, deadAir := tally{}, spread{}
	for voice, own := range voices {
		var others []Heard
		for _, h := range list {
			if h.Voice != voice {
				others = append(others, h)
			}
		}
		lines, err := Sweep(others, e.trained)
		if err != nil {
			return err
		}
		points := lines[slices.IndexFunc(lines, func(l Tradeoff) bool { return l.Policy == "auto" })].Points
		best := slices.IndexFunc(points, func(p TradeoffPoint) bool { return p.CutOffs <= 0.1 })
		if best < 0 {
			best = len(points) - 1
		}
		for _, h := range own {
			d, err := Decide(e.trained(Policies(points[best].Silence)["auto"]), h)
			if err != nil {
				return err
			}
			r := &Recording{Split: h.Split, Speaker: voice}
			cut.one(r, d.Cut)
			if !d.Cut && !d.Never {
				deadAir.add(r, float64(d.DeadAir.Milliseconds()))
			}
		}
	}
	name := group + ", auto, 10 % on the other voices: "
	e.add(Figure{Part: PartEndpointing, Name: name + "cut off", Unit: "%", Values: cut.percent()})
	e.add(Figure{Part: PartEndpointing, Name: name + "dead air, median", Unit: "ms", Values: deadAir.median()})
	return nil
}

// recordedAnswer is the first line of an answer in a file of recorded timings. The lines of its
// frames follow, as `hocket turn` reads them, with the awaited answer's completeness.
type recordedAnswer struct {
	Answer  string  `json:"answer_to"` // the slot, or freeSpeech
	Text    string  `json:"text"`
	Speaker string  `json:"speaker"`
	Split   string  `json:"split"`
	Set     string  `json:"set"`
	StartMS float64 `json:"start_ms"` // of the answer, in the time of the frames
	EndMS   float64 `json:"end_ms"`   // of its last word
}

// freeSpeech stands for the slot of a turn that no slot waits for.
const freeSpeech = "speech"

// writeRecorded writes an answer with its frames.
func writeRecorded(w io.Writer, h *Heard) error {
	head, err := json.Marshal(recordedAnswer{
		cmp.Or(h.Slot, freeSpeech), h.Want, h.Voice, h.Split, h.Set, float64(h.start) / float64(time.Millisecond), float64(h.start+h.End) / float64(time.Millisecond),
	})
	if err != nil {
		return fmt.Errorf("eval: %w", err)
	}
	b := bufio.NewWriter(w)
	_, _ = b.Write(append(head, '\n')) // the error is that of Flush
	for _, line := range h.lines {
		_, _ = b.Write(append(line, '\n'))
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("eval: %w", err)
	}
	return nil
}

// ReadRecorded reads what an evaluation has recorded.
func ReadRecorded(r io.Reader) ([]Heard, error) {
	var out []Heard
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<22)
	for n := 1; lines.Scan(); n++ {
		var a recordedAnswer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if a.Answer != "" {
			kind, known := kinds[a.Answer]
			if a.Answer == freeSpeech {
				a.Answer, known = "", true
			}
			if !known || a.Split != Seen && a.Split != Unseen || a.StartMS < 0 || a.EndMS <= a.StartMS {
				return nil, fmt.Errorf("line %d: invalid answer: expected answer_to, split, start_ms and end_ms", n)
			}
			h := Heard{kind: kind, start: ms(a.StartMS)}
			h.Slot, h.Want, h.Voice, h.Split, h.Set, h.End = a.Answer, a.Text, a.Speaker, a.Split, a.Set, ms(a.EndMS-a.StartMS)
			out = append(out, h)
			continue
		}
		if len(out) == 0 {
			return nil, errors.New("line 1: expected an answer before its frames")
		}
		h := &out[len(out)-1]
		f, ok, err := readFrame(lines.Bytes(), h.kind)
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", n, err)
		case !ok:
			return nil, fmt.Errorf("line %d: a frame must have timestamp_ms", n)
		}
		h.frames = append(h.frames, f)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("eval: %w", err)
	}
	if len(out) == 0 {
		return nil, errors.New("expected at least one turn")
	}
	return out, nil
}
