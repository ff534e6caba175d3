package rtpjitter

import (
	"encoding/binary"
	"testing"
	"time"
)

// FuzzBuffer checks that, whatever arrives, steps have a valid length, nothing is
// played twice or invented, and the statistics are consistent.
func FuzzBuffer(f *testing.F) {
	seed := func(ops ...[6]byte) (b []byte) {
		for _, o := range ops {
			b = append(b, o[:]...)
		}
		return b
	}
	f.Add(seed([6]byte{0, 1, 0, 1, 1, 20}, [6]byte{0, 2, 0, 2, 1, 20}, [6]byte{0, 4, 0, 4, 3, 90}, [6]byte{0, 3, 0, 3, 1, 5}))
	f.Add(seed([6]byte{255, 255, 0, 1, 1, 20}, [6]byte{0, 0, 0, 2, 1, 200}, [6]byte{128, 4, 9, 4, 7, 250}))
	f.Fuzz(func(t *testing.T, ops []byte) {
		b, err := New(Options{ClockRate: 48000})
		if err != nil {
			t.Fatal(err)
		}
		now, pushed := epoch, uint32(0)
		due := now
		taken := map[uint32]bool{}
		for ; len(ops) >= 6 && pushed < 5000; ops = ops[6:] {
			b.Push(now, Packet{
				Seq: binary.BigEndian.Uint16(ops), Timestamp: uint32(binary.BigEndian.Uint16(ops[2:])) * tick << (ops[4] >> 6 * 6),
				Duration: time.Duration(ops[4]&7) * 20 * ms, Silent: ops[4]&8 != 0, Copy: ops[4]&16 != 0,
				Payload: binary.BigEndian.AppendUint32(nil, pushed),
			})
			pushed++
			now = now.Add(time.Duration(ops[5]) * ms)
			for !due.After(now) {
				s := b.Pull(due, ops[4]&32 != 0)
				if s.Duration <= 0 || s.Duration > 120*ms {
					t.Fatalf("a step of %v", s.Duration)
				}
				due = due.Add(s.Duration)
				if (s.Kind == Play || s.Kind == Recover) != (len(s.Payload) == 4) {
					t.Fatalf("step %d has a payload of %d bytes", s.Kind, len(s.Payload))
				}
				if s.Kind != Play {
					continue
				}
				n := binary.BigEndian.Uint32(s.Payload)
				if n >= pushed || taken[n] {
					t.Fatalf("packet %d is played again, or from nowhere", n)
				}
				taken[n] = true
			}
		}
		st := b.Stats()
		if st.Received+st.Duplicates > int(pushed) || len(taken)+st.Shortened+st.Late > st.Received || st.Recovered > st.Lost {
			t.Fatalf("%d packets came and %d were played, but %+v", pushed, len(taken), st)
		}
		if st.Target < 20*ms || st.Target > 400*ms {
			t.Fatalf("target %v", st.Target)
		}
	})
}
