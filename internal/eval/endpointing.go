package eval

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/turn"
)

// This file measures the end of turns of free speech, and sweeps policies: cut-offs against dead
// air.

// FreeSpeech are turns that no slot waits for; "|" is a pause. None was used to train the text
// scorer.
var FreeSpeech = []string{
	"hello",
	"can you hear me",
	"i have a small problem with the heating in my flat",
	"yes | that would be wonderful",
	"i spoke to one of your colleagues | about a week ago | and she promised to call me back",
	"what are the opening times of your shop in the old town",
	"could you tell me | whether the pool is heated in winter",
	"i would like to know | if i can bring my dog",
	"my neighbour told me about your company",
	"the thing is that | we are moving to another city | and have to end the contract",
	"is it possible to change the date of the delivery",
	"how much would it cost | if we stayed for another week",
	"please put me through to | the person who is responsible for bills",
	"no i think that is everything",
	"the washing machine makes a terrible noise | when it starts to spin",
	"i am looking for a present for | my little brother who plays the guitar",
	"well | it depends on the price",
	"do you have a table | near the window",
	"we need two rooms with | a door between them",
	"that is not what i asked for",
	"i ordered three lamps and | only two of them arrived",
	"tell me something about the history of the castle",
	"when does the last boat | leave the island",
	"let me see | i think it was in march",
	"i am afraid i have lost the key to | my locker",
	"can i pay when i get there",
	"so what do you suggest",
	"the website says that | the museum is closed | because of a strike",
	"i would rather have something | with a bit more space",
	"thank you for your help",
	"um | can you say that a little slower",
	"does the bus | stop in front of the hotel",
	"my daughter has a fever since | yesterday evening",
	"i do not want to wait for | another two weeks",
	"could somebody come and | have a look at it",
	"where can i park my car",
	"i was wondering if you | still have tickets for saturday",
	"it worked fine until | you changed something last night",
	"what is the difference between | the two of them",
	"i will think about it and | call you again tomorrow",
}

// SayFree synthesizes the turns of free speech with a voice. The pauses are 200 to 1200 ms long,
// seeded. A voice that marks its words speaks each turn as a whole, and the pauses are put
// between its words; of another one each part is spoken with a comma at its end.
func SayFree(ctx context.Context, s port.Synthesizer, voice string, seed uint64) ([]Answer, error) {
	rnd := rand.New(rand.NewPCG(seed, 2))
	var out []Answer
	for _, text := range FreeSpeech {
		sounds, err := speakParts(ctx, s, voice, parts(text))
		if err != nil {
			return nil, err
		}
		var pauses []time.Duration
		for range sounds {
			pauses = append(pauses, time.Duration(200+rnd.IntN(1000))*time.Millisecond)
		}
		out = append(out, free(text, voice, pieces(rnd, pauses, sounds...)))
	}
	return out, nil
}

func free(text, voice string, pcm []int16) Answer {
	return Answer{Want: text, Voice: voice, PCM: pcm, End: time.Duration(len(pcm)) * time.Second / Rate}
}

