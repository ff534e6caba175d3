package realtime

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/failure"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// This file turns the service's events into those of the port.

// reader is the state of the goroutine that reads.
type reader struct {
	pcm   []int16
	odd   map[string][]byte // by item: the first byte of an incomplete sample
	words map[string]string // by item of the user: the transcript so far
}

// receive reads events until the session is over, and then reports that it is, unless Close
// has ended it.
func (st *stream) receive(ctx context.Context) {
	st.read = reader{odd: make(map[string][]byte), words: make(map[string]string)}
	for {
		m, err := st.conn.Read(ctx)
		if err != nil {
			st.fail(st.ended(err))
			break
		}
		if m.Binary {
			st.fail(st.conn.Failure(errclass.ServerError, "a binary message: expected events as text"))
			break
		}
		e, err := wire.Receive(m.Data)
		if err != nil {
			st.fail(st.conn.Failure(errclass.ServerError, err.Error()))
			break
		}
		st.take(e)
	}
	st.mu.Lock()
	err, closing, accepted := st.over, st.closing, st.accepted
	st.mu.Unlock()
	if closing || !accepted {
		return // the caller knows
	}
	f, ok := errors.AsType[*port.Failure](err)
	if !ok {
		f = failure.New(errclass.NetworkTimeout, "realtime: the connection ended")
	}
	st.sink(port.UpstreamEvent{Kind: port.UpstreamClosed, Failure: f})
}

// ended returns why the connection has ended: what the service has reported before, or else
// the error of the connection.
func (st *stream) ended(err error) error {
	st.mu.Lock()
	last := st.last
	st.mu.Unlock()
	f, ok := errors.AsType[*port.Failure](err)
	if !ok {
		return err
	}
	if why := reason(f.Message); why.Code != "" {
		last = why
	}
	switch class := classOf(last); {
	case last.Code == "" && last.Type == "":
	case class == errclass.SessionExpired || class == errclass.AuthFailure || class == errclass.RateLimit:
		f = failure.New(class, f.Message)
	case f.Code == errclass.Unknown:
		f = failure.New(class, f.Message)
	}
	return st.s.refused(f)
}

// take handles one event.
func (st *stream) take(e wire.Received) {
	switch e.Type {
	case "session.created", "session.updated":
		st.configured(e)
	case "input_audio_buffer.speech_started":
		st.sink(port.UpstreamEvent{Kind: port.UpstreamVoice, Item: e.ItemID, At: time.Duration(e.AudioStartMS) * time.Millisecond})
	case "input_audio_buffer.speech_stopped":
		st.sink(port.UpstreamEvent{Kind: port.UpstreamSilence, Item: e.ItemID, At: time.Duration(e.AudioEndMS) * time.Millisecond})
	case "conversation.item.input_audio_transcription.delta":
		st.transcript(e, false)
	case "conversation.item.input_audio_transcription.completed":
		st.transcript(e, true)
	case "conversation.item.input_audio_transcription.failed":
		e.Words = ""
		st.transcript(e, true)
	case "response.created":
		st.begun(e)
	case "response.output_audio_transcript.delta", "response.output_text.delta":
		st.text(e, false)
	case "response.output_audio_transcript.done", "response.output_text.done":
		st.text(e, true)
	case "response.output_audio.delta":
		st.sound(e)
	case "response.output_item.done":
		st.called(e.ResponseID, e.Item)
	case "response.done":
		st.done(e.Response)
	case "rate_limits.updated":
		st.mu.Lock()
		st.limits = e.Limits
		st.mu.Unlock()
	case "error":
		st.refusedEvent(e.Error)
	default:
		// The other events say nothing that is not said by one of these.
	}
}

// configured notes that the session exists, or that it has the configuration.
func (st *stream) configured(e wire.Received) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if e.ExpiresAt > 0 {
		st.expires = time.Unix(e.ExpiresAt, 0)
	}
	if e.Type == "session.updated" && !st.accepted && st.over == nil {
		st.accepted = true
		close(st.ready)
	}
}

// transcript reports what the user said.
func (st *stream) transcript(e wire.Received, final bool) {
	words := &st.read.words
	if !final {
		if len((*words)[e.ItemID]) > maxWords {
			return
		}
		(*words)[e.ItemID] += e.Words
		st.sink(port.UpstreamEvent{Kind: port.UpstreamHearing, Item: e.ItemID, Text: squeeze((*words)[e.ItemID])})
		return
	}
	delete(*words, e.ItemID)
	st.sink(port.UpstreamEvent{Kind: port.UpstreamHeard, Item: e.ItemID, Text: squeeze(e.Words)})
}

// maxWords is the maximum number of bytes that are kept of one item's words.
const maxWords = 1 << 20

// squeeze returns the words of a text with single spaces between them.
func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }

// begun finds the request that an answer belongs to. It cancels an answer that nobody wants.
func (st *stream) begun(e wire.Received) {
	st.mu.Lock()
	a := st.asks.begun(e.Response)
	if a == nil || a.cancelled {
		if a == nil {
			st.asks.taken = true
		} else {
			a.response = e.Response.ID
		}
		_ = st.pushEvent(wire.ClientEvent{Type: wire.ResponseCancel, ResponseID: e.Response.ID}) // a session that is over has no answers
		st.mu.Unlock()
		return
	}
	a.response = e.Response.ID
	st.mu.Unlock()
	st.sink(port.UpstreamEvent{Kind: port.UpstreamBegun, Request: a.request.ID})
}

// wanted returns the request of an answer, or nil if nobody wants what comes. spoke notes that
// a part of the answer has come.
func (st *stream) wanted(response string, spoke bool) *ask {
	a := st.asks.byResponse(response)
	if a == nil || a.cancelled {
		return nil
	}
	a.spoke = a.spoke || spoke
	return a
}

