package media

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// player drives a downlink frame by frame, at 16 kHz.
type player struct {
	t     testing.TB
	d     *Downlink
	out   []int16
	log   []string
	frame []int16
}

func newPlayer(t testing.TB, o DownlinkOptions) *player {
	t.Helper()
	if o.Rate == 0 {
		o.Rate = 16000
	}
	p := &player{t: t, frame: make([]int16, audio.FrameSamples(o.Rate))}
	o.Post = func(events ...conv.Event) {
		for _, ev := range events {
			p.log = append(p.log, playFact(ev))
		}
	}
	d, err := NewDownlink(o)
	if err != nil {
		t.Fatal(err)
	}
	p.d = d
	return p
}

func playFact(ev conv.Event) string {
	switch e := ev.(type) {
	case conv.PlayoutStarted:
		return fmt.Sprintf("started %d.%d", e.Turn, e.Part)
	case conv.PlayoutProgress:
		return strings.TrimRight(fmt.Sprintf("progress %d %v %s", e.Turn, e.Heard, e.Text), " ")
	case conv.PlayoutFinished:
		return strings.TrimRight(fmt.Sprintf("finished %d.%d %v %s", e.Turn, e.Part, e.Heard, e.Text), " ")
	default:
		return fmt.Sprintf("%T", ev)
	}
}

// begin starts a text that is handed over now.
func (p *player) begin(turn, part int, text string) { p.d.Begin(Text{turn, part, text, p.d.Cuts()}) }

func (p *player) write(turn int, pcm []int16, marks ...port.Mark) {
	p.t.Helper()
	if err := p.d.Write(p.t.Context(), turn, pcm, marks); err != nil {
		p.t.Fatalf("Write for turn %d: %v", turn, err)
	}
}

// say speaks a whole text with the given length.
func (p *player) say(turn, part int, text string, d time.Duration) {
	p.t.Helper()
	p.begin(turn, part, text)
	p.write(turn, sine(int(audio.PosOf(d, p.d.o.Rate))))
	p.d.EndText(turn)
}

// plays takes frames for a duration.
func (p *player) plays(d time.Duration) {
	for range int(d / audio.FrameDuration) {
		p.d.Frame(p.frame)
		p.out = append(p.out, p.frame...)
	}
}

func (p *player) want(facts ...string) {
	p.t.Helper()
	got := p.log
	p.log = nil
	if !slices.Equal(got, facts) {
		p.t.Errorf("facts\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(facts, "\n"))
	}
}

// sound returns the number of samples of out that are not silent.
func (p *player) sound() (n int) {
	for _, v := range p.out {
		if v != 0 {
			n++
		}
	}
	return n
}

// sine returns a tone of 200 Hz at 16 kHz whose samples are never zero and differ by at
// most smoothest from their neighbours.
func sine(n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		if pcm[i] = int16(16000 * math.Sin(2*math.Pi*200*float64(i)/16000)); pcm[i] == 0 {
			pcm[i] = 1
		}
	}
	return pcm
}

const smoothest = 1259 // 16000 * 2 pi * 200/16000, and rounding

// step returns the largest difference between neighbouring samples.
func step(pcm []int16) (largest int) {
	for i := 1; i < len(pcm); i++ {
		largest = max(largest, int(math.Abs(float64(pcm[i])-float64(pcm[i-1]))))
	}
	return largest
}

func TestDownlinkTellsWhatPlays(t *testing.T) {
	p := newPlayer(t, DownlinkOptions{})
	p.plays(60 * ms)
	p.want()
	p.say(1, 1, "hello there", 300*ms)
	p.say(1, 1, "and welcome", 200*ms)
	p.d.EndPart(1, 1)
	p.plays(480 * ms)
	p.want("started 1.1", "progress 1 200ms hello", "progress 1 400ms hello there and")
	p.plays(20 * ms)
	p.want("finished 1.1 500ms hello there and welcome")
	p.plays(time.Second)
	p.want()
	if p.sound() != 8000 {
		t.Errorf("%d samples, want 8000", p.sound())
	}
}

func TestDownlinkParts(t *testing.T) {
	p := newPlayer(t, DownlinkOptions{})
	p.say(3, 1, "one moment", 110*ms)
	p.d.EndPart(3, 1)
	p.say(3, 2, "here it is", 105*ms) // begins in the middle of a frame
	p.d.EndPart(3, 2)
	p.say(3, 3, "", 0) // its synthesis yielded nothing
	p.d.EndPart(3, 3)
	p.say(3, 4, "bye", 5*ms) // begins and ends within a frame
	p.d.EndPart(3, 4)
	p.plays(400 * ms)
	p.want("started 3.1", "finished 3.1 120ms one moment", "started 3.2", // with the frame that contains its first sample
		"finished 3.2 220ms one moment here it is bye", "started 3.3", "finished 3.3 220ms one moment here it is bye",
		"started 3.4", "finished 3.4 220ms one moment here it is bye")
}

