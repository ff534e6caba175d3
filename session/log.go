package session

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/hocketvoice/hocket/port"
)

// logLimit is the maximum number of bytes of a trace that wait to be written to the journal. If
// more come while the journal fails, the trace in it ends; checkpoints are not affected.
// pieceLimit is the maximum number of bytes of a piece, unless a line is longer.
const (
	logLimit   = 4 << 20
	pieceLimit = 256 << 10
)

// log writes the trace of a session to a journal, in pieces, beside the loop. Write never
// blocks. The numbers of the pieces of a claim are higher than those of all earlier claims.
type log struct {
	o    Checkpoints
	hold port.Hold

	mu    sync.Mutex // guards all below
	piece []byte
	lost  bool // there was no room: what follows is dropped, because it could not be replayed
	// Only flush uses these fields. One goroutine calls it at a time.
	last    int    // number of the last piece of this claim
	pending []byte // the piece that is being written; nil: none
}

// piecesPerClaim is more pieces than any session writes.
const piecesPerClaim = 1 << 30

// Write implements [io.Writer] for the recorder. It never fails.
func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost = l.lost || len(l.piece)+len(b) > logLimit; !l.lost {
		l.piece = append(l.piece, b...)
	}
	return len(b), nil
}

// flush writes everything that waits, up to the last whole line. A piece that could not be
// written is written again with the same number by the next flush.
func (l *log) flush(ctx context.Context) error {
	if l == nil {
		return nil
	}
	for {
		if l.pending == nil {
			l.mu.Lock()
			whole := bytes.LastIndexByte(l.piece[:min(len(l.piece), pieceLimit)], '\n') + 1 // a piece ends with a whole line, because the process may die after it
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
