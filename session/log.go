package session

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/hocketvoice/hocket/port"
)

// logLimit bounds what of a journal waits to be written: a store that is away for
// longer has a gap, which the checkpoints do not. pieceLimit bounds what is written at once,
// if lines are not longer: what has waited is written in several flushes, if it must be.
const (
	logLimit   = 4 << 20
	pieceLimit = 256 << 10
)

// log hands the trace of a session to a journal, in pieces, behind the loop. Write
// never blocks. The pieces of one claim follow those of the claims before it.
type log struct {
	o    Checkpoints
	hold port.Hold

	mu    sync.Mutex // guards all below
	piece []byte
	lost  bool // more came than there is room for: what follows cannot be replayed
	// Of flush, which is called by one goroutine at a time.
	last    int
	pending []byte // what is being written under the number last; nil: nothing
}

// piecesPerClaim is more than any session writes.
const piecesPerClaim = 1 << 30

// Write takes what the recorder writes.
func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost = l.lost || len(l.piece)+len(b) > logLimit; !l.lost {
		l.piece = append(l.piece, b...)
	}
	return len(b), nil
}

// flush writes what there is. A piece that could not be written is written again
// under its number.
func (l *log) flush(ctx context.Context) error {
	if l == nil {
		return nil
	}
	for {
		if l.pending == nil {
			l.mu.Lock()
			whole := bytes.LastIndexByte(l.piece[:min(len(l.piece), pieceLimit)], '\n') + 1 // a piece ends with a line: the process may die behind it
			if whole == 0 {
				whole = bytes.IndexByte(l.piece, '\n') + 1
			}
			l.pending, l.piece = l.piece[:whole], slices.Clone(l.piece[whole:])
			l.mu.Unlock()
			if whole == 0 {
				l.pending = nil
				return nil
			}
			l.last++
		}
		number := int(l.hold.Token)*piecesPerClaim + l.last
		if err := l.o.Journal.Append(ctx, l.hold, number, l.pending); err != nil {
			return err
		}
		l.pending = nil
	}
}
