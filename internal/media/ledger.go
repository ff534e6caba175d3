package media

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

// Ledger contains how much of a turn's speech was generated, sent and heard. Estimated
// reports that the carrier does not report what it has played, so that what was sent
// counts as heard.
type Ledger struct {
	Turn                   int
	Generated, Sent, Heard time.Duration
	Text                   string
	Estimated              bool
}

// spokenPerSecond is the length of text in bytes spoken per second, used if nothing
// better is known. It is low, so that rather too little counts as heard.
const spokenPerSecond = 12

// ledger counts the samples of one turn. It is guarded by the downlink's lock.
type ledger struct {
	rate      int
	turn      int
	start     audio.Pos // of the turn in the queue
	generated audio.Pos
	out       audio.Pos // sent, except for what was cut
	texts     []spoken

	// For carriers that acknowledge: how much of the turn had been sent when a number
	// of samples had been written in total.
	written audio.Pos
	frames  [512]frameMark
	next    int
}

// frameMark states that when the carrier has played up to at, out samples of the turn
// have been heard.
type frameMark struct {
	at   audio.Pos
	turn int
	out  audio.Pos
}

// spoken is a text of the turn and the position of its sound in the turn.
type spoken struct {
	part     int
	text     string
	from, to audio.Pos // to grows until done
	done     bool
	marks    []port.Mark
}

// open starts the count of a turn, or continues that of a turn that was cut.
func (l *ledger) open(turn int, at audio.Pos) {
	if turn == l.turn {
		l.start = at - l.out
		return
	}
	l.turn, l.start, l.generated, l.out = turn, at, 0, 0
	l.texts = l.texts[:0]
}

// end returns where the parts up to one end in the turn: at the beginning of the first
// later part, or at the end of what was generated.
func (l *ledger) end(part int) audio.Pos {
	for i := range l.texts {
		if l.texts[i].part > part {
			return l.texts[i].from
		}
	}
	return l.generated
}

// cut removes the samples between the first n of the turn, which were heard, and the
// end of the parts up to one. Later parts move forward.
func (l *ledger) cut(part int, n audio.Pos) {
	gone := l.end(part) - n
	kept := l.texts[:0]
	for _, t := range l.texts {
		switch {
		case t.part > part:
			t.from, t.to = t.from-gone, t.to-gone
		case t.from >= n:
			continue
		case t.to > n || !t.done:
			t.text, t.to, t.done, t.marks = t.heard(n, l.rate), n, true, nil
		}
		kept = append(kept, t)
	}
	clear(l.texts[len(kept):])
	l.texts = kept
	for i := range l.frames {
		if m := &l.frames[i]; m.turn == l.turn {
			m.out = min(m.out, n)
		}
	}
	l.generated, l.out, l.start = l.generated-gone, n, l.start+gone
}

// begin starts a text at a position of the queue.
func (l *ledger) begin(part int, text string, at audio.Pos) {
	from := at - l.start
	if n := len(l.texts); n > 0 {
		l.texts[n-1].done = true
	}
	l.texts = append(l.texts, spoken{part: part, text: text, from: from, to: from})
}

// more adds words to the last text.
func (l *ledger) more(words string) {
	n := len(l.texts)
	if n == 0 || words == "" {
		return
	}
	if t := &l.texts[n-1]; t.text == "" {
		t.text = words
	} else {
		t.text += " " + words
	}
}

// mark adds marks to the last text.
func (l *ledger) mark(marks []port.Mark) {
	if n := len(l.texts); n > 0 {
		l.texts[n-1].marks = append(l.texts[n-1].marks, marks...)
	}
}

// made counts samples added to the last text.
func (l *ledger) made(n int) {
	l.generated += audio.Pos(n)
	if k := len(l.texts); k > 0 {
		l.texts[k-1].to += audio.Pos(n)
	}
}

// finish marks the last text as complete.
func (l *ledger) finish() {
	if n := len(l.texts); n > 0 {
		l.texts[n-1].done = true
	}
}

// sent counts samples passed to the pacer.
func (l *ledger) sent(n int) { l.out += audio.Pos(n) }

// frame records a written frame, speech or silence.
func (l *ledger) frame(n int) {
	l.written += audio.Pos(n)
	l.frames[l.next] = frameMark{at: l.written, turn: l.turn, out: l.out}
	l.next = (l.next + 1) % len(l.frames)
}

// acked returns how much of the turn had been sent when the carrier had played up to a
// position.
func (l *ledger) acked(played audio.Pos) audio.Pos {
	var at, out audio.Pos
	for i := range l.frames {
		if m := &l.frames[i]; m.turn == l.turn && m.at <= played && m.at >= at {
			at, out = m.at, m.out
		}
	}
	return out
}

// partAt returns the part at a position of the queue.
func (l *ledger) partAt(at audio.Pos) int {
	at -= l.start
	part := 0
	for i := range l.texts {
		if l.texts[i].from <= at {
			part = l.texts[i].part
		}
	}
	return part
}

// heard returns the duration and the text of the turn's first n samples.
func (l *ledger) heard(n audio.Pos) (time.Duration, string) {
	var b strings.Builder
	for i := range l.texts {
		t := &l.texts[i]
		if words := t.heard(n, l.rate); words != "" {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(words)
		}
		if !t.done || n < t.to {
			break
		}
	}
	return n.Duration(l.rate), b.String()
}

// heard returns the text in the turn's first n samples, up to the last complete word.
func (t *spoken) heard(n audio.Pos, rate int) string {
	switch {
	case n <= t.from:
		return ""
	case t.done && n >= t.to:
		return t.text
	case len(t.marks) > 0:
		end := 0
		for _, m := range t.marks {
			if t.from+m.At > n {
				break
			}
			end = m.Text
		}
		return strings.TrimRightFunc(t.text[:runeStart(t.text, end)], unicode.IsSpace)
	}
	known := int(audio.Pos(spokenPerSecond) * (n - t.from) / audio.Pos(rate))
	if t.done && t.to > t.from {
		known = int(audio.Pos(len(t.text)) * (n - t.from) / (t.to - t.from))
	}
	if known >= len(t.text) {
		return t.text
	}
	cut := strings.LastIndexFunc(t.text[:known], unicode.IsSpace)
	return strings.TrimRightFunc(t.text[:max(cut, 0)], unicode.IsSpace)
}

// runeStart returns the offset, limited to the text and moved back to the beginning of
// a character, since marks come from outside.
func runeStart(text string, at int) int {
	at = max(0, min(at, len(text)))
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
