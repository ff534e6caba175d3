package realtime

import (
	"strings"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/port"
)

// response is one response: a turn of the agent's.
type response struct {
	id    string
	turn  int // of the machine; 0: it is beside the conversation
	audio bool
	ask   bool // the client asked for it
	first bool // the agent greets
	// What is in effect for it.
	params  wire.CreateParams
	session wire.Session

	output  []*item
	message *item // the one message of it; nil: there are no words yet
	index   int   // of the message in the output
	text    strings.Builder
	sent    int // bytes of the machine's text that are told
	enc     *encoder
	samples audio.Pos // of sound that are told

	calls      []port.ToolCall // of tools of the client's
	answered   bool            // the model has said all
	generated  bool            // and the machine has taken it
	limited    bool            // it was cut off at its tokens
	tokens     int             // of text, so far
	cancelling bool            // the client has cancelled it
	failure    *port.Failure
	input      int // tokens of text it was asked with
	inputSound time.Duration
}

// beginResponse announces the response of an agent's turn.
func (c *conn) beginResponse(turn int, greeting bool) {
	r := &response{turn: turn, id: newID("resp"), session: c.session, audio: c.session.Audio(), first: greeting}
	if q := c.create; q != nil && (!greeting || c.greetingAnswers(q)) {
		c.create = nil
		r.id, r.params, r.ask = q.id, q.params, true
		r.override()
		if q.cancelled {
			r.cancelling = true
			c.post(conv.UserInterrupt{Source: "client"})
		}
	}
	c.resp, c.last = r, nil
	c.measured()
	c.idleAt = time.Time{}
	for _, it := range c.items.list {
		it.answered = it.answered || !greeting
	}
	c.send(wire.ResponseEvent{Name: "created", Response: c.show(r, wire.InProgress, nil)})
}

// override puts what the client has set for this response over the session's.
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

