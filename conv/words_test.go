package conv_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/convtest"
	"github.com/hocketvoice/hocket/turn"
)

// TestNoWordIsLost: whatever happens to the call - tools, agents, renewals, lost
// lines, faults - each final word that the user has said is in the history, or still
// in the user's turn. The driver is in its right mind, nothing is called off, and no
// filter is on.
func TestNoWordIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := conv.Options{
			Endpoint:     rapid.SampledFrom([]turn.Policy{"recognizer", "easyturn"}).Draw(t, "endpoint"),
			HistoryLimit: 10_000,
		}
		// Every word interrupts at once: none is filtered.
		o.BargeIn.Reply = turn.BargeInOptions{Policy: turn.BargeInWords, MinWords: 1}
		o.BargeIn.Greeting = o.BargeIn.Reply
		o.Filter.Echo = turn.Off
		o.DeadAir.Off = true
		r, err := convtest.NewRun(o, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := &sane{t: t, r: r}
		for _, text := range convtest.Beginning() {
			d.do(text)
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			d.next()
			if d.over {
				return
			}
		}
		for range 20 {
			d.settle()
		}
		if d.over {
			return
		}
		d.check()
	})
}

// sane is a driver that reports what may happen, with the numbers it was given.
type sane struct {
	t         *rapid.T
	r         *convtest.Run
	utterance int
	voice     bool
	owed      bool // a voice has stopped and its words are not in
	words     int
	calls     int
	over      bool // the conversation has ended
}

func (d *sane) do(text string) {
	if d.over {
		return
	}
	l, err := convtest.ParseLine(text)
	if err != nil {
		d.t.Fatal(err)
	}
	out, err := d.r.Do(l)
	d.t.Log(out)
	if err != nil {
		d.t.Fatal(err)
	}
	if p := d.r.Conv.Phase(); p == conv.Terminating || p == conv.Idle {
		d.over = len(d.r.Steps) > 3
	}
}

// say ends a stretch of speech with words of its own.
func (d *sane) say() {
	d.words++
	d.do(fmt.Sprintf("+100ms stt.final utterance=%d text=word%d. endpoint", d.utterance, d.words))
	if d.r.Conv.Options().Endpoint == "easyturn" && !d.over {
		d.do(fmt.Sprintf("+400ms turn.ended utterance=%d cause=easyturn", d.utterance))
	}
	d.owed = false
}

func (d *sane) next() {
	st := d.r.Conv.State()
	moves := []string{"wait", "voice", "voice", "renewal", "shaky", "lost", "expired", "fault", "typed"}
	if st.Reply.Turn != 0 && !d.disturbed() {
		moves = append(moves, "reply", "reply", "reply", "tool", "task", "playout", "playout", "done")
	}
	if len(st.Calls) > 0 {
		moves = append(moves, "result", "result")
	}
	switch rapid.SampledFrom(moves).Draw(d.t, "move") {
	case "wait":
		d.do(fmt.Sprintf("wait %dms", rapid.IntRange(1, 3000).Draw(d.t, "ms")))
	case "voice":
		switch {
		case d.owed:
			d.say()
		case d.voice:
			d.do(fmt.Sprintf("+300ms speech.stopped utterance=%d", d.utterance))
			d.voice, d.owed = false, true
		case !d.disturbed():
			d.utterance++
			d.do(fmt.Sprintf("+100ms speech.started utterance=%d", d.utterance))
			d.voice = true
		}
	case "reply":
		d.do(fmt.Sprintf("+50ms reply.delta turn=%d request=%d text='A sentence of it. '", st.Reply.Turn, st.Reply.Request))
	case "done":
		d.do(fmt.Sprintf("+50ms reply.done turn=%d request=%d", st.Reply.Turn, st.Reply.Request))
	case "tool", "task":
		d.calls++
		long := ""
		if d.calls%2 == 0 {
			long = "long"
		}
		d.do(fmt.Sprintf("+50ms tool.called turn=%d request=%d id=c%d name=t %s", st.Reply.Turn, st.Reply.Request, d.calls, long))
	case "playout":
		if st.Playout.Playing {
			d.do(fmt.Sprintf("+500ms playout.finished turn=%d part=%d", st.Reply.Turn, st.Playout.Part))
		} else if st.Reply.Voiced() {
			d.do(fmt.Sprintf("+50ms playout.started turn=%d part=%d", st.Reply.Turn, st.Reply.Part))
		}
	case "result":
		call := st.Calls[rapid.IntRange(0, len(st.Calls)-1).Draw(d.t, "call")]
		kind := "tool.done"
		if call.Long {
			kind = "task.done"
		}
		d.do("+50ms " + kind + " id=" + call.ID + " output=42")
	case "typed":
		if d.voice || d.owed {
			return // a typed line ends the spoken turn
		}
		d.words++
		d.do(fmt.Sprintf("+50ms user.text text=word%d.", d.words))
	case "renewal":
		d.do("+50ms session.renewal")
	case "shaky":
		d.do("+50ms connection.lost retryable")
	case "lost":
		d.do("+50ms connection.lost")
	case "expired":
		d.do("+50ms session.expired")
	case "fault":
		d.do("+50ms fault code=SERVER_ERROR")
	}
	if !d.over && rapid.Bool().Draw(d.t, "mend") {
		d.mend()
	}
}

