package webrtc

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/rtp"
	pion "github.com/pion/webrtc/v4"
	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/codec/opus"
	"github.com/hocketvoice/hocket/internal/nettest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	rate     = 24000
	patience = 5 * time.Minute // limit of real-time waits
)

// server returns a server on a free port of the loopback interface.
func server(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the server: %v", err)
		}
	})
	return s
}

// client is a person with a browser. Once connected, it sends a frame every 20 ms,
// silence if there is nothing to say, and records what it hears.
type client struct {
	t       testing.TB
	pc      *pion.PeerConnection
	mux     *ice.UDPMuxDefault
	addr    string // of its socket
	track   *pion.TrackLocalStaticRTP
	channel *pion.DataChannel
	workers sync.WaitGroup
	stopc   chan struct{}
	stop    sync.Once
	states  chan pion.PeerConnectionState
	opened  chan struct{}
	texts   chan string

	mu    sync.Mutex // guards the fields below
	said  []int16    // at rate, not yet sent
	heard []int16    // at rate
	rests bool       // sends nothing instead of silence
	got   int        // packets
	twice int        // packets that contain a copy of the previous one
}

// clientOptions configures a client.
type clientOptions struct {
	conn net.PacketConn // the client's socket; one on the loopback interface if nil
	mute bool           // opens no data channel
	// anywhere lets the client use all addresses of the machine.
	anywhere bool
	noFEC    bool // packets contain no copies
	gives    bool // retransmits what the server requests
	// settings, if not nil, configures the network instead of conn.
	settings func(*pion.SettingEngine)
	config   pion.Configuration
}

func newClient(t testing.TB, o clientOptions) *client {
	t.Helper()
	c := &client{
		t: t, stopc: make(chan struct{}), states: make(chan pion.PeerConnectionState, 32),
		opened: make(chan struct{}), texts: make(chan string, 1024),
	}
	if o.conn == nil {
		addr := "127.0.0.1:0"
		if o.anywhere {
			addr = "0.0.0.0:0"
		}
		conn, err := net.ListenPacket("udp", addr)
		if err != nil {
			t.Fatal(err)
		}
		o.conn = conn
	}
	c.addr = o.conn.LocalAddr().String()
	var settings pion.SettingEngine
	settings.SetIncludeLoopbackCandidate(true)
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	c.mux = ice.NewUDPMuxDefault(ice.UDPMuxParams{UDPConn: o.conn})
	if o.settings == nil {
		settings.SetICEUDPMux(c.mux)
	} else {
		o.settings(&settings)
	}
	engine, err := mediaEngine()
	check(t, err)
	registry := &interceptor.Registry{}
	check(t, pion.ConfigureRTCPReports(registry))
	if o.gives {
		giver, err := nack.NewResponderInterceptor()
		check(t, err)
		registry.Add(giver)
	}
	api := pion.NewAPI(pion.WithMediaEngine(engine), pion.WithSettingEngine(settings), pion.WithInterceptorRegistry(registry))
	c.pc, err = api.NewPeerConnection(o.config)
	check(t, err)
	t.Cleanup(c.close)
	c.track, err = pion.NewTrackLocalStaticRTP(codec().RTPCodecCapability, "person", "test")
	check(t, err)
	sender, err := c.pc.AddTrack(c.track)
	check(t, err)
	c.workers.Go(func() {
		for {
			if _, _, err := sender.ReadRTCP(); err != nil {
				return
			}
		}
	})
	c.pc.OnConnectionStateChange(func(s pion.PeerConnectionState) { c.states <- s })
	c.pc.OnTrack(func(t *pion.TrackRemote, _ *pion.RTPReceiver) { c.hear(t) })
	if !o.mute {
		c.channel, err = c.pc.CreateDataChannel("oai-events", nil)
		check(t, err)
		c.channel.OnOpen(func() { close(c.opened) })
		c.channel.OnMessage(func(m pion.DataChannelMessage) {
			select {
			case c.texts <- string(m.Data):
			case <-c.stopc:
			}
		})
	}
	loss := 10
	if o.noFEC {
		loss = 0
	}
	c.workers.Go(func() { c.talk(loss) })
	return c
}

// rough returns a network that can be interrupted.
func rough(t testing.TB) *nettest.Rough {
	t.Helper()
	r, err := nettest.New(nettest.Weather{})
	check(t, err)
	return r
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// offer returns the client's offer with all candidates.
func (c *client) offer(o *pion.OfferOptions) string {
	c.t.Helper()
	offer, err := c.pc.CreateOffer(o)
	check(c.t, err)
	gathered := pion.GatheringCompletePromise(c.pc)
	check(c.t, c.pc.SetLocalDescription(offer))
	<-gathered
	return c.pc.LocalDescription().SDP
}

func (c *client) answer(sdp string) {
	c.t.Helper()
	check(c.t, c.pc.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: sdp}))
}

