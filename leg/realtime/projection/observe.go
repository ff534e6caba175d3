package projection

import (
	"slices"
	"time"

	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// This file translates the steps of the machine for the client.

// observe handles one step.
func (p *Projection) observe(st Stepped) {
	out := st.Output
	p.phase, p.userOpen = st.State.Phase, st.State.User.Turn != 0
	if p.restored {
		p.restored = false
		p.recall(st.State)
	}
	if !p.ruled && p.phase != conv.Idle {
		p.ruled = true // before anything is heard
		p.post(rules(&p.session))
	}
	if !p.running && (p.phase == conv.ListeningReady || reached(out, conv.ListeningReady)) {
		p.running = true
		p.do(Configure{})
	}
	if !out.Late {
		p.observeEvent(st)
	}
	for i := range out.Transitions {
		if out.Transitions[i].To == conv.Understanding {
			p.commitSpeech()
		}
	}
	for i := range out.Turns {
		p.observeTurn(&out.Turns[i], st)
	}
	p.observeText(st.State)
	p.observeCancel(out)
	p.observeCreate(st)
}

// reached reports whether a step entered a phase.
func reached(out *conv.Output, phase conv.Phase) bool {
	return slices.ContainsFunc(out.Transitions, func(t conv.Transition) bool { return t.To == phase })
}

// observeEvent handles the event of a step.
func (p *Projection) observeEvent(st Stepped) {
	switch e := st.Event.(type) {
	case conv.SessionConfigured:
		p.configured(e)
	case conv.SpeechStarted:
		p.speechStarted(e)
	case conv.SpeechStopped:
		p.speechStopped(e, st.State)
	case conv.TurnEnded:
		p.turnEnded(e)
	case conv.STTPartial:
		if s := p.speechOf(e.Utterance); s != nil {
			s.partial = e.Text
		}
	case conv.STTFinal:
		p.speechFinal(e)
	case conv.ReplyDone:
		p.replyEnded(e, st.State)
	case conv.PlayoutProgress:
		p.noteMark(e.Turn, e.Heard, e.Text)
	case conv.PlayoutFinished:
		p.noteMark(e.Turn, e.Heard, e.Text)
	case conv.PlayoutFlushed:
		p.flushed(e)
	default:
		// The effects of other events appear in turns, transitions and texts.
	}
}

// turnEnded commits the speech that the turn controller has found to be over. The machine may wait
// before it ends the turn.
func (p *Projection) turnEnded(e conv.TurnEnded) {
	if s := p.speech; s != nil && (e.Utterance == 0 || e.Utterance >= s.last) {
		p.commitSpeech()
	}
}

// replyEnded sends the rest of the text of the active response, which is complete.
func (p *Projection) replyEnded(e conv.ReplyDone, st *conv.State) {
	if r := p.resp; r != nil && (e.Turn == 0 || e.Turn == r.turn) {
		p.observeText(st)
		p.replyDone(r)
	}
}

func (p *Projection) observeTurn(t *conv.TurnEvent, st Stepped) {
	switch {
	case t.Role == conv.RoleAgent && t.Type == conv.TurnStarted:
		p.beginResponse(t.Turn, st.State.Reply.Turn == t.Turn && st.State.Reply.Kind == conv.ReplyGreeting)
	case t.Role == conv.RoleAgent:
		if r := p.resp; r != nil && r.turn == t.Turn {
			p.finishResponse(t.Type, broke(st.Event))
		}
	case t.Type != conv.TurnStarted:
		p.commitSpeech()
		for _, s := range p.written {
			p.speechWritten(s)
		}
		p.written = nil
	}
}

// broke reports whether an event comes from the person's voice.
func broke(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.SpeechStarted, conv.STTPartial, conv.STTFinal, conv.DeadlinePassed, conv.TurnEnded:
		return true
	case conv.UserInterrupt:
		return e.Source != "client"
	default:
		return false
	}
}

// observeText sends the agent's new text: all of it in a response of text, and what was
// passed to the voice in a spoken one.
func (p *Projection) observeText(st *conv.State) {
	r := p.resp
	if r == nil || st.Reply.Turn != r.turn {
		return
	}
	text := st.Reply.Text
	if r.audio {
		text = text[:len(text)-min(len(text), len(st.Reply.Unsaid))]
	}
	if len(text) > r.sent {
		p.say(r, text[r.sent:])
		r.sent = len(text)
	}
}

// replyDone handles the end of the model's answer.
func (p *Projection) replyDone(r *response) {
	if r.answered && !r.generated {
		r.generated = true
		p.callTools(r)
	}
}

// noteMark records the words heard so far.
func (p *Projection) noteMark(turn int, heard time.Duration, text string) {
	if r := p.resp; r != nil && r.message != nil && (turn == 0 || turn == r.turn) {
		r.message.marks = append(r.message.marks, mark{int(heard.Milliseconds()), text})
	}
}

// flushed handles the exact report of what was heard of an interrupted answer.
func (p *Projection) flushed(e conv.PlayoutFlushed) {
	p.measure = false
	r := p.last
	if p.resp != nil && p.resp.turn == e.Turn {
		r = p.resp
	}
	if r == nil || r.turn != e.Turn || r.message == nil || !r.audio {
		return
	}
	it := r.message
	if r.cut {
		// The client has said where it stopped; tell the machine.
		if e.Heard > r.end {
			p.post(conv.PlayoutFlushed{Turn: e.Turn, Heard: r.end, Text: it.heardAt(int(r.end.Milliseconds()))})
		}
		return
	}
	it.marks = append(it.marks, mark{int(e.Heard.Milliseconds()), e.Text})
	if r == p.last && it.Status == wire.Incomplete {
		it.setWords(e.Text)
		if p.o.Plays {
			// The server plays the sound, so it knows where it stopped and tells the
			// client.
			it.length = min(it.length, e.Heard)
			p.send(wire.ItemTruncated{ItemID: it.ID, AudioEndMS: int(it.length.Milliseconds())})
		}
	}
}