func TestDownlinkPartThatEndsLate(t *testing.T) {
	p := newPlayer(t, DownlinkOptions{})
	p.say(1, 1, "done", 100*ms)
	p.plays(200 * ms)
	p.want("started 1.1")
	p.d.EndPart(1, 1)
	p.plays(20 * ms)
	p.want("finished 1.1 100ms done")
}

func TestDownlinkPartWithoutSound(t *testing.T) {
	p := newPlayer(t, DownlinkOptions{})
	p.say(1, 1, "...", 0)
	p.d.EndPart(1, 1)
	p.plays(40 * ms)
	p.want("started 1.1", "finished 1.1 0s")
}

func TestDownlinkOneSample(t *testing.T) {
	p := newPlayer(t, DownlinkOptions{})
	p.begin(1, 1, "x")
	p.write(1, []int16{1234})
	p.d.EndText(1)
	p.d.EndPart(1, 1)
	p.plays(40 * ms)
	p.want("started 1.1", "finished 1.1 62.5µs x")
	if p.sound() != 1 || p.out[0] != 1234 {
		t.Errorf("%d samples, the first is %d", p.sound(), p.out[0])
	}
}

func TestDownlinkHeardText(t *testing.T) {
	text := "One two  three four"
	marks := []port.Mark{{At: 0, Text: 0}, {At: 1600, Text: 4}, {At: 3200, Text: 9}, {At: 4800, Text: 15}}
	for _, c := range []struct {
		name  string
		marks []port.Mark
		whole bool // the text is spoken to its end before it is cut
		heard time.Duration
		want  string
	}{
		{"nothing has left", marks, true, 0, ""},
		{"the first word is not over", marks, true, 80 * ms, ""},
		{"the first word is over", marks, true, 100 * ms, "One"},
		{"in the third word", marks, true, 290 * ms, "One two"},
		{"in the last word", marks, true, 380 * ms, "One two  three"},
		{"all of it", marks, true, 400 * ms, text},
		{"marks of a voice that goes on", marks[:2], false, 390 * ms, "One"},
		{"without marks, by its share", nil, true, 200 * ms, "One two"},
		{"without marks, while it is made, at a low rate of speech", nil, false, 400 * ms, "One"},
		{"marks that are nonsense", []port.Mark{{At: -5, Text: -7}, {At: 10, Text: 99}}, true, 200 * ms, text},
		{"a mark within a character", []port.Mark{{At: 10, Text: 1}}, true, 200 * ms, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlayer(t, DownlinkOptions{})
			text := text
			if c.name == "a mark within a character" {
				text = "äöü äöü"
			}
			p.begin(1, 1, text)
			p.write(1, sine(6400), c.marks...)
			if c.whole {
				p.d.EndText(1)
			}
			p.plays(c.heard.Truncate(20 * ms))
			p.d.ledger.sent(int(audio.PosOf(c.heard%(20*ms), 16000))) // a part of a frame
			if got := p.d.Ledger(); got.Text != c.want || got.Heard != c.heard || !got.Estimated {
				t.Errorf("after %v the ledger says %+v, want %q", c.heard, got, c.want)
			}
		})
	}
}

func TestDownlinkFlushIsExact(t *testing.T) {
	for _, after := range []time.Duration{0, 20 * ms, 200 * ms, 380 * ms, 400 * ms, time.Second} {
		p := newPlayer(t, DownlinkOptions{})
		p.begin(1, 1, "one two three four")
		p.write(1, sine(6400), port.Mark{At: 0, Text: 0}, port.Mark{At: 1600, Text: 4}, port.Mark{At: 3200, Text: 8}, port.Mark{At: 4800, Text: 14})
		p.d.EndText(1)
		p.plays(after)
		heard, text := p.d.Flush(1, 0)
		p.plays(200 * ms)
		left := 0 // the last samples of the fade-out are zero and were sent too
		for i, v := range p.out {
			if v != 0 {
				left = i + 1
			}
		}
		if got := int(audio.PosOf(heard, 16000)); got < left || got > left+2 {
			t.Errorf("after %v: heard %v (%d samples), and %d have left", after, heard, got, left)
		}
		if want := min(after+5*ms, 400*ms); after > 0 && heard != want {
			t.Errorf("after %v: heard %v, want %v with the fade-out", after, heard, want)
		}
		if words := []string{"", "one", "one two", "one two three", "one two three four"}[min(heard, 400*ms)/(100*ms)]; text != words {
			t.Errorf("after %v: heard %q, want %q", after, text, words)
		}
		if p.d.Flush(1, 0); p.d.Ledger().Heard != heard {
			t.Errorf("flushed again: %v", p.d.Ledger())
		}
	}
}