// speakParts synthesizes the parts of a turn.
func speakParts(ctx context.Context, s port.Synthesizer, voice string, texts []string) ([][]int16, error) {
	whole := strings.Join(texts, " ")
	var pcm []int16
	var marks []port.Mark
	err := s.Speak(ctx, port.Utterance{Text: whole, Voice: voice}, func(p port.Speech) error {
		pcm = append(pcm, p.PCM...)
		marks = append(marks, p.Marks...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("eval: speak %q: %w", whole, err)
	}
	if len(marks) == 0 && len(texts) > 1 {
		var out [][]int16
		for i, text := range texts {
			if i+1 < len(texts) {
				text += ","
			}
			pcm, err := speak(ctx, s, voice, text)
			if err != nil {
				return nil, err
			}
			out = append(out, pcm)
		}
		return out, nil
	}
	var cuts []int
	at := 0
	for _, text := range texts[:len(texts)-1] {
		at += len(text) + 1
		for _, m := range marks {
			if m.Text >= at {
				cuts = append(cuts, int(m.At)*Rate/s.Rate())
				break
			}
		}
	}
	if len(cuts) != len(texts)-1 {
		return nil, fmt.Errorf("eval: %q: the voice marks %d words: expected one at each pause", whole, len(marks))
	}
	if pcm, err = audio.Resample(pcm, s.Rate(), Rate); err != nil {
		return nil, fmt.Errorf("eval: %w", err)
	}
	var out [][]int16
	from := 0
	for _, cut := range append(cuts, len(pcm)) {
		out = append(out, trim(pcm[from:cut]))
		from = cut
	}
	return out, nil
}

// Recorded returns the phrases of the set vap-phrases from its folder: short questions, and long
// ones of which the short one is the beginning, with a pause where the short one ends.
func Recorded(folder string, seed uint64) ([]Answer, error) {
	f, err := os.Open(filepath.Join(folder, "phrases.csv"))
	if err != nil {
		return nil, fmt.Errorf("eval: %w", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("eval: phrases.csv: %w", err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	for _, name := range []string{"text", "audio_path", "tts", "long_short", "scp"} {
		if _, ok := column[name]; !ok {
			return nil, fmt.Errorf("eval: phrases.csv: there is no column %s", name)
		}
	}
	rnd := rand.New(rand.NewPCG(seed, 3))
	var out []Answer
	for _, row := range rows[1:] {
		pcm, err := readWAV(filepath.Join(folder, "audio", filepath.Base(row[column["audio_path"]])))
		if err != nil {
			return nil, err
		}
		sounds := [][]int16{trim(pcm)}
		if row[column["long_short"]] == "long" {
			at, err := strconv.ParseFloat(row[column["scp"]], 64)
			if cut := int(at * Rate); err != nil || cut <= 0 || cut >= len(pcm) {
				return nil, fmt.Errorf("eval: phrases.csv: the completion point is %q: expected seconds within the recording", row[column["scp"]])
			}
			sounds = [][]int16{trim(pcm[:int(at*Rate)]), trim(pcm[int(at*Rate):])}
		}
		pause := time.Duration(200+rnd.IntN(1000)) * time.Millisecond
		out = append(out, free(row[column["text"]], row[column["tts"]], pieces(rnd, []time.Duration{pause}, sounds...)))
	}
	if len(out) == 0 {
		return nil, errors.New("eval: phrases.csv: no phrases")
	}
	return out, nil
}

// Tradeoff is a policy's cut-offs against its dead air, by the silence that ends a turn of which
// nothing is known.
type Tradeoff struct {
	Policy string
	Points []TradeoffPoint // in the order of the silence
}

// TradeoffPoint is a point of a [Tradeoff].
type TradeoffPoint struct {
	Silence time.Duration
	CutOffs float64       // the share of the turns that were ended before their last word, 0 to 1
	DeadAir time.Duration // from the last word to the end of the turn, mean of the others
	Median  time.Duration
	Never   int // turns that were not ended within 3 s
}

// Silences are those of a sweep.
func Silences() []time.Duration {
	var out []time.Duration
	for ms := 100; ms <= 1400; ms += 50 {
		out = append(out, time.Duration(ms)*time.Millisecond)
	}
	return out
}

// Sweep runs the policies "timer", "easyturn" and "auto" on turns. trained adapts options to the
// detector.
func Sweep(turns []Heard, trained func(turn.Options) turn.Options) ([]Tradeoff, error) {
	var out []Tradeoff
	for _, policy := range []string{"timer", "easyturn", "auto"} {
		t := Tradeoff{Policy: policy}
		for _, silence := range Silences() {
			f, err := Sum(trained(Policies(silence)[policy]), turns)
			if err != nil {
				return nil, err
			}
			t.Points = append(t.Points, TradeoffPoint{
				Silence: silence, CutOffs: float64(f.Cut) / float64(max(f.N, 1)), DeadAir: f.Mean, Median: f.Median, Never: f.Never,
			})
		}
		out = append(out, t)
	}
	return out, nil
}

// CutOffsAt returns the least share of cut-offs at a mean dead air of at most that, NaN if the
// sweep has no such point. It interpolates between points.
func (t Tradeoff) CutOffsAt(deadAir time.Duration) float64 {
	best := math.NaN()
	for i, p := range t.Points {
		if p.DeadAir <= deadAir {
			best = least(best, p.CutOffs)
		}
		if i == 0 {
			continue
		}
		q := t.Points[i-1]
		if (p.DeadAir > deadAir) != (q.DeadAir > deadAir) {
			share := float64(deadAir-q.DeadAir) / float64(p.DeadAir-q.DeadAir)
			best = least(best, q.CutOffs+share*(p.CutOffs-q.CutOffs))
		}
	}
	return best
}

// DeadAirAt returns the least mean dead air at a share of cut-offs of at most that, or false if
// the sweep has no such point. It interpolates between points.
func (t Tradeoff) DeadAirAt(cutOffs float64) (time.Duration, bool) {
	best := math.NaN()
	for i, p := range t.Points {
		if p.CutOffs <= cutOffs {
			best = least(best, float64(p.DeadAir))
		}
		if i == 0 {
			continue
		}
		q := t.Points[i-1]
		if (p.CutOffs > cutOffs) != (q.CutOffs > cutOffs) {
			share := (cutOffs - q.CutOffs) / (p.CutOffs - q.CutOffs)
			best = least(best, float64(q.DeadAir)+share*float64(p.DeadAir-q.DeadAir))
		}
	}
	return time.Duration(best), !math.IsNaN(best)
}

func least(a, b float64) float64 {
	if math.IsNaN(a) || b < a {
		return b
	}
	return a
}
