package media

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
)

// The model of a Downlink consists of lists of samples and of the expected events. It
// runs beside the real one and checks each frame, event and measurement.

// modelText is a text and its samples that were not dropped.
type modelText struct {
	part int
	word string // one long word, heard when its sound is over; empty if it was cut off
	made []int16
	out  int // number of samples sent
	done bool
}

type modelPart struct {
	number                   int
	ended, started, finished bool
}

type modelTurn struct {
	texts []*modelText
	parts []*modelPart
}

type modelFlush struct{ turn, part, number int }

type playout struct {
	d       *Downlink
	turn    int // the turn being played, or played last and not over; 0 if none
	last    int // the highest turn that has begun
	turns   map[int]*modelTurn
	writing bool // the last text is being written
	flushes []modelFlush

	paused  int
	frozen  bool
	held    bool // the last frame was held back
	playing *modelPart
	fade    []int16 // samples of a fade-out not yet sent
	since   int
	clear   bool

	events []conv.Event
	next   int16
	texts  int
	tried  *tried
}

// tried counts what the runs have covered, to ensure that the test is meaningful.
type tried struct{ frames, loud, whole, parts, kept, behind, refused int }

func (m *playout) current() *modelTurn {
	if m.turn == 0 {
		return &modelTurn{}
	}
	return m.turns[m.turn]
}

// out returns the number of samples sent of the parts up to one.
func (c *modelTurn) out(part int) (n int) {
	for _, t := range c.texts {
		if t.part <= part {
			n += t.out
		}
	}
	return n
}

// waits returns the unsent samples of the parts up to one.
func (c *modelTurn) waits(part int) (pcm []int16) {
	for _, t := range c.texts {
		if t.part <= part {
			pcm = append(pcm, t.made[t.out:]...)
		}
	}
	return pcm
}

// heard returns the words of the parts up to one that were heard.
func (c *modelTurn) heard(part int) string {
	var words []string
	from, out := 0, c.out(part)
	for _, t := range c.texts {
		if t.part <= part && t.word != "" && t.done && t.out == len(t.made) && out > from {
			words = append(words, t.word)
		}
		from += len(t.made)
	}
	return strings.Join(words, " ")
}

// send sends n samples.
func (c *modelTurn) send(n int) {
	for _, t := range c.texts {
		k := min(n, len(t.made)-t.out)
		t.out += k
		n -= k
	}
}

// partOf returns the part of the next sample to be sent.
func (c *modelTurn) partOf() *modelPart {
	for _, t := range c.texts {
		if t.out < len(t.made) {
			return c.part(t.part)
		}
	}
	return nil
}

func (c *modelTurn) part(number int) *modelPart {
	for _, p := range c.parts {
		if p.number == number {
			return p
		}
	}
	p := &modelPart{number: number}
	c.parts = append(c.parts, p)
	return p
}

func (m *playout) time(samples int) audio.Pos { return audio.Pos(samples) }

// frame takes one frame and checks it.
func (m *playout) frame(t *rapid.T) {
	m.tried.frames++
	dst := make([]int16, 160)
	m.events = nil
	speech := m.d.Frame(dst)
	if got := m.d.TakeClear(); got != m.clear {
		t.Fatalf("the carrier is to be cleared: %v, want %v", got, m.clear)
	}
	m.clear = false
	if speech != slices.ContainsFunc(dst, func(v int16) bool { return v != 0 }) && !m.quietFade(dst) {
		t.Fatalf("speech %v in %v", speech, dst)
	}
	if len(m.fade) > 0 {
		m.within(t, dst, m.fade)
		m.wantEvents(t)
		m.fade = nil
		return
	}
	cur := m.current()
	waits := cur.waits(math.MaxInt)
	held := m.frozen || m.turn != 0 && m.paused == m.turn
	edge := len(m.d.tail)
	switch {
	case m.turn == 0 || held && (m.held || m.playing == nil):
		m.held = m.held || m.turn != 0
		m.within(t, dst, nil)
		m.wantEvents(t)
		return
	case held: // the end fades out
		waits = waits[:min(len(waits), edge)]
		m.within(t, dst, waits)
		m.held = true
	default:
		waits = waits[:min(len(waits), len(dst))]
		if faded := min(len(waits), edge); m.held && faded > 0 {
			m.within(t, dst[:faded], waits[:faded])
			waits, dst = waits[faded:], dst[faded:]
			m.held = false
			defer cur.send(0)
			m.exactly(t, dst, waits)
			m.tell(t, cur, faded+len(waits))
			return
		}
		m.exactly(t, dst, waits)
	}
	m.tell(t, cur, len(waits))
}

