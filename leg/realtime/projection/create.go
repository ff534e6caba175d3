package projection

import (
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// This file: the client asks for responses and calls them off.

// create is a response that was asked for and that has not begun.
type create struct {
	id        string
	params    wire.CreateParams
	posted    bool // the machine has been asked
	cancelled bool // the client does not want it any more
}

// createResponse is response.create.
func (p *Projection) createResponse(e *wire.ClientEvent) *wire.Error {
	params := e.Response
	if p.session.Type == wire.TypeTranscription {
		return wire.Invalid(wire.CodeInvalidValue, "type", "A transcription session makes no responses.")
	}
	for i := range params.Input {
		if it := &params.Input[i]; it.Type == wire.ItemReference {
			known := p.items.find(it.ID)
			if known == nil {
				return wire.Invalid(wire.CodeItemReference, "response.input", "Error creating response: the item with id '%s' does not exist.", it.ID)
			}
			params.Input[i] = known.Clone()
		}
	}
	if params.Voice != "" && p.spoken && params.Voice != p.session.Output.Voice && !params.OutOfBand {
		return wire.Invalid(wire.CodeCannotUpdateVoice, "response.audio.output.voice", "Cannot update a conversation's voice if assistant audio is present.")
	}
	q := &create{id: p.newID("resp"), params: params}
	if params.OutOfBand {
		return p.answerBeside(q)
	}
	active := ""
	switch {
	case p.create != nil:
		active = p.create.id
	case p.greets():
		// Nobody has asked for the greeting: it is the answer to who says nothing, and
		// in nobody's way who does.
		if p.greetingAnswers(q) {
			return nil
		}
	case p.resp != nil && !(p.resp.generated && len(p.resp.calls) > 0):
		// A response that has called tools and is only being heard still is waited
		// for: its results are there, and nobody asks twice.
		active = p.resp.id
	}
	if active != "" {
		return wire.Invalid(wire.CodeActiveResponse, "",
			"Conversation already has an active response in progress: %s. Wait until the response is finished before creating a new one.", active)
	}
	p.create = q
	p.idleAt = time.Time{}
	p.maybeCreate()
	return nil
}

// greets reports whether the active response is a greeting that nobody has asked for.
func (p *Projection) greets() bool { return p.resp != nil && p.resp.first && !p.resp.asked }

// maybeCreate asks the machine for the response that is to begin, when it
// listens, or only greets, and all that the response answers is known. What the client
// says as its first thing goes before the greeting.
func (p *Projection) maybeCreate() {
	q := p.create
	if q == nil || q.posted {
		return
	}
	if p.started && !p.greets() && (p.resp != nil || !p.running || p.phase != conv.ListeningReady) {
		return
	}
	said, known := p.unanswered(q)
	switch {
	case !known: // its words are on their way
	case !p.started && said != "":
		q.posted = true
		p.start(true, conv.UserText{Text: said})
	case !p.started:
		// The greeting is the answer to who says nothing; all others come when the machine
		// listens.
		p.start(q.params.InputSet)
	case said != "":
		q.posted = true
		p.post(conv.UserText{Text: said})
	case !p.greets():
		q.posted = true
		p.post(conv.ReplyRequested{Source: "client"})
	}
}

// unanswered is what the client has said that no response has answered; known is false
// while words of it are being recognized.
func (p *Projection) unanswered(q *create) (said string, known bool) {
	for _, it := range p.items.list {
		if it.waiting {
			return "", false
		}
		if it.answered || it.Type != wire.Message || it.Role != "user" || q.params.InputSet {
			continue
		}
		if it.spoken && !p.o.Flows {
			continue // the machine has the words, and a model reads them in the list
		}
		said = strings.TrimSpace(said + " " + words(&it.Item))
	}
	return said, true
}

// greetingAnswers reports whether the greeting is the response that a client asks for,
// which has said nothing.
func (p *Projection) greetingAnswers(q *create) bool {
	said, known := p.unanswered(q)
	return known && said == "" && !q.posted && !q.params.InputSet
}

// cancelResponse is response.cancel.
func (p *Projection) cancelResponse(e *wire.ClientEvent) *wire.Error {
	q, r := p.create, p.resp
	if q != nil && r == nil && (e.ResponseID == "" || e.ResponseID == q.id) {
		q.cancelled = true
		return nil
	}
	if l := p.last; r == nil && l != nil && l.cut && !l.forgiven && (e.ResponseID == "" || e.ResponseID == l.id) {
		l.forgiven = true // some clients break in by a truncation and then cancel what it has ended
		return nil
	}
	if r == nil || e.ResponseID != "" && e.ResponseID != r.id {
		return wire.Invalid(wire.CodeNotActive, "", "Cancellation failed: no active response found")
	}
	r.cancelling = true
	p.post(conv.UserInterrupt{Source: "client"})
	return nil
}

// observeCancel repeats a cancellation that came while the reply was held for a
// voice, when it goes on.
func (p *Projection) observeCancel(out *conv.Output) {
	if p.resp == nil || !p.resp.cancelling || len(out.Transitions) == 0 {
		return
	}
	switch p.phase {
	case conv.Understanding, conv.Waiting, conv.Generating, conv.Speaking:
		p.post(conv.UserInterrupt{Source: "client"})
	default:
	}
}

// observeCreate asks for the response that waits for its moment.
func (p *Projection) observeCreate(st Stepped) {
	if q := p.create; q != nil && q.posted && p.phase == conv.ListeningReady {
		switch e := st.Event.(type) {
		case conv.ReplyRequested:
			q.posted = e.Source != "client"
		case conv.UserText:
			q.posted = false
		default:
		}
	}
	p.maybeCreate()
}

// idlePassed: the person has said nothing for too long, and the agent speaks
// again.
func (p *Projection) idlePassed() {
	if p.resp != nil || p.create != nil || p.speech != nil || !p.Detects() {
		return
	}
	id := p.newID("item")
	p.send(wire.TimeoutTriggered{AudioStartMS: p.idleFrom, AudioEndMS: p.at.Heard, ItemID: id})
	it := p.addSpoken(id, time.Duration(p.at.Heard-p.idleFrom)*time.Millisecond)
	it.spoken, it.Content[0].Transcript = true, new(string)
	p.uncommitted = 0
	p.create = &create{id: p.newID("resp")}
	p.maybeCreate()
}
