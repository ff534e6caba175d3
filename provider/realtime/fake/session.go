package fake

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// session is one connection.
type session struct {
	server *Server
	ws     *websocket.Conn
	number int
	beta   bool

	writing sync.Mutex // guards the writes, so that events of answers do not mix within an event

	mu     sync.Mutex // guards the fields below
	events int
	ids    int
	state  wire.Session
	items  []wire.Item
	calls  map[string]bool // made and not answered
	sounds map[string]int  // the sound of the agent's items, in ms
	voiced bool            // the agent has been heard
	buffer int             // bytes of the user's turn so far
	vad    vad
	active *response
	asides []*response
	work   sync.WaitGroup
}

// run serves the connection until it ends.
func (se *session) run(ctx context.Context, cancel func(), limit time.Duration) {
	defer se.work.Wait()
	defer cancel()
	defer func() { _ = se.ws.CloseNow() }()
	se.tell(ctx, wire.SessionEvent{Name: "created", Session: se.session()})
	expiry := time.AfterFunc(limit, func() {
		se.end(ctx, &wire.Error{
			Type: wire.InvalidRequest, Code: wire.CodeSessionExpired,
			Message: fmt.Sprintf("Your session hit the maximum duration of %d minutes.", int(limit.Minutes())),
		}, websocket.StatusGoingAway)
	})
	defer expiry.Stop()
	for {
		kind, b, err := se.ws.Read(ctx)
		if err != nil {
			return
		}
		if kind != websocket.MessageText {
			return
		}
		if se.beta {
			b = wire.FromBeta(b)
		}
		e, bad := wire.Parse(b)
		if bad == nil {
			bad = se.take(ctx, e)
		}
		if bad != nil {
			se.refuse(ctx, bad, e.EventID)
		}
	}
}

func (se *session) session() wire.Session {
	se.mu.Lock()
	defer se.mu.Unlock()
	return se.state
}

// conversation returns the items.
func (se *session) conversation() []wire.Item {
	se.mu.Lock()
	defer se.mu.Unlock()
	return slices.Clone(se.items)
}

// id returns a new id.
func (se *session) id(of string) string {
	se.mu.Lock()
	defer se.mu.Unlock()
	se.ids++
	return fmt.Sprintf("%s_%d_%d", of, se.number, se.ids)
}

// tell sends an event.
func (se *session) tell(ctx context.Context, e wire.Event) {
	se.writing.Lock()
	defer se.writing.Unlock()
	se.mu.Lock()
	se.events++
	id := fmt.Sprintf("event_%d_%d", se.number, se.events)
	se.mu.Unlock()
	marshal := wire.Marshal
	if se.beta {
		marshal = wire.MarshalBeta
	}
	b, err := marshal(id, e)
	if err != nil {
		panic("fake: " + err.Error()) // cannot happen: the events are valid
	}
	if b != nil {
		_ = se.ws.Write(ctx, websocket.MessageText, b) // the client may have gone
	}
}

// refuse reports an error about an event of the client.
func (se *session) refuse(ctx context.Context, e *wire.Error, event string) {
	if e.EventID == "" {
		e.EventID = event
	}
	se.server.note(e)
	se.tell(ctx, wire.ErrorEvent{Error: *e})
}

// end reports an error and ends the session.
func (se *session) end(ctx context.Context, e *wire.Error, code websocket.StatusCode) {
	se.tell(ctx, wire.ErrorEvent{Error: *e})
	_ = se.ws.Close(code, wire.InvalidRequest+"."+e.Code) // the client may have gone
}

// take handles an event of the client.
func (se *session) take(ctx context.Context, e wire.ClientEvent) *wire.Error {
	switch e.Type {
	case wire.SessionUpdate, wire.TranscriptionSessionUpdate:
		return se.update(ctx, e)
	case wire.AudioAppend:
		return se.hear(ctx, e.Audio)
	case wire.AudioCommit:
		return se.commit(ctx, "")
	case wire.AudioClear:
		se.mu.Lock()
		se.buffer, se.vad.item = 0, ""
		se.mu.Unlock()
		se.tell(ctx, wire.AudioCleared{})
	case wire.ItemCreate:
		return se.create(ctx, e)
	case wire.ItemDelete:
		return se.remove(ctx, e.ItemID)
	case wire.ItemRetrieve:
		it, ok := se.find(e.ItemID)
		if !ok {
			return wire.Invalid(wire.CodeItemRetrieve, "", "Error retrieving item: the item with id '%s' does not exist.", e.ItemID)
		}
		se.tell(ctx, wire.ItemRetrieved{Item: it})
	case wire.ItemTruncate:
		return se.truncate(ctx, e)
	case wire.ResponseCreate:
		return se.respond(ctx, e.Response)
	case wire.ResponseCancel:
		return se.cancel(e.ResponseID)
	case wire.OutputClear:
		return wire.Invalid(wire.CodeUnsupported, "", "output_audio_buffer.clear is for WebRTC alone.")
	}
	return nil
}

