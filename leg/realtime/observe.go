package realtime

import (
	"slices"
	"time"

	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/session"
)

// This file: what the steps of the machine mean to the client.

// spots are the moments of the appended sound at which the last stretches of
// speech began, or their turns ended: the machine's steps come later, and the
// sound may have gone on.
type spots struct {
	at   [32]spot
	next int
}

type spot struct{ utterance, ms int }

func (s *spots) note(utterance, ms int) {
	s.at[s.next] = spot{utterance, ms}
	s.next = (s.next + 1) % len(s.at)
}

// of is the moment of a stretch of speech, or otherwise.
func (s *spots) of(utterance, otherwise int) int {
	for i := range s.at {
		if s.at[i].utterance == utterance && utterance != 0 {
			return s.at[i].ms
		}
	}
	return otherwise
}

// speech is the person's turn as the client sees it.
type speech struct {
	id          string // of the item that it becomes
	startMS     int
	first, last int // stretches of speech
	text        string
	partial     string
	quiet       bool // over the agent's voice, and over
	item        *item
}

// noteHeard sees the facts of the uplink at the frame that shows them.
func (c *conn) noteHeard(ev conv.Event) {
	switch e := ev.(type) {
	case conv.SpeechStarted:
		c.locked(func() { c.starts.note(e.Utterance, c.leg.heard()) })
	case conv.TurnEnded:
		c.locked(func() { c.ends.note(e.Utterance, c.leg.heard()) })
	default:
	}
}

// observe follows one step. It is called on the loop of the session.
func (c *conn) observe(st session.Step) {
	out := st.Output
	c.phase = st.State.Phase
	if c.restored {
		c.restored = false
		c.recall(st.State)
	}
	if !c.running && (c.phase == conv.ListeningReady || reached(out, conv.ListeningReady)) {
		c.running = true
		c.configure()
		close(c.ready)
	}
	if !out.Late {
		c.observeEvent(st)
	}
	for i := range out.Transitions {
		if out.Transitions[i].To == conv.Understanding {
			c.commitSpeech()
		}
	}
	for i := range out.Turns {
		c.observeTurn(&out.Turns[i], st)
	}
	c.observeText(st.State)
	c.observeCancel(out)
	c.observeCreate(st)
}

// reached reports whether a step went through a phase.
func reached(out *conv.Output, phase conv.Phase) bool {
	return slices.ContainsFunc(out.Transitions, func(t conv.Transition) bool { return t.To == phase })
}

// observeEvent is about what has happened.
func (c *conn) observeEvent(st session.Step) {
	switch e := st.Event.(type) {
	case conv.SessionConfigured:
		c.configured(e)
	case conv.SpeechStarted:
		c.speechStarted(e)
	case conv.SpeechStopped:
		c.speechStopped(e, st.State)
	case conv.STTPartial:
		if s := c.speechOf(e.Utterance); s != nil {
			s.partial = e.Text
		}
	case conv.STTFinal:
		c.speechFinal(e)
	case conv.ReplyDone:
		if r := c.resp; r != nil && (e.Turn == 0 || e.Turn == r.turn) {
			c.observeText(st.State)
			c.replyDone(r)
		}
	case conv.PlayoutProgress:
		c.noteMark(e.Turn, e.Heard, e.Text)
	case conv.PlayoutFinished:
		c.noteMark(e.Turn, e.Heard, e.Text)
	case conv.PlayoutFlushed:
		c.flushed(e)
	default:
		// The rest shows in turns, transitions and texts.
	}
}

func (c *conn) observeTurn(t *conv.TurnEvent, st session.Step) {
	switch {
	case t.Role == conv.RoleAgent && t.Type == conv.TurnStarted:
		c.beginResponse(t.Turn, st.State.Reply.Turn == t.Turn && st.State.Reply.Kind == conv.ReplyGreeting)
	case t.Role == conv.RoleAgent:
		if r := c.resp; r != nil && r.turn == t.Turn {
			c.finishResponse(t.Type, broke(st.Event))
		}
	case t.Type != conv.TurnStarted:
		c.commitSpeech()
		for _, s := range c.written {
			c.speechWritten(s)
		}
		c.written = nil
	}
}

