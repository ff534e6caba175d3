package realtime

import (
	"context"
	"reflect"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// This file: what the client asks for.

// take handles one event of the client's. It is called by the reader, which waits
// where there is no room for more sound.
func (c *conn) take(ctx context.Context, l *link, b []byte) {
	if l.beta {
		b = wire.FromBeta(b)
	}
	e, bad := wire.Parse(b)
	if bad != nil {
		c.locked(func() { c.refuse(bad) })
		return
	}
	if e.Type == wire.AudioAppend && c.call == nil {
		c.append(ctx, l, e.Audio)
		return
	}
	c.locked(func() {
		c.known = true
		if err := c.handle(ctx, &e); err != nil {
			err.EventID = e.EventID
			c.refuse(err)
		}
	})
}

func (c *conn) handle(ctx context.Context, e *wire.ClientEvent) *wire.Error {
	switch e.Type {
	case wire.AudioAppend:
		return wire.Invalid(wire.CodeInvalidValue, "type", "The sound of a call is in its media.")
	case wire.SessionUpdate, wire.TranscriptionSessionUpdate:
		return c.updateSession(e)
	case wire.ItemCreate:
		return c.createItem(ctx, e)
	case wire.ItemDelete:
		i := c.items.index(e.ItemID)
		if i < 0 {
			return noItem(wire.CodeItemDelete, "deleting", e.ItemID)
		}
		c.items.remove(i)
		c.send(wire.ItemDeleted{ItemID: e.ItemID})
	case wire.ItemRetrieve:
		it := c.items.find(e.ItemID)
		if it == nil {
			return noItem(wire.CodeItemRetrieve, "retrieving", e.ItemID)
		}
		c.send(wire.ItemRetrieved{Item: it.Item})
	case wire.ItemTruncate:
		return c.truncate(e)
	case wire.AudioClear:
		c.clearAudio()
		c.send(wire.AudioCleared{})
	case wire.AudioCommit:
		return c.commitAudio(ctx)
	case wire.OutputClear:
		return c.clearOutput()
	case wire.ResponseCreate:
		return c.createResponse(e)
	case wire.ResponseCancel:
		return c.cancelResponse(e)
	}
	return nil
}

func noItem(code, doing, id string) *wire.Error {
	return wire.Invalid(code, "item_id", "Error %s item: the item with id '%s' does not exist.", doing, id)
}

// updateSession merges a session.update.
func (c *conn) updateSession(e *wire.ClientEvent) *wire.Error {
	next, err := c.session.Update(e.Session, wire.UpdateOptions{Spoken: c.spoken})
	if err != nil {
		return err
	}
	before := c.session
	c.session = next
	if (before.Input.TurnDetection == nil) != (next.Input.TurnDetection == nil) {
		c.forgetAudio() // what was heard so far is nobody's
	}
	if !reflect.DeepEqual(before.Input.TurnDetection, next.Input.TurnDetection) {
		c.configure()
	}
	c.send(wire.SessionEvent{Name: "updated", Session: c.session})
	return nil
}

// createItem puts an item into the conversation.
func (c *conn) createItem(ctx context.Context, e *wire.ClientEvent) *wire.Error {
	at := len(c.items.list)
	if e.PreviousItemID != nil && *e.PreviousItemID != "" {
		if *e.PreviousItemID == "root" {
			at = 0
		} else if at = c.items.index(*e.PreviousItemID) + 1; at == 0 {
			return wire.Invalid(wire.CodeItemPrevious, "previous_item_id",
				"Error creating item: the previous item with id '%s' does not exist.", *e.PreviousItemID)
		}
	}
	it := &item{Item: e.Item}
	if it.ID == "" {
		it.ID = newID("item")
	} else if c.items.find(it.ID) != nil {
		return wire.Invalid(wire.CodeInvalidValue, "item.id", "Error adding item: an item with id '%s' already exists.", it.ID)
	}
	if !c.items.room(&it.Item) {
		return wire.Invalid(wire.CodeTooLarge, "item", "The conversation is full: it holds at most %d items and %d bytes of text.", maxItems, maxItemBytes)
	}
	if err := c.readInline(ctx, it); err != nil {
		return err
	}
	before := c.items.insert(at, it)
	c.send(wire.ItemEvent{Name: "added", PreviousItemID: before, Item: it.Item})
	c.send(wire.ItemEvent{Name: "done", PreviousItemID: before, Item: it.Item})
	return nil
}

// readInline has the sound inside an item made out.
func (c *conn) readInline(ctx context.Context, it *item) *wire.Error {
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
		var d decoder
		pcm, bad := d.decode(c.session.Input.Format, b)
		if bad != nil {
			return wire.Invalid(wire.CodeInvalidValue, "item.content.audio", "The audio cannot be read.")
		}
		it.length += audio.Pos(len(pcm)).Duration(legRate)
		if part.Transcript == nil {
			it.waiting = true
			c.later = append(c.later, func() { c.hear(ctx, earJob{pcm: pcm, item: it, alone: true}) })
		}
	}
	return nil
}

