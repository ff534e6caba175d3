//go:build pocketsphinx && flite && silero_embed && cgo

package eval

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/turn"
)

// espeak is a synthesizer by the program espeak-ng.
func espeak(ctx context.Context, t *testing.T, voice, text string) []int16 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "say.wav")
	if out, err := exec.CommandContext(ctx, "espeak-ng", "-v", voice, "-w", path, text).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	pcm, err := readWAV(path)
	if err != nil {
		t.Fatal(err)
	}
	return trim(pcm)
}

// TestEvalBargeIn prints the trade of each policy between interruptions and false stops, and what
// the numbers that are chosen without a voice do for that voice. HOCKET_EVAL_OUT names a file for
// the recorded facts; if it is there, it is read.
func TestEvalBargeIn(t *testing.T) {
	evaluate(t)
	heard := facts(t)
	j, err := NewJudge()
	if err != nil {
		t.Fatal(err)
	}
	show := func(name string, w Trade) {
		o := w.Options
		t.Logf("%-28s words %d steady %5v speech %5v | one word %v, several %v after %v | backchannels %v, noises %v", name,
			o.MinWords, o.Steady, o.MinSpeech, w.Words, w.Speech, w.Yield, w.Backchannels, w.Noises)
	}
	for _, o := range Grid() {
		show(string(o.Policy), j.Weigh(o, heard))
	}
	show("default", j.Weigh(turn.DefaultBargeIn(), heard))
	family := func(h Overheard) string {
		name, _, _ := strings.Cut(h.Voice, "/")
		return name
	}
	var voices []string
	for _, h := range heard {
		if v := family(h); h.Kind != SoundNoise && !slices.Contains(voices, v) {
			voices = append(voices, v)
		}
	}
	slices.Sort(voices)
	for _, v := range voices {
		var seen, unseen []Overheard
		for _, h := range heard {
			if family(h) == v {
				unseen = append(unseen, h)
			} else {
				seen = append(seen, h)
			}
		}
		best, ok := j.Choose(seen)
		if !ok {
			t.Logf("without %s nothing meets the goals", v)
			continue
		}
		show("chosen without "+v, best)
		show("  for it", j.Weigh(best.Options, unseen))
	}
}

// facts returns the recorded facts.
func facts(t *testing.T) []Overheard {
	t.Helper()
	path := os.Getenv("HOCKET_EVAL_OUT")
	if path == "" {
		path = filepath.Join(t.TempDir(), "facts")
	}
	if _, err := os.Stat(path); err != nil {
		record(t, path)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []Overheard
	for dec := json.NewDecoder(f); dec.More(); {
		var h Overheard
		if err := dec.Decode(&h); err != nil {
			t.Fatal(err)
		}
		out = append(out, h)
	}
	return out
}

// record writes the facts about the sounds to a file.
func record(t *testing.T, path string) {
	t.Helper()
	s := services(t)
	data := filepath.Join("..", "..", "..", "..", "shared", "data")
	var sounds []Sound
	voices := []string{"flite:rms", "flite:slt", "espeak:en-us", "espeak:en-gb+f3"}
	say := func(kind SoundKind, slot, voice, text string) {
		engine, name, _ := strings.Cut(voice, ":")
		var pcm []int16
		var err error
		if engine == "flite" {
			pcm, err = speak(t.Context(), s.Synthesizer, name, text)
		} else {
			pcm = espeak(t.Context(), t, name, text)
		}
		if err != nil {
			t.Fatal(err)
		}
		sounds = append(sounds, Sound{Kind: kind, Slot: slot, Voice: voice, Text: text, PCM: pcm})
	}
	for _, v := range voices {
		for _, w := range []string{"no", "what", "stop", "wait"} {
			say(SoundWord, "city", v, w)
		}
		for _, w := range []string{"no", "yes"} {
			say(SoundWord, "sure", v, w)
		}
		say(SoundWord, "city", v, "boston")
		for _, w := range []string{"zero", "two", "three", "five", "six", "eight"} {
			say(SoundWord, "digit", v, w)
		}
		for _, w := range []string{"okay", "uh huh", "yeah", "right", "sure", "i see", "um"} {
			say(SoundBackchannel, "city", v, w)
		}
		for _, w := range []string{"okay", "yeah", "i see"} {
			say(SoundBackchannel, "digit", v, w)
		}
		for _, w := range []string{"no i want to go to denver", "what did you say", "can you repeat that please", "i need a flight to boston", "that is not right", "how much is it"} {
			say(SoundSpeech, "city", v, w)
		}
	}
	wavs := func(kind SoundKind, slot, pattern string, every int, most time.Duration) {
		paths, _ := filepath.Glob(filepath.Join(data, pattern))
		for i, p := range paths {
			if i%every != 0 {
				continue
			}
			pcm, err := readWAV(p)
			if err != nil {
				t.Fatal(err)
			}
			if n := int(most.Seconds() * Rate); len(pcm) > n {
				pcm = pcm[:n]
			}
			name := strings.TrimSuffix(filepath.Base(p), ".wav")
			text := ""
			if kind != SoundNoise {
				text = name
			}
			sounds = append(sounds, Sound{Kind: kind, Slot: slot, Voice: filepath.Base(filepath.Dir(p)) + "/" + name, Text: text, PCM: pcm})
		}
	}
	wavs(SoundWord, "digit", "fsdd-digits-8k/recordings/*.wav", 10, 3*time.Second)
	wavs(SoundWord, "city", "tau2-voice/no.wav", 1, 5*time.Second)
	wavs(SoundWord, "sure", "tau2-voice/yes.wav", 1, 5*time.Second)
	for _, f := range []string{"check_order_12345", "help_me", "hi_how_are_you", "order_status"} {
		wavs(SoundSpeech, "city", "tau2-voice/"+f+".wav", 1, 5*time.Second)
	}
	wavs(SoundSpeech, "city", "vap-phrases/audio/*short*.wav", 6, 3*time.Second)
	for _, f := range []string{"car_horn", "dog_bark", "engine_idling", "ringing_phone", "siren"} {
		wavs(SoundNoise, "city", "tau2-voice/"+f+".wav", 1, 5*time.Second)
	}
	wavs(SoundNoise, "city", "esc10-noise/*/*.wav", 4, 3*time.Second)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(sounds), func(i, j int) { sounds[i], sounds[j] = sounds[j], sounds[i] })
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	enc := json.NewEncoder(f)
	for _, sound := range sounds {
		heard, err := Overhear(t.Context(), s, []Sound{sound})
		if err != nil {
			t.Fatal(err)
		}
		if err := enc.Encode(heard[0]); err != nil {
			t.Fatal(err)
		}
	}
}
