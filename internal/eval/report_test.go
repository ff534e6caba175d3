package eval

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/turn"
)

// TestAUC: the area is 1 for a detector that separates, 1/2 for one that guesses or says always
// the same, and counted by hand for one in between.
func TestAUC(t *testing.T) {
	for _, c := range []struct {
		name string
		list []scored
		want float64
	}{
		{"separates", []scored{{.1, false}, {.2, false}, {.8, true}, {.9, true}}, 1},
		{"reversed", []scored{{.9, false}, {.1, true}}, 0},
		{"always the same", []scored{{.5, false}, {.5, true}, {.5, true}}, .5},
		{"three pairs of four", []scored{{.1, false}, {.3, true}, {.5, false}, {.9, true}}, .75},
		{"no speech", []scored{{.1, false}}, 0},
	} {
		if got, ok := auc(c.list); math.Abs(got-c.want) > 1e-9 || ok != (c.want > 0 || c.name == "reversed") {
			t.Errorf("%s: %v, expected %v", c.name, got, c.want)
		}
	}
}

func TestTally(t *testing.T) {
	c := tally{}
	ann, bob := &Recording{Split: Unseen, Speaker: "ann"}, &Recording{Split: Unseen, Speaker: "bob"}
	c.one(ann, true)
	c.one(ann, false)
	c.add(bob, 1, 2)
	c.one(&Recording{Split: Seen, Speaker: "cy"}, false)
	v := c.percent()
	if u := v[Unseen]; u.Value != 50 || u.N != 4 || u.Voices["ann"] != 50 || u.Voices["bob"] != 50 {
		t.Errorf("unseen is %+v: expected 50 %% of 4", u)
	}
	if s := v[Seen]; s.Value != 0 || s.N != 1 {
		t.Errorf("seen is %+v: expected 0 %% of 1", s)
	}
}

func TestReport(t *testing.T) {
	r := Report{Figures: []Figure{
		{Part: PartWords, Name: "words wrong", Unit: "%", Goal: &Goal{true, 5}, Neighbours: []Neighbour{{"a tool", 11.5, true}}, Values: map[string]Value{
			Unseen: {Value: 6.25, N: 780, Voices: map[string]float64{"f": 10, "d": 2.5}}, Seen: {Value: 2.5, N: 520},
		}},
		{Part: PartAnswers, Name: "right", Unit: "%", Goal: &Goal{false, 60}, Values: map[string]Value{Unseen: {Value: 60, N: 10}}},
		{Part: PartAnswers, Name: "seen alone", Unit: "%", Goal: &Goal{false, 60}, Values: map[string]Value{Seen: {Value: 1, N: 10}}},
	}}
	if !r.Missed() || !r.Figures[0].Missed() || r.Figures[1].Missed() || r.Figures[2].Missed() {
		t.Error("6.25 % misses a goal of at most 5 %, 60 % meets one of at least 60 %, and seen data misses none")
	}
	table := r.Table()
	for _, want := range []string{"6.2 %", "780", "2.5-10", "+3.8", "<= 5", "MISSED", "a tool* 11.5", ">= 60", "met"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table does not have %q:\n%s", want, table)
		}
	}
}

func TestSVG(t *testing.T) {
	c := Curve{Title: "a < b", X: "x", Y: "y & z", Goal: &Point{X: 600, Y: 20}, Series: []Series{
		{"one", []Point{{200, 40, "1"}, {900, 5, "<2>"}}}, {"two", []Point{{300, 50, ""}}}, {"none", nil},
	}}
	var b bytes.Buffer
	if err := c.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">1000</text>", ">50</text>", "a &lt; b", "y &amp; z"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the picture has no %q", want)
		}
	}
	if strings.Contains(b.String(), "%!") {
		t.Error("a value is missing or of another type")
	}
	d, points := xml.NewDecoder(&b), 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "title" {
			points++
		}
	}
	if points != 3 {
		t.Errorf("%d points are drawn: expected 3", points)
	}
	x, y := c.axes()
	if x.at(0) != plotLeft || x.at(x.high) != plotRight || y.at(0) != plotBottom || x.high != 1000 || y.high != 50 {
		t.Errorf("the axes are %+v and %+v: expected 0 to 1000 and 0 to 50", x, y)
	}
}

