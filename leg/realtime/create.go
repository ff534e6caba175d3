package realtime

import (
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// This file: what the client does with responses: it asks for them, calls them
// off, and says how much of them was heard.

// create is a response that the client has asked for and that has not begun.
type create struct {
	id        string
	params    wire.CreateParams
	posted    bool // the machine has been asked
	cancelled bool // the client does not want it any more
}

// createResponse is response.create.
func (c *conn) createResponse(e *wire.ClientEvent) *wire.Error {
	p := e.Response
	if c.session.Type == wire.TypeTranscription {
		return wire.Invalid(wire.CodeInvalidValue, "type", "A transcription session makes no responses.")
	}
	for i := range p.Input {
		if it := &p.Input[i]; it.Type == wire.ItemReference {
			known := c.items.find(it.ID)
			if known == nil {
				return wire.Invalid(wire.CodeItemReference, "response.input", "Error creating response: the item with id '%s' does not exist.", it.ID)
			}
			p.Input[i] = known.Clone()
		}
	}
	if p.Voice != "" && c.spoken && p.Voice != c.session.Output.Voice && !p.OutOfBand {
		return wire.Invalid(wire.CodeCannotUpdateVoice, "response.audio.output.voice", "Cannot update a conversation's voice if assistant audio is present.")
	}
	q := &create{id: newID("resp"), params: p}
	if p.OutOfBand {
		return c.answerBeside(q)
	}
	active := ""
	switch {
	case c.create != nil:
		active = c.create.id
	case c.resp != nil && c.resp.first && !c.resp.ask:
		// Nobody has asked for the greeting: it is the answer to who says nothing, and
		// in nobody's way who does.
		if c.greetingAnswers(q) {
			return nil
		}
	case c.resp != nil && !(c.resp.generated && len(c.resp.calls) > 0):
		// A response that has called tools and is only being heard still is waited
		// for: its results are there, and nobody asks twice.
		active = c.resp.id
	}
	if active != "" {
		return wire.Invalid(wire.CodeActiveResponse, "",
			"Conversation already has an active response in progress: %s. Wait until the response is finished before creating a new one.", active)
	}
	c.create = q
	c.idleAt = time.Time{}
	c.maybeCreate()
	return nil
}

// maybeCreate asks the machine for the response that is to begin, when it
// listens, or only greets, and all that the response answers is known. What the client
// says as its first thing goes before the greeting.
func (c *conn) maybeCreate() {
	q := c.create
	if q == nil || q.posted {
		return
	}
	greets := c.resp != nil && c.resp.first && !c.resp.ask
	if c.started && !greets && (c.resp != nil || !c.running || c.phase != conv.ListeningReady) {
		return
	}
	said, known := c.unanswered(q)
	switch {
	case !known: // its words are on their way
	case !c.started && said != "":
		q.posted = true
		c.start(conv.UserText{Text: said})
	case !c.started:
		c.start() // the greeting is the answer, or there is none and it comes when the machine listens
	case said != "":
		q.posted = true
		c.post(conv.UserText{Text: said})
	case !greets:
		q.posted = true
		c.post(conv.ReplyRequested{Source: "client"})
	}
}

// unanswered is what the client has said that no response has answered; known is false
// while words of it are being made out.
func (c *conn) unanswered(q *create) (said string, known bool) {
	for _, it := range c.items.list {
		if it.waiting {
			return "", false
		}
		if it.answered || it.Type != wire.Message || it.Role != "user" || q.params.InputSet {
			continue
		}
		if it.spoken && c.parts.Conv.Agent == nil {
			continue // the machine has the words, and a model reads them in the list
		}
		said = strings.TrimSpace(said + " " + words(&it.Item))
	}
	return said, true
}

// greetingAnswers reports whether the greeting is the response that a client asks for,
// which has said nothing.
func (c *conn) greetingAnswers(q *create) bool {
	said, known := c.unanswered(q)
	return known && said == "" && !q.posted && !q.params.InputSet
}

// cancelResponse is response.cancel.
func (c *conn) cancelResponse(e *wire.ClientEvent) *wire.Error {
	q, r := c.create, c.resp
	if q != nil && r == nil {
		if e.ResponseID == "" || e.ResponseID == q.id {
			q.cancelled = true
			return nil
		}
	}
	if r == nil || e.ResponseID != "" && e.ResponseID != r.id {
		return wire.Invalid(wire.CodeNotActive, "", "Cancellation failed: no active response found")
	}
	r.cancelling = true
	c.post(conv.UserInterrupt{Source: "client"})
	return nil
}

// truncate is conversation.item.truncate: what lies behind the given moment was
// not heard.
func (c *conn) truncate(e *wire.ClientEvent) *wire.Error {
	it := c.items.find(e.ItemID)
	if it == nil {
		return noItem(wire.CodeItemTruncate, "truncating", e.ItemID)
	}
	if it.Role != "assistant" || len(it.Content) == 0 || it.Content[0].Type != wire.OutputAudio {
		return wire.Invalid(wire.CodeInvalidValue, "item_id", "Only the audio of the assistant's messages can be truncated.")
	}
	if e.ContentIndex != 0 {
		return wire.Invalid(wire.CodeInvalidValue, "content_index", "Invalid 'content_index': the item has one content part, but got %d.", e.ContentIndex)
	}
	length := it.length
	if r := c.resp; r != nil && r.message == it {
		length = r.samples.Duration(legRate)
	}
	// Clients count in whole milliseconds, and round.
	if ms := int(length.Milliseconds()); e.AudioEndMS > ms+1 {
		return wire.Invalid(wire.CodeInvalidValue, "audio_end_ms", "Audio content of %dms is already shorter than %dms", ms, e.AudioEndMS)
	}
	end := time.Duration(e.AudioEndMS) * time.Millisecond
	if end < length.Truncate(time.Millisecond) {
		text := it.heardAt(e.AudioEndMS)
		it.setWords(text)
		if r := c.resp; r != nil && r.message == it {
			it.Status = wire.Incomplete
		} else {
			it.length = end
		}
		if r := c.last; r != nil && r.message == it {
			c.post(conv.PlayoutFlushed{Turn: r.turn, Heard: end, Text: text})
		}
	}
	c.send(wire.ItemTruncated{ItemID: it.ID, ContentIndex: 0, AudioEndMS: e.AudioEndMS})
	return nil
}

// heardAt is what of an answer had been heard after so many milliseconds, as far
// as is known.
func (it *item) heardAt(ms int) string {
	text := ""
	for _, m := range it.marks {
		if m.ms <= ms {
			text = m.text
		}
	}
	return text
}
