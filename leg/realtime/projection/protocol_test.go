package projection_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/leg/realtime/projection"
)

// wish states which responses a client wants, according to its session.
type wish int

const (
	answers wish = iota
	asked        // only those it asks for
	none
)

// protocol checks the events of one conversation against the rules of the protocol. It
// is independent of the projection: its state comes from events only.
type protocol struct {
	began     bool
	wish      wish
	back      string                 // the response that is announced again
	refused   int                    // number of refused client events
	asks      bool                   // the client has asked for a response that has not begun
	items     []string               // of the conversation, in order
	known     map[string]told        // by id
	responses map[string]*toldAnswer // that have not ended
	active    string                 // the active response of the conversation, or ""
	voice     string                 // the item of the current speech, or ""
	owed      string                 // the committed item, which must be announced next
	cancelled map[string]bool        // responses that the client has cancelled
	frames    map[string]int         // of sound, by item
	playing   string                 // the response whose sound the server plays, or ""
}

// told is an item as known to the client.
type told struct {
	role, kind string
	done       bool
	written    bool // its words were sent
}

// toldAnswer is a response as known to the client.
type toldAnswer struct {
	beside bool
	again  bool // it is announced again; calls made before the new connection were announced as items only
	output []toldItem
}

type toldItem struct {
	id, kind  string
	part      bool // its part, or its arguments, have begun
	open      bool // its part is not done
	audio     bool // the part contains sound
	words     string
	cut       bool // it was truncated
	soundDone bool
	wordsDone bool
	done      bool
}

func newProtocol() *protocol {
	return &protocol{known: make(map[string]told), responses: make(map[string]*toldAnswer), cancelled: make(map[string]bool), frames: make(map[string]int)}
}

func (r *protocol) clone() *protocol {
	c := *r
	c.items, c.known, c.cancelled, c.frames = slices.Clone(r.items), maps.Clone(r.known), maps.Clone(r.cancelled), maps.Clone(r.frames)
	c.responses = make(map[string]*toldAnswer, len(r.responses))
	for id, a := range r.responses {
		n := *a
		n.output = slices.Clone(a.output)
		c.responses[id] = &n
	}
	return &c
}

// reconnected starts over for a new connection of the client. Cancellations and sent
// sound remain.
func (r *protocol) reconnected() {
	n := newProtocol()
	n.cancelled, n.frames, n.playing, n.wish, n.asks = r.cancelled, r.frames, r.playing, r.wish, r.asks
	n.asks = n.asks || r.active != "" // it is told again
	n.back = r.active
	*r = *n
}

// frame is the length of sound sent in one step of the exploration, in milliseconds.
const frame = 20

var errUnknown = errors.New("it was not announced, or is gone")

// event checks an event and returns an error that names the broken rule.
func (r *protocol) event(e wire.Event) error {
	if err := r.check(e); err != nil {
		return fmt.Errorf("%s: %w", e.EventType(), err)
	}
	return nil
}

func (r *protocol) check(e wire.Event) error {
	if _, first := e.(wire.SessionEvent); !first && !r.began {
		return errors.New("it comes before session.created")
	}
	switch e := e.(type) {
	case wire.SessionEvent:
		if e.Name == "created" == r.began {
			return errors.New("session.created comes first, and once")
		}
		r.began = true
		if e.Session.Input.TurnDetection == nil {
			r.voice = ""
		}
	case wire.ErrorEvent:
		r.refused++
	case wire.ItemEvent, wire.ItemDeleted, wire.ItemRetrieved, wire.ItemTruncated, wire.AudioCommitted:
		return r.item(e)
	case wire.AudioCleared:
		r.voice = ""
	case wire.SpeechStarted:
		if r.voice != "" {
			return errors.New("a voice is heard already")
		}
		r.voice = e.ItemID
	case wire.SpeechStopped:
		if r.voice != e.ItemID {
			return errors.New("that voice was not heard")
		}
		r.voice, r.owed = "", e.ItemID
	case wire.TranscriptionDelta:
		return r.words(e.ItemID, false)
	case wire.TranscriptionCompleted:
		return r.words(e.ItemID, true)
	case wire.TranscriptionFailed:
		return r.words(e.ItemID, true)
	case wire.ResponseEvent:
		if e.Name == "created" {
			return r.begin(&e.Response)
		}
		return r.end(&e.Response)
	case wire.OutputItem:
		return r.output(&e)
	case wire.Part, wire.WordsDelta, wire.WordsDone, projection.Sound, wire.AudioDone:
		return r.part(e)
	case wire.ArgumentsDelta, wire.ArgumentsDone:
		return r.arguments(e)
	case wire.OutputBuffer:
		return r.buffer(&e)
	}
	return nil
}

