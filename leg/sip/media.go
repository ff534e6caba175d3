package sip

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/srtp/v3"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/rtpsound"
	"github.com/hocketvoice/hocket/internal/wire/dtmf"
)

const (
	maxPacket = 1500            // bytes of a packet; what is longer is dropped
	rebind    = 5 * time.Second // silence after which a sender may have another port
	window    = 64              // packets within which an encrypted one is not accepted twice
	keyTime   = 60              // maximum number of keys that wait for ReadKey
)

// media is the stream of sound of a call. Its methods are safe for concurrent use, except that write and
// frame are each called by one goroutine at a time.
//
// From whom packets are taken:
//
//	unlatched  from the address of the description, or from any port of its host or of the host
//	           that signals (behind a NAT the two differ); the first valid packet latches
//	latched    from the latched address and the description's alone, until nothing came for
//	           rebind, or another description says another address
//
// Packets of all others are dropped. Sound is sent to the latched address, before that to the
// description's.
type media struct {
	conn *net.UDPConn
	rate int // of the frames in both directions
	keys chan byte
	done sync.WaitGroup

	sending sync.Mutex // serializes what is sent; guards the fields below
	out     outgoing

	mu        sync.Mutex // guards the fields below
	agreed    agreement
	peer      netip.Addr     // the host that signals
	latched   netip.AddrPort // invalid before the first packet
	heard     time.Time      // when the last packet was taken
	begun     bool           // a packet of the current description was taken
	decrypt   *srtp.Context
	current   agreed             // of receiver
	receiver  *rtpsound.Receiver // nil before the first packet
	resample  *audio.Resampler   // nil if receiver has the rate of the frames
	pressed   dtmf.Decoder
	strangers int
	changed   bool // receiver was replaced since the last frame

	// Used by frame alone.
	fifo []int16
	pcm  []int16
	pos  audio.Pos
}

// newMedia returns the stream that uses a socket, which it owns. Nothing is received or sent before
// [media.apply].
func newMedia(conn *net.UDPConn, peer netip.Addr) *media {
	m := &media{conn: conn, peer: peer, keys: make(chan byte, keyTime)}
	var b [10]byte
	rand.Read(b[:]) // never fails
	m.out.header = rtp.Header{
		Version: 2, SSRC: binary.BigEndian.Uint32(b[:]), Timestamp: binary.BigEndian.Uint32(b[4:]), SequenceNumber: binary.BigEndian.Uint16(b[8:]),
	}
	m.done.Go(m.receive)
	return m
}

// close ends the stream and waits for its goroutine.
func (m *media) close() {
	_ = m.conn.Close()
	m.done.Wait()
}

// apply makes the stream follow a new agreement.
func (m *media) apply(a agreement) error {
	var decrypt *srtp.Context
	var err error
	if a.theirs != nil {
		if decrypt, err = a.theirs.context(srtp.SRTPReplayProtection(window)); err != nil {
			return fmt.Errorf("the key of the other side: %w", err)
		}
	}
	m.sending.Lock()
	defer m.sending.Unlock()
	if err := m.out.follow(&a); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rate == 0 {
		m.rate = a.formats[0].codec.rate
		m.pcm = make([]int16, audio.FrameSamples(m.rate))
	}
	m.out.rate = m.rate
	same := m.agreed.theirs != nil && a.theirs != nil && *m.agreed.theirs == *a.theirs
	if !same {
		m.decrypt = decrypt
	}
	if a.remote != m.agreed.remote {
		m.latched = netip.AddrPort{}
	}
	m.agreed = a
	m.begun = false
	return nil
}

// agreement returns what the stream follows.
func (m *media) agreement() agreement {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.agreed
}

// receive takes packets until the socket is closed.
func (m *media) receive() {
	buf := make([]byte, maxPacket+1)
	var header rtp.Header
	for {
		n, from, err := m.conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			if isClosed(err) {
				return
			}
			continue // such as an ICMP message: the other side's port is closed
		}
		if n > maxPacket {
			continue
		}
		m.take(time.Now(), netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), &header, buf[:n])
	}
}

