package projection

import (
	"slices"
	"strings"

	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// This file handles the questions to the language model and its answers.

// Question is what the model is asked for a response.
type Question struct {
	Response     string // its id
	Instructions string
	Messages     []Message
	Tools        []wire.Tool // the client's, in addition to the server's own
	ToolChoice   string      // "required" or the name of a tool; the model decides if it is empty
	Model        string      // the client's name for it
	Limit        int         // tokens of the answer; 0 means no limit
	Allowed      bool        // the limits per minute allow the response
	OwnInput     bool        // the client gave the input with its request
}

// Message is one entry of the model's context. The oldest entry comes first. Role is
// "user", "agent", "system" or "tool"; a message of a tool describes the call that it
// answers.
type Message struct {
	Role, Content           string
	CallID, Name, Arguments string
}

// modelAsked answers the machine's request with a question made from the items and the
// client's configuration.
func (p *Projection) modelAsked(in ModelAsked) {
	if r := p.resp; r != nil && r.turn == in.Turn {
		q := p.question(r, in)
		p.out.Question = &q
	}
}

func (p *Projection) question(r *response, in ModelAsked) Question {
	s := &r.session
	q := Question{
		Response: r.id, Instructions: in.Instructions, Model: s.Model, Limit: int(s.MaxOutputTokens),
		Allowed: p.limits.take(p.at.Now), OwnInput: r.params.InputSet,
	}
	if s.Instructions != "" {
		q.Instructions = strings.TrimSpace(q.Instructions + "\n\n" + s.Instructions)
	}
	q.Messages = messages(p.context(r))
	if p.o.OwnTools {
		q.Messages = append(q.Messages, results(in.History)...)
	}
	if s.ToolChoice.Mode != "none" {
		for _, t := range s.Tools {
			if !slices.Contains(in.Tools, t.Name) {
				q.Tools = append(q.Tools, t)
			}
		}
	}
	switch {
	case len(in.Tools)+len(q.Tools) == 0:
	case s.ToolChoice.Name != "":
		q.ToolChoice = s.ToolChoice.Name
	case s.ToolChoice.Mode == "required":
		q.ToolChoice = "required"
	}
	r.input += Tokens(q.Instructions)
	for _, m := range q.Messages {
		r.input += Tokens(m.Content) + Tokens(m.Arguments)
	}
	return q
}

// context returns the items that a response answers.
func (p *Projection) context(r *response) []*wire.Item {
	var list []*wire.Item
	if r.params.InputSet {
		for i := range r.params.Input {
			list = append(list, &r.params.Input[i])
		}
		return list
	}
	for _, it := range p.items.list {
		if it == r.message {
			break // what this response itself has said before a tool call
		}
		list = append(list, &it.Item)
		if it.Role == "user" {
			r.inputSound += it.length
		}
	}
	return list
}

// results returns the calls of the server's own tools in the current turn, which are
// only in the machine's history.
func results(history []Message) (list []Message) {
	from := 0
	for i := range history {
		if history[i].Role == "user" {
			from = i + 1
		}
	}
	for _, m := range history[from:] {
		if m.Role == "tool" {
			list = append(list, m)
		}
	}
	return list
}

// messages converts items to messages for a model. A call and its output become one
// message; a call without output is omitted.
func messages(items []*wire.Item) []Message {
	calls := make(map[string]*wire.Item)
	list := make([]Message, 0, len(items))
	for _, it := range items {
		switch it.Type {
		case wire.FunctionCall:
			calls[it.CallID] = it
		case wire.FunctionCallOutput:
			m := Message{Role: "tool", Content: it.Output, CallID: it.CallID}
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
			list = append(list, Message{Role: role, Content: text})
		}
	}
	return list
}

// modelSaid handles the model's output for a response.
func (p *Projection) modelSaid(in Input) {
	switch in := in.(type) {
	case ModelCalled:
		if r := p.response(in.Response); r != nil {
			r.calls = append(r.calls, in.Call)
		}
	case ModelSpent:
		if r := p.response(in.Response); r != nil {
			r.tokens += in.Tokens
			r.limited = r.limited || in.Limited
		}
	case ModelAnswered:
		if r := p.response(in.Response); r != nil {
			r.answered = true
			if in.Failure != nil {
				r.failure = in.Failure
			}
		}
	default: // the caller passes no other inputs
	}
}

// response returns the active response with the id, or nil.
func (p *Projection) response(id string) *response {
	if p.resp != nil && p.resp.id == id {
		return p.resp
	}
	return p.besideOf(id)
}

func (p *Projection) besideOf(id string) *response {
	for _, r := range p.beside {
		if r.id == id {
			return r
		}
	}
	return nil
}

// MaxBeside limits the number of simultaneous responses beside the conversation.
const MaxBeside = 4

// answerBeside begins a response that is not part of the conversation.
func (p *Projection) answerBeside(q *create) *wire.Error {
	if len(p.beside) >= MaxBeside {
		return wire.Invalid(wire.CodeRateLimit, "", "There are %d responses beside the conversation already.", MaxBeside)
	}
	r := &response{id: q.id, params: q.params, session: p.session, asked: true}
	r.override()
	p.beside = append(p.beside, r)
	p.send(wire.ResponseEvent{Name: "created", Response: p.show(r, wire.InProgress, nil)})
	p.do(AnswerBeside{
		Question: p.question(r, ModelAsked{Instructions: p.o.Instructions}),
		Audio:    r.audio, Speed: r.session.Output.Speed,
	})
	return nil
}

// besideSaid handles the output of a response beside the conversation.
func (p *Projection) besideSaid(in Input) {
	switch in := in.(type) {
	case BesideSaid:
		if r := p.besideOf(in.Response); r != nil {
			p.say(r, in.Text)
		}
	case BesideSpoken:
		if r := p.besideOf(in.Response); r != nil {
			p.speak(r, in.PCM)
		}
	case BesideEnded:
		r := p.besideOf(in.Response)
		if r == nil {
			return
		}
		p.beside = slices.DeleteFunc(p.beside, func(other *response) bool { return other == r })
		if r.failure = in.Failure; r.failure == nil {
			p.callTools(r)
		}
		p.endResponse(r, in.Cut, false)
	default: // the caller passes no other inputs
	}
}