// quietFade reports whether the fade-out is so short that nothing of it can be heard.
func (m *playout) quietFade(dst []int16) bool {
	return audio.Peak(dst) == 0 && (len(m.fade) > 0 || m.held || m.frozen || m.paused != 0)
}

// exactly checks that the samples are followed by silence.
func (m *playout) exactly(t *rapid.T, got, want []int16) {
	if !slices.Equal(got[:len(want)], want) || audio.Peak(got[len(want):]) != 0 {
		t.Fatalf("%v leave, want %v and silence", got, want)
	}
}

// within checks faded samples: none may be louder than the original.
func (m *playout) within(t *rapid.T, got, want []int16) {
	for i, v := range got {
		most := int16(0)
		if i < len(want) {
			most = want[i]
		}
		if v < 0 || v > most {
			t.Fatalf("sample %d of %v is %d, want at most %d", i, got, v, most)
		}
	}
}

// tell checks the events of a frame in which n samples are sent.
func (m *playout) tell(t *rapid.T, cur *modelTurn, n int) {
	var want []conv.Event
	over := func() {
		for _, p := range cur.parts {
			if !p.ended || p.finished || len(cur.waits(p.number)) > 0 {
				continue
			}
			if !p.started {
				want = append(want, conv.PlayoutStarted{Turn: m.turn, Part: p.number})
			}
			p.started, p.finished = true, true
			want = append(want, conv.PlayoutFinished{
				Turn: m.turn, Part: p.number, Heard: m.time(cur.out(math.MaxInt)).Duration(8000), Text: cur.heard(math.MaxInt),
			})
			if m.playing != nil && m.playing.number <= p.number {
				m.playing = nil
			}
			m.since = 0
		}
	}
	starts := func(p *modelPart) {
		if slices.ContainsFunc(cur.parts, func(q *modelPart) bool { return q.number >= p.number && q.finished }) {
			return // its end was never reported, and a later part is over
		}
		if m.playing = p; !p.started {
			p.started = true
			want = append(want, conv.PlayoutStarted{Turn: m.turn, Part: p.number})
		}
	}
	over()
	if n == 0 {
		m.wantEvents(t, want...)
		return
	}
	m.tried.loud++
	starts(cur.partOf())
	cur.send(n - 1)
	last := cur.partOf()
	cur.send(1)
	if m.since += n; m.since >= 1600 {
		m.since = 0
		want = append(want, conv.PlayoutProgress{
			Turn: m.turn, Heard: m.time(cur.out(math.MaxInt)).Duration(8000), Text: cur.heard(math.MaxInt),
		})
	}
	over()
	starts(last)
	m.wantEvents(t, want...)
}

func (m *playout) wantEvents(t *rapid.T, want ...conv.Event) {
	if !slices.Equal(m.events, want) {
		t.Fatalf("told\n%+v\nwant\n%+v", m.events, want)
	}
}

