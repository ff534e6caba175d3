package webrtc

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"
	pion "github.com/pion/webrtc/v4"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/codec/opus"
)

// tick is a frame in units of the RTP clock.
const tick = uint32(opus.ClockRate * audio.FrameDuration / time.Second)

// sender makes packets of the agent's frames. It belongs to one goroutine, but
// for spoke.
type sender struct {
	rate    int
	encoder *opus.Encoder
	track   *pion.TrackLocalStaticRTP
	buf     []byte
	packet  rtp.Packet // the connections put in what is theirs
	rested  bool       // the next packet comes behind a pause

	spoke atomic.Int64 // when a frame was sent that is heard, in Unix nanoseconds
}

func newSender(o Options, track *pion.TrackLocalStaticRTP) (*sender, error) {
	encoder, err := opus.NewEncoder(opus.EncoderOptions{Rate: o.Rate, Bitrate: o.Bitrate})
	if err != nil {
		return nil, err
	}
	return &sender{
		rate: o.Rate, encoder: encoder, track: track, buf: make([]byte, opus.MaxPacket),
		packet: rtp.Packet{Header: rtp.Header{Version: 2}}, rested: true,
	}, nil
}

// write sends a frame to whatever connections there are.
func (s *sender) write(f audio.Frame, loss int) error {
	if f.Rate != s.rate || len(f.PCM) != audio.FrameSamples(s.rate) {
		return fmt.Errorf("webrtc: write %d samples at %d Hz, expected %d at %d", len(f.PCM), f.Rate, audio.FrameSamples(s.rate), s.rate)
	}
	if err := s.encoder.SetLoss(loss); err != nil {
		return err
	}
	n, err := s.encoder.Encode(s.buf, f.PCM)
	if err != nil {
		return err
	}
	s.packet.Timestamp += tick
	if n == 0 {
		s.rested = true
		return nil
	}
	s.packet.SequenceNumber++
	s.packet.Marker = s.rested // RFC 3551, section 4.1: the first of a talkspurt
	s.rested = opus.Silent(s.buf[:n])
	if audio.Peak(f.PCM) > 0 {
		s.spoke.Store(time.Now().UnixNano())
	}
	s.packet.Payload = s.buf[:n]
	_ = s.track.WriteRTP(&s.packet) // a connection that is lost says so itself
	return nil
}