func TestDownlinkFlushOfWhatNeverBegan(t *testing.T) {
	p := newPlayer(t, DownlinkOptions{})
	before := p.d.Cuts()
	if heard, text := p.d.Flush(7, 0); heard != 0 || text != "" {
		t.Errorf("heard %v %q", heard, text)
	}
	p.d.Begin(Text{7, 1, "too late", before})
	if err := p.d.Write(t.Context(), 7, sine(100), nil); !errors.Is(err, ErrFlushed) {
		t.Errorf("Write: %v, want ErrFlushed", err)
	}
	p.d.EndText(7)
	p.d.EndPart(7, 1)
	p.plays(100 * ms)
	p.want()
	if p.sound() != 0 {
		t.Error("it is heard")
	}
}

// After the announcement before a tool is cut, the answer of the same turn must be
// heard, and the rest of the announcement must not.
func TestDownlinkTurnGoesOnAfterACut(t *testing.T) {
	p := newPlayer(t, DownlinkOptions{})
	p.say(1, 1, "let me look", 400*ms)
	stale := p.d.Cuts() // "that up" was handed over before the cut and is spoken after it
	p.plays(200 * ms)
	heard, _ := p.d.Flush(1, 0)
	p.d.Begin(Text{1, 1, "that up", stale})
	if err := p.d.Write(t.Context(), 1, sine(1600), nil); !errors.Is(err, ErrFlushed) {
		t.Errorf("Write of the rest: %v, want ErrFlushed", err)
	}
	p.d.EndPart(1, 1)
	p.plays(100 * ms)
	p.log = nil
	p.say(1, 2, "it is sunny", 200*ms)
	p.d.EndPart(1, 2)
	p.plays(300 * ms)
	p.want("started 1.2", fmt.Sprintf("progress 1 %v let it is sunny", heard+200*ms),
		fmt.Sprintf("finished 1.2 %v let it is sunny", heard+200*ms))
	if again, text := p.d.Flush(1, 0); again != heard+200*ms || text != "let it is sunny" {
		t.Errorf("heard %v %q in all", again, text)
	}
}

// If the announcement is cut while the answer after the tool is queued in the same
// turn, the answer is heard completely, and the measurement covers the announcement
// only.
func TestDownlinkFlushOfAPart(t *testing.T) {
	announcement := []port.Mark{{At: 0, Text: 0}, {At: 3200, Text: 4}, {At: 4800, Text: 7}}
	for _, c := range []struct {
		name    string
		after   time.Duration // of playout
		heard   time.Duration
		text    string
		further time.Duration // until the answer is over
		cleared bool
	}{
		{"before its first sample", 0, 0, "", 200 * ms, true},
		{"in its middle", 200 * ms, 205 * ms, "let", 220 * ms, true},
		{"in its last frame", 380 * ms, 385 * ms, "let me", 220 * ms, true},
		{"in the frame that ends it", 400 * ms, 400 * ms, "let me look", 200 * ms, true},
		{"when the answer plays", 480 * ms, 400 * ms, "let me look", 120 * ms, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlayer(t, DownlinkOptions{})
			p.begin(1, 1, "let me look")
			p.write(1, sine(6400), announcement...)
			p.d.EndText(1)
			p.d.EndPart(1, 1)
			p.say(1, 2, "it is sunny", 200*ms)
			p.d.EndPart(1, 2)
			p.plays(c.after)
			p.log = nil
			before := len(p.out)
			heard, text := p.d.Flush(1, 1)
			if heard != c.heard || text != c.text {
				t.Errorf("heard %v %q, want %v %q", heard, text, c.heard, c.text)
			}
			if got := p.d.TakeClear(); got != c.cleared || p.d.TakeClear() {
				t.Errorf("the carrier is to be cleared: %v, want %v, and once", got, c.cleared)
			}
			p.plays(time.Second)
			left := 0
			for i, v := range p.out[before:] {
				if v != 0 {
					left = i + 1
				}
			}
			if got := audio.Pos(left).Duration(16000); got != c.further {
				t.Errorf("the last sound comes %v after the flush, want %v", got, c.further)
			}
			// All samples of the answer were sent.
			answer := p.out[before+left-int(audio.PosOf(min(200*ms, c.further), 16000)) : before+left]
			if !slices.Equal(answer, sine(3200)[3200-len(answer):]) {
				t.Error("the answer is not whole")
			}
			total := c.heard + 200*ms
			whole := strings.TrimSpace(c.text + " it is sunny")
			if got := p.d.Ledger(); got.Heard != total || got.Text != whole || got.Generated != total {
				t.Errorf("%+v, want %v of %q", got, total, whole)
			}
			if last := p.log[len(p.log)-1]; last != fmt.Sprintf("finished 1.2 %v %s", total, whole) {
				t.Errorf("facts %q", p.log)
			}
			if slices.ContainsFunc(p.log, func(f string) bool { return strings.HasPrefix(f, "finished 1.1") }) {
				t.Errorf("the part that was cut is told to be finished: %q", p.log)
			}
		})
	}
}

