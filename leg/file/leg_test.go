package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = time.Millisecond

// agent is the other side of the leg in virtual time: it reads a frame and writes a
// frame.
type agent struct {
	t      *testing.T
	l      *Leg
	frames int
	gone   bool
	caller []int16 // all that was read
	spoken []int16 // all that was written
}

func newAgent(t *testing.T, o Options) *agent {
	t.Helper()
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &agent{t: t, l: l}
}

// voice returns a recording with distinct samples that are never zero.
func voice(d time.Duration, sign int16) []int16 {
	pcm := make([]int16, audio.PosOf(d, 16000))
	for i := range pcm {
		pcm[i] = sign * int16(1000+i%5000)
	}
	return pcm
}

// frame passes 20 ms of the call, in which the agent speaks or not, and reports
// whether the caller does.
func (a *agent) frame(speaks bool) (callerSpeaks bool) {
	a.t.Helper()
	f, err := a.l.Read(a.t.Context())
	switch {
	case errors.Is(err, io.EOF):
		a.gone = true
	case err != nil:
		a.t.Fatal(err)
	default:
		if want := audio.Pos(a.frames * a.l.frame); f.Pos != want || len(f.PCM) != a.l.frame || f.Rate != a.l.Rate() {
			a.t.Fatalf("frame of %d samples at %d Hz at %d, want one at %d", len(f.PCM), f.Rate, f.Pos, want)
		}
		a.caller = append(a.caller, f.PCM...)
		callerSpeaks = audio.Peak(f.PCM) > 0
	}
	pcm := make([]int16, a.l.frame)
	if speaks {
		for i := range pcm {
			pcm[i] = -int16(1000 + (len(a.spoken)+i)%5000)
		}
	}
	if err := a.l.Write(a.t.Context(), audio.Frame{Pos: audio.Pos(len(a.spoken)), Rate: a.l.Rate(), PCM: pcm}); err != nil {
		a.t.Fatal(err)
	}
	a.spoken = append(a.spoken, pcm...)
	a.frames++
	return callerSpeaks
}

// state reports the conversation's phase to the caller.
func (a *agent) state(name string) { a.l.Notify(port.Notice{Type: "state", State: name}) }

// says makes the agent speak for a duration.
func (a *agent) says(d time.Duration) {
	a.t.Helper()
	a.state("speaking")
	for range d / audio.FrameDuration {
		a.frame(true)
	}
	a.state(readyState)
}

// waits passes time until the caller speaks or hangs up, and returns how long that
// took.
func (a *agent) waits() time.Duration {
	a.t.Helper()
	for n := range 1000 {
		if a.frame(false) || a.gone {
			return time.Duration(n) * audio.FrameDuration
		}
	}
	a.t.Fatal("the caller says nothing for 20 s")
	return 0
}

// hears passes time while the caller speaks, and returns how long that took.
func (a *agent) hears() time.Duration {
	n := 1
	for a.frame(false) {
		n++
	}
	return time.Duration(n) * audio.FrameDuration
}

func TestCallerAnswersAfterThePause(t *testing.T) {
	a := newAgent(t, Options{Utterances: []Utterance{{PCM: voice(500*ms, 1)}, {PCM: voice(310*ms, 1)}}})
	a.says(time.Second)
	if got := a.waits(); got != 600*ms {
		t.Errorf("the first answer comes %v after the agent's end, want 600ms", got)
	}
	if got := a.hears(); got != 500*ms {
		t.Errorf("the first answer lasts %v", got)
	}
	a.state("processing.waiting")
	for range 100 {
		if a.frame(false) {
			t.Fatal("the caller speaks while the agent thinks")
		}
	}
	a.says(300 * ms)
	if got := a.waits(); got != 600*ms {
		t.Errorf("the second answer comes %v after the agent's end, want 600ms", got)
	}
	if got := a.hears(); got != 320*ms {
		t.Errorf("the second answer lasts %v, want 310ms in whole frames", got)
	}
	a.state("processing.waiting")
	a.says(300 * ms)
	if got := a.waits(); got != 1500*ms || !a.gone {
		t.Errorf("hangs up after %v, gone %v, want 1.5s", got, a.gone)
	}
	a.frame(false)
	if a.gone = false; a.waits() != 0 || !a.gone {
		t.Error("the caller is back")
	}
}

