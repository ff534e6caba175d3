package recording

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// Piece is a stretch of a recording.
type Piece struct {
	Start time.Time // with microseconds
	Rate  int       // in hertz
	Pairs []int16   // person, agent, person, agent, ...
}

const (
	pieceVersion = 1
	pieceHead    = 1 + 4 + 8
)

// Marshal returns a piece as it is stored: a version, the rate, the start, and the samples
// in the mu-law of G.711, which takes half the room and does speech no harm.
func (p Piece) Marshal() []byte {
	b := make([]byte, 0, pieceHead+len(p.Pairs))
	b = append(b, pieceVersion)
	b = binary.BigEndian.AppendUint32(b, uint32(p.Rate))
	b = binary.BigEndian.AppendUint64(b, uint64(p.Start.UnixMicro()))
	return audio.MuLaw.AppendEncode(b, p.Pairs)
}

// ParsePiece reads a piece.
func ParsePiece(b []byte) (Piece, error) {
	switch {
	case len(b) < pieceHead:
		return Piece{}, fmt.Errorf("recording: a piece of %d bytes: expected at least %d", len(b), pieceHead)
	case b[0] != pieceVersion:
		return Piece{}, fmt.Errorf("recording: a piece of version %d: expected %d", b[0], pieceVersion)
	case len(b[pieceHead:])%2 != 0:
		return Piece{}, fmt.Errorf("recording: a piece of %d samples: expected pairs", len(b[pieceHead:]))
	}
	p := Piece{Rate: int(binary.BigEndian.Uint32(b[1:])), Start: time.UnixMicro(int64(binary.BigEndian.Uint64(b[5:]))).UTC()}
	if p.Rate < audio.MinRate || p.Rate > audio.MaxRate {
		return Piece{}, fmt.Errorf("recording: a piece of %d Hz: expected %d to %d", p.Rate, audio.MinRate, audio.MaxRate)
	}
	p.Pairs = audio.MuLaw.AppendDecode(nil, b[pieceHead:])
	return p, nil
}