// The rest of an announcement that is still being synthesized, or waits for it, is
// refused, and the answer after it is accepted.
func TestDownlinkFlushOfAPartThatIsBeingMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlayer(t, DownlinkOptions{Buffer: 100 * ms})
		p.begin(1, 1, "let me look")
		written := make(chan error)
		go func() { written <- p.d.Write(t.Context(), 1, sine(16000), nil) }()
		synctest.Wait()
		handed := p.d.Cuts()
		p.plays(40 * ms)
		p.d.Pause(1)
		p.plays(40 * ms)
		if heard, _ := p.d.Flush(1, 1); heard != 45*ms {
			t.Errorf("heard %v, want 45ms", heard)
		}
		if err := <-written; !errors.Is(err, ErrFlushed) {
			t.Errorf("Write returned %v, want ErrFlushed", err)
		}
		p.d.EndPart(1, 1) // of the dropped part
		p.d.Begin(Text{1, 1, "that up for you", handed})
		if err := p.d.Write(t.Context(), 1, sine(100), nil); !errors.Is(err, ErrFlushed) {
			t.Errorf("Write of the rest: %v, want ErrFlushed", err)
		}
		p.log = nil
		p.d.Begin(Text{1, 2, "it is sunny", handed}) // handed over before the flush, which does not concern it
		p.write(1, sine(1600))
		p.d.EndText(1)
		p.d.EndPart(1, 2)
		p.plays(100 * ms) // the pause has ended, although the conversation has not resumed the turn
		p.want("started 1.2", "finished 1.2 145ms it is sunny")
		p.d.Flush(1, 1) // repeated, when everything is over
		p.plays(100 * ms)
		p.want()
	})
}