// Pauses between the agent's sentences do not end its turn.
func TestCallerWaitsForThePhase(t *testing.T) {
	a := newAgent(t, Options{Utterances: []Utterance{{PCM: voice(100*ms, 1)}}})
	a.state("speaking")
	for n := range 400 { // a second of speech, a second of silence, ...
		if a.frame(n/50%2 == 0) {
			t.Fatal("the caller speaks while it is the agent's turn")
		}
	}
	a.state(readyState)
	if got := a.waits(); got != 600*ms {
		t.Errorf("answers %v after the agent's turn, want 600ms", got)
	}
	// If the agent is not ready, the caller has nothing to say and does not hang
	// up.
	b := newAgent(t, Options{Utterances: []Utterance{{PCM: voice(100*ms, 1)}}})
	b.state("preparing")
	for range 300 {
		if b.frame(false) || b.gone {
			t.Fatal("the caller acts before the agent is ready")
		}
	}
}

// Being ready again does not restart the pause.
func TestCallerIsToldTwice(t *testing.T) {
	a := newAgent(t, Options{Utterances: []Utterance{{PCM: voice(100*ms, 1)}}})
	a.state(readyState)
	for range 15 {
		a.frame(false)
		a.state(readyState)
		a.l.Notify(port.Notice{Type: "caption", State: "speaking", Text: "not a state"})
	}
	if got := a.waits(); got != 300*ms {
		t.Errorf("answers after another %v, want 300ms", got)
	}
}

func TestCallerBreaksIn(t *testing.T) {
	for _, after := range []time.Duration{20 * ms, 400 * ms, 410 * ms, 2 * time.Second} {
		a := newAgent(t, Options{Utterances: []Utterance{{PCM: voice(300*ms, 1), BargeIn: after}}})
		a.state("speaking")
		n := 0
		for !a.frame(true) {
			if n++; n > 200 {
				t.Fatal("the caller does not break in")
			}
		}
		if want := int((after + audio.FrameDuration - 1) / audio.FrameDuration); n != want {
			t.Errorf("breaks in %d frames after the agent began, want %d", n, want)
		}
	}
}

// The agent finishes sooner: the utterance is played as usual.
func TestCallerComesTooLateToBreakIn(t *testing.T) {
	a := newAgent(t, Options{Utterances: []Utterance{{PCM: voice(300*ms, 1), BargeIn: 2 * time.Second}}})
	a.says(500 * ms)
	if got := a.waits(); got != 600*ms {
		t.Errorf("answers after %v, want 600ms", got)
	}
}

// A sentence with a pause is one speech: the time is counted from its start.
func TestCallerBreaksInAcrossAPause(t *testing.T) {
	a := newAgent(t, Options{Utterances: []Utterance{{PCM: voice(300*ms, 1), BargeIn: time.Second}}})
	a.state("speaking")
	for n := range 100 {
		silent := n >= 20 && n < 30 // 200 ms
		if a.frame(!silent) {
			if n != 50 {
				t.Errorf("breaks in at frame %d, want 50", n)
			}
			return
		}
	}
	t.Error("the caller does not break in")
}

func TestCallerLosesPatience(t *testing.T) {
	a := newAgent(t, Options{Utterances: []Utterance{{PCM: voice(100*ms, 1)}}, Longest: 3 * time.Second})
	a.state("processing.waiting")
	for n := 0; !a.gone; n++ {
		a.frame(false)
		if n > 151 {
			t.Fatal("the caller waits for ever")
		}
	}
	if got := time.Duration(len(a.caller)) * time.Second / 16000; got != 3*time.Second {
		t.Errorf("hangs up after %v, want 3s", got)
	}
}

func TestCallerWithoutWordsHangsUp(t *testing.T) {
	a := newAgent(t, Options{HangUp: 400 * ms})
	a.says(200 * ms)
	if got := a.waits(); got != 400*ms || !a.gone {
		t.Errorf("hangs up after %v, gone %v", got, a.gone)
	}
	b := newAgent(t, Options{Utterances: []Utterance{{}, {PCM: voice(60*ms, 1)}}}) // the first recording is empty
	b.state(readyState)
	if got := b.waits(); got < 600*ms || got > 620*ms {
		t.Errorf("answers after %v", got)
	}
}

// buffer is a file in memory.
type buffer struct {
	b  []byte
	at int64
}