// await waits for a state of the client's connection.
func (c *client) await(want pion.PeerConnectionState) {
	c.t.Helper()
	timeout := time.After(2 * patience)
	for {
		select {
		case s := <-c.states:
			if s == want {
				return
			}
		case <-timeout:
			c.t.Fatalf("the client is %v, want %v", c.pc.ConnectionState(), want)
		}
	}
}

// talk sends frames at absolute deadlines.
func (c *client) talk(loss int) {
	e, err := opus.NewEncoder(opus.EncoderOptions{Rate: rate})
	if err == nil {
		err = e.SetLoss(loss)
	}
	if err != nil {
		c.t.Error(err)
		return
	}
	pcm, buf := make([]int16, rate/50), make([]byte, opus.MaxPacket)
	p := rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: 65530, Timestamp: 1<<32 - 4800}}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for due := time.Now(); ; {
		select {
		case <-timer.C:
		case <-c.stopc:
			return
		}
		due = due.Add(audio.FrameDuration)
		timer.Reset(time.Until(due))
		if c.pc.ConnectionState() != pion.PeerConnectionStateConnected {
			continue
		}
		c.mu.Lock()
		n := copy(pcm, c.said)
		c.said = c.said[n:]
		rests := c.rests && n == 0
		c.mu.Unlock()
		clear(pcm[n:])
		p.Timestamp += tick
		if rests {
			continue
		}
		size, err := e.Encode(buf, pcm)
		if err != nil {
			c.t.Error(err)
			return
		}
		if size == 0 {
			continue
		}
		p.SequenceNumber++
		p.Payload = buf[:size]
		_ = c.track.WriteRTP(&p) // fails while the client is not connected
	}
}

// hear records the agent's sound: packets in the order of arrival, and nothing for lost
// ones.
func (c *client) hear(track *pion.TrackRemote) {
	d, err := opus.NewDecoder(opus.DecoderOptions{Rate: rate})
	if err != nil {
		c.t.Error(err)
		return
	}
	pcm := make([]int16, rate/1000*120)
	for {
		p, _, err := track.ReadRTP()
		if err != nil {
			return
		}
		n, err := d.Decode(pcm, p.Payload)
		if err != nil {
			c.t.Errorf("the agent sends %x: %v", p.Payload, err)
			return
		}
		c.mu.Lock()
		c.got++
		if opus.HasCopy(p.Payload) {
			c.twice++
		}
		c.heard = append(c.heard, pcm[:n]...)
		c.mu.Unlock()
	}
}

func (c *client) say(pcm []int16) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = append(c.said, pcm...)
}

func (c *client) all() []int16 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.heard)
}

// close ends the connection, like a page that is closed.
func (c *client) close() {
	c.stop.Do(func() { close(c.stopc) })
	if err := c.pc.GracefulClose(); err != nil {
		c.t.Errorf("close the client: %v", err)
	}
	c.workers.Wait()
	if err := c.mux.Close(); err != nil {
		c.t.Errorf("close the client's port: %v", err)
	}
}

// connect returns a connected client and its leg.
func connect(t testing.TB, s *Server, o clientOptions) (*client, *Leg) {
	t.Helper()
	c := newClient(t, o)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	l, answer, err := s.Accept(ctx, c.offer(nil))
	check(t, err)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close the leg: %v", err)
		}
	})
	c.answer(answer)
	c.await(pion.PeerConnectionStateConnected)
	check(t, l.Connected(ctx))
	return c, l
}

// until reads frames until ok returns true.
func until(t testing.TB, l *Leg, what string, ok func(audio.Frame) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		f, err := l.Read(ctx)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if ok(f) {
			return
		}
	}
}

func loud(f audio.Frame) bool { return audio.RMS(f.PCM) > 0.05 }

// speak writes sound in real time, as a session does.
func speak(t testing.TB, l *Leg, pcm []int16) {
	t.Helper()
	frame := make([]int16, audio.FrameSamples(l.Rate()))
	timer := time.NewTicker(audio.FrameDuration)
	defer timer.Stop()
	for piece := range slices.Chunk(pcm, len(frame)) {
		clear(frame[copy(frame, piece):])
		if err := l.Write(context.Background(), audio.Frame{Rate: l.Rate(), PCM: frame}); err != nil {
			t.Fatal(err)
		}
		<-timer.C
	}
}