// disturbed: what belongs to a turn is not reported now.
func (d *sane) disturbed() bool {
	switch d.r.Conv.Phase() {
	case conv.Suspended, conv.Reconnecting, conv.Faulted, conv.Preparing:
		return true
	}
	return false
}

// mend ends what disturbs the call.
func (d *sane) mend() {
	switch d.r.Conv.Phase() {
	case conv.Suspended:
		d.do("+100ms session.renewed")
	case conv.Reconnecting:
		d.do("+1s connection.restored")
	case conv.Faulted:
		d.do("+20s user.start")
	case conv.Preparing:
		d.do("session.ready")
		d.do("audio.ready")
	}
	if !d.over && d.r.Conv.State().Shaky() {
		d.do("connection.restored")
	}
}

// settle lets the call come to rest.
func (d *sane) settle() {
	if d.over {
		return
	}
	d.mend()
	if d.voice {
		d.do(fmt.Sprintf("+300ms speech.stopped utterance=%d", d.utterance))
		d.voice, d.owed = false, true
	}
	if d.owed && !d.over {
		d.say()
	}
	d.do("wait 2s")
	st := d.r.Conv.State()
	if st.Reply.Turn != 0 && !d.over && !d.disturbed() {
		d.do(fmt.Sprintf("reply.done turn=%d request=%d", st.Reply.Turn, st.Reply.Request))
	}
	if st := d.r.Conv.State(); st.Reply.Voiced() && !d.over && !d.disturbed() {
		d.do(fmt.Sprintf("playout.started turn=%d part=%d", st.Reply.Turn, st.Reply.Part))
		if !d.over {
			d.do(fmt.Sprintf("+1s playout.finished turn=%d part=%d", st.Reply.Turn, st.Reply.Part))
		}
	}
	if st := d.r.Conv.State(); len(st.Calls) > 0 && !d.over {
		kind := "tool.done"
		if st.Calls[0].Long {
			kind = "task.done"
		}
		d.do(kind + " id=" + st.Calls[0].ID + " output=42")
	}
}

func (d *sane) check() {
	st := d.r.Conv.State()
	var b strings.Builder
	for _, it := range st.History {
		if it.Role == conv.RoleUser {
			b.WriteString(it.Text + " ")
		}
	}
	fmt.Fprintf(&b, "%s %s", st.User.Words(), strings.Join(st.Pending.Texts, " "))
	for n := 1; n <= d.words; n++ {
		word := fmt.Sprintf("word%d.", n)
		times := strings.Count(b.String(), word)
		if times == 1 {
			continue
		}
		d.t.Fatalf("%s is there %d times in %q: %s", word, times, b.String(), d.fate(word))
	}
}

// fate tells what became of a word: where it was taken in, or why it was dropped.
func (d *sane) fate(word string) string {
	for i, s := range d.r.Steps {
		f, ok := s.Event.(conv.STTFinal)
		if !ok || f.Text != word {
			continue
		}
		if s.Late {
			why := ""
			j := i
			for ; j > 0; j-- {
				if e, ok := d.r.Steps[j].Event.(conv.SpeechStarted); ok && e.Utterance == f.Utterance {
					break
				}
				for _, tr := range d.r.Steps[j].Transitions {
					switch tr.To {
					case conv.Reconnecting, conv.Faulted, conv.Suspended:
						why = " disturbed"
					}
				}
			}
			if why == "" {
				for _, s := range d.r.Steps[j : i+1] {
					for _, tr := range s.Transitions {
						why += fmt.Sprintf(" %v>%v(%s)", tr.From, tr.To, tr.Cause)
					}
				}
			}
			return fmt.Sprintf("late in %v%s", phaseAt(d.r.Steps, i), why)
		}
		for _, later := range d.r.Steps[i:] {
			for _, tr := range later.Transitions {
				switch tr.To {
				case conv.Reconnecting, conv.Faulted, conv.Terminating:
					return fmt.Sprintf("taken in %v, then %v -> %v by %s", phaseAt(d.r.Steps, i), tr.From, tr.To, tr.Cause)
				}
			}
		}
		return fmt.Sprintf("taken in %v", phaseAt(d.r.Steps, i))
	}
	return "typed"
}

func phaseAt(steps []convtest.Step, i int) conv.Phase {
	p := conv.Idle
	for _, s := range steps[:i] {
		for _, tr := range s.Transitions {
			p = tr.To
		}
	}
	return p
}