// broke reports whether a fact is the person's voice.
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

// observeText tells what the agent says more: of a text all that is there, of a
// voice what it has been given.
func (c *conn) observeText(st *conv.State) {
	r := c.resp
	if r == nil || st.Reply.Turn != r.turn {
		return
	}
	text := st.Reply.Text
	if r.audio {
		text = text[:len(text)-min(len(text), len(st.Reply.Unsaid))]
	}
	if len(text) > r.sent {
		c.say(r, text[r.sent:])
		r.sent = len(text)
	}
}

// observeCancel repeats a cancellation that came while the reply was held for a
// voice, when it goes on.
func (c *conn) observeCancel(out *conv.Output) {
	if c.resp == nil || !c.resp.cancelling || len(out.Transitions) == 0 {
		return
	}
	switch c.phase {
	case conv.Understanding, conv.Waiting, conv.Generating, conv.Speaking:
		c.post(conv.UserInterrupt{Source: "client"})
	default:
	}
}

// observeCreate asks for the response that waits for its moment.
func (c *conn) observeCreate(st session.Step) {
	if q := c.create; q != nil && q.posted && c.phase == conv.ListeningReady {
		switch e := st.Event.(type) {
		case conv.ReplyRequested:
			q.posted = e.Source != "client"
		case conv.UserText:
			q.posted = false
		default:
		}
	}
	c.maybeCreate()
}

// replyDone: the mind has said all that it has to say.
func (c *conn) replyDone(r *response) {
	if r.answered && !r.generated {
		r.generated = true
		c.callTools(r)
	}
}

// noteMark remembers what had been heard when.
func (c *conn) noteMark(turn int, heard time.Duration, text string) {
	if r := c.resp; r != nil && r.message != nil && (turn == 0 || turn == r.turn) {
		r.message.marks = append(r.message.marks, mark{int(heard.Milliseconds()), text})
	}
}

// flushed: the exact measure of what was heard of an answer that was cut off. Of
// the rest nobody knows.
func (c *conn) flushed(e conv.PlayoutFlushed) {
	defer c.measured()
	r := c.last
	if c.resp != nil && c.resp.turn == e.Turn {
		r = c.resp
	}
	if r == nil || r.turn != e.Turn || r.message == nil || !r.audio {
		return
	}
	it := r.message
	it.marks = append(it.marks, mark{int(e.Heard.Milliseconds()), e.Text})
	if r == c.last && it.Status == wire.Incomplete {
		it.setWords(e.Text)
		if c.call != nil {
			// The server plays: it knows, and the client need not say.
			it.length = min(it.length, e.Heard)
			c.send(wire.ItemTruncated{ItemID: it.ID, AudioEndMS: int(it.length.Milliseconds())})
		}
	}
}

// measured says that nothing more will be known of what was heard.
func (c *conn) measured() {
	if c.measure != nil {
		close(c.measure)
		c.measure = nil
	}
}

// measureTime bounds how long a client that has come back waits for the measure of what
// it has heard of an answer that was cut off.
const measureTime = time.Second

// awaitMeasure waits for it. The items that the client is told are those of the machine
// then.
func (c *conn) awaitMeasure() {
	c.mu.Lock()
	measure := c.measure
	c.mu.Unlock()
	if measure == nil {
		return
	}
	limit := time.NewTimer(measureTime)
	defer limit.Stop()
	select {
	case <-measure:
	case <-c.ended:
	case <-limit.C:
	}
}

// detects reports whether speech is looked for.
func (c *conn) detects() bool { return c.session.Input.TurnDetection != nil }

// onsetTime is how long a voice is heard before it counts as one.
const onsetTime = 80 * time.Millisecond

// speechStarted: a voice.
func (c *conn) speechStarted(e conv.SpeechStarted) {
	if !c.detects() {
		return
	}
	c.idleAt = time.Time{}
	if s := c.speech; s != nil && !s.quiet {
		s.last = e.Utterance // the same turn goes on
		return
	}
	c.commitSpeech()
	at := c.starts.of(e.Utterance, c.leg.heard())
	pad := 0
	if t := c.session.Input.TurnDetection; t.Type == wire.ServerVAD {
		pad = t.PrefixPaddingMS
	}
	s := &speech{
		id: newID("item"), startMS: max(0, at-int(onsetTime.Milliseconds())-pad), first: e.Utterance, last: e.Utterance,
	}
	c.speech = s
	c.send(wire.SpeechStarted{AudioStartMS: s.startMS, ItemID: s.id})
}

