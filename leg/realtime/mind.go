package realtime

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/leg/realtime/projection"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// mind is the language model of a session. It asks the configured model with the
// client's items, instructions and tools.
type mind struct{ c *conn }

// Reply implements [port.Model]. An error of the model fails the response and not the
// conversation.
func (m *mind) Reply(ctx context.Context, req port.Request, emit func(port.Delta) error) error {
	c := m.c
	if req.Form != nil {
		return m.understand(ctx, req, emit)
	}
	in := projection.ModelAsked{Turn: req.Turn, Instructions: req.Instructions, Tools: toolNames(req.Tools)}
	for _, said := range req.Messages {
		in.History = append(in.History, projection.Message(said))
	}
	q := c.step(ctx, in)
	if q == nil {
		<-ctx.Done() // the turn is over, and ctx is about to end
		return ctx.Err()
	}
	var err error
	if again := c.again(q, &req); again != "" {
		err = emit(port.Delta{Text: again})
	} else {
		err = m.ask(ctx, q, req.Tools, emit)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.step(ctx, projection.ModelAnswered{Response: q.Response, Failure: failure(err)})
	return nil
}

// ask asks the configured model. Calls of the client's tools go to the client.
func (m *mind) ask(ctx context.Context, q *projection.Question, tools []port.ToolSpec, emit func(port.Delta) error) error {
	own := toolNames(tools)
	return m.c.answer(ctx, q, tools, func(d port.Delta) error {
		if d.Call != nil && !slices.Contains(own, d.Call.Name) {
			m.c.step(ctx, projection.ModelCalled{Response: q.Response, Call: projection.Call(*d.Call)})
			return nil
		}
		return emit(d)
	})
}

// noteSaid notes what the agent has said last, for flows without a model.
func (c *conn) noteSaid(st *conv.State) {
	if c.parts.Model != nil || c.parts.Conv.Agent == nil {
		return
	}
	var parts []string
	turn := 0
	for i := len(st.History) - 1; i >= 0; i-- {
		it := &st.History[i]
		if it.Role != conv.RoleAgent || it.Full == "" {
			continue
		}
		if turn != 0 && it.Turn != turn {
			break
		}
		turn, parts = it.Turn, append(parts, strings.TrimSpace(it.Full))
	}
	slices.Reverse(parts)
	c.mu.Lock()
	c.said = strings.Join(parts, " ")
	c.mu.Unlock()
}

// again returns what the agent said last if its flows, without a model, are asked for a
// response although nothing new was said to them: that is the question that they wait for an
// answer to. Otherwise it returns an empty string.
func (c *conn) again(q *projection.Question, req *port.Request) string {
	if n := len(req.Messages); c.openErr != nil || !q.Allowed || q.OwnInput || n > 0 && req.Messages[n-1].Role == "user" {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said
}

// understand passes on a request that a flow makes to understand the person.
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

// errLimit ends an answer that has reached its token limit.
var errLimit = errors.New("the response has reached its token limit")

// answer asks the configured model. own are the tools of this server.
func (c *conn) answer(ctx context.Context, q *projection.Question, own []port.ToolSpec, emit func(port.Delta) error) error {
	switch {
	case !q.Allowed:
		return &port.Failure{Code: wire.CodeRateLimit, Message: "Rate limit reached for this connection. See rate_limits.updated."}
	case c.openErr != nil:
		return &port.Failure{Code: wire.CodeModelNotFound, Message: "The model '" + q.Model + "' does not exist or you do not have access to it."}
	case c.parts.Model == nil:
		return &port.Failure{Code: wire.CodeModelNotFound, Message: "No language model is configured on this server."}
	}
	spent := 0
	err := c.parts.Model.Reply(ctx, request(q, own), func(d port.Delta) error {
		if room := (q.Limit - spent) * 4; q.Limit > 0 && len(d.Text) > room {
			c.step(ctx, projection.ModelSpent{Response: q.Response, Tokens: q.Limit - spent, Limited: true})
			if d.Text = strings.ToValidUTF8(d.Text[:room], ""); d.Text != "" {
				if err := emit(port.Delta{Text: d.Text}); err != nil {
					return err
				}
			}
			return errLimit
		}
		n := projection.Tokens(d.Text)
		spent += n
		c.step(ctx, projection.ModelSpent{Response: q.Response, Tokens: n})
		return emit(d)
	})
	if errors.Is(err, errLimit) {
		return nil
	}
	return err
}

// request converts a question to a request of the model's port.
func request(q *projection.Question, own []port.ToolSpec) port.Request {
	req := port.Request{Instructions: q.Instructions, ToolChoice: q.ToolChoice, Tools: slices.Clip(own)}
	for _, m := range q.Messages {
		req.Messages = append(req.Messages, port.Message(m))
	}
	for _, t := range q.Tools {
		req.Tools = append(req.Tools, port.ToolSpec{Name: t.Name, Description: t.Description, Schema: t.Parameters})
	}
	return req
}

// failure converts an error to a failure with a class. It returns nil for nil.
func failure(err error) *projection.Failure {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*port.Failure](err); ok {
		return &projection.Failure{Code: f.Code, Message: f.Message}
	}
	return &projection.Failure{Code: errclass.Unknown, Message: err.Error()}
}

// voice is the synthesizer of a session. It speaks at the client's speed, and not at
// all during a response in text.
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
	speed, silent := v.c.p.Voice()
	v.c.mu.Unlock()
	if speed != 1 {
		u.Rate = speed
	}
	switch {
	case silent:
		return ctx.Err()
	case v.inner == nil:
		return errNoVoice
	}
	return v.inner.Speak(ctx, u, emit)
}

// answerBeside makes a response beside the conversation.
func (c *conn) answerBeside(ctx context.Context, do projection.AnswerBeside) {
	id := do.Question.Response
	var text strings.Builder
	err := c.answer(ctx, &do.Question, nil, func(d port.Delta) error {
		text.WriteString(d.Text)
		c.step(ctx, projection.BesideSaid{Response: id, Text: d.Text})
		if d.Call != nil {
			c.step(ctx, projection.ModelCalled{Response: id, Call: projection.Call(*d.Call)})
		}
		return ctx.Err()
	})
	if err == nil && do.Audio && text.Len() > 0 {
		err = c.speakBeside(ctx, id, port.Utterance{
			Text: text.String(), Voice: c.parts.Voice, Language: c.parts.Conv.Language, Rate: do.Speed,
		})
	}
	c.step(ctx, projection.BesideEnded{Response: id, Failure: failure(err), Cut: ctx.Err() != nil})
}

// speakBeside synthesizes the answer of a response beside the conversation. The sound
// is sent as fast as it is produced.
func (c *conn) speakBeside(ctx context.Context, response string, u port.Utterance) error {
	if c.parts.Synthesizer == nil {
		return errNoVoice
	}
	to, err := audio.NewResampler(audio.ResamplerOptions{From: c.parts.Synthesizer.Rate(), To: legRate})
	if err != nil {
		return err
	}
	err = c.parts.Synthesizer.Speak(ctx, u, func(s port.Speech) error {
		c.step(ctx, projection.BesideSpoken{Response: response, PCM: to.Append(nil, s.PCM)})
		return ctx.Err()
	})
	if err == nil {
		c.step(ctx, projection.BesideSpoken{Response: response, PCM: to.Flush(nil)})
	}
	return err
}