// item checks that items are announced once, in order, before any reference to them.
func (r *protocol) item(e wire.Event) error {
	switch e := e.(type) {
	case wire.AudioCommitted:
		if _, ok := r.known[e.ItemID]; ok || r.owed != "" && r.owed != e.ItemID {
			return errors.New("it is of another item")
		}
		r.owed = e.ItemID
	case wire.ItemEvent:
		return r.itemEvent(&e)
	case wire.ItemDeleted:
		if !r.has(e.ItemID) {
			return errUnknown
		}
		delete(r.known, e.ItemID)
		r.items = slices.DeleteFunc(r.items, func(id string) bool { return id == e.ItemID })
	case wire.ItemRetrieved:
		if !r.has(e.Item.ID) {
			return errUnknown
		}
	case wire.ItemTruncated:
		it, ok := r.known[e.ItemID]
		switch {
		case !ok:
			return errUnknown
		case it.role != "assistant" || e.AudioEndMS < 0 || e.AudioEndMS > r.frames[e.ItemID]*frame+1:
			return fmt.Errorf("%d ms of the %s's item that has %d", e.AudioEndMS, it.role, r.frames[e.ItemID]*frame)
		}
		r.cut(e.ItemID)
	}
	return nil
}

// cut records that an answer was truncated while it was spoken, which must end it.
func (r *protocol) cut(id string) {
	if r.active == "" {
		return
	}
	a := r.responses[r.active]
	if i := slices.IndexFunc(a.output, func(it toldItem) bool { return it.id == id && !it.done }); i >= 0 {
		a.output[i].cut, r.cancelled[r.active] = true, true
	}
}

func (r *protocol) has(id string) bool {
	_, ok := r.known[id]
	return ok
}

func (r *protocol) itemEvent(e *wire.ItemEvent) error {
	id, at := e.Item.ID, 0
	if e.PreviousItemID != nil {
		if at = slices.Index(r.items, *e.PreviousItemID) + 1; at == 0 {
			return errors.New("the item before it is unknown")
		}
	}
	it, ok := r.known[id]
	switch {
	case e.Name == "added" && ok:
		return errors.New("it was announced before")
	case e.Name == "added" && r.owed != "" && r.owed != id:
		return errors.New("another one was committed")
	case e.Name == "added":
		r.owed = ""
		r.items = slices.Insert(r.items, at, id)
		r.known[id] = told{role: e.Item.Role, kind: e.Item.Type}
	case !ok:
		return errUnknown
	case it.done:
		return errors.New("it was done before")
	case at >= len(r.items) || r.items[at] != id:
		return errors.New("it stands elsewhere")
	default:
		it.done = true
		r.known[id] = it
	}
	return nil
}

// words checks that the words of a user's item are sent once.
func (r *protocol) words(id string, all bool) error {
	it, ok := r.known[id]
	switch {
	case !ok:
		return errUnknown
	case it.role != "user" || it.written:
		return fmt.Errorf("a %s's item, whose words were told: %v", it.role, it.written)
	}
	it.written = all
	r.known[id] = it
	return nil
}

// begin checks that only one response of the conversation is active at a time.
func (r *protocol) begin(w *wire.Response) error {
	beside := w.ConversationID == ""
	switch {
	case r.responses[w.ID] != nil:
		return errors.New("it has begun before")
	case !beside && r.active != "":
		return errors.New("another one is active")
	case !beside && (r.wish == none || r.wish == asked && !r.asks):
		return errors.New("the client does not want it")
	case w.Status != wire.InProgress || len(w.Output) > 0:
		return errors.New("it begins in progress and without output")
	}
	if !beside {
		r.active, r.asks = w.ID, false
	}
	r.responses[w.ID] = &toldAnswer{beside: beside, again: w.ID == r.back}
	return nil
}

// end checks that a response ends once, when all of its items are done, and as the
// client has requested.
func (r *protocol) end(w *wire.Response) error {
	a := r.responses[w.ID]
	switch {
	case a == nil:
		return errors.New("it is not active")
	case r.cancelled[w.ID] && w.Status != wire.Cancelled:
		return fmt.Errorf("the client has cancelled it, and it is %s", w.Status)
	case w.Status == wire.InProgress || w.Usage == nil:
		return errors.New("it does not say how it ended")
	case (w.Status == wire.Completed) != (w.Details == nil):
		return errors.New("it does not say why it was not completed")
	case len(w.Output) != len(a.output) && !a.again:
		return errors.New("its output is not all of it")
	}
	rest := w.Output
	for _, it := range a.output {
		i := slices.IndexFunc(rest, func(other wire.Item) bool { return other.ID == it.id })
		if !it.done || i < 0 {
			return errors.New("its items are not done")
		}
		rest = rest[i+1:]
	}
	delete(r.responses, w.ID)
	delete(r.cancelled, w.ID)
	if r.active == w.ID {
		r.active = ""
	}
	return nil
}

// output checks that the items of a response begin and end in order.
func (r *protocol) output(e *wire.OutputItem) error {
	a := r.responses[e.ResponseID]
	if a == nil {
		return errors.New("its response is not active")
	}
	at := slices.IndexFunc(a.output, func(it toldItem) bool { return it.id == e.Item.ID })
	if e.Name == "added" {
		if at >= 0 || r.has(e.Item.ID) {
			return errors.New("it was announced before")
		}
		if len(a.output) > 0 && e.OutputIndex <= 0 {
			return errors.New("its index is not behind the one before")
		}
		a.output = append(a.output, toldItem{id: e.Item.ID, kind: e.Item.Type})
		return nil
	}
	if at < 0 || a.output[at].done || a.output[at].open {
		return errors.New("it was not announced, or not closed, or done before")
	}
	if it := &a.output[at]; !it.part {
		return errors.New("it has no content")
	} else if it.kind == wire.Message && e.Item.Status != wire.Completed && e.Item.Status != wire.Incomplete {
		return fmt.Errorf("its status is %s", e.Item.Status)
	}
	a.output[at].done = true
	return nil
}

