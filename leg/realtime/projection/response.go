package projection

import (
	"strings"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// response is an agent's turn, or an answer beside the conversation.
type response struct {
	id    string
	turn  int // of the machine; 0 for a response beside the conversation
	audio bool
	asked bool // the client asked for it
	first bool // it is the greeting
	// The parameters of the request and the resulting configuration.
	params  wire.CreateParams
	session wire.Session

	output  []*item
	message *item // its only message; nil before the first words
	index   int   // of the message in the output
	text    string
	sent    int       // bytes of the machine's text that were sent
	samples audio.Pos // sound that was sent

	calls      []Call        // of the client's tools
	answered   bool          // the model has finished
	generated  bool          // the machine has received the end of the answer
	limited    bool          // it was cut off at its token limit
	tokens     int           // of its text so far
	cancelling bool          // the client has cancelled it
	cut        bool          // the client has truncated it while it was spoken
	forgiven   bool          // a response.cancel has arrived after its end
	end        time.Duration // the position of the truncation
	failure    *Failure
	input      int // tokens of its input text
	inputSound time.Duration
}

// beginResponse announces the response of an agent's turn.
func (p *Projection) beginResponse(turn int, greeting bool) {
	r := &response{turn: turn, session: p.session, audio: p.session.Audio(), first: greeting}
	if q := p.create; q != nil && (!greeting || p.greetingAnswers(q)) {
		p.create = nil
		r.id, r.params, r.asked = q.id, q.params, true
		r.override()
		if q.cancelled {
			r.cancelling = true
			p.post(conv.UserInterrupt{Source: "client"})
		}
	} else {
		r.id = p.newID("resp")
	}
	p.resp, p.last = r, nil
	p.measure = false
	p.idleAt = time.Time{}
	for _, it := range p.items.list {
		it.answered = it.answered || !greeting
	}
	p.send(wire.ResponseEvent{Name: "created", Response: p.show(r, wire.InProgress, nil)})
}

// override applies the parameters of the request to the session's configuration.
func (r *response) override() {
	p, s := &r.params, &r.session
	if p.OutputModalities != nil {
		s.OutputModalities = p.OutputModalities
	}
	if p.Instructions != nil {
		s.Instructions = *p.Instructions
	}
	if p.Tools != nil {
		s.Tools = p.Tools
	}
	if p.ToolChoice != nil {
		s.ToolChoice = *p.ToolChoice
	}
	if p.MaxOutputTokens != nil {
		s.MaxOutputTokens = *p.MaxOutputTokens
	}
	if p.Voice != "" {
		s.Output.Voice = p.Voice
	}
	if p.Format != nil {
		s.Output.Format = *p.Format
	}
	r.audio = s.Audio()
}

// show returns the response in the form of the protocol.
func (p *Projection) show(r *response, status string, details *wire.StatusDetails) wire.Response {
	w := wire.Response{
		ID: r.id, Status: status, Details: details, Metadata: r.params.Metadata, ConversationID: p.o.Conversation,
		OutputModalities: r.session.OutputModalities, MaxOutputTokens: r.session.MaxOutputTokens,
		Voice: r.session.Output.Voice, Format: r.session.Output.Format,
	}
	if r.params.OutOfBand {
		w.ConversationID = ""
	}
	if status == wire.InProgress {
		return w
	}
	for _, it := range r.output {
		w.Output = append(w.Output, it.Clone())
	}
	u := r.usage()
	w.Usage = &u
	return w
}

// openMessage announces the response's message, unless it already has.
func (p *Projection) openMessage(r *response) {
	if r.message != nil {
		return
	}
	it := &item{Item: wire.Item{ID: p.newID("item"), Type: wire.Message, Status: wire.InProgress, Role: "assistant"}, answered: true}
	r.message, r.index = it, len(r.output)
	p.addOutput(r, it)
	kind, words := wire.OutputText, (*string)(nil)
	if r.audio {
		kind, words = wire.OutputAudio, new(string)
	}
	it.Content = []wire.Content{{Type: kind, Transcript: words}}
	p.send(wire.Part{Name: "added", Place: r.place(), Content: wire.PartContent{Audio: r.audio}})
}

// addOutput announces a new item of a response.
func (p *Projection) addOutput(r *response, it *item) {
	r.output = append(r.output, it)
	p.send(wire.OutputItem{Name: "added", ResponseID: r.id, OutputIndex: len(r.output) - 1, Item: it.Clone()})
	if r.params.OutOfBand {
		return
	}
	before := p.items.add(it)
	p.send(wire.ItemEvent{Name: "added", PreviousItemID: before, Item: it.Clone()})
}

// place returns the place of the message's words and sound in the response.
func (r *response) place() wire.Place {
	return wire.Place{ResponseID: r.id, ItemID: r.message.ID, OutputIndex: r.index}
}

// say adds words to a response.
func (p *Projection) say(r *response, text string) {
	if text == "" {
		return
	}
	p.openMessage(r)
	r.text += text
	if !r.cut {
		r.message.setWords(r.text)
	}
	p.send(wire.WordsDelta{Audio: r.audio, Place: r.place(), Delta: text})
}

// speak adds sound to a response.
func (p *Projection) speak(r *response, pcm []int16) {
	if r.cut {
		return // the interruption is on its way
	}
	p.openMessage(r)
	if p.o.Plays && r.samples == 0 && !r.params.OutOfBand {
		p.send(wire.OutputBuffer{Name: "started", ResponseID: r.id})
	}
	r.samples += audio.Pos(len(pcm))
	p.spoken = true
	p.sendSound(r, pcm, false)
}

// sendSound sends sound, unless it travels outside of the events.
func (p *Projection) sendSound(r *response, pcm []int16, rest bool) {
	if !p.o.Plays || r.params.OutOfBand {
		p.send(Sound{Place: r.place(), Format: r.session.Output.Format, PCM: pcm, Rest: rest})
	}
}

// callTools announces the calls of the client's tools.
func (p *Projection) callTools(r *response) {
	for _, call := range r.calls {
		if call.Arguments == "" {
			call.Arguments = "{}"
		}
		it := &item{Item: wire.Item{
			ID: p.newID("item"), Type: wire.FunctionCall, Status: wire.InProgress, CallID: call.ID, Name: call.Name,
		}, answered: true}
		i := len(r.output)
		p.addOutput(r, it)
		p.send(wire.ArgumentsDelta{ResponseID: r.id, ItemID: it.ID, OutputIndex: i, CallID: call.ID, Delta: call.Arguments})
		p.send(wire.ArgumentsDone{
			ResponseID: r.id, ItemID: it.ID, OutputIndex: i, CallID: call.ID, Name: call.Name, Arguments: call.Arguments,
		})
		it.Arguments, it.Status = call.Arguments, wire.Completed
		p.doneItem(r, i)
	}
}

// doneItem announces the end of an item of a response.
func (p *Projection) doneItem(r *response, i int) {
	it := r.output[i]
	if at := p.items.index(it.ID); at >= 0 {
		p.send(wire.ItemEvent{Name: "done", PreviousItemID: p.items.before(at), Item: it.Clone()})
	}
	p.send(wire.OutputItem{Name: "done", ResponseID: r.id, OutputIndex: i, Item: it.Clone()})
}

// closeMessage announces the end of the response's message.
func (p *Projection) closeMessage(r *response, status string) {
	if r.message == nil {
		return
	}
	if r.audio {
		if r.samples > 0 && status == wire.Completed {
			p.sendSound(r, nil, true)
		}
		p.send(wire.AudioDone{Place: r.place()})
	}
	p.send(wire.WordsDone{Audio: r.audio, Place: r.place(), Words: r.text})
	p.send(wire.Part{Name: "done", Place: r.place(), Content: wire.PartContent{Audio: r.audio, Words: r.text}})
	r.message.Status = status
	if r.message.length = r.samples.Duration(Rate); r.cut {
		r.message.length = min(r.message.length, r.end)
	}
	p.doneItem(r, r.index)
}

// finishResponse ends the active response. voice reports that the person interrupted it
// by speaking.
func (p *Projection) finishResponse(how conv.TurnEventType, voice bool) {
	r := p.resp
	p.resp, p.last = nil, r
	p.measure = how == conv.TurnInterrupted && r.audio && r.samples > 0
	if how == conv.TurnFailed && r.failure == nil {
		r.failure = &Failure{Code: "server_error", Message: "The server had an error while making the response."}
	}
	interrupted := how == conv.TurnInterrupted || r.cancelling
	played := p.o.Plays && r.samples > 0
	if played && interrupted {
		p.send(wire.OutputBuffer{Name: "cleared", ResponseID: r.id})
	}
	p.endResponse(r, interrupted, voice)
	if played && !interrupted {
		p.send(wire.OutputBuffer{Name: "stopped", ResponseID: r.id})
	}
	if t := p.session.Input.TurnDetection; t != nil && t.IdleTimeoutMS > 0 && !interrupted {
		p.idleAt, p.idleFrom = p.at.Now.Add(time.Duration(t.IdleTimeoutMS)*time.Millisecond), p.at.Heard
	}
}

// endResponse announces the end of a response.
func (p *Projection) endResponse(r *response, interrupted, voice bool) {
	status, details := wire.Completed, (*wire.StatusDetails)(nil)
	switch {
	case r.failure != nil && !r.cancelling:
		status = wire.Failed
		kind := wire.ServerError
		if r.failure.Code == wire.CodeModelNotFound {
			kind = wire.InvalidRequest
		}
		details = &wire.StatusDetails{Type: status, Error: &wire.ResponseError{
			Type: kind, Code: strings.ToLower(r.failure.Code), Message: r.failure.Message,
		}}
	case interrupted:
		status = wire.Cancelled
		details = &wire.StatusDetails{Type: status, Reason: "client_cancelled"}
		if voice && !r.cancelling {
			details.Reason = "turn_detected"
		}
	case r.limited:
		status = wire.Incomplete
		details = &wire.StatusDetails{Type: status, Reason: "max_output_tokens"}
	}
	itemStatus := wire.Completed
	if status != wire.Completed {
		itemStatus = wire.Incomplete
	}
	p.closeMessage(r, itemStatus)
	done := p.show(r, status, details)
	p.limits.spend(p.at.Now, done.Usage.Total())
	p.send(wire.ResponseEvent{Name: "done", Response: done})
	p.send(p.limits.left(p.at.Now))
}