// take takes a packet.
func (m *media) take(now time.Time, from netip.AddrPort, header *rtp.Header, packet []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.agreed.formats) == 0 || !m.expected(now, from) {
		m.strangers++
		return
	}
	if m.decrypt != nil {
		plain, err := m.decrypt.DecryptRTP(nil, packet, nil)
		if err != nil {
			return // forged, repeated, or not encrypted
		}
		packet = plain
	}
	payload, ok := rtpsound.Unpack(header, packet)
	if !ok || header.Version != 2 {
		return
	}
	one, isSound := m.soundOf(header.PayloadType)
	if !isSound && !m.isKey(header.PayloadType) {
		return
	}
	m.latched, m.heard, m.begun = from, now, true
	if !isSound {
		if key, ok := m.pressed.Push(header.SSRC, header.Timestamp, payload); ok {
			m.press(key)
		}
		return
	}
	if m.agreed.held {
		return // music for who waits
	}
	if m.receiver == nil || one != m.current {
		if err := m.hearWith(one); err != nil {
			return
		}
	}
	m.receiver.Push(now, header, payload)
}

// expected reports whether packets of an address are taken.
func (m *media) expected(now time.Time, from netip.AddrPort) bool {
	if from == m.latched || from == m.agreed.remote {
		return true
	}
	if m.latched.IsValid() && now.Sub(m.heard) < rebind {
		return false
	}
	return from.Addr() == m.agreed.remote.Addr() || from.Addr() == m.peer
}

func (m *media) soundOf(kind uint8) (agreed, bool) {
	for _, f := range m.agreed.formats {
		if f.kind == kind {
			return f, true
		}
	}
	return agreed{}, false
}

func (m *media) isKey(kind uint8) bool {
	for _, f := range m.agreed.keys {
		if uint8(f.Type) == kind {
			return true
		}
	}
	return false
}

// press passes on a key. Nobody presses so many that are not read.
func (m *media) press(key byte) {
	select {
	case m.keys <- key:
	default:
	}
}

// hearWith begins to receive another form of sound.
func (m *media) hearWith(one agreed) error {
	decoder, err := one.codec.decoder()
	if err != nil {
		return err
	}
	receiver, err := rtpsound.NewReceiver(decoder)
	if err != nil {
		return err
	}
	m.resample = nil
	if decoder.Rate() != m.rate {
		if m.resample, err = audio.NewResampler(audio.ResamplerOptions{From: decoder.Rate(), To: m.rate}); err != nil {
			return err
		}
	}
	m.receiver, m.current, m.changed = receiver, one, true
	return nil
}

// frame returns the 20 ms that begin at now, silence if nothing has arrived. The samples are valid until
// the next call.
func (m *media) frame(now time.Time) audio.Frame {
	m.mu.Lock()
	receiver, resample, changed, held := m.receiver, m.resample, m.changed, m.agreed.held
	m.changed = false
	m.mu.Unlock()
	if changed {
		m.fifo = m.fifo[:0]
	}
	switch {
	case receiver == nil || held:
		clear(m.pcm)
	case resample == nil:
		copy(m.pcm, receiver.Frame(now).PCM)
	default:
		for len(m.fifo) < len(m.pcm) {
			m.fifo = resample.Append(m.fifo, receiver.Frame(now).PCM)
		}
		copy(m.pcm, m.fifo)
		m.fifo = m.fifo[:copy(m.fifo, m.fifo[len(m.pcm):])]
	}
	f := audio.Frame{Pos: m.pos, Rate: m.rate, PCM: m.pcm}
	m.pos = f.End()
	return f
}

// target returns where sound is sent. ok is false if nothing is to be sent: the other side does not want
// to hear, or its address is not known.
func (m *media) target() (to netip.AddrPort, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	to = m.agreed.remote
	if m.latched.IsValid() {
		to = m.latched
	}
	return to, to.IsValid() && !m.agreed.held
}

// last returns when the last packet was taken.
func (m *media) last() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.heard
}

// stats returns the counts of the current receiver and the number of packets of strangers.
func (m *media) stats() Stats {
	m.mu.Lock()
	receiver, s := m.receiver, Stats{Strangers: m.strangers}
	m.mu.Unlock()
	if receiver != nil {
		s.Stats = receiver.Stats()
	}
	return s
}

// Stats counts how the caller's packets arrived.
type Stats struct {
	rtpsound.Stats
	Strangers int // packets of addresses that the call does not have
}