// of returns the open item of a response.
func (r *protocol) of(response, id string) (*toldItem, error) {
	a := r.responses[response]
	if a == nil {
		return nil, errors.New("its response is not active")
	}
	at := slices.IndexFunc(a.output, func(it toldItem) bool { return it.id == id })
	if at < 0 || a.output[at].done {
		return nil, errors.New("its item was not announced, or is done")
	}
	return &a.output[at], nil
}

// part checks that words and sound belong to an open part, and that nothing follows its
// end.
func (r *protocol) part(e wire.Event) error {
	var place wire.Place
	var audio bool
	switch e := e.(type) {
	case wire.Part:
		place, audio = e.Place, e.Content.Audio
	case wire.WordsDelta:
		place, audio = e.Place, e.Audio
	case wire.WordsDone:
		place, audio = e.Place, e.Audio
	case projection.Sound:
		place, audio = e.Place, true
	case wire.AudioDone:
		place, audio = e.Place, true
	}
	it, err := r.of(place.ResponseID, place.ItemID)
	if err != nil {
		return err
	}
	if p, ok := e.(wire.Part); ok && p.Name == "added" {
		if it.part {
			return errors.New("it has a part already")
		}
		it.part, it.open, it.audio = true, true, audio
		return nil
	}
	if !it.open || it.audio != audio {
		return errors.New("its part is not open, or of another kind")
	}
	return r.inPart(it, e)
}

func (r *protocol) inPart(it *toldItem, e wire.Event) error {
	switch e := e.(type) {
	case wire.Part:
		if !it.wordsDone || it.audio && !it.soundDone || e.Content.Words != it.words {
			return errors.New("its content is not done, or another")
		}
		it.open = false
	case wire.WordsDelta:
		if it.wordsDone || e.Delta == "" {
			return errors.New("the words are done, or there are none")
		}
		it.words += e.Delta
	case wire.WordsDone:
		if it.wordsDone || e.Words != it.words {
			return fmt.Errorf("the words are done, or others: %q and %q", e.Words, it.words)
		}
		it.wordsDone = true
	case projection.Sound:
		if it.soundDone || it.cut {
			return errors.New("the sound is done, or cut off")
		}
		if len(e.PCM) > 0 {
			r.frames[it.id]++
		}
	case wire.AudioDone:
		if it.soundDone {
			return errors.New("the sound is done")
		}
		it.soundDone = true
	}
	return nil
}

// arguments checks that the arguments of a call are sent once and in full.
func (r *protocol) arguments(e wire.Event) error {
	var response, id string
	done, text := false, ""
	switch e := e.(type) {
	case wire.ArgumentsDelta:
		response, id, text = e.ResponseID, e.ItemID, e.Delta
	case wire.ArgumentsDone:
		response, id, text, done = e.ResponseID, e.ItemID, e.Arguments, true
	}
	it, err := r.of(response, id)
	switch {
	case err != nil:
		return err
	case it.kind != wire.FunctionCall || it.wordsDone:
		return errors.New("it is not a call, or has its arguments")
	case done && it.words != text:
		return errors.New("the arguments are others")
	case done:
		it.wordsDone, it.open = true, false
	default:
		it.part, it.open = true, true
		it.words += text
	}
	return nil
}

// buffer checks that a server that plays the sound reports the start and the end of
// each answer once.
func (r *protocol) buffer(e *wire.OutputBuffer) error {
	over := r.responses[e.ResponseID] == nil
	switch e.Name {
	case "started":
		if over || r.playing != "" {
			return errors.New("its response is not active, or one is played already")
		}
		r.playing = e.ResponseID
		for _, it := range r.responses[e.ResponseID].output {
			r.frames[it.id]++
		}
	case "cleared", "stopped":
		if r.playing != e.ResponseID || over != (e.Name == "stopped") {
			return errors.New("it is not played, or its response is over too early or not yet")
		}
		r.playing = ""
	}
	return nil
}

// forget removes what has no influence on the future: items that the projection has
// removed, and texts.
func (r *protocol) forget(items []string) {
	keep := func(id string) bool { return slices.Contains(items, id) }
	r.items = slices.DeleteFunc(r.items, func(id string) bool { return !keep(id) })
	maps.DeleteFunc(r.known, func(id string, _ told) bool { return !keep(id) })
	maps.DeleteFunc(r.frames, func(id string, _ int) bool { return !keep(id) })
	for id, n := range r.frames {
		r.frames[id] = min(n, 1)
	}
	for _, a := range r.responses {
		for i := range a.output {
			if a.output[i].kind == wire.Message {
				a.output[i].words = ""
			}
		}
	}
}
