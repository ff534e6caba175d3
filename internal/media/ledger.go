package media

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

// Ledger is how far a turn's speech has got on its way to the ear: generated,
// sent, heard. Estimated says that the carrier does not report what it has
// played, so that what was sent counts as heard.
type Ledger struct {
	Turn                   int
	Generated, Sent, Heard time.Duration
	Text                   string
	Estimated              bool
}

// spokenPerSecond is how much text, in bytes, a second holds where nothing
// better is known; low, so that rather too little counts as heard.
const spokenPerSecond = 12

// ledger counts the samples of one turn. It is a sub-state of the downlink,
// under its lock.
type ledger struct {
	rate      int
	turn      int
	start     audio.Pos // of the turn in the queue's stream
	generated audio.Pos
	out       audio.Pos // sent, and not taken back by a cut
	texts     []spoken

	// For carriers that acknowledge: what of the turn was out when so much had
	// been written in all.
	written audio.Pos
	frames  [512]frameMark
	next    int
}

// frameMark says that when the carrier has played up to at, out samples of the
// turn have been heard.
type frameMark struct {
	at   audio.Pos
	turn int
	out  audio.Pos
}

// spoken is one text of the turn and where its sound lies in the turn.
type spoken struct {
	part     int
	text     string
	from, to audio.Pos // to grows until done
	done     bool
	marks    []port.Mark
}

// open begins the count of a turn, or goes on with that of one that was cut.
func (l *ledger) open(turn int, at audio.Pos) {
	if turn == l.turn {
		l.start = at - l.out
		return
	}
	l.turn, l.start, l.generated, l.out = turn, at, 0, 0
	l.texts = l.texts[:0]
}

// end is where the parts up to one end in the turn: where the first later one
// begins, or where all that was made ends.
func (l *ledger) end(part int) audio.Pos {
	for i := range l.texts {
		if l.texts[i].part > part {
			return l.texts[i].from
		}
	}
	return l.generated
}

// cut takes out what lies between the turn's first n samples, those that were
// heard, and the end of the parts up to one. Later parts move there.
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

// mark adds the beginnings of words to the text begun last.
func (l *ledger) mark(marks []port.Mark) {
	if n := len(l.texts); n > 0 {
		l.texts[n-1].marks = append(l.texts[n-1].marks, marks...)
	}
}

// made counts samples added to the text begun last.
func (l *ledger) made(n int) {
	l.generated += audio.Pos(n)
	if k := len(l.texts); k > 0 {
		l.texts[k-1].to += audio.Pos(n)
	}
}

// finish says that the text begun last is complete.
func (l *ledger) finish() {
	if n := len(l.texts); n > 0 {
		l.texts[n-1].done = true
	}
}

// sent counts samples handed to the pacer.
func (l *ledger) sent(n int) { l.out += audio.Pos(n) }

// frame notes a written frame, speech or silence.
func (l *ledger) frame(n int) {
	l.written += audio.Pos(n)
	l.frames[l.next] = frameMark{at: l.written, turn: l.turn, out: l.out}
	l.next = (l.next + 1) % len(l.frames)
}

// acked is how much of the turn was out when the carrier had played so much.
func (l *ledger) acked(played audio.Pos) audio.Pos {
	var at, out audio.Pos
	for i := range l.frames {
		if m := &l.frames[i]; m.turn == l.turn && m.at <= played && m.at >= at {
			at, out = m.at, m.out
		}
	}
	return out
}

// partAt is the part whose sound lies at a position of the queue.
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

// heard is the time and the text of the turn's first n samples.
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

// heard is the part of the text that lies in the turn's first n samples: whole
// words, those whose sound is over.
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

// runeStart is the byte offset, brought into the text and back to the beginning
// of a character: marks come from outside.
func runeStart(text string, at int) int {
	at = max(0, min(at, len(text)))
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
