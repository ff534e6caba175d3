package projection

import (
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// This file handles the client's requests, except for those about responses.

// requested handles one event from the client.
func (p *Projection) requested(e wire.ClientEvent) {
	if err := p.handle(&e); err != nil {
		err.EventID = e.EventID
		p.refuse(err)
	}
}

func (p *Projection) handle(e *wire.ClientEvent) *wire.Error {
	switch e.Type {
	case wire.AudioAppend:
		return wire.Invalid(wire.CodeInvalidValue, "type", "The sound of a call is in its media.")
	case wire.SessionUpdate, wire.TranscriptionSessionUpdate:
		return p.updateSession(e)
	case wire.ItemCreate:
		return p.createItem(e)
	case wire.ItemDelete:
		i := p.items.index(e.ItemID)
		if i < 0 {
			return noItem(wire.CodeItemDelete, "deleting", e.ItemID)
		}
		p.items.remove(i)
		p.send(wire.ItemDeleted{ItemID: e.ItemID})
	case wire.ItemRetrieve:
		it := p.items.find(e.ItemID)
		if it == nil {
			return noItem(wire.CodeItemRetrieve, "retrieving", e.ItemID)
		}
		p.send(wire.ItemRetrieved{Item: it.Clone()})
	case wire.ItemTruncate:
		return p.truncate(e)
	case wire.AudioClear:
		p.do(DropSound{})
		p.forgetAudio()
		p.send(wire.AudioCleared{})
	case wire.AudioCommit:
		return p.commitAudio()
	case wire.OutputClear:
		return p.clearOutput()
	case wire.ResponseCreate:
		return p.createResponse(e)
	case wire.ResponseCancel:
		return p.cancelResponse(e)
	}
	return nil
}

func noItem(code, doing, id string) *wire.Error {
	return wire.Invalid(code, "item_id", "Error %s item: the item with id '%s' does not exist.", doing, id)
}

// updateSession handles session.update.
func (p *Projection) updateSession(e *wire.ClientEvent) *wire.Error {
	next, refused, err := p.session.Update(e.Session, wire.UpdateOptions{Spoken: p.spoken, Opening: !p.started})
	if err != nil {
		return err
	}
	if err := p.takeModel(&next); err != nil {
		refused = append(refused, err)
	} else if len(refused) > 0 && next.Equal(p.session) {
		return p.refuseEach(e, refused) // all changes were refused
	}
	before, now := p.session.Input.TurnDetection, next.Input.TurnDetection
	p.session = next
	switched := (before == nil) != (now == nil)
	if switched {
		p.forgetAudio() // the sound so far belongs to the old configuration
	}
	if switched || now != nil && *before != *now {
		p.configure()
	}
	p.send(wire.SessionEvent{Name: "updated", Session: p.session})
	return p.refuseEach(e, refused)
}

// refuseEach sends an error for each refused member of an event.
func (p *Projection) refuseEach(e *wire.ClientEvent, refused []*wire.Error) *wire.Error {
	for _, err := range refused {
		err.EventID = e.EventID
		p.refuse(err)
	}
	return nil
}

// takeModel accepts the first model that a client names, if the name stands for the
// agent of this conversation. Otherwise it keeps the model and returns an error; the
// other members of the update still apply.
func (p *Projection) takeModel(next *wire.Session) *wire.Error {
	now, named := p.session.Model, next.Model
	switch {
	case named == now:
		return nil
	case !p.named && (p.o.Means == nil || p.o.Means(named)):
		p.named = true
		return nil
	}
	next.Model = now
	return wire.Invalid(wire.CodeInvalidValue, "session.model",
		"Cannot change the model of a session: it is '%s'. The other members of the update were taken.", now)
}

// createItem handles conversation.item.create.
func (p *Projection) createItem(e *wire.ClientEvent) *wire.Error {
	at := len(p.items.list)
	if e.PreviousItemID != nil && *e.PreviousItemID != "" {
		if *e.PreviousItemID == "root" {
			at = 0
		} else if at = p.items.index(*e.PreviousItemID) + 1; at == 0 {
			return wire.Invalid(wire.CodeItemPrevious, "previous_item_id",
				"Error creating item: the previous item with id '%s' does not exist.", *e.PreviousItemID)
		}
	}
	it := &item{Item: e.Item.Clone()}
	if it.ID == "" {
		it.ID = p.newID("item")
	} else if p.items.find(it.ID) != nil {
		return wire.Invalid(wire.CodeInvalidValue, "item.id", "Error adding item: an item with id '%s' already exists.", it.ID)
	}
	if !p.items.room(&it.Item) {
		return wire.Invalid(wire.CodeTooLarge, "item", "The conversation is full: it holds at most %d items and %d bytes of text.", maxItems, maxItemBytes)
	}
	if err := p.readInline(it); err != nil {
		return err
	}
	before := p.items.insert(at, it)
	p.send(wire.ItemEvent{Name: "added", PreviousItemID: before, Item: it.Clone()})
	p.send(wire.ItemEvent{Name: "done", PreviousItemID: before, Item: it.Clone()})
	return nil
}

// readInline requests the recognition of the sound in an item's content.
func (p *Projection) readInline(it *item) *wire.Error {
	var sound []byte
	for i := range it.Content {
		part := &it.Content[i]
		if part.Audio == "" {
			continue
		}
		b, err := wire.DecodeAudio("item.content.audio", part.Audio)
		if err != nil {
			return err
		}
		part.Audio = ""
		it.length += duration(p.session.Input.Format, len(b))
		if part.Transcript == nil {
			sound = append(sound, b...)
			it.waiting = true
		}
	}
	if it.waiting {
		p.do(RecognizeSound{Item: it.ID, Format: p.session.Input.Format, Sound: sound})
	}
	return nil
}

// duration returns the length of the sound in the given number of bytes.
func duration(f wire.Format, bytes int) time.Duration {
	if f.Type == wire.PCM {
		bytes /= 2
	}
	return audio.Pos(bytes).Duration(f.SampleRate())
}

// leastCommit is the minimum length of sound in a commit.
const leastCommit = 100 * time.Millisecond

// commitAudio handles input_audio_buffer.commit.
func (p *Projection) commitAudio() *wire.Error {
	length := audio.Pos(p.uncommitted).Duration(Rate)
	if length < leastCommit {
		return wire.Invalid(wire.CodeCommitEmpty, "",
			"Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, but buffer only has %.2fms of audio.",
			float64(length)/float64(time.Millisecond))
	}
	if p.Detects() {
		p.do(ReachCommit{}) // commits when the sound before it has been heard
		return nil
	}
	it := p.addSpoken(p.newID("item"), length)
	it.waiting = true
	p.uncommitted = 0
	p.do(RecognizeBuffer{Item: it.ID})
	return nil
}

// commitReached ends the person's turn at the client's request.
func (p *Projection) commitReached() {
	if p.speech != nil {
		p.commitSpeech()
		p.post(conv.TurnEnded{Cause: "manual"})
		return
	}
	length := audio.Pos(p.uncommitted).Duration(Rate)
	p.uncommitted = 0
	it := p.addSpoken(p.newID("item"), length)
	it.spoken = true
	p.wordsKnown(it.ID, "", "") // nobody spoke in it
}

// addSpoken adds the person's sound to the conversation as an item.
func (p *Projection) addSpoken(id string, length time.Duration) *item {
	it := &item{
		Item: wire.Item{
			ID: id, Type: wire.Message, Status: wire.Completed, Role: "user",
			Content: []wire.Content{{Type: wire.InputAudio}},
		},
		length: length,
	}
	before := p.items.add(it)
	p.send(wire.AudioCommitted{PreviousItemID: before, ItemID: id})
	p.send(wire.ItemEvent{Name: "added", PreviousItemID: before, Item: it.Clone()})
	p.send(wire.ItemEvent{Name: "done", PreviousItemID: before, Item: it.Clone()})
	return it
}

// forgetAudio discards the sound since the last commit.
func (p *Projection) forgetAudio() {
	p.uncommitted = 0
	p.do(DropBuffer{})
	p.endSpeech()
	if !p.running {
		return
	}
	p.do(DiscardInput{})
	if p.phase == conv.ListeningCapturing {
		p.post(conv.UserCancel{})
	}
}

// clearOutput handles output_audio_buffer.clear, which is only valid if the server
// plays the sound.
func (p *Projection) clearOutput() *wire.Error {
	if !p.o.Plays {
		return wire.Invalid(wire.CodeInvalidValue, "type", "Output audio buffer can only be cleared over WebRTC.")
	}
	if r := p.resp; r != nil {
		r.cancelling = true
		p.post(conv.UserInterrupt{Source: "client"})
	}
	return nil
}

// truncate handles conversation.item.truncate: the sound after the given position was
// not heard.
func (p *Projection) truncate(e *wire.ClientEvent) *wire.Error {
	it := p.items.find(e.ItemID)
	if it == nil {
		return noItem(wire.CodeItemTruncate, "truncating", e.ItemID)
	}
	if it.Role != "assistant" || len(it.Content) == 0 || it.Content[0].Type != wire.OutputAudio {
		return wire.Invalid(wire.CodeInvalidValue, "item_id", "Only the audio of the assistant's messages can be truncated.")
	}
	if e.ContentIndex != 0 {
		return wire.Invalid(wire.CodeInvalidValue, "content_index", "Invalid 'content_index': the item has one content part, but got %d.", e.ContentIndex)
	}
	length, spoken := it.length, p.resp != nil && p.resp.message == it
	if spoken {
		length = p.resp.samples.Duration(Rate)
	}
	// Clients round to whole milliseconds.
	if ms := int(length.Milliseconds()); e.AudioEndMS > ms+1 {
		return wire.Invalid(wire.CodeInvalidValue, "audio_end_ms", "Audio content of %dms is already shorter than %dms", ms, e.AudioEndMS)
	}
	switch end := time.Duration(e.AudioEndMS) * time.Millisecond; {
	case spoken:
		p.stopSpeaking(p.resp, end)
	case end < length.Truncate(time.Millisecond):
		p.cutOff(it, end)
	}
	p.send(wire.ItemTruncated{ItemID: it.ID, ContentIndex: 0, AudioEndMS: e.AudioEndMS})
	return nil
}

// cutOff removes the words that were not heard from a completed answer.
func (p *Projection) cutOff(it *item, end time.Duration) {
	text := it.heardAt(int(end.Milliseconds()))
	it.setWords(text)
	it.length = end
	if r := p.last; r != nil && r.message == it {
		p.post(conv.PlayoutFlushed{Turn: r.turn, Heard: end, Text: text})
	}
}

// stopSpeaking interrupts an answer while it is being spoken. Some clients interrupt
// only by truncation.
func (p *Projection) stopSpeaking(r *response, end time.Duration) {
	r.message.setWords(r.message.heardAt(int(end.Milliseconds())))
	r.message.Status = wire.Incomplete
	r.cut, r.end = true, end
	if !r.cancelling {
		r.cancelling = true
		p.post(conv.UserInterrupt{Source: "client"})
	}
}