// With a carrier that acknowledges, the part of the announcement that the carrier has
// is dropped there and was not heard. If the carrier already has a part of the answer,
// nothing is dropped.
func TestDownlinkFlushOfAPartAtTheCarrier(t *testing.T) {
	for _, c := range []struct {
		after, heard, rest time.Duration
		clears             int
	}{
		{200 * ms, 100 * ms, 200 * ms, 1},
		{460 * ms, 400 * ms, 140 * ms, 0},
	} {
		leg := &porttest.AckLeg{Leg: porttest.NewLeg(porttest.LegOptions{}), Behind: 1600}
		p := newPlayer(t, DownlinkOptions{Acks: leg})
		plays := func(d time.Duration) {
			for range d / (20 * ms) {
				p.plays(20 * ms)
				if p.d.TakeClear() {
					if err := leg.Clear(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if err := leg.Write(t.Context(), audio.Frame{Rate: 16000, PCM: p.frame}); err != nil {
					t.Fatal(err)
				}
			}
		}
		p.say(1, 1, "let me look", 400*ms)
		p.d.EndPart(1, 1)
		p.say(1, 2, "it is sunny", 200*ms)
		p.d.EndPart(1, 2)
		plays(c.after)
		if heard, _ := p.d.Flush(1, 1); heard != c.heard {
			t.Errorf("after %v: heard %v, want %v", c.after, heard, c.heard)
		}
		p.out = nil
		plays(time.Second)
		if got := len(leg.Clears()); got != c.clears {
			t.Errorf("after %v: the carrier was cleared %d times, want %d", c.after, got, c.clears)
		}
		if got := audio.Pos(p.sound()).Duration(16000); got != c.rest {
			t.Errorf("after %v: %v of sound are sent, want %v", c.after, got, c.rest)
		}
		want := fmt.Sprintf("finished 1.2 %v", c.heard+200*ms)
		if last := p.log[len(p.log)-1]; !strings.HasPrefix(last, want) {
			t.Errorf("after %v: facts %q, want %q at the end", c.after, p.log, want)
		}
	}
}

func TestDownlinkOldTurnsAreOver(t *testing.T) {
	p := newPlayer(t, DownlinkOptions{})
	p.say(4, 1, "old", 400*ms)
	p.plays(100 * ms)
	p.say(5, 1, "new", 400*ms) // replaces the turn
	p.d.Begin(Text{4, 1, "more of the old", p.d.Cuts()})
	if err := p.d.Write(t.Context(), 4, sine(100), nil); !errors.Is(err, ErrFlushed) {
		t.Errorf("Write: %v, want ErrFlushed", err)
	}
	p.d.EndPart(4, 1)
	p.d.Pause(4)
	p.plays(100 * ms)
	p.d.Flush(4, 0)
	p.plays(320 * ms)
	p.want("started 4.1", "started 5.1", "progress 5 200ms", "progress 5 400ms new")
	p.d.Flush(5, 0)
	for turn := range 6 {
		p.d.Begin(Text{turn, 1, "old", 0})
		if err := p.d.Write(t.Context(), turn, sine(100), nil); !errors.Is(err, ErrFlushed) {
			t.Errorf("turn %d after the flush of 5: %v, want ErrFlushed", turn, err)
		}
	}
}

// A cancelled Write returns even while there is room, so that a voice that ignores its
// context does not continue.
func TestDownlinkWriteLooksAtItsContext(t *testing.T) {
	p := newPlayer(t, DownlinkOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	p.begin(1, 1, "x")
	if err := p.d.Write(ctx, 1, sine(320), nil); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := p.d.Write(ctx, 1, sine(320), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Write: %v, want the context's error", err)
	}
	p.plays(100 * ms)
	if p.sound() != 320 {
		t.Errorf("%d samples, want 320", p.sound())
	}
}

func TestDownlinkDuck(t *testing.T) {
	p := newPlayer(t, DownlinkOptions{})
	p.say(1, 1, "x", 2*time.Second)
	p.plays(100 * ms)
	p.d.Duck(2) // another turn
	p.plays(100 * ms)
	if got, want := audio.RMS(p.out[1600:3200]), audio.RMS(p.out[:1600]); got != want {
		t.Errorf("level %v, want %v", got, want)
	}
	p.d.Duck(1)
	p.plays(200 * ms)
	full := audio.RMS(p.out[:3200])
	if got := audio.RMS(p.out[4800:6400]); math.Abs(got/full-duckedGain) > 0.01 {
		t.Errorf("ducked to %v of the volume", got/full)
	}
	p.d.Resume(1)
	p.plays(200 * ms)
	if got := audio.RMS(p.out[8000:9600]); math.Abs(got/full-1) > 0.01 {
		t.Errorf("back at %v of the volume", got/full)
	}
	if got := step(p.out); got > smoothest {
		t.Errorf("a step of %d, want at most %d", got, smoothest)
	}
	// The fade-out of a cut during ducking is not louder than the ducked speech.
	p.d.Duck(1)
	p.plays(40 * ms)
	before := len(p.out)
	p.d.Flush(1, 0)
	p.plays(40 * ms)
	if audio.Peak(p.out[before:]) > 0.5*duckedGain {
		t.Error("the fade-out is louder than the speech was")
	}
	p.say(2, 1, "x", 200*ms)
	p.plays(40 * ms)
	if got := audio.Peak(p.out[len(p.out)-320:]); got < 0.45 {
		t.Errorf("the next turn begins at %v: it is ducked still", got)
	}
}

func TestDownlinkPauseAndResume(t *testing.T) {
	for _, frozen := range []bool{false, true} {
		p := newPlayer(t, DownlinkOptions{})
		hold, release := func() { p.d.Pause(1) }, func() { p.d.Resume(1) }
		if frozen {
			hold, release = func() { p.d.Freeze(true) }, func() { p.d.Freeze(false) }
		}
		p.say(1, 1, "x", 480*ms)
		p.d.EndPart(1, 1)
		p.plays(100 * ms)
		hold()
		p.plays(time.Second)
		if got := p.d.Ledger().Heard; got != 105*ms {
			t.Errorf("held back after %v, want 105ms", got)
		}
		p.want("started 1.1")
		release()
		p.plays(500 * ms)
		p.want("started 1.1"[:0]+"progress 1 205ms", "progress 1 405ms", "finished 1.1 480ms x")
		// No samples are lost: after the pause the speech continues where it was.
		want := sine(7680)
		if got := p.out[1600+16000+80:]; !slices.Equal(got[:5920], want[1760:]) {
			t.Error("it does not go on where it was")
		}
		if got := step(p.out[:1600+16000+7000]); got > smoothest {
			t.Errorf("a step of %d, want at most %d", got, smoothest)
		}
	}
}

// If a voice is heard while the reply is being synthesized, the pause precedes the
// first sample of the turn and must still hold it back.
func TestDownlinkPauseBeforeTheSpeech(t *testing.T) {
	p := newPlayer(t, DownlinkOptions{})
	p.say(1, 1, "an earlier one", 100*ms)
	p.d.EndPart(1, 1)
	p.plays(200 * ms)
	p.log = nil
	p.d.Pause(2)
	p.say(2, 1, "held", 200*ms)
	p.d.EndPart(2, 1)
	p.plays(500 * ms)
	p.want()
	p.d.Resume(2)
	p.plays(200 * ms)
	p.want("started 2.1", "progress 2 200ms held", "finished 2.1 200ms held")
	// A pause that was never taken back ends with its turn.
	p.d.Pause(3)
	p.d.Flush(3, 0)
	p.say(4, 1, "free", 100*ms)
	p.plays(20 * ms)
	p.want("started 4.1")
}

func TestDownlinkFlushWhilePaused(t *testing.T) {
	p := newPlayer(t, DownlinkOptions{})
	p.say(1, 1, "x", 480*ms)
	p.plays(100 * ms)
	p.d.Pause(1)
	p.plays(100 * ms)
	before := len(p.out)
	if heard, _ := p.d.Flush(1, 0); heard != 105*ms {
		t.Errorf("heard %v, want 105ms", heard)
	}
	p.plays(100 * ms)
	if audio.Peak(p.out[before:]) != 0 {
		t.Error("something sounds after the flush of what was held back")
	}
	p.say(2, 1, "y", 480*ms)
	p.plays(40 * ms)
	if audio.Peak(p.out[len(p.out)-320:]) == 0 {
		t.Error("the next turn is held back too")
	}
}

func TestDownlinkCutsDoNotClick(t *testing.T) {
	for _, rate := range []int{8000, 16000, 24000, 48000} {
		tone := make([]int16, rate)
		for i := range tone {
			tone[i] = int16(30000 * math.Sin(2*math.Pi*100*float64(i)/float64(rate)))
		}
		// The step of the tone, plus that of the fade: full scale in 5 ms.
		most := 30000*(2*math.Pi*100/float64(rate)+1/(0.005*float64(rate))) + 2
		for n := 1; n < 20; n++ {
			p := newPlayer(t, DownlinkOptions{Rate: rate})
			p.begin(1, 1, "x")
			p.write(1, tone)
			p.plays(time.Duration(n) * 20 * ms)
			p.d.Flush(1, 0)
			p.begin(2, 1, "y") // the next turn follows at once
			p.write(2, tone)
			p.plays(100 * ms)
			if got := step(p.out); float64(got) > most {
				t.Errorf("%d Hz, cut after %d frames: a step of %d, want at most %d", rate, n, got, int(most))
			}
		}
	}
}

func TestDownlinkBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var parked []bool
		p := newPlayer(t, DownlinkOptions{Buffer: 100 * ms, Parked: func(on bool) { parked = append(parked, on) }})
		p.begin(1, 1, "x")
		written := make(chan error, 1)
		go func() { written <- p.d.Write(t.Context(), 1, sine(16000), nil) }()
		for n := 0; ; n++ {
			synctest.Wait() // the writer waits for room or has written everything
			if p.d.queue.Len() > 1600 {
				t.Fatalf("%d samples are queued, 1600 fit", p.d.queue.Len())
			}
			if len(written) > 0 {
				if want := (16000 - 1600) / 320; n != want {
					t.Errorf("Write of a second returned after %d frames, want %d: the buffer holds 100 ms", n, want)
				}
				break
			}
			p.plays(20 * ms)
		}
		if err := <-written; err != nil {
			t.Fatal(err)
		}
		p.plays(200 * ms)
		if !slices.Equal(p.out[:16000], sine(16000)) || p.sound() != 16000 {
			t.Error("what was written is not what has left")
		}
		for i, on := range parked {
			if on != (i%2 == 0) {
				t.Fatalf("told %v: want waiting and not in turns", parked)
			}
		}
		if len(parked) == 0 || parked[len(parked)-1] {
			t.Errorf("told %v: want an end to every wait", parked)
		}
	})
}

func TestDownlinkWaitEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(p *player, cancel func())
		want error
	}{
		{"flush", func(p *player, _ func()) { p.d.Flush(1, 0) }, ErrFlushed},
		{"context", func(_ *player, cancel func()) { cancel() }, context.Canceled},
		{"a new turn", func(p *player, _ func()) { p.begin(2, 1, "y") }, ErrFlushed},
		{"context and flush", func(p *player, cancel func()) { cancel(); p.d.Flush(1, 0) }, context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlayer(t, DownlinkOptions{Buffer: 20 * ms})
				p.begin(1, 1, "x")
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				written := make(chan error, 1)
				go func() { written <- p.d.Write(ctx, 1, sine(16000), nil) }()
				synctest.Wait()
				p.d.Wake() // it checks and continues to wait
				synctest.Wait()
				c.end(p, cancel)
				if err := <-written; !errors.Is(err, c.want) && !errors.Is(err, ErrFlushed) {
					t.Errorf("Write returned %v, want %v", err, c.want)
				}
				if len(p.d.room) != 0 {
					t.Error("a token is left over")
				}
			})
		})
	}
}

// While a synthesizer that does not know of the end keeps writing, frames are sent and
// turns are flushed. Nothing of a flushed turn may be sent; the samples of each turn
// have their own value.
func TestDownlinkNothingOfAFlushedTurnLeaves(t *testing.T) {
	const turns = 60
	p := newPlayer(t, DownlinkOptions{Buffer: 60 * ms})
	var workers sync.WaitGroup
	flushed := make([]chan struct{}, turns+1)
	for i := range flushed {
		flushed[i] = make(chan struct{})
	}
	begun := make(chan int)
	workers.Go(func() {
		for turn := 1; turn <= turns; turn++ {
			cuts := p.d.Cuts()
			p.d.Begin(Text{turn, 1, "x", cuts})
			pcm := slices.Repeat([]int16{int16(turn * 100)}, 500)
			begun <- turn
			for over := false; !over; {
				select {
				case <-flushed[turn]:
					over = true
				default:
				}
				_ = p.d.Write(t.Context(), turn, pcm, nil) // the error does not matter
			}
			for range 3 { // repeated, as if the error was not noticed
				p.d.Begin(Text{turn, 2, "x", cuts})
				_ = p.d.Write(t.Context(), turn, pcm, nil)
				p.d.EndText(turn)
				p.d.EndPart(turn, 2)
			}
		}
		close(begun)
	})
	for turn := range begun {
		heard := 0
		for range 1 + turn%5 {
			p.plays(20 * ms)
			for _, v := range p.frame {
				if v > int16(turn*100) || v < 0 {
					t.Fatalf("turn %d plays %d", turn, v)
				}
				if v == int16(turn*100) {
					heard++
				}
			}
		}
		p.d.Flush(turn, 0)
		p.plays(20 * ms) // the fade-out
		for i, v := range p.frame {
			if i >= len(p.d.tail) && v != 0 || v > int16(turn*100) {
				t.Fatalf("turn %d, %d samples after its flush: %d", turn, i, v)
			}
		}
		close(flushed[turn])
		for range 3 {
			p.plays(20 * ms)
			if next := int16((turn + 1) * 100); slices.ContainsFunc(p.frame, func(v int16) bool { return v != 0 && v != next }) {
				t.Fatalf("turn %d is heard after its flush: %v", turn, p.frame)
			}
		}
	}
	workers.Wait()
}

