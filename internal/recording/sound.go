package recording

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// ErrNone reports that there are no pieces.
var ErrNone = errors.New("no recording of this conversation is stored")

// Read calls each with the pieces of a recording in their order, as they are stored.
type Read func(each func(piece []byte) error) error

// Sound is a recording as a whole.
type Sound struct {
	started time.Time
	rate    int   // of all pieces
	pairs   int64 // samples of each side
	read    Read
}

// header is the length of the WAV file before its samples.
const header = 44

// Open measures a recording. It returns [ErrNone] if there is none. Where pieces are
// missing, or nobody held the conversation, there is silence.
func Open(read Read) (*Sound, error) {
	s := &Sound{read: read}
	if err := s.each(func(at int64, p Piece) error {
		s.pairs = max(s.pairs, at+int64(len(p.Pairs)/2))
		return nil
	}); err != nil {
		return nil, err
	}
	if s.rate == 0 {
		return nil, ErrNone
	}
	if s.Size() > math.MaxUint32 {
		return nil, fmt.Errorf("recording: %v of sound: expected less than a WAV file can hold", s.Duration())
	}
	return s, nil
}

// Began returns the time of the first sample.
func (s *Sound) Began() time.Time { return s.started }

// Duration returns the length of the recording.
func (s *Sound) Duration() time.Duration { return audio.Pos(s.pairs).Duration(s.rate) }

// Size returns the size of the WAV file in bytes.
func (s *Sound) Size() int64 { return header + 4*s.pairs }

// each calls f with the pieces and the places of their first samples.
func (s *Sound) each(f func(at int64, p Piece) error) error {
	return s.read(func(b []byte) error {
		p, err := ParsePiece(b)
		if err != nil || len(p.Pairs) == 0 {
			return err
		}
		if s.rate == 0 {
			s.started, s.rate = p.Start, p.Rate
		}
		if p.Rate != s.rate {
			return fmt.Errorf("recording: a piece of %d Hz after one of %d Hz: expected the same", p.Rate, s.rate)
		}
		return f(int64(math.Round(p.Start.Sub(s.started).Seconds()*float64(s.rate))), p)
	})
}

// WriteTo writes the recording as a WAV file of 16 bits: the person left, the agent right.
// What was added since [Open] is left out.
func (s *Sound) WriteTo(w io.Writer) (n int64, err error) {
	out := counter{w: w}
	h := make([]byte, 0, header)
	h = append(h, "RIFF"...)
	h = binary.LittleEndian.AppendUint32(h, uint32(header-8+4*s.pairs))
	h = append(h, "WAVEfmt "...)
	h = binary.LittleEndian.AppendUint32(h, 16)
	h = binary.LittleEndian.AppendUint16(h, uint16(audio.WAVPCM))
	h = binary.LittleEndian.AppendUint16(h, 2)
	h = binary.LittleEndian.AppendUint32(h, uint32(s.rate))
	h = binary.LittleEndian.AppendUint32(h, uint32(4*s.rate))
	h = binary.LittleEndian.AppendUint16(h, 4)
	h = binary.LittleEndian.AppendUint16(h, 16)
	h = append(h, "data"...)
	h = binary.LittleEndian.AppendUint32(h, uint32(4*s.pairs))
	out.write(h)
	var done int64
	var b []byte
	err = s.each(func(at int64, p Piece) error {
		if at > done {
			out.silence(min(at, s.pairs) - done)
			done = min(at, s.pairs)
		}
		pairs := p.Pairs
		if skip := done - at; skip > 0 { // the clock was set back
			pairs = pairs[min(2*skip, int64(len(pairs))):]
		}
		pairs = pairs[:min(int64(len(pairs)), 2*(s.pairs-done))]
		b = b[:0]
		for _, v := range pairs {
			b = binary.LittleEndian.AppendUint16(b, uint16(v))
		}
		out.write(b)
		done += int64(len(pairs) / 2)
		return out.err
	})
	if err == nil {
		out.silence(s.pairs - done) // a piece was deleted meanwhile
	}
	return out.n, errors.Join(err, out.err)
}

// counter counts what was written up to the first error.
type counter struct {
	w   io.Writer
	n   int64
	err error
}

func (c *counter) write(b []byte) {
	if c.err != nil {
		return
	}
	n, err := c.w.Write(b)
	c.n += int64(n)
	c.err = err
}

// silence writes pairs of samples of silence.
func (c *counter) silence(pairs int64) {
	const most = 16 << 10
	zeros := make([]byte, 4*min(max(pairs, 0), most))
	for ; pairs > 0 && c.err == nil; pairs -= most {
		c.write(zeros[:4*min(pairs, most)])
	}
}
