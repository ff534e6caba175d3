package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/media"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// This file is the dialogue with a speech-to-speech service: what it is told of the conversation,
// the answers that it is asked for, and what it must forget of them.

// request asks the service for the answer that the machine wants. It tells it before what it does
// not know of the conversation.
func (u *upstream) request(e conv.RequestReply) {
	st := u.s.conv.State()
	u.mu.Lock()
	l := u.link
	u.requests++
	a := &saying{
		id: fmt.Sprintf("r%d", u.requests), link: l, turn: e.Turn, part: max(st.Reply.Part, 1), request: e.Request, wake: make(chan struct{}, 1),
	}
	replaced := u.drop(func(other *saying) bool { return other.turn == a.turn && other.part == a.part && !other.ended })
	var news []port.Message
	if l != nil {
		l.knows[entry{turn: a.turn, part: a.part, role: conv.RoleAgent}] = true
		news = u.news(l)
		u.answers = append(u.answers, a)
	}
	u.mu.Unlock()
	replaced.tell()
	if l == nil {
		u.s.loop.Post(conv.ReplyFailed{
			Turn: e.Turn, Request: e.Request, Code: errclass.NetworkTimeout, Message: "there is no connection to the speech-to-speech service", Retryable: true,
		})
		return
	}
	// A stream that has ended says so by itself.
	_ = l.stream.Add(news...)
	_ = l.stream.Ask(port.UpstreamRequest{ID: a.id})
}

// news returns the entries of the history that a link does not know, and notes that it knows them.
// The caller holds the mutex.
func (u *upstream) news(l *link) []port.Message {
	shown := u.s.veil.Shown()
	var items []conv.Item
	history := shown.History()
	for i := range history {
		it := &history[i]
		if l.knows[entryOf(it)] {
			continue
		}
		l.knows[entryOf(it)] = true
		items = append(items, *it)
	}
	messages := portMessages(items)
	if data := shown.State().ContextView(); !data.Empty() || len(data.Operations) > 0 {
		b, err := json.Marshal(data)
		if err != nil {
			panic(fmt.Sprintf("session: marshal the context: %v", err)) // cannot happen: its values are valid JSON
		}
		if text := string(b); text != u.data {
			u.data = text
			messages = append(messages, dataMessage(data))
		}
	}
	return messages
}

// cancel cancels the answers of a turn. What was not played of them is forgotten.
func (u *upstream) cancel(turn int) {
	u.mu.Lock()
	list := u.drop(func(a *saying) bool { return a.turn == turn && (!a.ended || !a.played) })
	u.mu.Unlock()
	list.tell()
}

// drop ends answers of the service and returns what it must be told: that they are cancelled, and
// that sound that did not go to the playout was not heard. The caller holds the mutex.
func (u *upstream) drop(which func(*saying) bool) (list undone) {
	for _, a := range u.answers {
		if a.said || !which(a) {
			continue
		}
		list = append(list, undo{stream: a.link.stream, cancel: a.id})
		if !a.played {
			list = append(list, a.unheard(0)...)
		}
		a.end(u.s, media.ErrFlushed)
	}
	return list
}

// flushed makes the service forget what was not heard of a turn. heard is how much of it was.
func (u *upstream) flushed(turn, part int, heard time.Duration) {
	u.mu.Lock()
	var list undone
	for _, a := range u.answers {
		if a.turn == turn && !a.said && a.played && (part == 0 || a.part <= part) {
			list = append(list, a.unheard(heard-a.at)...)
		}
	}
	u.mu.Unlock()
	list.tell()
}

// undo is something that a service must be told about an answer: that it is cancelled, or how much
// of an item was heard.
type undo struct {
	stream port.UpstreamStream
	cancel string
	item   string
	heard  time.Duration
}

type undone []undo

// tell tells the service. The caller does not hold the mutex.
func (l undone) tell() {
	for _, un := range l {
		if un.cancel != "" {
			_ = un.stream.Cancel(un.cancel) // a stream that has ended has forgotten the answer
			continue
		}
		_ = un.stream.Truncate(un.item, un.heard) // likewise
	}
}

// ask asks the service to say a text, beside the conversation.
func (u *upstream) ask(turn, part int, text string) *saying {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.link == nil {
		return nil
	}
	u.requests++
	a := &saying{id: fmt.Sprintf("s%d", u.requests), link: u.link, turn: turn, part: part, said: true, wake: make(chan struct{}, 1), words: text}
	u.answers = append(u.answers, a)
	return a
}

// spoken returns the answer of the service that a text of the machine belongs to, or nil if the
// words are the engine's own.
func (u *upstream) spoken(e conv.Speak) *saying {
	if e.Code != "" {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, a := range slices.Backward(u.answers) {
		if a.turn == e.Turn && a.part == e.Part && !a.said {
			return a
		}
	}
	return nil
}

// answered takes an event of an answer.
func (u *upstream) answered(l *link, e port.UpstreamEvent) {
	u.mu.Lock()
	i := slices.IndexFunc(u.answers, func(a *saying) bool { return a.link == l && a.id == e.Request })
	if i < 0 || u.answers[i].ended {
		u.mu.Unlock()
		return // nobody wants it any more
	}
	a := u.answers[i]
	var ev conv.Event
	switch e.Kind {
	case port.UpstreamBegun:
		ev = conv.ReplyRequested{Turn: a.turn, Request: a.request}
	case port.UpstreamText:
		ev = conv.ReplyDelta{Turn: a.turn, Request: a.request, Text: e.Text}
	case port.UpstreamSound:
		a.hear(u.s, e.Item, e.PCM)
	case port.UpstreamCall:
		spec := u.specs[e.Call.Name]
		ev = conv.ToolCalled{
			Turn: a.turn, Request: a.request, ID: e.Call.ID, Name: e.Call.Name, Arguments: cmp.Or(e.Call.Arguments, "{}"),
			Long: spec.Long, Confirm: spec.Confirm,
		}
	case port.UpstreamDone:
		var err error
		ev = conv.ReplyDone{Turn: a.turn, Request: a.request}
		if f := e.Failure; f != nil {
			err = f
			ev = conv.ReplyFailed{Turn: a.turn, Request: a.request, Code: f.Code, Message: f.Message, Retryable: f.Retryable}
		}
		a.end(u.s, err)
	default:
	}
	said := a.said
	u.mu.Unlock()
	if ev != nil && !said {
		u.s.postFact(ev)
	}
}
