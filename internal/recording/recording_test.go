package recording

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

const rate = 8000 // frames of 160 samples

// loud is a frame of one value.
func loud(v int16) []int16 { return slices.Repeat([]int16{v}, audio.FrameSamples(rate)) }

// sides shows each frame's first samples: "p" where the person is heard, "a" where the
// agent is, "." where nobody is.
func sides(pairs []int16) string {
	var b strings.Builder
	for f := range slices.Chunk(pairs, 2*audio.FrameSamples(rate)) {
		switch {
		case f[0] != 0 && f[1] != 0:
			b.WriteByte('b')
		case f[0] != 0:
			b.WriteByte('p')
		case f[1] != 0:
			b.WriteByte('a')
		default:
			b.WriteByte('.')
		}
	}
	return b.String()
}

func want(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("the tape is %q, expected %q", got, want)
	}
}

func TestTapeHasBothSidesOnOneClock(t *testing.T) {
	tape := NewTape(rate)
	for n := range 4 {
		tape.Agent(n, 1, loud(1000))
	}
	for n := 2; n < 6; n++ {
		tape.Person(n+10, loud(2000)) // the first one comes after 12 frames
	}
	want(t, sides(tape.Take(100)), "aaaa........pppp")
	if tape.First() != 16 {
		t.Errorf("the next frame is %d, expected 16", tape.First())
	}
	tape.Agent(6, 1, loud(1000)) // its place was taken
	tape.Agent(17, 1, loud(1000))
	want(t, sides(tape.Take(100)), ".a")
}

// TestTapeIsInStepAgain: what a queue held back comes at once, a little ahead, and the
// silence after it is left out until the side is in step.
func TestTapeIsInStepAgain(t *testing.T) {
	tape := NewTape(rate)
	for range 20 {
		tape.Person(0, loud(2000))
	}
	for n := range 40 {
		tape.Person(n, loud(0))
	}
	tape.Person(40, loud(2000))
	got := sides(tape.Take(100))
	if at := strings.LastIndexByte(got, 'p'); at < 40 || at > 40+inStep {
		t.Errorf("the tape is %q: expected the last word at 40 to %d", got, 40+inStep)
	}
	for range 1000 {
		tape.Person(50, loud(2000)) // a flood
	}
	if n := len(tape.Take(10_000)); n > 2*audio.FrameSamples(rate)*(mostAhead+60) {
		t.Errorf("%d samples are held", n)
	}
}

func TestTapeForgetsWhatNobodyTakes(t *testing.T) {
	tape := NewTape(rate)
	for n := range mostHeld + 100 {
		tape.Agent(n, 0, loud(1))
	}
	if len(tape.frames) != mostHeld {
		t.Errorf("%d frames are held, expected %d", len(tape.frames), mostHeld)
	}
}

func TestTapeCutsWhatWasNotHeard(t *testing.T) {
	tape := NewTape(rate)
	for n, turn := range []int{1, 1, 0, 1, 1, 0} {
		pcm := loud(1000)
		if turn == 0 {
			clear(pcm)
		}
		tape.Agent(n, turn, pcm)
	}
	tape.Cut(2*160 + 80)
	tape.Cut(40)
	pairs := tape.Take(100)
	want(t, sides(pairs), "aa....")
	heard := 0
	for i := 1; i < len(pairs); i += 2 {
		if pairs[i] != 0 {
			heard++
		}
	}
	if heard != 2*160-120 {
		t.Errorf("%d samples are heard, expected %d", heard, 2*160-120)
	}
}

func TestTapeHushes(t *testing.T) {
	tape := NewTape(rate)
	for n := range 6 {
		tape.Person(n, loud(2000))
		tape.Agent(n, 1+n/3, loud(1000))
	}
	tape.HushPerson(-5, 2)
	tape.HushPerson(5, 100)
	tape.HushAgent(2)
	tape.HushAgent(0)
	want(t, sides(tape.Take(6)), "aabpp.")
}

// wav returns the recording of pieces.
func wav(t *testing.T, pieces ...Piece) (*Sound, []byte) {
	t.Helper()
	s, err := Open(func(each func([]byte) error) error {
		for _, p := range pieces {
			if err := each(p.Marshal()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if n, err := s.WriteTo(&b); err != nil || n != s.Size() || int64(b.Len()) != n {
		t.Fatalf("%d bytes of %d are written, %d counted, error %v", b.Len(), s.Size(), n, err)
	}
	return s, b.Bytes()
}

// TestWAV: a recording is read back by the reader of package audio, a piece that is
// missing is silence, and what overlaps is there once.
func TestWAV(t *testing.T) {
	began := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	pair := func(person, agent int16, frames int) []int16 {
		return slices.Repeat([]int16{person, agent}, frames*160)
	}
	s, b := wav(t,
		Piece{began, rate, pair(1000, 0, 2)},
		Piece{began.Add(60 * time.Millisecond), rate, pair(0, 1000, 2)},
		Piece{began.Add(80 * time.Millisecond), rate, pair(1000, 1000, 2)})
	if s.Duration() != 120*time.Millisecond || !s.Began().Equal(began) {
		t.Errorf("%v from %v", s.Duration(), s.Began())
	}
	r, err := audio.NewWAVReader(bytes.NewReader(b), audio.WAVReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Format(); f.Rate != rate || f.Channels != 2 {
		t.Errorf("the format is %+v", f)
	}
	pairs := make([]int16, 0, 2000)
	for buf := make([]int16, 320); ; {
		n, err := r.Read(buf)
		pairs = append(pairs, buf[:n]...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want(t, sides(pairs), "pp.aab")
	if v := pairs[0]; v < 960 || v > 1040 {
		t.Errorf("1000 became %d", v)
	}
}

func TestBadRecordings(t *testing.T) {
	began := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	good := Piece{began, rate, []int16{1, 2}}.Marshal()
	for _, c := range []struct {
		pieces [][]byte
		want   string
	}{
		{nil, ErrNone.Error()},
		{[][]byte{good[:5]}, "a piece of 5 bytes"},
		{[][]byte{append([]byte{9}, good[1:]...)}, "version 9: expected 1"},
		{[][]byte{good[:len(good)-1]}, "expected pairs"},
		{[][]byte{Piece{began, 5, []int16{1, 2}}.Marshal()}, "a piece of 5 Hz"},
		{[][]byte{good, Piece{began, 2 * rate, []int16{1, 2}}.Marshal()}, "16000 Hz after one of 8000 Hz"},
		{[][]byte{good, Piece{began.AddDate(1, 0, 0), rate, []int16{1, 2}}.Marshal()}, "less than a WAV file can hold"},
	} {
		_, err := Open(func(each func([]byte) error) error {
			for _, p := range c.pieces {
				if err := each(p); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, expected %q", err, c.want)
		}
	}
}

func FuzzPiece(f *testing.F) {
	f.Add(Piece{time.UnixMicro(1), rate, []int16{1, -2}}.Marshal())
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParsePiece(b)
		if err != nil {
			return
		}
		again, err := ParsePiece(p.Marshal())
		if err != nil || !again.Start.Equal(p.Start) || again.Rate != p.Rate || !slices.Equal(again.Pairs, p.Pairs) {
			t.Errorf("%v became %v, error %v", p, again, err)
		}
	})
}
