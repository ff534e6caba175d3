package nettest

import (
	"context"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"
)

// Rough is a packet connection over a bad network. In both directions it loses packets,
// delays them by different times so that they overtake each other, or transmits
// nothing. It is safe for concurrent use. Close waits for its goroutines.
type Rough struct {
	net.PacketConn
	in, out *way
}

// Weather describes what a network does to packets. The same seed has the same effects
// on the same packets.
type Weather struct {
	Loss   float64       // share of lost packets
	Jitter time.Duration // packets are delayed by 0 to Jitter
	Seed   uint64
}

// New opens a socket on the loopback interface with the given weather.
func New(w Weather) (*Rough, error) {
	conn, err := (&net.ListenConfig{}).ListenPacket(context.Background(), "udp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Rough{PacketConn: conn}
	r.out = newWay(w, 1, func(d datagram) { _, _ = conn.WriteTo(d.data, d.addr) })
	arrived := make(chan datagram, 1024)
	r.in = newWay(w, 2, func(d datagram) {
		select {
		case arrived <- d:
		default: // like a full socket
		}
	})
	r.in.arrived = arrived
	r.in.workers.Go(func() {
		defer close(r.in.endc)
		buf := make([]byte, 1<<16)
		for {
			n, addr, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			r.in.put(datagram{data: append([]byte(nil), buf[:n]...), addr: addr})
		}
	})
	return r, nil
}

// Cut stops or resumes the transmission.
func (r *Rough) Cut(on bool) {
	for _, w := range []*way{r.in, r.out} {
		w.mu.Lock()
		w.off = on
		w.mu.Unlock()
	}
}

// Turn changes the weather.
func (r *Rough) Turn(to Weather) {
	for _, w := range []*way{r.in, r.out} {
		w.mu.Lock()
		w.w = to
		w.mu.Unlock()
	}
}

// ReadFrom returns the next packet that was not lost.
func (r *Rough) ReadFrom(p []byte) (int, net.Addr, error) {
	select {
	case d := <-r.in.arrived:
		return copy(p, d.data), d.addr, nil
	case <-r.in.endc:
		return 0, nil, net.ErrClosed
	}
}

// WriteTo sends a packet, which may get lost.
func (r *Rough) WriteTo(p []byte, addr net.Addr) (int, error) {
	r.out.put(datagram{data: append([]byte(nil), p...), addr: addr})
	return len(p), nil
}

// Close ends both directions.
func (r *Rough) Close() error {
	err := r.PacketConn.Close()
	r.in.close()
	r.out.close()
	return err
}

type datagram struct {
	data []byte
	addr net.Addr
	due  time.Time
}

// way is one direction: a queue ordered by time.
type way struct {
	w       Weather
	deliver func(datagram)
	arrived chan datagram
	endc    chan struct{} // closed when the socket was closed
	stopc   chan struct{} // closed by close
	stop    sync.Once
	wake    chan struct{}
	workers sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	random *rand.Rand
	off    bool
	queue  []datagram // in the order of their due times
}

func newWay(w Weather, direction uint64, deliver func(datagram)) *way {
	y := &way{
		w: w, deliver: deliver, endc: make(chan struct{}), stopc: make(chan struct{}),
		wake: make(chan struct{}, 1), random: rand.New(rand.NewPCG(w.Seed, direction)),
	}
	y.workers.Go(y.run)
	return y
}

func (y *way) put(d datagram) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.off || y.random.Float64() < y.w.Loss {
		return
	}
	if y.w.Jitter == 0 {
		y.deliver(d)
		return
	}
	d.due = time.Now().Add(time.Duration(y.random.Int64N(int64(y.w.Jitter))))
	i, _ := slices.BinarySearchFunc(y.queue, d.due, func(q datagram, due time.Time) int { return q.due.Compare(due) })
	y.queue = slices.Insert(y.queue, i, d)
	select {
	case y.wake <- struct{}{}:
	default:
	}
}

func (y *way) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-y.wake:
		case <-timer.C:
		case <-y.stopc:
			return
		}
		y.mu.Lock()
		for len(y.queue) > 0 && !y.queue[0].due.After(time.Now()) {
			y.deliver(y.queue[0])
			y.queue = slices.Delete(y.queue, 0, 1)
		}
		if len(y.queue) > 0 {
			timer.Reset(time.Until(y.queue[0].due))
		}
		y.mu.Unlock()
	}
}

func (y *way) close() {
	y.stop.Do(func() { close(y.stopc) })
	y.workers.Wait()
}
