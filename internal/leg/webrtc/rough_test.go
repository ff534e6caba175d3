package webrtc

import (
	"container/heap"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

// rough is a packet connection over a bad network: both ways it loses packets,
// delays them by different times so that they overtake each other, or stops.
type rough struct {
	net.PacketConn
	in, out *way
}

// weather is what a network does to packets.
type weather struct {
	loss   float64       // share of packets that are lost
	jitter time.Duration // packets are delayed by 0 up to this
}

func newRough(t testing.TB, w weather) *rough {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	check(t, err)
	r := &rough{PacketConn: conn}
	r.out = newWay(w, 1, func(d datagram) { _, _ = conn.WriteTo(d.data, d.addr) })
	arrived := make(chan datagram, 1024)
	r.in = newWay(w, 2, func(d datagram) {
		select {
		case arrived <- d:
		default: // as a full socket does
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
	return r
}

// cut stops everything, or lets it through again.
func (r *rough) cut(on bool) {
	for _, w := range []*way{r.in, r.out} {
		w.mu.Lock()
		w.off = on
		w.mu.Unlock()
	}
}

func (r *rough) ReadFrom(p []byte) (int, net.Addr, error) {
	select {
	case d := <-r.in.arrived:
		return copy(p, d.data), d.addr, nil
	case <-r.in.endc:
		return 0, nil, net.ErrClosed
	}
}

func (r *rough) WriteTo(p []byte, addr net.Addr) (int, error) {
	r.out.put(datagram{data: append([]byte(nil), p...), addr: addr})
	return len(p), nil
}

func (r *rough) Close() error {
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

// way is one direction: a queue by time.
type way struct {
	w       weather
	deliver func(datagram)
	arrived chan datagram
	endc    chan struct{} // closed when the socket has been closed
	stopc   chan struct{} // closed by close
	stop    sync.Once
	wake    chan struct{}
	workers sync.WaitGroup

	mu     sync.Mutex // guards all below
	random *rand.Rand
	off    bool
	queue  dueQueue
}

func newWay(w weather, seed uint64, deliver func(datagram)) *way {
	y := &way{
		w: w, deliver: deliver, endc: make(chan struct{}), stopc: make(chan struct{}),
		wake: make(chan struct{}, 1), random: rand.New(rand.NewPCG(seed, 7)),
	}
	y.workers.Go(y.run)
	return y
}

func (y *way) put(d datagram) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.off || y.random.Float64() < y.w.loss {
		return
	}
	if y.w.jitter == 0 {
		y.deliver(d)
		return
	}
	d.due = time.Now().Add(time.Duration(y.random.Int64N(int64(y.w.jitter))))
	heap.Push(&y.queue, d)
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
			y.deliver(heap.Pop(&y.queue).(datagram))
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

type dueQueue []datagram

func (q dueQueue) Len() int           { return len(q) }
func (q dueQueue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q dueQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *dueQueue) Push(x any)        { *q = append(*q, x.(datagram)) }
func (q *dueQueue) Pop() any {
	d := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return d
}
