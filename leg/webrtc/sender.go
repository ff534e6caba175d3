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

// tick is the length of a frame in units of the RTP clock.
const tick = uint32(opus.ClockRate * audio.FrameDuration / time.Second)

// sender makes packets of the agent's frames. Except for spoke, it must be used by
// one goroutine.
type sender struct {
	rate    int
	encoder *opus.Encoder
	track   *pion.TrackLocalStaticRTP
	buf     []byte
	packet  rtp.Packet // each connection fills in its own fields
	rested  bool       // the next packet follows a pause

	spoke atomic.Int64 // when an audible frame was last sent, in Unix nanoseconds
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

// write sends a frame to all connections.
func (s *sender) write(f audio.Frame, loss int) error {
	if f.Rate != s.rate || len(f.PCM) != audio.FrameSamples(s.rate) {
		return fmt.Errorf("webrtc: write %d samples at %d Hz: expected %d at %d", len(f.PCM), f.Rate, audio.FrameSamples(s.rate), s.rate)
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
	s.packet.Marker = s.rested // RFC 3551, section 4.1: the first packet of a talkspurt
	s.rested = opus.Silent(s.buf[:n])
	if audio.Peak(f.PCM) > 0 {
		s.spoke.Store(time.Now().UnixNano())
	}
	s.packet.Payload = s.buf[:n]
	_ = s.track.WriteRTP(&s.packet) // a lost connection is reported elsewhere
	return nil
}