// begin starts a text, which may be too late.
func (m *playout) begin(t *rapid.T) {
	turn := max(1, m.last+rapid.SampledFrom([]int{0, 0, 0, 0, 0, 1, 1, -1}).Draw(t, "turn"))
	if m.turn == 0 && turn == m.last && rapid.IntRange(0, 3).Draw(t, "goes on") > 0 {
		turn++
	}
	cur, part := m.turns[turn], 1
	if cur != nil && len(cur.texts) > 0 {
		part = cur.texts[len(cur.texts)-1].part // parts never decrease
		last := cur.part(part)
		if next := rapid.IntRange(0, 2).Draw(t, "next part") == 0; next && !last.ended {
			m.endPart()
		}
		if last.ended || !m.writing && rapid.Bool().Draw(t, "another part") {
			part++
		}
	}
	cuts := max(0, len(m.flushes)-rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "late by"))
	m.texts++
	word := strings.Repeat("x", 60) + strconv.Itoa(m.texts)
	m.d.Begin(Text{turn, part, word, cuts})
	m.writing = false
	refused := turn < m.turn || slices.ContainsFunc(m.flushes, func(f modelFlush) bool {
		return turn < f.turn || turn == f.turn && part <= f.part && cuts < f.number
	})
	if refused {
		m.tried.refused++
		return
	}
	if turn != m.turn {
		m.fadeOut(math.MaxInt)
		m.over()
		m.turn, m.last = turn, turn
	}
	if cur == nil {
		cur = &modelTurn{}
		m.turns[turn] = cur
	}
	for _, text := range cur.texts {
		text.done = true
	}
	cur.part(part)
	cur.texts = append(cur.texts, &modelText{part: part, word: word})
	m.writing = true
}

// over ends the turn being played.
func (m *playout) over() {
	if c := m.current(); m.turn != 0 {
		m.drop(c, math.MaxInt)
	}
	if m.paused == m.turn {
		m.paused = 0
	}
	m.turn, m.writing, m.playing, m.held, m.since = 0, false, nil, false, 0
}

// fadeOut sends the first samples of what is dropped, if it is being played.
func (m *playout) fadeOut(part int) {
	cur := m.current()
	if m.playing == nil || m.playing.number > part || m.held {
		return
	}
	waits := cur.waits(part)
	m.fade = waits[:min(len(waits), len(m.d.tail))]
	cur.send(len(m.fade))
}

// drop removes the unsent samples of the parts up to one.
func (m *playout) drop(cur *modelTurn, part int) {
	from, out := 0, cur.out(part)
	for _, t := range cur.texts {
		if t.part > part {
			continue
		}
		if t.out < len(t.made) || !t.done || from >= out {
			t.word = ""
		}
		from += t.out
		t.made, t.done = t.made[:t.out:t.out], true
	}
	cur.forget(part)
}

// forget removes a part that was cut: it is not reported any more, and if it is said
// again it is a new one.
func (c *modelTurn) forget(part int) {
	c.parts = slices.DeleteFunc(c.parts, func(p *modelPart) bool { return p.number <= part })
}

func (m *playout) write(t *rapid.T) {
	turn := m.last
	if rapid.IntRange(0, 9).Draw(t, "wrong turn") == 0 {
		turn--
	}
	n := min(rapid.SampledFrom([]int{0, 1, 3, 100, 159, 160, 161, 320, 500}).Draw(t, "samples"), m.d.queue.Room())
	pcm := make([]int16, n)
	for i := range pcm {
		m.next = m.next%30000 + 1 // each sample identifies its position
		pcm[i] = m.next
	}
	cur := m.current()
	if m.writing && turn == m.turn && cur.part(cur.texts[len(cur.texts)-1].part).ended {
		return // a part that has ended gets no more speech
	}
	err := m.d.Write(t.Context(), turn, pcm, nil)
	if ok := m.writing && turn == m.turn; (err == nil) != ok {
		t.Fatalf("Write for turn %d of %d, wanted: %v, returned %v", turn, m.turn, m.writing, err)
	} else if ok {
		text := cur.texts[len(cur.texts)-1]
		text.made = append(text.made, pcm...)
	}
}

func (m *playout) endText() {
	m.d.EndText(m.last)
	if cur := m.current(); m.writing {
		cur.texts[len(cur.texts)-1].done = true
	}
}

func (m *playout) endPart() {
	m.endText()
	cur, number := m.turns[m.last], 1
	if cur != nil && len(cur.texts) > 0 {
		number = cur.texts[len(cur.texts)-1].part
	}
	m.d.EndPart(m.last, number)
	if m.writing {
		cur.part(number).ended = true
	}
}