func TestDownlinkAcknowledged(t *testing.T) {
	leg := &porttest.AckLeg{Leg: porttest.NewLeg(porttest.LegOptions{}), Behind: 1600}
	p := newPlayer(t, DownlinkOptions{Acks: leg})
	plays := func(d time.Duration) {
		for range d / (20 * ms) {
			p.plays(20 * ms)
			if err := leg.Write(t.Context(), audio.Frame{Rate: 16000, PCM: p.frame}); err != nil {
				t.Fatal(err)
			}
		}
	}
	plays(200 * ms)
	p.begin(1, 1, "one two")
	p.write(1, sine(6400), port.Mark{At: 0, Text: 0}, port.Mark{At: 3200, Text: 4})
	p.d.EndText(1)
	p.d.EndPart(1, 1)
	plays(200 * ms)
	if got := p.d.Ledger(); got.Sent != 200*ms || got.Heard != 100*ms || got.Text != "" || got.Estimated {
		t.Errorf("%+v", got)
	}
	plays(100 * ms)
	if got := p.d.Ledger(); got.Sent != 300*ms || got.Heard != 200*ms || got.Text != "one" {
		t.Errorf("%+v", got)
	}
	// Sent is not heard: the part is finished when its end is reported.
	plays(100 * ms)
	p.want("started 1.1", "progress 1 80ms", "progress 1 280ms one")
	plays(100 * ms)
	p.want()
	plays(20 * ms)
	p.want("finished 1.1 400ms one two")

	// What is cut at the carrier was not heard.
	p.say(2, 1, "three four five six", 400*ms)
	plays(300 * ms)
	heard, _ := p.d.Flush(2, 0)
	if heard != 200*ms {
		t.Errorf("heard %v, want 200ms", heard)
	}
	if err := leg.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := len(p.out)
	plays(100 * ms)
	if audio.Peak(p.out[before:]) != 0 {
		t.Error("a scrap of the turn is sent behind the carrier's gap")
	}
	if again, _ := p.d.Flush(2, 0); again != heard {
		t.Errorf("flushed again: heard %v, want %v", again, heard)
	}
	// When the turn continues, the carrier's reports count from there.
	p.say(2, 2, "seven", 200*ms)
	p.d.EndPart(2, 2)
	plays(200 * ms)
	if got := p.d.Ledger(); got.Sent != 400*ms || got.Heard != 300*ms {
		t.Errorf("%+v", got)
	}
	plays(200 * ms)
	if got := p.d.Ledger(); got.Heard != 400*ms || !strings.HasSuffix(got.Text, "seven") {
		t.Errorf("%+v", got)
	}
}

