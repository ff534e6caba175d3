package projection

import (
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// This file handles the client's requests to create and cancel responses.

// create is a requested response that has not begun.
type create struct {
	id        string
	params    wire.CreateParams
	posted    bool // the machine was asked for it
	cancelled bool // the client has cancelled it
}

// createResponse handles response.create.
func (p *Projection) createResponse(e *wire.ClientEvent) *wire.Error {
	params := e.Response
	if p.session.Type == wire.TypeTranscription {
		return wire.Invalid(wire.CodeInvalidValue, "type", "A transcription session makes no responses.")
	}
	if bad := p.resolve(params.Input); bad != nil {
		return bad
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
		// The agent greets without being asked. The greeting answers a client that has
		// said nothing, and does not prevent the response to a client that has.
		if p.greetingAnswers(q) {
			return nil
		}
	case p.resp != nil && !(p.resp.generated && len(p.resp.calls) > 0):
		// A response that has called the client's tools and is still being heard does
		// not prevent the next one, which waits for it: the client already has the
		// calls and may send their results.
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

// resolve replaces references in the input of a response with the items that they name.
func (p *Projection) resolve(input []wire.Item) *wire.Error {
	for i := range input {
		if it := &input[i]; it.Type == wire.ItemReference {
			known := p.items.find(it.ID)
			if known == nil {
				return wire.Invalid(wire.CodeItemReference, "response.input", "Error creating response: the item with id '%s' does not exist.", it.ID)
			}
			input[i] = known.Clone()
		}
	}
	return nil
}

// greets reports whether the active response is a greeting that the client did not ask
// for.
func (p *Projection) greets() bool { return p.resp != nil && p.resp.first && !p.resp.asked }

// maybeCreate asks the machine for the requested response if the machine is ready for
// it and all words to be answered are known. The first words of a client take
// precedence over the greeting.
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
	case !known: // words are still being recognized
	case !p.started && said != "":
		q.posted = true
		p.start(true, conv.UserText{Text: said})
	case !p.started:
		// The greeting answers a client that has said nothing. Any other response is
		// requested when the machine listens.
		p.start(q.params.InputSet)
	case said != "":
		q.posted = true
		p.post(conv.UserText{Text: said})
	case !p.greets():
		q.posted = true
		p.post(conv.ReplyRequested{Source: "client"})
	}
}

// unanswered returns the client's messages that no response has answered. known is
// false while words of the client are being recognized.
func (p *Projection) unanswered(q *create) (said string, known bool) {
	for _, it := range p.items.list {
		if it.waiting {
			return "", false
		}
		if it.answered || it.Type != wire.Message || it.Role != "user" || q.params.InputSet {
			continue
		}
		if it.spoken && !p.o.Flows {
			continue // the machine has these words, and a model reads them in the items
		}
		said = strings.TrimSpace(said + " " + words(&it.Item))
	}
	return said, true
}

// greetingAnswers reports whether the greeting can serve as the requested response,
// because the client has said nothing.
func (p *Projection) greetingAnswers(q *create) bool {
	said, known := p.unanswered(q)
	return known && said == "" && !q.posted && !q.params.InputSet
}

// cancelResponse handles response.cancel.
func (p *Projection) cancelResponse(e *wire.ClientEvent) *wire.Error {
	q, r := p.create, p.resp
	if q != nil && r == nil && (e.ResponseID == "" || e.ResponseID == q.id) {
		q.cancelled = true
		return nil
	}
	if l := p.last; r == nil && l != nil && l.cut && !l.forgiven && (e.ResponseID == "" || e.ResponseID == l.id) {
		l.forgiven = true // some clients truncate an answer and then cancel the response, which has already ended
		return nil
	}
	if r == nil || e.ResponseID != "" && e.ResponseID != r.id {
		return wire.Invalid(wire.CodeNotActive, "", "Cancellation failed: no active response found")
	}
	r.cancelling = true
	p.post(conv.UserInterrupt{Source: "client"})
	return nil
}

// observeCancel repeats a cancellation that arrived while the reply was held back by a
// voice, when the reply continues.
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

// observeCreate asks again for a response that the machine has not begun.
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

// idlePassed makes the agent speak again after the person has been silent for the
// configured time.
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