// show is the response as the protocol has it.
func (c *conn) show(r *response, status string, details *wire.StatusDetails) wire.Response {
	w := wire.Response{
		ID: r.id, Status: status, Details: details, Metadata: r.params.Metadata, ConversationID: c.id,
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
	u := c.usage(r)
	w.Usage = &u
	return w
}

// usage is an estimate: see limits.go.
func (c *conn) usage(r *response) wire.Usage {
	u := wire.Usage{InputText: r.input, InputAudio: heardTokens(r.inputSound), OutputText: r.tokens}
	for _, call := range r.calls {
		u.OutputText += textTokens(call.Name) + textTokens(call.Arguments)
	}
	u.OutputAudio = saidTokens(r.samples.Duration(legRate))
	return u
}

// openMessage announces the message of a response, once.
func (c *conn) openMessage(r *response) {
	if r.message != nil {
		return
	}
	it := &item{Item: wire.Item{ID: newID("item"), Type: wire.Message, Status: wire.InProgress, Role: "assistant"}, answered: true}
	r.message, r.index = it, len(r.output)
	c.addOutput(r, it)
	kind, words := wire.OutputText, (*string)(nil)
	if r.audio {
		kind, words = wire.OutputAudio, new(string)
	}
	it.Content = []wire.Content{{Type: kind, Transcript: words}}
	c.send(wire.Part{Name: "added", Place: r.place(), Content: wire.PartContent{Audio: r.audio}})
}

// addOutput announces an item of a response.
func (c *conn) addOutput(r *response, it *item) {
	r.output = append(r.output, it)
	c.send(wire.OutputItem{Name: "added", ResponseID: r.id, OutputIndex: len(r.output) - 1, Item: it.Clone()})
	if r.params.OutOfBand {
		return
	}
	if len(c.items.list) >= maxItems {
		c.items.remove(0)
	}
	before := c.items.add(it)
	c.send(wire.ItemEvent{Name: "added", PreviousItemID: before, Item: it.Clone()})
}

// place is where the message's words and sound belong.
func (r *response) place() wire.Place {
	return wire.Place{ResponseID: r.id, ItemID: r.message.ID, OutputIndex: r.index}
}

// say adds words to a response.
func (c *conn) say(r *response, text string) {
	if text == "" || r.cancelling && r.params.OutOfBand {
		return
	}
	c.openMessage(r)
	r.text.WriteString(text)
	r.message.setWords(r.text.String())
	c.send(wire.WordsDelta{Audio: r.audio, Place: r.place(), Delta: text})
}

// setWords sets the text or the transcript of a message.
func (it *item) setWords(text string) {
	if len(it.Content) == 0 {
		return
	}
	if part := &it.Content[0]; part.Type == wire.OutputText {
		part.Text = text
	} else {
		part.Transcript = &text
	}
}

// speak adds sound to a response.
func (c *conn) speak(r *response, pcm []int16) {
	c.openMessage(r)
	if r.enc == nil {
		enc, err := newEncoder(r.session.Output.Format)
		if err != nil {
			return // cannot happen: the formats are three
		}
		r.enc = enc
	}
	if c.call != nil && r.samples == 0 && !r.params.OutOfBand {
		c.send(wire.OutputBuffer{Name: "started", ResponseID: r.id})
	}
	r.samples += audio.Pos(len(pcm))
	c.spoken = true
	c.sendAudio(r, r.enc.encode(pcm))
}

func (c *conn) sendAudio(r *response, b []byte) {
	if len(b) > 0 && (c.call == nil || r.params.OutOfBand) {
		c.send(wire.AudioDelta{Place: r.place(), Delta: b})
	}
}

// callTools announces the calls of the client's tools.
func (c *conn) callTools(r *response) {
	for _, call := range r.calls {
		if call.Arguments == "" {
			call.Arguments = "{}"
		}
		it := &item{Item: wire.Item{
			ID: newID("item"), Type: wire.FunctionCall, Status: wire.InProgress, CallID: call.ID, Name: call.Name,
		}, answered: true}
		i := len(r.output)
		c.addOutput(r, it)
		c.send(wire.ArgumentsDelta{ResponseID: r.id, ItemID: it.ID, OutputIndex: i, CallID: call.ID, Delta: call.Arguments})
		c.send(wire.ArgumentsDone{
			ResponseID: r.id, ItemID: it.ID, OutputIndex: i, CallID: call.ID, Name: call.Name, Arguments: call.Arguments,
		})
		it.Arguments, it.Status = call.Arguments, wire.Completed
		c.doneItem(r, i)
	}
}

// doneItem announces the end of an item of a response.
func (c *conn) doneItem(r *response, i int) {
	it := r.output[i]
	if at := c.items.index(it.ID); at >= 0 {
		c.send(wire.ItemEvent{Name: "done", PreviousItemID: c.items.before(at), Item: it.Clone()})
	}
	c.send(wire.OutputItem{Name: "done", ResponseID: r.id, OutputIndex: i, Item: it.Clone()})
}

// closeMessage announces the end of the message of a response.
func (c *conn) closeMessage(r *response, status string) {
	if r.message == nil {
		return
	}
	text := r.text.String()
	if r.audio {
		if r.enc != nil && status == wire.Completed {
			c.sendAudio(r, r.enc.rest())
		}
		c.send(wire.AudioDone{Place: r.place()})
	}
	c.send(wire.WordsDone{Audio: r.audio, Place: r.place(), Words: text})
	c.send(wire.Part{Name: "done", Place: r.place(), Content: wire.PartContent{Audio: r.audio, Words: text}})
	r.message.Status = status
	r.message.length = r.samples.Duration(legRate)
	c.doneItem(r, r.index)
}

// finishResponse ends the active response. voice says that the person took the
// floor.
func (c *conn) finishResponse(how conv.TurnEventType, voice bool) {
	r := c.resp
	if r == nil {
		return
	}
	c.resp, c.last = nil, r
	c.measured()
	if how == conv.TurnInterrupted && r.audio && r.samples > 0 {
		c.measure = make(chan struct{})
	}
	if how == conv.TurnFailed && r.failure == nil {
		r.failure = &port.Failure{Code: "server_error", Message: "The server had an error while making the response."}
	}
	interrupted := how == conv.TurnInterrupted || r.cancelling && how != conv.TurnCompleted
	played := c.call != nil && r.samples > 0
	if played && interrupted {
		c.send(wire.OutputBuffer{Name: "cleared", ResponseID: r.id})
	}
	c.endResponse(r, interrupted, voice)
	if played && !interrupted {
		c.send(wire.OutputBuffer{Name: "stopped", ResponseID: r.id})
	}
	if t := c.session.Input.TurnDetection; t != nil && t.IdleTimeoutMS > 0 && !interrupted {
		c.idleAt, c.idleFrom = time.Now().Add(time.Duration(t.IdleTimeoutMS)*time.Millisecond), c.leg.heard()
		signal(c.wakec)
	}
}

// endResponse announces the end of a response.
func (c *conn) endResponse(r *response, interrupted, voice bool) {
	status, details := wire.Completed, (*wire.StatusDetails)(nil)
	switch {
	case r.failure != nil:
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
	c.closeMessage(r, itemStatus)
	done := c.show(r, status, details)
	c.limits.spend(time.Now(), done.Usage.Total())
	c.send(wire.ResponseEvent{Name: "done", Response: done})
	c.send(c.limits.left(time.Now()))
}