// flush flushes a turn, or its first parts, and checks the result.
func (m *playout) flush(t *rapid.T, turn, part int) {
	heard, text := m.d.Flush(turn, part)
	if m.paused == turn {
		m.paused = 0
	}
	if part == 0 {
		part = math.MaxInt
		m.clear = true
		m.tried.whole++
	} else {
		m.tried.parts++
	}
	if !slices.ContainsFunc(m.flushes, func(f modelFlush) bool { return turn < f.turn }) {
		m.flushes = append(m.flushes, modelFlush{turn, part, len(m.flushes) + 1})
	}
	cur := m.turns[turn]
	if cur == nil {
		return
	}
	switch {
	case turn == m.turn:
		m.cut(cur, part)
	case cur.out(math.MaxInt) > cur.out(part):
		cur.forget(part)
	default:
		m.drop(cur, part)
	}
	if turn == m.last {
		if want := m.time(cur.out(part)).Duration(8000); heard != want || text != cur.heard(part) {
			t.Fatalf("heard of turn %d up to part %d: %v %q, want %v %q", turn, part, heard, text, want, cur.heard(part))
		}
	}
}

// cut flushes the turn being played.
func (m *playout) cut(cur *modelTurn, part int) {
	behind := cur.out(math.MaxInt) > cur.out(part)
	if len(cur.waits(part)) < len(cur.waits(math.MaxInt)) {
		m.tried.kept++
	}
	if behind {
		m.tried.behind++
	} else {
		m.fadeOut(part)
		m.clear = true
		m.playing, m.held, m.since = nil, false, 0
	}
	if len(cur.texts) > 0 && cur.texts[len(cur.texts)-1].part <= part {
		m.writing = false
	}
	if behind {
		cur.forget(part)
	} else {
		m.drop(cur, part)
	}
	if part == math.MaxInt {
		m.over()
	}
}

// TestDownlinkAgainstModel calls all methods of a downlink in any order and compares it
// with the model.
func TestDownlinkAgainstModel(t *testing.T) {
	var all tried
	rapid.Check(t, func(t *rapid.T) {
		m := &playout{turns: make(map[int]*modelTurn), tried: &all}
		d, err := NewDownlink(DownlinkOptions{Rate: 8000, Buffer: 200 * ms, Post: func(events ...conv.Event) {
			m.events = append(m.events, events...)
		}})
		if err != nil {
			t.Fatal(err)
		}
		m.d = d
		say := func(t *rapid.T) { m.begin(t); m.write(t); m.write(t) }
		frames := func(t *rapid.T) {
			for range rapid.IntRange(1, 6).Draw(t, "frames") {
				m.frame(t)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"begin": m.begin, "say": say, "say more": say, "write": m.write, "write more": m.write,
			"end text": func(*rapid.T) { m.endText() },
			"end part": func(*rapid.T) { m.endPart() },
			"frame":    m.frame, "frames": frames, "more frames": frames,
			"flush": func(t *rapid.T) {
				if rapid.IntRange(0, 3).Draw(t, "really") == 0 {
					m.flush(t, max(0, m.last+rapid.IntRange(-1, 0).Draw(t, "turn")), 0)
				}
			},
			"flush parts": func(t *rapid.T) {
				m.flush(t, m.last, rapid.IntRange(1, 3).Draw(t, "part"))
			},
			"pause": func(*rapid.T) { m.paused = m.last; d.Pause(m.last) },
			"resume": func(*rapid.T) {
				if m.paused == m.last {
					m.paused = 0
				}
				d.Resume(m.last)
			},
			"freeze": func(t *rapid.T) { m.frozen = rapid.IntRange(0, 2).Draw(t, "on") == 0; d.Freeze(m.frozen) },
		})
	})
	t.Logf("%+v", all)
	if all.loud < all.frames/20 || all.whole == 0 || all.parts == 0 || all.kept == 0 || all.behind == 0 || all.refused == 0 {
		t.Errorf("the model has tried too little: %+v", all)
	}
}