// item returns an item of the agent.
func (st *stream) item(id string) *item {
	it := st.items[id]
	if it == nil {
		it = &item{}
		st.items[id] = it
	}
	return it
}

// text reports words of an answer. whole says that the event has all words of the item, of
// which the service may have sent some before.
func (st *stream) text(e wire.Received, whole bool) {
	st.mu.Lock()
	a, it, words := st.wanted(e.ResponseID, true), st.item(e.ItemID), e.Words
	if whole {
		rest, ok := strings.CutPrefix(words, it.words)
		if words = rest; !ok {
			words = "" // the service has corrected itself; the user has heard what it said
		}
	}
	if it.whole || len(it.words)+len(words) > maxWords {
		words = ""
	}
	if it.words += words; whole {
		it.words, it.whole = "", true
	}
	st.mu.Unlock()
	if a != nil && words != "" {
		st.sink(port.UpstreamEvent{Kind: port.UpstreamText, Request: a.request.ID, Item: e.ItemID, Text: words})
	}
}

// sound reports sound of an answer.
func (st *stream) sound(e wire.Received) {
	odd := st.read.odd[e.ItemID]
	st.read.pcm, odd = st.s.decode(st.read.pcm[:0], append(odd, e.Audio...))
	if len(odd) == 0 {
		delete(st.read.odd, e.ItemID)
	} else {
		st.read.odd[e.ItemID] = append([]byte(nil), odd...)
	}
	st.mu.Lock()
	a := st.wanted(e.ResponseID, true)
	st.item(e.ItemID).heard += audio.Pos(len(st.read.pcm))
	st.mu.Unlock()
	if a != nil && len(st.read.pcm) > 0 {
		st.sink(port.UpstreamEvent{Kind: port.UpstreamSound, Request: a.request.ID, Item: e.ItemID, PCM: st.read.pcm})
	}
}

// called reports a call of a tool, once.
func (st *stream) called(response string, it wire.ReceivedItem) {
	if it.Type != wire.FunctionCall || it.CallID == "" || it.Status == wire.Incomplete {
		return
	}
	st.mu.Lock()
	a := st.wanted(response, true)
	known := st.calls[it.CallID]
	st.calls[it.CallID] = true
	st.mu.Unlock()
	if a != nil && !known {
		st.sink(port.UpstreamEvent{
			Kind: port.UpstreamCall, Request: a.request.ID,
			Call: port.ToolCall{ID: it.CallID, Name: it.Name, Arguments: it.Arguments},
		})
	}
}

// done ends a request.
func (st *stream) done(r wire.ReceivedResponse) {
	for _, it := range r.Output {
		st.called(r.ID, it) // some servers announce calls here alone
	}
	st.mu.Lock()
	a := st.asks.byResponse(r.ID)
	if a == nil {
		st.asks.taken = false
	} else {
		st.asks.end(a)
	}
	limits := st.limits
	_ = st.pump() // a session that is over has no requests
	st.mu.Unlock()
	if a == nil || a.cancelled {
		return
	}
	done := port.UpstreamEvent{Kind: port.UpstreamDone, Request: a.request.ID}
	switch {
	case r.Status == "failed":
		f := st.conn.Failure(classOf(r.Error), "the answer failed: "+words(r.Error))
		if f.Code == errclass.RateLimit {
			f.After = reset(limits)
		}
		done.Failure = f
	case r.Status == "incomplete" && r.Reason == "content_filter":
		done.Failure = st.conn.Failure(errclass.Unknown, "the service's content filter stopped the answer")
	case r.Status == "incomplete" && !a.spoke:
		done.Failure = st.conn.Failure(errclass.Unknown, "the answer ended before it began: "+r.Reason)
	}
	if done.Failure != nil {
		done.Failure.Message = st.s.key.hide(done.Failure.Message)
	}
	st.sink(done)
}

// words describes an error of the service.
func words(e wire.Error) string {
	switch {
	case e.Message != "":
		return e.Message
	case e.Code != "":
		return e.Code
	default:
		return "no message"
	}
}

// refusedEvent handles an error. Most concern one event that was sent, and change nothing else.
func (st *stream) refusedEvent(e wire.Error) {
	st.mu.Lock()
	st.last = e
	if !st.accepted {
		st.mu.Unlock()
		st.fail(st.conn.Failure(classOf(e), "the session was refused: "+words(e)))
		return
	}
	a := st.asks.refused(e)
	if a == nil {
		st.mu.Unlock()
		return
	}
	if e.Code == wire.CodeActiveResponse && !a.cancelled {
		a.sent = false // it is made again when the answer in its way has ended
		st.asks.taken = true
		st.mu.Unlock()
		return
	}
	st.asks.end(a)
	limits := st.limits
	_ = st.pump() // a session that is over has no requests
	st.mu.Unlock()
	if a.cancelled {
		return
	}
	f := st.conn.Failure(classOf(e), "the request for an answer was refused: "+words(e))
	if f.Message = st.s.key.hide(f.Message); f.Code == errclass.RateLimit {
		f.After = reset(limits)
	}
	st.sink(port.UpstreamEvent{Kind: port.UpstreamDone, Request: a.request.ID, Failure: f})
}

// refused returns the request that an error is about, or nil: the one whose event it names or,
// if it names none and is about the limits of the service, the one that has not begun.
func (q *asks) refused(e wire.Error) *ask {
	for _, a := range q.list {
		if e.EventID != "" && e.EventID == a.event ||
			e.EventID == "" && a.sent && a.response == "" && classOf(e) == errclass.RateLimit {
			return a
		}
	}
	return nil
}