// TestSweepOfTimer: a bare timer's dead air is its silence, and it cuts off where that is shorter
// than the pause.
func TestSweepOfTimer(t *testing.T) {
	const pause, end = 450 * time.Millisecond, 1500 * time.Millisecond
	h := Heard{Answer: Answer{Slot: "digit", Split: Unseen, Voice: "ann", End: end}, kind: "digits"}
	var silent time.Duration
	for at := 20 * time.Millisecond; at < 5*time.Second; at += 20 * time.Millisecond {
		speech := at <= 500*time.Millisecond || at > 500*time.Millisecond+pause && at <= end
		f := frame{acoustic: turn.Acoustic{At: at, Energy: math.NaN()}, linguistic: turn.Linguistic{Text: "one two", Confidence: math.NaN(), Stability: math.NaN()}}
		if silent += 20 * time.Millisecond; speech {
			silent, f.acoustic.VAD = 0, 1
		}
		f.acoustic.Silence = silent
		h.frames = append(h.frames, f)
	}
	e := evaluation{report: &Report{}}
	if err := e.sweep("free speech", []Heard{h}); err != nil {
		t.Fatal(err)
	}
	timer := e.report.Curves[0].Series[0]
	if timer.Name != "timer" || len(timer.Points) < 10 {
		t.Fatalf("the first line is %+v: expected that of a timer", timer)
	}
	for _, p := range timer.Points {
		silence, err := time.ParseDuration(p.Label)
		if err != nil {
			t.Fatal(err)
		}
		cut := silence <= pause-20*time.Millisecond
		if silence > pause-20*time.Millisecond && silence < pause+40*time.Millisecond {
			continue // it depends on the frame
		}
		if (p.Y == 100) != cut || !cut && math.Abs(p.X-float64(silence.Milliseconds())) > 40 {
			t.Errorf("a timer of %v: %v %% cut off, %v ms of dead air", silence, p.Y, p.X)
		}
	}
}

// TestRecorded: what is written is read again, and decides alike.
func TestRecorded(t *testing.T) {
	h := Heard{Answer: Answer{Slot: "digit", Want: "two", Voice: "ann", Split: Unseen, Set: "s", End: 300 * time.Millisecond}, start: 100 * time.Millisecond}
	h.lines = [][]byte{
		[]byte(`{"timestamp_ms":200,"frame_energy":0.2,"vad_prob":0.9,"silence_duration_ms":0}`),
		[]byte(`{"timestamp_ms":900,"frame_energy":0,"vad_prob":0.1,"silence_duration_ms":500,"partial_text":"two","asr_confidence":0.9,"token_stability":1,"answer":"complete"}`),
	}
	var b bytes.Buffer
	if err := writeRecorded(&b, &h); err != nil {
		t.Fatal(err)
	}
	free := Heard{Answer: Answer{Want: "well", Split: Seen, End: time.Second}}
	if err := writeRecorded(&b, &free); err != nil {
		t.Fatal(err)
	}
	list, err := ReadRecorded(&b)
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v: expected an answer and a turn of free speech", list, err)
	}
	if list[1].Slot != "" || list[1].Want != "well" || list[1].Split != Seen {
		t.Errorf("free speech read again is %+v", list[1])
	}
	got := list[0]
	if got.Slot != h.Slot || got.Want != h.Want || got.Voice != h.Voice || got.Split != h.Split || got.End != h.End || got.start != h.start || len(got.frames) != 2 {
		t.Errorf("read again it is %+v", got)
	}
	if f := got.frames[1]; f.linguistic.Text != "two" || f.linguistic.Answer != turn.Complete || f.acoustic.Silence != 500*time.Millisecond || f.kind != "digits" {
		t.Errorf("the second frame is %+v", f)
	}
	for _, c := range []struct{ text, want string }{
		{"{", "line 1"},
		{`{"timestamp_ms":1}`, "expected an answer before its frames"},
		{`{"answer_to":"colour","split":"seen","start_ms":1,"end_ms":2}`, "line 1: invalid answer"},
		{`{"answer_to":"digit","split":"seen","start_ms":2,"end_ms":2}`, "line 1: invalid answer"},
		{`{"answer_to":"digit","split":"seen","start_ms":1,"end_ms":2}` + "\n{}", "line 2: a frame must have timestamp_ms"},
	} {
		if _, err := ReadRecorded(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected %q", c.text, err, c.want)
		}
	}
}

func FuzzReadRecorded(f *testing.F) {
	f.Add(`{"answer_to":"digit","split":"seen","start_ms":1,"end_ms":2}` + "\n" + `{"timestamp_ms":900,"vad_prob":0.1}`)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ReadRecorded(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, h := range list {
			if _, err := Decide(turn.Options{}, h); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestSilentRoom: the error of an impulse response without sound names the file.
func TestSilentRoom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "room.wav")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := audio.NewWAVWriter(f, audio.WAVWriterOptions{Rate: Rate, Channels: 1})
	if err == nil {
		err = errors.Join(w.Write(make([]int16, Rate)), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	e := evaluation{manifest: &Manifest{Recordings: []Recording{{Path: path, Kind: KindRoom, Split: Seen}}}}
	if _, err := e.echoData(Seen); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, expected one of the input with %s", err, path)
	}
}
