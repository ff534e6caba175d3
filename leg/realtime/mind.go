package realtime

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/audio"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// mind is the language model of a connection's session: the installation's, asked
// with the items, the instructions and the tools of the client.
type mind struct{ c *conn }

// Reply implements [port.Model]. What fails ends the response, not the
// conversation.
func (m *mind) Reply(ctx context.Context, req port.Request, emit func(port.Delta) error) error {
	c := m.c
	if req.Form != nil {
		return m.understand(ctx, req, emit)
	}
	c.mu.Lock()
	r := c.resp
	if r == nil || r.turn != req.Turn {
		c.mu.Unlock()
		<-ctx.Done() // its turn is over, and so will this be
		return ctx.Err()
	}
	own := toolNames(req.Tools)
	c.ask(r, &req)
	allowed := c.limits.take(time.Now())
	c.mu.Unlock()
	err := c.answer(ctx, r, req, allowed, func(d port.Delta) error {
		if d.Call != nil && !slices.Contains(own, d.Call.Name) {
			c.locked(func() { r.calls = append(r.calls, *d.Call) })
			return nil
		}
		return emit(d)
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.locked(func() {
		r.answered = true
		if err != nil {
			r.failure = asFailure(err)
		}
	})
	return nil
}

// understand passes on what a flow asks of the model beside the answer.
func (m *mind) understand(ctx context.Context, req port.Request, emit func(port.Delta) error) error {
	if m.c.parts.Model == nil {
		return &port.Failure{Code: errclass.Unknown, Message: "no language model is configured"}
	}
	return m.c.parts.Model.Reply(ctx, req, emit)
}

func toolNames(specs []port.ToolSpec) []string {
	names := make([]string, 0, len(specs))
	for _, s := range specs {
		names = append(names, s.Name)
	}
	return names
}

// errLimit ends an answer that has had its tokens.
var errLimit = errors.New("the response has had its tokens")

// answer asks the installation's model.
func (c *conn) answer(ctx context.Context, r *response, req port.Request, allowed bool, emit func(port.Delta) error) error {
	switch {
	case !allowed:
		return &port.Failure{Code: wire.CodeRateLimit, Message: "Rate limit reached for this connection. See rate_limits.updated."}
	case c.openErr != nil:
		return &port.Failure{Code: wire.CodeModelNotFound, Message: "The model '" + r.session.Model + "' does not exist or you do not have access to it."}
	case c.parts.Model == nil:
		return &port.Failure{Code: wire.CodeModelNotFound, Message: "No language model is configured on this server."}
	}
	limit, spent := int(r.session.MaxOutputTokens), 0
	err := c.parts.Model.Reply(ctx, req, func(d port.Delta) error {
		if limit > 0 {
			if room := (limit - spent) * 4; len(d.Text) > room {
				d.Text = strings.ToValidUTF8(d.Text[:room], "")
				c.locked(func() { r.limited = true; r.tokens = limit })
				if d.Text != "" {
					if err := emit(port.Delta{Text: d.Text}); err != nil {
						return err
					}
				}
				return errLimit
			}
		}
		n := textTokens(d.Text)
		spent += n
		c.locked(func() { r.tokens += n })
		return emit(d)
	})
	if errors.Is(err, errLimit) {
		return nil
	}
	return err
}

// ask fills a request from the list of items and the client's settings. The
// caller holds the lock.
func (c *conn) ask(r *response, req *port.Request) {
	s := &r.session
	if s.Instructions != "" {
		req.Instructions = strings.TrimSpace(req.Instructions + "\n\n" + s.Instructions)
	}
	list := make([]*wire.Item, 0, len(c.items.list))
	if r.params.InputSet {
		for i := range r.params.Input {
			list = append(list, &r.params.Input[i])
		}
	} else {
		for _, it := range c.items.list {
			if it == r.message {
				break // what this response itself has said before a tool
			}
			list = append(list, &it.Item)
			if it.Role == "user" {
				r.inputSound += it.length
			}
		}
	}
	own := req.Messages
	req.Messages = messages(list)
	req.Messages = append(req.Messages, results(own, r.turn, c.parts.Tools != nil)...)
	for _, t := range s.Tools {
		if s.ToolChoice.Mode == "none" {
			break
		}
		if !slices.Contains(toolNames(req.Tools), t.Name) {
			req.Tools = append(slices.Clip(req.Tools), port.ToolSpec{Name: t.Name, Description: t.Description, Schema: t.Parameters})
		}
	}
	switch {
	case len(req.Tools) == 0:
	case s.ToolChoice.Name != "":
		req.ToolChoice = s.ToolChoice.Name
	case s.ToolChoice.Mode == "required":
		req.ToolChoice = "required"
	}
	r.input += textTokens(req.Instructions)
	for _, m := range req.Messages {
		r.input += textTokens(m.Content) + textTokens(m.Arguments)
	}
}

// results are the calls of this server's own tools in the turn that is being
// answered: they are in the machine's history alone.
func results(history []port.Message, _ int, own bool) []port.Message {
	if !own {
		return nil
	}
	from := 0
	for i := range history {
		if history[i].Role == "user" {
			from = i + 1
		}
	}
	var list []port.Message
	for _, m := range history[from:] {
		if m.Role == "tool" {
			list = append(list, m)
		}
	}
	return list
}

// messages are the items as a model reads them. A call and its output are one
// message; a call without output has nothing to say yet.
func messages(items []*wire.Item) []port.Message {
	calls := make(map[string]*wire.Item)
	list := make([]port.Message, 0, len(items))
	for _, it := range items {
		switch it.Type {
		case wire.FunctionCall:
			calls[it.CallID] = it
		case wire.FunctionCallOutput:
			m := port.Message{Role: "tool", Content: it.Output, CallID: it.CallID}
			if call := calls[it.CallID]; call != nil {
				m.Name, m.Arguments = call.Name, call.Arguments
			}
			list = append(list, m)
		default:
			text := words(it)
			if strings.TrimSpace(text) == "" {
				continue // nothing of it was heard
			}
			role := it.Role
			if role == "assistant" {
				role = "agent"
			}
			list = append(list, port.Message{Role: role, Content: text})
		}
	}
	return list
}

// voice is the synthesizer of a connection's session: the installation's, at the
// client's speed, and silent for a response that is text alone.
type voice struct {
	c     *conn
	inner port.Synthesizer
}

var errNoVoice = errors.New("no speech synthesizer is configured")

// Rate implements [port.Synthesizer].
func (v *voice) Rate() int {
	if v.inner == nil {
		return legRate
	}
	return v.inner.Rate()
}

// Speak implements [port.Synthesizer].
func (v *voice) Speak(ctx context.Context, u port.Utterance, emit func(port.Speech) error) error {
	v.c.mu.Lock()
	r := v.c.resp
	silent := r != nil && !r.audio
	if r != nil && r.session.Output.Speed != 1 {
		u.Rate = r.session.Output.Speed
	}
	v.c.mu.Unlock()
	switch {
	case silent:
		return ctx.Err()
	case v.inner == nil:
		return errNoVoice
	}
	return v.inner.Speak(ctx, u, emit)
}

// maxBeside bounds the responses beside the conversation at one time.
const maxBeside = 4

// answerBeside makes a response that is no part of the conversation.
func (c *conn) answerBeside(q *create) *wire.Error {
	if c.beside >= maxBeside {
		return wire.Invalid(wire.CodeRateLimit, "", "There are %d responses beside the conversation already.", maxBeside)
	}
	c.beside++
	r := &response{id: q.id, params: q.params, session: c.session, ask: true}
	r.override()
	c.send(wire.ResponseEvent{Name: "created", Response: c.show(r, wire.InProgress, nil)})
	req := port.Request{Instructions: c.parts.Instructions}
	c.ask(r, &req)
	allowed := c.limits.take(time.Now())
	c.work <- func(ctx context.Context) { c.runBeside(ctx, r, req, allowed) } // there is room: they are counted
	return nil
}

func (c *conn) runBeside(ctx context.Context, r *response, req port.Request, allowed bool) {
	err := c.answer(ctx, r, req, allowed, func(d port.Delta) error {
		c.locked(func() {
			c.say(r, d.Text)
			if d.Call != nil {
				r.calls = append(r.calls, *d.Call)
			}
		})
		return ctx.Err()
	})
	if err == nil && r.audio && r.text.Len() > 0 {
		err = c.speakBeside(ctx, r)
	}
	c.locked(func() {
		if err != nil {
			r.failure = asFailure(err)
		} else {
			c.callTools(r)
		}
		c.endResponse(r, ctx.Err() != nil, false)
		c.beside--
	})
}

// speakBeside has the answer spoken. Nobody hears it here: it is sent as it is
// made.
func (c *conn) speakBeside(ctx context.Context, r *response) error {
	if c.parts.Synthesizer == nil {
		return errNoVoice
	}
	to, err := audio.NewResampler(audio.ResamplerOptions{From: c.parts.Synthesizer.Rate(), To: legRate})
	if err != nil {
		return err
	}
	u := port.Utterance{Text: r.text.String(), Voice: c.parts.Voice, Language: c.parts.Conv.Language, Rate: r.session.Output.Speed}
	err = c.parts.Synthesizer.Speak(ctx, u, func(p port.Speech) error {
		pcm := to.Append(nil, p.PCM)
		c.locked(func() { c.speak(r, pcm) })
		return ctx.Err()
	})
	if err == nil {
		c.locked(func() { c.speak(r, to.Flush(nil)) })
	}
	return err
}
