package sip

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/pion/rtp"
	"github.com/pion/srtp/v3"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/wire/dtmf"
)

// The packets of a key that is sent: one each 20 ms, as sound.
const (
	keyPackets = 6 // while it is pressed: 120 ms
	keyEnds    = 3 // that say it is over (RFC 4733, section 2.5.1.4)
	keyPause   = 4 // frames without a key after it: 80 ms
)

// outgoing makes the packets of a stream. It must be used by one goroutine at a time.
type outgoing struct {
	rate     int // of the frames
	codec    *codec
	kind     uint8
	keyKind  uint8
	keyClock int // 0: the other side takes no keys
	encode   encode
	resample *audio.Resampler // nil if the codec has the rate of the frames
	key      *srtpKey
	encrypt  *srtp.Context

	header  rtp.Header // of the last packet
	rested  bool       // the next packet of sound follows a pause
	pcm     []int16
	payload []byte
	packet  []byte
	sealed  []byte

	pending []byte // numbers of the keys to be sent
	step    int    // of the first of them
	began   uint32 // timestamp of its beginning
}

// follow makes the packets follow an agreement.
func (o *outgoing) follow(a *agreement) error {
	one := a.formats[0]
	o.keyClock = 0
	if f, ok := a.keyFormat(one.codec); ok {
		o.keyKind, o.keyClock = uint8(f.Type), f.Clock
	}
	if o.codec != one.codec {
		encode, err := one.codec.encoder()
		if err != nil {
			return err
		}
		o.codec, o.encode, o.rested, o.resample = one.codec, encode, true, nil
		if o.rate != 0 && o.rate != one.codec.rate {
			if o.resample, err = audio.NewResampler(audio.ResamplerOptions{From: o.rate, To: one.codec.rate}); err != nil {
				return err
			}
		}
		o.pcm = o.pcm[:0]
	}
	o.kind = one.kind
	if a.mine == nil {
		o.key, o.encrypt = nil, nil
	} else if o.key == nil || *o.key != *a.mine { // the same key goes on counting
		encrypt, err := a.mine.context()
		if err != nil {
			return fmt.Errorf("our key: %w", err)
		}
		o.key, o.encrypt = a.mine, encrypt
	}
	return nil
}

// next returns the packet of a frame, or nil if there is nothing to send. It is valid until the next
// call.
func (o *outgoing) next(f audio.Frame) ([]byte, error) {
	pcm := f.PCM
	if o.resample != nil {
		o.pcm = o.resample.Append(o.pcm, pcm)
		size := audio.FrameSamples(o.codec.rate)
		if len(o.pcm) < size {
			return nil, nil
		}
		pcm = o.pcm[:size]
		defer func() { o.pcm = o.pcm[:copy(o.pcm, o.pcm[size:])] }()
	}
	var err error
	if o.payload, err = o.encode(o.payload[:0], pcm); err != nil {
		return nil, err
	}
	o.header.Timestamp += uint32(o.codec.clock / 50)
	if len(o.pending) > 0 {
		if packet := o.pressing(); packet {
			return o.seal()
		}
	}
	if len(o.payload) == 0 {
		o.rested = true
		return nil, nil
	}
	o.header.Marker, o.header.PayloadType = o.rested, o.kind
	o.rested = false
	o.header.SequenceNumber++
	return o.seal()
}

// pressing replaces the sound of a frame by the next packet of a key, if there is one.
func (o *outgoing) pressing() bool {
	if o.keyClock == 0 {
		o.pending = o.pending[:0]
		return false
	}
	if o.step == 0 {
		o.began = o.header.Timestamp
	}
	step := o.step
	o.step++
	if o.step == keyPackets+keyEnds+keyPause {
		o.pending, o.step = o.pending[:copy(o.pending, o.pending[1:])], 0
	}
	if step >= keyPackets+keyEnds {
		o.rested = true
		return false
	}
	tick := o.keyClock / 50
	duration := uint16(min(step+1, keyPackets) * tick)
	o.payload = dtmf.AppendPayload(o.payload[:0], o.pending[0], step >= keyPackets, duration)
	o.header.Marker, o.header.PayloadType = step == 0, o.keyKind
	o.header.SequenceNumber++
	return true
}

// seal returns the packet of the header and the payload. Packets of a key have the timestamp of its
// beginning.
func (o *outgoing) seal() ([]byte, error) {
	header := o.header
	if len(o.pending) > 0 && header.PayloadType == o.keyKind && o.keyClock != 0 {
		header.Timestamp = o.began
	}
	size := header.MarshalSize()
	if cap(o.packet) < size+len(o.payload) {
		o.packet = make([]byte, size+len(o.payload), 2*(size+len(o.payload)))
	}
	o.packet = o.packet[:size+len(o.payload)]
	if _, err := header.MarshalTo(o.packet); err != nil {
		return nil, err
	}
	copy(o.packet[size:], o.payload)
	if o.encrypt == nil {
		return o.packet, nil
	}
	var err error
	o.sealed, err = o.encrypt.EncryptRTP(o.sealed[:0], o.packet, &header)
	return o.sealed, err
}

// write sends a frame. What cannot be sent is lost, as in the network.
func (m *media) write(f audio.Frame) error {
	m.sending.Lock()
	defer m.sending.Unlock()
	if f.Rate != m.rate || len(f.PCM) != audio.FrameSamples(m.rate) {
		return fmt.Errorf("sip: write %d samples at %d Hz: expected %d at %d", len(f.PCM), f.Rate, audio.FrameSamples(m.rate), m.rate)
	}
	to, ok := m.target()
	packet, err := m.out.next(f) // also while nobody listens: the clock goes on
	if err != nil || packet == nil || !ok {
		return err
	}
	send(m.conn, to, packet)
	return nil
}

func send(conn *net.UDPConn, to netip.AddrPort, packet []byte) {
	_, _ = conn.WriteToUDPAddrPort(packet, to)
}