// speechStopped: over the agent's voice no turn of the person's ends, for none is
// open; what was said is an item all the same.
func (c *conn) speechStopped(e conv.SpeechStopped, st *conv.State) {
	s := c.speech
	if s == nil || st.User.Turn != 0 || !st.Audible() || e.Utterance != s.last {
		return
	}
	s.quiet = true
	if c.parts.Recognizer == nil {
		c.overWritten(s)
	}
}

// overWritten makes an item of what was said over the agent's voice.
func (c *conn) overWritten(s *speech) {
	c.commitSpeech()
	c.written = nil
	c.speechWritten(s)
}

// speechOf is the turn that a stretch of speech belongs to.
func (c *conn) speechOf(utterance int) *speech {
	if s := c.speech; s != nil && (utterance == 0 || utterance >= s.first) {
		return s
	}
	for _, s := range c.written {
		if utterance >= s.first && utterance <= s.last {
			return s
		}
	}
	return nil
}

func (c *conn) speechFinal(e conv.STTFinal) {
	s := c.speechOf(e.Utterance)
	if s == nil {
		return
	}
	s.partial = ""
	if s.text != "" && e.Text != "" {
		s.text += " "
	}
	s.text += e.Text
	if s.quiet && s == c.speech {
		c.overWritten(s)
	}
}

// commitSpeech makes an item of the person's turn.
func (c *conn) commitSpeech() {
	s := c.speech
	if s == nil {
		return
	}
	c.speech = nil
	end := max(c.ends.of(s.last, c.leg.heard()), s.startMS)
	c.send(wire.SpeechStopped{AudioEndMS: end, ItemID: s.id})
	s.item = c.addSpoken(s.id, time.Duration(end-s.startMS)*time.Millisecond)
	s.item.spoken, s.item.waiting = true, true
	c.uncommitted = 0
	c.written = append(c.written, s)
}

// speechWritten: all words of the turn are known that ever will be.
func (c *conn) speechWritten(s *speech) {
	text := s.text
	if s.partial != "" {
		if text != "" {
			text += " "
		}
		text += s.partial
	}
	c.wordsKnown(s.item, text, nil)
}

// wordsKnown tells what the person said in an item.
func (c *conn) wordsKnown(it *item, text string, err error) {
	it.waiting = false
	for i := range it.Content {
		if part := &it.Content[i]; part.Type == wire.InputAudio && part.Transcript == nil {
			part.Transcript = &text
		}
	}
	if c.session.Input.Transcription != nil || c.session.Type == wire.TypeTranscription {
		if err != nil {
			c.send(wire.TranscriptionFailed{ItemID: it.ID, Code: "transcription_failed", Message: err.Error()})
		} else {
			if text != "" {
				c.send(wire.TranscriptionDelta{ItemID: it.ID, Delta: text})
			}
			c.send(wire.TranscriptionCompleted{ItemID: it.ID, Transcript: text, Seconds: it.length.Seconds()})
		}
	}
	c.maybeCreate()
}

// idlePassed: the person has said nothing for too long, and the agent speaks
// again.
func (c *conn) idlePassed(now time.Time) {
	if c.idleAt.IsZero() || now.Before(c.idleAt) || c.resp != nil || c.create != nil || c.speech != nil || !c.detects() {
		return
	}
	c.idleAt = time.Time{}
	id, end := newID("item"), c.leg.heard()
	c.send(wire.TimeoutTriggered{AudioStartMS: c.idleFrom, AudioEndMS: end, ItemID: id})
	it := c.addSpoken(id, time.Duration(end-c.idleFrom)*time.Millisecond)
	it.spoken, it.Content[0].Transcript = true, new(string)
	c.uncommitted = 0
	c.create = &create{id: newID("resp")}
	c.maybeCreate()
}