func (f *buffer) Write(p []byte) (int, error) {
	f.b = append(f.b, make([]byte, max(0, int(f.at)+len(p)-len(f.b)))...)
	f.at += int64(copy(f.b[f.at:], p))
	return len(p), nil
}

func (f *buffer) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
		f.at = offset
	case io.SeekCurrent:
		f.at += offset
	case io.SeekEnd:
		f.at = int64(len(f.b)) + offset
	}
	return f.at, nil
}

// read reads a WAV file and separates its channels.
func read(t *testing.T, data []byte) (audio.WAVFormat, [][]int16) {
	t.Helper()
	r, err := audio.NewWAVReader(bytes.NewReader(data), audio.WAVReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var all []int16
	buf := make([]int16, 960)
	for {
		n, err := r.Read(buf)
		all = append(all, buf[:n]...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	f := r.Format()
	channels := make([][]int16, f.Channels)
	for i, v := range all {
		channels[i%f.Channels] = append(channels[i%f.Channels], v)
	}
	return f, channels
}

// hold runs a call with both kinds of files.
func hold(t *testing.T, o Options) *agent {
	t.Helper()
	o.Utterances = []Utterance{{PCM: voice(500*ms, 1)}, {PCM: voice(333*ms, 1), BargeIn: 300 * ms}, {PCM: voice(200*ms, 1)}}
	a := newAgent(t, o)
	a.says(400 * ms)
	a.waits()
	a.hears()
	a.state("speaking")
	for !a.frame(true) {
	}
	a.hears()
	a.state(readyState)
	for !a.gone {
		a.frame(false)
	}
	a.says(100 * ms) // the caller has already hung up
	if err := a.l.Close(); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestMixIsExact(t *testing.T) {
	var out, mix buffer
	a := hold(t, Options{Out: &out, Mix: &mix})
	f, sides := read(t, mix.b)
	if f.Rate != 16000 || f.Channels != 2 || f.Bits != 16 {
		t.Errorf("format %+v", f)
	}
	caller := append(slices.Clone(a.caller), make([]int16, len(a.spoken)-len(a.caller))...)
	if !slices.Equal(sides[0], caller) {
		t.Errorf("left: %d samples, the caller's are %d", len(sides[0]), len(caller))
	}
	if !slices.Equal(sides[1], a.spoken) {
		t.Errorf("right: %d samples, the agent's are %d", len(sides[1]), len(a.spoken))
	}
	f, mono := read(t, out.b)
	if f.Rate != 16000 || f.Channels != 1 || !slices.Equal(mono[0], a.spoken) {
		t.Errorf("agent's file: %+v, %d samples, want %d", f, len(mono[0]), len(a.spoken))
	}
	if length := len(mix.b); length != 44+4*len(a.spoken) {
		t.Errorf("%d bytes of mix for %d samples", length, len(a.spoken))
	}
}

// The files are readable if the stream cannot seek or the call was interrupted.
func TestFilesOfACallThatWasCutShort(t *testing.T) {
	var out, mix bytes.Buffer
	a := newAgent(t, Options{Out: &out, Mix: &mix})
	a.says(500 * ms)
	for _, data := range [][]byte{out.Bytes(), mix.Bytes()} {
		if _, sides := read(t, data); len(sides[0]) != 8000 {
			t.Errorf("%d samples without Close, want 8000", len(sides[0]))
		}
	}
	path := filepath.Join(t.TempDir(), "mix.wav")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	b := hold(t, Options{Mix: file})
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, sides := read(t, data); !slices.Equal(sides[1], b.spoken) {
		t.Error("a file on disk holds something else")
	}
}

// In real time one side may be ahead by a frame or more: the n-th sample of one
// still corresponds to the n-th of the other.
func TestMixOfUnevenSides(t *testing.T) {
	var mix buffer
	l, err := New(Options{Mix: &mix})
	if err != nil {
		t.Fatal(err)
	}
	l.left = voice(20*time.Second, 1)
	caller, agent := slices.Clone(l.left), voice(20*time.Second, -1)
	read1 := func(n int) {
		for range n {
			if _, err := l.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	written := 0
	write := func(n int) {
		for range n {
			if err := l.Write(t.Context(), audio.Frame{PCM: agent[written : written+320]}); err != nil {
				t.Fatal(err)
			}
			written += 320
		}
	}
	read1(3)
	write(1)
	write(4)
	read1(5)
	write(2)
	if len(l.caller) != 320 || len(l.agent) != 0 {
		t.Errorf("waiting: %d of the caller, %d of the agent", len(l.caller), len(l.agent))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, sides := read(t, mix.b)
	if !slices.Equal(sides[0], caller[:8*320]) || !slices.Equal(sides[1][:7*320], agent[:7*320]) || len(sides[1]) != 8*320 {
		t.Errorf("%d and %d samples", len(sides[0]), len(sides[1]))
	}
	// A side that has ended is padded with silence and not waited for.
	var half buffer
	if l, err = New(Options{Mix: &half, Longest: time.Hour}); err != nil {
		t.Fatal(err)
	}
	written = 0
	write(900)
	if got := len(l.agent); got > int(audio.PosOf(longestWait, 16000)) {
		t.Errorf("%d samples wait for the caller's", got)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, sides := read(t, half.b); !slices.Equal(sides[1], agent[:900*320]) || audio.Peak(sides[0]) != 0 {
		t.Error("the agent's side is not whole")
	}
}

type fullDisk struct{ room int }

var errFull = errors.New("no space left")

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.room -= len(p); d.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestFilesThatCannotBeWritten(t *testing.T) {
	for _, o := range []Options{{Out: &fullDisk{}}, {Mix: &fullDisk{}}} {
		if _, err := New(o); !errors.Is(err, errFull) {
			t.Errorf("no room for the header: %v", err)
		}
	}
	for _, o := range []Options{{Out: &fullDisk{room: 5000}}, {Mix: &fullDisk{room: 5000}}} {
		l, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; ; n++ {
			if _, err := l.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err = l.Write(t.Context(), audio.Frame{PCM: make([]int16, 320)}); err != nil {
				if !errors.Is(err, errFull) {
					t.Errorf("Write: %v", err)
				}
				break
			}
			if n > 20 {
				t.Fatal("no error from Write")
			}
		}
		if err := l.Close(); !errors.Is(err, errFull) {
			t.Errorf("Close: %v", err)
		}
	}
}

// With Realtime, frames arrive at absolute deadlines.
func TestRealtime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := New(Options{Realtime: true})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for n := 1; n <= 100; n++ {
			if _, err := l.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n%10 == 3 {
				<-time.After(30 * ms) // the reader is late
			}
			late := 0 * ms
			switch n % 10 {
			case 3:
				late = 30 * ms
			case 4:
				late = 10 * ms
			}
			if got := time.Since(began); got != time.Duration(n)*20*ms+late {
				t.Fatalf("frame %d comes after %v", n, got)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 7*ms)
		defer cancel()
		if _, err := l.Read(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Read: %v", err)
		}
	})
}

func TestOptionsValidate(t *testing.T) {
	for name, o := range map[string]Options{
		"rate too low": {Rate: 4000}, "rate too high": {Rate: 200_000}, "rate without whole frames": {Rate: 11025},
		"pause": {Pause: -1}, "hang up": {HangUp: -1}, "longest": {Longest: -1},
		"barge-in": {Utterances: []Utterance{{BargeIn: -1}}},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, rate := range []int{8000, 16000, 24000, 48000} {
		l, err := New(Options{Rate: rate})
		if err != nil || l.Rate() != rate {
			t.Errorf("%d: %v", rate, err)
		}
	}
}

func TestLegKeepsThePortsRules(t *testing.T) {
	for _, realtime := range []bool{false, true} {
		t.Run(fmt.Sprint(realtime), func(t *testing.T) {
			porttest.TestLeg(t, func(t *testing.T) porttest.Line {
				var out bytes.Buffer
				l, err := New(Options{Out: &out, Realtime: realtime})
				if err != nil {
					t.Fatal(err)
				}
				return porttest.Line{
					Leg: l,
					Say: func(pcm []int16) {
						l.mu.Lock()
						defer l.mu.Unlock()
						l.left = pcm
					},
					HangUp: func() {
						l.mu.Lock()
						defer l.mu.Unlock()
						l.o.Longest = 1
					},
					Heard: func() []int16 {
						_, sides := read(t, out.Bytes())
						return sides[0]
					},
				}
			})
		})
	}
}
