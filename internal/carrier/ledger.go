package carrier

import (
	"strconv"
	"strings"

	"github.com/hocketvoice/hocket/audio"
)

// ledger knows what the carrier has played by the marks that it returns. It is not safe for
// concurrent use.
//
//	state        Played
//	all played   all that was written: silence that is not sent counts as played
//	playing      up to the last mark that came back
//	cleared      all that was written: the rest was dropped, and its marks mean nothing
type ledger struct {
	generation int       // number of clears; marks of an earlier one mean nothing
	written    audio.Pos // samples, silence included
	sent       audio.Pos // end of the last samples that were sent to the carrier
	marked     audio.Pos // end of the samples before the last mark that was sent
	played     audio.Pos // end of the samples before the last mark that came back, or were dropped
}

// interval is how much speech lies between two marks: it bounds how much less counts as heard
// than was.
const interval = 5 // frames of 20 ms

// name returns the name of a mark behind all that was sent.
func (l *ledger) name(dst []byte) []byte {
	l.marked = l.sent
	dst = strconv.AppendInt(dst, int64(l.generation), 10)
	return strconv.AppendInt(append(dst, '-'), int64(l.sent), 10)
}

// returned takes a mark that came back, and ignores those of others and what was dropped.
func (l *ledger) returned(name string) {
	generation, at, _ := strings.Cut(name, "-")
	if n, err := strconv.Atoi(generation); err != nil || n != l.generation {
		return
	}
	if pos, err := strconv.ParseInt(at, 10, 64); err == nil && audio.Pos(pos) <= l.marked {
		l.played = max(l.played, audio.Pos(pos))
	}
}

// cleared counts what was written as played or dropped.
func (l *ledger) cleared() {
	l.generation++
	l.sent, l.marked, l.played = l.written, l.written, l.written
}

// heard returns the position after the last sample that was played.
func (l *ledger) heard() audio.Pos {
	if l.played >= l.sent {
		return l.written
	}
	return l.played
}
