package explore

import (
	"encoding/binary"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/timers"
)

// appendKey appends a key for a canonical state and the state of the monitor. States
// with equal keys are equal.
func appendKey(b []byte, st *conv.State, m *monitor) []byte {
	k := key{b}
	r := &st.Reply
	k.num(int(st.Phase))
	if st.Phase == conv.Suspended {
		k.num(int(st.Before))
	}
	k.flags(st.Floor.Speaking, st.Floor.BrokeIn, st.Floor.Barged != 0, st.Floor.Pushed,
		st.User.Turn != 0, st.User.Ended, m.sounding, m.soundingOld)
	k.text(st.User.Text)
	k.text(st.User.Partial)
	k.text(st.Over.Text)
	k.text(st.Over.Partial)
	k.flags(st.Over.Ended, st.Floor.Tail != 0, r.Before != 0)

	k.flags(r.Turn != 0, r.UserTurn != 0, r.Request != 0, r.Requested)
	k.num(int(r.Progress))
	k.num(int(r.Voice))
	k.num(int(r.Hold))
	k.flags(r.Silent, r.Unsaid != "", r.Earlier)
	k.text(string(r.Kind))
	k.text(string(r.Why))
	k.num(r.Attempt)
	k.num(r.Part)

	p := &st.Playout
	k.num(p.Part)
	k.flags(p.Turn != 0, p.Playing, p.Heard != 0, p.Text != "", p.Heard == time.Hour)
	k.num(int(p.Sound))

	k.num(int(st.Barge.Phase))
	k.num(int(st.Barge.Applied))
	k.num(int(st.Barge.Heard.Kind))
	k.flags(!st.Barge.StopAt.IsZero(), !st.Barge.ResumeAt.IsZero(), !st.Barge.Onset.IsZero(),
		!st.Barge.SpeechAt.IsZero(), !st.Barge.WordsAt.IsZero(), st.Barge.Heard.Alone)

	k.num(st.DeadAir.Next)
	k.flags(st.DeadAir.Armed, !st.DeadAir.Since.IsZero())

	k.num(len(st.Calls))
	for i := range st.Calls {
		c := &st.Calls[i]
		k.text(c.ID)
		k.flags(c.Long, c.Running(), c.Background(), c.Announced(), c.Turn == r.Turn)
	}

	k.text(string(st.Rules.BargeIn))
	s := &st.Session
	k.flags(st.Rules.ListenOnly)
	k.num(int(s.Life))
	k.flags(s.Audio)
	k.flags(st.Conn.Lost, st.Conn.Unanswered.Turn != 0)
	k.flags(st.Conn.Unanswered.CutWords(), st.Conn.Unanswered.CutVoice())
	k.num(st.Conn.Attempts)
	k.num(st.Faults.Recoveries)
	k.num(len(st.Faults.Expiries))

	k.going(st, m)
	k.question(st, m)
	k.pending(st)
	k.dialogue(st)

	k.num(len(st.Suspended.Facts))
	for _, fact := range st.Suspended.Facts {
		k.fact(fact)
	}
	k.text(string(st.Suspended.Source))
	// These timers only notify: the machine continues in the same way with and without
	// them.
	const telling = 1<<timers.Inactivity | 1<<timers.Speaking | 1<<timers.Heartbeat
	k.num(int(armedTimers(&st.Timers) &^ telling))
	k.num(int(armedTimers(&st.Suspended.Timers) &^ telling))
	return k.b
}

type key struct{ b []byte }

// going appends what is left of a reply that was cut off.
func (k *key) going(st *conv.State, m *monitor) {
	g := &st.Going
	k.num(g.Row)
	k.flags(g.Turn != 0, g.UserTurn != 0, g.Asks, m.cut.open, m.cut.first, m.cut.spent)
	k.num(int(m.cut.row))
	k.num(g.Heard)
	if asks(st) {
		k.text(g.Text)
	}
}

// pending appends what waits to be handled.
func (k *key) pending(st *conv.State) {
	q := &st.Pending
	k.flags(q.Greeted, q.Ending, q.Recover, q.Apology != "")
	k.num(len(q.Texts))
	k.num(len(q.Tell))
	k.num(len(q.Announcing))
	k.num(len(q.Telling))
	k.num(len(q.News))
	k.num(q.Feedback)
	k.num(len(q.Settle))
	for _, s := range q.Settle {
		k.text(s.ID)
	}
}

func (k *key) num(n int) {
	if n >= 0 && n < 0x80 {
		k.b = append(k.b, byte(n)) // like AppendUvarint
		return
	}
	k.b = binary.AppendUvarint(k.b, uint64(n))
}

func (k *key) text(s string) {
	k.num(len(s))
	k.b = append(k.b, s...)
}

func (k *key) flags(flags ...bool) {
	var v uint64
	for i, f := range flags {
		if f {
			v |= 1 << i
		}
	}
	k.num(int(v))
}

// fact appends an event as JSON, which is unambiguous.
func (k *key) fact(ev conv.Event) {
	b, err := conv.MarshalEvent(ev)
	if err != nil {
		panic(err) // all events of the alphabet can be encoded
	}
	k.text(string(b))
}