// If the carrier stops reporting, the call must not wait forever.
func TestDownlinkLostReports(t *testing.T) {
	leg := &porttest.AckLeg{Leg: porttest.NewLeg(porttest.LegOptions{})}
	p := newPlayer(t, DownlinkOptions{Acks: leg})
	leg.Freeze(true)
	p.say(1, 1, "one two", 400*ms)
	p.d.EndPart(1, 1)
	p.plays(400*ms + ackPatience - 20*ms)
	p.want("started 1.1", "progress 1 0s", "progress 1 0s")
	p.plays(40 * ms)
	p.want("finished 1.1 400ms one two")
	if got := p.d.Ledger(); !got.Estimated || got.Heard != 400*ms {
		t.Errorf("%+v", got)
	}
}

func TestDownlinkLevel(t *testing.T) {
	p := newPlayer(t, DownlinkOptions{})
	p.plays(20 * ms)
	if p.d.Level() != 0 {
		t.Errorf("level of silence %v", p.d.Level())
	}
	p.say(1, 1, "x", 100*ms)
	p.plays(20 * ms)
	if got := p.d.Level(); got != audio.RMS(p.frame) || got < 0.3 {
		t.Errorf("level %v, want %v", got, audio.RMS(p.frame))
	}
}

// The events of a frame precede those that its room makes possible.
func TestDownlinkPostsBeforeItWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log []string
		d, err := NewDownlink(DownlinkOptions{
			Rate: 16000, Buffer: 20 * ms,
			Post: func(...conv.Event) { log = append(log, "post") },
			Parked: func(on bool) {
				if !on {
					log = append(log, "wake")
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		d.Begin(Text{1, 1, "x", 0})
		done := make(chan error)
		go func() { done <- d.Write(t.Context(), 1, sine(640), nil) }()
		synctest.Wait()
		d.Frame(make([]int16, 320))
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(log, []string{"post", "wake"}) {
			t.Errorf("%v", log)
		}
	})
}

func TestDownlinkOptions(t *testing.T) {
	if _, err := NewDownlink(DownlinkOptions{}); err == nil {
		t.Error("a rate of 0 is taken")
	}
}

// Nothing is allocated from the voice to the pacer. A report, after every tenth frame,
// allocates a text and an event.
func TestDownlinkFrameAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, acks := range []bool{false, true} {
		d, err := NewDownlink(DownlinkOptions{Rate: 16000, Post: func(...conv.Event) {}})
		if err != nil {
			t.Fatal(err)
		}
		if acks {
			d.o.Acks = &porttest.AckLeg{Leg: porttest.NewLeg(porttest.LegOptions{})}
		}
		d.Begin(Text{Turn: 1, Part: 1, Words: "one two three"})
		ctx, pcm, frame := t.Context(), sine(320), make([]int16, 320)
		play := func() {
			if err := d.Write(ctx, 1, pcm, nil); err != nil {
				t.Fatal(err)
			}
			d.Frame(frame)
		}
		play()
		// There are nine frames between two reports.
		for range 10 {
			if n := testing.AllocsPerRun(7, play); n != 0 {
				t.Errorf("speech: %v allocations a frame", n)
			}
			for d.since != audio.PosOf(reportEvery, 16000)-320 {
				play()
			}
			if n := testing.AllocsPerRun(1, func() { play(); d.since = audio.PosOf(reportEvery, 16000) - 320 }); n > 2 {
				t.Errorf("a report: %v allocations", n)
			}
			play()
		}
		d.Flush(1, 0)
		if n := testing.AllocsPerRun(100, func() { d.Frame(frame) }); n != 0 {
			t.Errorf("silence: %v allocations a frame", n)
		}
	}
}

// Sent receives each sample once, with its turn, before the events that result from it.
func TestDownlinkSent(t *testing.T) {
	var d *Downlink
	var log []string
	samples := 0
	p := newPlayer(t, DownlinkOptions{Sent: func(turn int, pcm []int16) {
		samples += len(pcm)
		log = append(log, fmt.Sprintf("sent %d", turn))
	}})
	d = p.d
	post := d.o.Post
	d.o.Post = func(events ...conv.Event) {
		for _, ev := range events {
			log = append(log, playFact(ev))
		}
		post(events...)
	}
	p.say(3, 1, "hello", 50*time.Millisecond)
	d.EndPart(3, 1)
	p.plays(100 * time.Millisecond)
	if want := int(audio.PosOf(50*time.Millisecond, d.o.Rate)); samples != want {
		t.Errorf("%d samples, expected %d", samples, want)
	}
	if len(log) < 5 || log[0] != "sent 3" || !strings.HasPrefix(log[1], "started") || !strings.HasPrefix(log[len(log)-1], "finished") || log[len(log)-2] != "sent 3" {
		t.Errorf("in this order: %v", log)
	}
	p.say(4, 1, "again", 100*time.Millisecond)
	p.plays(20 * time.Millisecond)
	d.Flush(4, 0)
	n := samples
	p.plays(100 * time.Millisecond)
	if samples != n {
		t.Errorf("%d samples of a turn that was dropped", samples-n)
	}
}