// append takes sound. It waits while there is no room for it.
func (c *conn) append(ctx context.Context, l *link, b []byte) {
	c.mu.Lock()
	format, manual := c.session.Input.Format, c.session.Input.TurnDetection == nil
	c.mu.Unlock()
	pcm, err := l.decoder.decode(format, b)
	if err != nil {
		c.locked(func() { c.refuse(wire.Invalid(wire.CodeInvalidValue, "audio", "The audio cannot be read.")) })
		return
	}
	begins := false
	c.locked(func() {
		c.uncommitted, c.known = c.uncommitted+len(pcm), true
		if !manual {
			begins = !c.started
			c.start()
		}
	})
	if begins {
		select { // what is heard is judged by what the client has configured
		case <-c.ready:
		case <-c.ended:
		case <-ctx.Done():
		}
	}
	if manual {
		c.hear(ctx, earJob{pcm: pcm})
		_ = c.leg.push(ctx, chunk{skip: len(pcm)}) // it ends with ctx, as the reader does
		return
	}
	_ = c.leg.push(ctx, chunk{pcm: pcm})
}

// leastCommit is the least sound that makes an item.
const leastCommit = 100 * time.Millisecond

// commitAudio makes an item of the sound since the last commit.
func (c *conn) commitAudio(ctx context.Context) *wire.Error {
	length := audio.Pos(c.uncommitted).Duration(legRate)
	if length < leastCommit {
		return wire.Invalid(wire.CodeCommitEmpty, "",
			"Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, but buffer only has %.2fms of audio.",
			float64(length)/float64(time.Millisecond))
	}
	if c.session.Input.TurnDetection != nil {
		// It takes effect when the sound before it has been heard.
		c.later = append(c.later, func() { _ = c.leg.push(ctx, chunk{then: func() { c.locked(c.commitNow) }}) })
		return nil
	}
	it := c.addSpoken(newID("item"), length)
	it.waiting = true
	c.uncommitted = 0
	c.later = append(c.later, func() { c.hear(ctx, earJob{item: it}) })
	return nil
}

// commitNow ends the person's turn because the client says so.
func (c *conn) commitNow() {
	if c.speech != nil {
		c.post(conv.TurnEnded{Cause: "manual"})
		return
	}
	length := audio.Pos(c.uncommitted).Duration(legRate)
	c.uncommitted = 0
	it := c.addSpoken(newID("item"), length)
	it.spoken = true
	c.wordsKnown(it, "", nil) // nobody spoke in it
}

// addSpoken puts the person's sound into the conversation as an item.
func (c *conn) addSpoken(id string, length time.Duration) *item {
	it := &item{
		Item: wire.Item{
			ID: id, Type: wire.Message, Status: wire.Completed, Role: "user",
			Content: []wire.Content{{Type: wire.InputAudio}},
		},
		length: length,
	}
	if len(c.items.list) >= maxItems {
		c.items.remove(0) // what is said must not be lost; what is oldest is
	}
	before := c.items.add(it)
	c.send(wire.AudioCommitted{PreviousItemID: before, ItemID: id})
	c.send(wire.ItemEvent{Name: "added", PreviousItemID: before, Item: it.Clone()})
	c.send(wire.ItemEvent{Name: "done", PreviousItemID: before, Item: it.Clone()})
	return it
}

// clearAudio drops the sound since the last commit.
func (c *conn) clearAudio() {
	c.forgetAudio()
	c.leg.drop()
}

func (c *conn) forgetAudio() {
	c.uncommitted = 0
	c.later = append(c.later, c.ear.clear)
	c.speech = nil
	if !c.running {
		return
	}
	c.later = append(c.later, c.s.DiscardInput)
	if c.phase == conv.ListeningCapturing {
		c.post(conv.UserCancel{})
	}
}

// clearOutput silences the agent, on connections on which the server plays.
func (c *conn) clearOutput() *wire.Error {
	if c.call != nil {
		if r := c.resp; r != nil {
			r.cancelling = true
			c.post(conv.UserInterrupt{Source: "client"})
		}
		return nil
	}
	return wire.Invalid(wire.CodeInvalidValue, "type", "Output audio buffer can only be cleared over WebRTC.")
}