func (se *session) update(ctx context.Context, e wire.ClientEvent) *wire.Error {
	before := se.session()
	after, refused, bad := before.Update(e.Session, wire.UpdateOptions{})
	if bad == nil && len(refused) > 0 {
		bad = refused[0]
	}
	if bad != nil {
		return bad
	}
	se.mu.Lock()
	if se.voiced && after.Output.Voice != before.Output.Voice {
		se.mu.Unlock()
		return wire.Invalid(wire.CodeCannotUpdateVoice, "session.audio.output.voice", "Cannot update a conversation's voice if assistant audio is present.")
	}
	se.state = after
	se.mu.Unlock()
	se.tell(ctx, wire.SessionEvent{Name: "updated", Session: after})
	return nil
}

func (se *session) find(id string) (wire.Item, bool) {
	se.mu.Lock()
	defer se.mu.Unlock()
	i := slices.IndexFunc(se.items, func(it wire.Item) bool { return it.ID == id })
	if i < 0 {
		return wire.Item{}, false
	}
	return se.items[i], true
}

// add appends an item and announces it.
func (se *session) add(ctx context.Context, it wire.Item, done bool) {
	se.mu.Lock()
	var previous *string
	if n := len(se.items); n > 0 {
		id := se.items[n-1].ID
		previous = &id
	}
	se.items = append(se.items, it)
	se.mu.Unlock()
	se.tell(ctx, wire.ItemEvent{Name: "added", PreviousItemID: previous, Item: it})
	if done {
		se.tell(ctx, wire.ItemEvent{Name: "done", PreviousItemID: previous, Item: it})
	}
}

// set replaces an item.
func (se *session) set(it wire.Item) {
	se.mu.Lock()
	defer se.mu.Unlock()
	if i := slices.IndexFunc(se.items, func(o wire.Item) bool { return o.ID == it.ID }); i >= 0 {
		se.items[i] = it
	}
}

func (se *session) create(ctx context.Context, e wire.ClientEvent) *wire.Error {
	it := e.Item
	if it.ID == "" {
		it.ID = se.id("item")
	}
	if _, there := se.find(it.ID); there {
		return wire.Invalid(wire.CodeInvalidValue, "item.id", "Error adding item: an item with id '%s' already exists.", it.ID)
	}
	if p := e.PreviousItemID; p != nil && *p != "" && *p != "root" {
		if _, there := se.find(*p); !there {
			return wire.Invalid(wire.CodeItemPrevious, "previous_item_id", "Error adding item: the previous item with id '%s' does not exist.", *p)
		}
	}
	se.mu.Lock()
	switch it.Type {
	case wire.FunctionCall:
		se.calls[it.CallID] = true
	case wire.FunctionCallOutput:
		if !se.calls[it.CallID] {
			se.mu.Unlock()
			return wire.Invalid("invalid_tool_call_id", "item.call_id", "Tool call ID '%s' not found in conversation.", it.CallID)
		}
		delete(se.calls, it.CallID)
	}
	se.mu.Unlock()
	se.add(ctx, it, true)
	return nil
}

func (se *session) remove(ctx context.Context, id string) *wire.Error {
	if _, there := se.find(id); !there {
		return wire.Invalid(wire.CodeItemDelete, "", "Error deleting item: the item with id '%s' does not exist.", id)
	}
	se.mu.Lock()
	se.items = slices.DeleteFunc(se.items, func(it wire.Item) bool { return it.ID == id })
	se.mu.Unlock()
	se.tell(ctx, wire.ItemDeleted{ItemID: id})
	return nil
}

// truncate forgets the sound and the words of an item that were not heard.
func (se *session) truncate(ctx context.Context, e wire.ClientEvent) *wire.Error {
	it, ok := se.find(e.ItemID)
	switch {
	case !ok:
		return wire.Invalid(wire.CodeItemTruncate, "item_id", "Error truncating item: the item with id '%s' does not exist.", e.ItemID)
	case it.Role != "assistant" || it.Type != wire.Message:
		return wire.Invalid(wire.CodeInvalidValue, "item_id", "Only model output audio messages can be truncated.")
	case e.ContentIndex != 0:
		return wire.Invalid(wire.CodeInvalidValue, "content_index", "Invalid 'content_index': the item has one part.")
	}
	se.mu.Lock()
	sound := se.sounds[it.ID]
	if e.AudioEndMS <= sound {
		se.sounds[it.ID] = e.AudioEndMS
	}
	se.mu.Unlock()
	if e.AudioEndMS > sound {
		return wire.Invalid(wire.CodeInvalidValue, "audio_end_ms", "Audio content of %dms is already shorter than %dms", sound, e.AudioEndMS)
	}
	words := ""
	it = it.Clone()
	for i := range it.Content {
		it.Content[i].Transcript = &words
	}
	se.set(it)
	se.tell(ctx, wire.ItemTruncated{ItemID: e.ItemID, ContentIndex: 0, AudioEndMS: e.AudioEndMS})
	return nil
}
