package rtpjitter

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

const (
	ms   = time.Millisecond
	tick = 960 // 20 ms of a clock at 48 kHz
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// sent is a packet on its way.
type sent struct {
	n       int // number of the packet
	arrives time.Duration
	packet  Packet
}

// line is a sender and a network. Zero functions have no effect.
type line struct {
	packets int
	seq     uint16
	ts      uint32
	drift   float64                     // of the sender's clock: 1e-4 is 100 ppm too fast
	delay   func(n int) time.Duration   // of a packet; negative if it is lost
	rests   func(n int) bool            // the sender pauses
	copies  bool                        // each packet contains a copy of the previous one
	twice   bool                        // each packet arrives twice
	length  time.Duration               // of a packet: 20 ms if zero
	change  func(n int, p *Packet)      // other modifications
	quiet   func(at time.Duration) bool // whether what is played is nearly silent
}

// played is one step of the receiver.
type played struct {
	at   time.Duration
	kind Kind
	n    int // the packet, or -1
}

// run sends the packets and pulls periodically, until one second after the last
// arrival.
func (l line) run(t *testing.T) ([]played, Stats) {
	t.Helper()
	b, err := New(Options{ClockRate: 48000})
	if err != nil {
		t.Fatal(err)
	}
	length := l.length
	if length == 0 {
		length = 20 * ms
	}
	var way []sent
	seq, ts := l.seq, l.ts
	for n := range l.packets {
		at := time.Duration(float64(n) * float64(length) / (1 + l.drift))
		rests := l.rests != nil && l.rests(n)
		if !rests {
			p := Packet{
				Seq: seq, Timestamp: ts, Duration: length, Copy: l.copies,
				Silent:  l.rests != nil && l.rests(n+1),
				Payload: binary.BigEndian.AppendUint32(nil, uint32(n)),
			}
			if l.change != nil {
				l.change(n, &p)
			}
			d := 10 * ms
			if l.delay != nil {
				d = l.delay(n)
			}
			if d >= 0 {
				way = append(way, sent{n, at + d, p})
			}
			if l.twice {
				way = append(way, sent{n, at + d + 7*ms, p})
			}
			seq++
		}
		ts += uint32(length / (20 * ms) * tick)
	}
	slices.SortStableFunc(way, func(a, b sent) int { return int(a.arrives - b.arrives) })
	var out []played
	end := way[len(way)-1].arrives + time.Second
	ready := time.Duration(0)
	for at := time.Duration(0); at < end; at += ms {
		for len(way) > 0 && way[0].arrives <= at {
			b.Push(epoch.Add(way[0].arrives), way[0].packet)
			way = way[1:]
		}
		for ready <= at {
			s := b.Pull(epoch.Add(at), l.quiet != nil && l.quiet(at))
			if s.Duration <= 0 || s.Duration > 120*ms {
				t.Fatalf("a step of %v", s.Duration)
			}
			p := played{at, s.Kind, -1}
			if s.Kind == Play || s.Kind == Recover {
				p.n = int(binary.BigEndian.Uint32(s.Payload))
			}
			out = append(out, p)
			ready += s.Duration
		}
	}
	return out, b.Stats()
}

// order fails unless packets are played in order, each at most once, and returns
// their numbers.
func order(t *testing.T, steps []played) (ns []int) {
	t.Helper()
	last := -1
	for _, s := range steps {
		if s.kind != Play {
			continue
		}
		if s.n <= last {
			t.Fatalf("packet %d is played behind %d, at %v", s.n, last, s.at)
		}
		last = s.n
		ns = append(ns, s.n)
	}
	return ns
}

// lag returns the average and maximum delay from sending to playing.
func lag(steps []played, from int) (mean, most time.Duration) {
	n := 0
	for _, s := range steps {
		if s.kind == Play && s.n >= from {
			d := s.at - time.Duration(s.n)*20*ms
			mean += d
			most = max(most, d)
			n++
		}
	}
	return mean / time.Duration(max(n, 1)), most
}

func uniform(seed uint64, low, high time.Duration) func(int) time.Duration {
	r := rand.New(rand.NewPCG(seed, 1))
	return func(int) time.Duration { return low + time.Duration(r.Int64N(int64(high-low))) }
}

func TestSteadyLine(t *testing.T) {
	for _, length := range []time.Duration{20 * ms, 40 * ms, 60 * ms, 120 * ms} {
		steps, st := line{packets: 200, length: length}.run(t)
		if ns := order(t, steps); len(ns) != 200 {
			t.Errorf("%v: %d of 200 packets are played", length, len(ns))
		}
		if st.Lost+st.Late+st.Shortened+st.Stretched+st.Duplicates+st.Resets > 0 {
			t.Errorf("%v: %+v", length, st)
		}
		if st.Target > 20*ms || st.Delay > 45*ms {
			t.Errorf("%v: target %v, delay %v", length, st.Target, st.Delay)
		}
	}
}

// A wrap-around of numbers and timestamps has no effect.
func TestWraparound(t *testing.T) {
	want, _ := line{packets: 400}.run(t)
	got, st := line{packets: 400, seq: 65400, ts: 1<<32 - 100*tick}.run(t)
	if !slices.Equal(want, got) || st.Resets > 0 {
		t.Errorf("another playout: %+v", st)
	}
}

// Packets that arrive out of order are played in order.
func TestReordered(t *testing.T) {
	steps, st := line{packets: 3000, delay: uniform(1, 10*ms, 70*ms)}.run(t)
	ns := order(t, steps)
	if len(ns) < 2900 {
		t.Errorf("%d of 3000 packets are played: %+v", len(ns), st)
	}
	if st.Target < 55*ms || st.Target > 80*ms {
		t.Errorf("target %v for a jitter of 60 ms", st.Target)
	}
	if mean, most := lag(steps, 500); mean > 100*ms || most > 150*ms {
		t.Errorf("played %v after they were sent, %v at most", mean, most)
	}
}

func TestDuplicates(t *testing.T) {
	steps, st := line{packets: 300, twice: true}.run(t)
	if ns := order(t, steps); len(ns) != 300 {
		t.Errorf("%d of 300 packets are played", len(ns))
	}
	if st.Duplicates != 300 || st.Lost > 0 {
		t.Errorf("%+v", st)
	}
}

// Nothing is lost when the sender pauses, and pauses keep their length.
func TestRests(t *testing.T) {
	rests := func(n int) bool { return n%100 >= 40 }
	steps, st := line{packets: 1000, rests: rests, delay: uniform(2, 10*ms, 40*ms)}.run(t)
	if ns := order(t, steps); len(ns) < 395 {
		t.Errorf("%d of 400 packets are played: %+v", len(ns), st)
	}
	first := map[int]time.Duration{}
	silent := 0
	for _, s := range steps {
		if s.kind == Play && s.n%100 == 0 {
			first[s.n/100] = s.at
		}
		if s.kind == Silence {
			silent++
		}
	}
	for i := range 9 {
		if d := first[i+1] - first[i] - 2*time.Second; d < -45*ms || d > 45*ms {
			t.Errorf("the pause behind run %d is %v longer", i, d)
		}
	}
	if silent < 500 {
		t.Errorf("%d silent steps", silent)
	}
}

// A network that stalls and then delivers all packets at once.
func TestBursts(t *testing.T) {
	delay := func(n int) time.Duration { return 10*ms + max(0, 200*ms-time.Duration(n%250)*20*ms) }
	steps, st := line{packets: 2500, delay: delay, quiet: func(at time.Duration) bool { return at/time.Second%2 == 0 }}.run(t)
	if ns := order(t, steps); len(ns)+st.Shortened != 2500 {
		t.Errorf("%d packets are played, %+v", len(ns), st)
	}
	if st.Lost > 0 || st.Shortened > 150 {
		t.Errorf("%+v", st)
	}
	if _, most := lag(steps, 0); most > 320*ms {
		t.Errorf("played up to %v after they were sent", most)
	}
}

// Clock drift for ten minutes with pauses in the voice: the playout neither runs
// dry nor falls behind.
func TestClockDrift(t *testing.T) {
	for _, drift := range []float64{3e-4, -3e-4} {
		steps, st := line{
			packets: 30000, drift: drift, delay: uniform(3, 10*ms, 20*ms),
			quiet: func(at time.Duration) bool { return at/(100*ms)%20 == 0 },
		}.run(t)
		order(t, steps)
		if st.Lost > 0 || st.Late > 0 || st.Resets > 0 {
			t.Errorf("drift %v: %+v", drift, st)
		}
		// 300 ppm of ten minutes are 180 ms, 9 packets.
		if n := st.Shortened + st.Stretched + st.Concealed; n < 6 || n > 40 {
			t.Errorf("drift %v: corrected %d times: %+v", drift, n, st)
		}
		worst := time.Duration(0)
		for _, s := range steps {
			if s.kind == Play && s.n > 100 {
				at := time.Duration(float64(s.n) * float64(20*ms) / (1 + drift))
				worst = max(worst, s.at-at)
			}
		}
		if worst > 110*ms {
			t.Errorf("drift %v: played up to %v after they were sent", drift, worst)
		}
	}
}

// One packet in ten is lost: those with a copy are recovered, the others concealed,
// without other effects.
func TestLosses(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	lost := 0
	late := uniform(5, 10*ms, 70*ms)
	delay := func(n int) time.Duration {
		if r.IntN(10) == 0 && n > 0 {
			lost++
			return -1
		}
		return late(n)
	}
	steps, st := line{packets: 5000, delay: delay, copies: true}.run(t)
	ns := order(t, steps)
	if len(ns) < 4950-lost-150 {
		t.Errorf("%d packets are played, %d were lost", len(ns), lost)
	}
	if st.Lost < lost*95/100 || st.Lost > lost+200 {
		t.Errorf("%d were lost, %+v", lost, st)
	}
	if st.Recovered < lost*85/100 {
		t.Errorf("%d of %d lost packets are recovered", st.Recovered, lost)
	}
	for i, s := range steps {
		if s.kind == Recover && (i+1 == len(steps) || steps[i+1].n != s.n || steps[i+1].kind != Play) {
			t.Fatalf("the copy in packet %d is used, and then %+v", s.n, steps[i+1])
		}
	}
}

// The network is gone for a while.
func TestOutage(t *testing.T) {
	for _, gone := range []int{5, 20, 100, 500} { // packets
		steps, st := line{packets: 1500, delay: func(n int) time.Duration {
			if n >= 200 && n < 200+gone {
				return -1
			}
			return 10 * ms
		}}.run(t)
		ns := order(t, steps)
		if want := 1500 - gone; len(ns) < want-5 {
			t.Errorf("%d lost: %d of %d packets are played: %+v", gone, len(ns), want, st)
		}
		guessed := 0
		for _, s := range steps {
			if s.kind == Conceal && s.at < 29*time.Second { // not after the end
				guessed++
			}
		}
		if guessed < min(gone, 10)-1 || guessed > 12 {
			t.Errorf("%d lost: %d steps are guessed", gone, guessed)
		}
		if mean, _ := lag(steps, 200+gone+200); mean > 80*ms {
			t.Errorf("%d lost: played %v after they were sent", gone, mean)
		}
	}
}

// The network delay rises and falls.
func TestAnotherWay(t *testing.T) {
	steps, st := line{packets: 3000, delay: func(n int) time.Duration {
		if n >= 500 && n < 1500 {
			return 160 * ms
		}
		return 10 * ms
	}, quiet: func(at time.Duration) bool { return at/(100*ms)%10 == 0 }}.run(t)
	order(t, steps)
	if st.Lost > 8 || st.Resets > 0 {
		t.Errorf("%+v", st)
	}
	if mean, _ := lag(steps, 2500); mean > 80*ms {
		t.Errorf("played %v after they were sent, on the short way", mean)
	}
}

// A restarted sender is followed.
func TestSenderBeginsAnew(t *testing.T) {
	for name, change := range map[string]func(n int, p *Packet){
		"numbers":    func(n int, p *Packet) { p.Seq -= 20000 },
		"timestamps": func(n int, p *Packet) { p.Timestamp -= 1 << 30 },
		"a jump":     func(n int, p *Packet) { p.Timestamp += 1 << 29 },
		"both":       func(n int, p *Packet) { p.Seq += 12345; p.Timestamp += 1 << 31 },
	} {
		t.Run(name, func(t *testing.T) {
			steps, st := line{packets: 1000, change: func(n int, p *Packet) {
				if n >= 500 {
					change(n, p)
				}
			}}.run(t)
			ns := order(t, steps)
			if len(ns) < 940 || ns[len(ns)-1] != 999 {
				t.Errorf("%d of 1000 packets are played, the last is %d: %+v", len(ns), ns[len(ns)-1], st)
			}
			if mean, _ := lag(steps, 700); mean > 80*ms {
				t.Errorf("played %v after they were sent", mean)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{}, {ClockRate: 48000, Min: -1}, {ClockRate: 48000, Min: 500 * ms}, {ClockRate: 48000, Max: time.Hour}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

func TestAllocs(t *testing.T) {
	b, err := New(Options{ClockRate: 48000})
	if err != nil {
		t.Fatal(err)
	}
	now, p := epoch, Packet{Duration: 20 * ms, Payload: make([]byte, 80)}
	each := func() {
		if p.Seq%10 != 3 {
			b.Push(now, p)
		}
		b.Pull(now, false)
		now = now.Add(20 * ms)
		p.Seq++
		p.Timestamp += tick
	}
	for range 2 * size { // each slot has had its largest packet
		each()
	}
	if n := testing.AllocsPerRun(1000, each); n > 0 {
		t.Errorf("%v allocations a packet", n)
	}
}

// BenchmarkPacket measures one packet in and out. Goal: 1 us.
func BenchmarkPacket(b *testing.B) {
	buf, err := New(Options{ClockRate: 48000})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	now, p := epoch, Packet{Duration: 20 * ms, Payload: make([]byte, 80)}
	for b.Loop() {
		buf.Push(now, p)
		buf.Pull(now, false)
		now = now.Add(20 * ms)
		p.Seq++
		p.Timestamp += tick
	}
}
