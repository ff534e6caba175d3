package hocket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/leg/text"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

// Call is one conversation. Agent and Leg are needed.
type Call struct {
	Agent *Agent
	Leg   port.Leg // the connection to the person

	Recognizer  port.Recognizer  // nil: nothing that is spoken is understood
	Synthesizer port.Synthesizer // nil: the agent has no voice; each attempt is a fault
	Detector    port.Detector    // nil: speech is found by energy alone
	// Text: the person reads and types ([session.Machine.SendText]), and neither of the
	// three above is used.
	Text bool

	// Said, if set, is told of each turn that has ended, with its words. It runs on the
	// conversation's own goroutine and must not block.
	Said func(session.Spoken)
	// Trace, if set, takes a trace, for hocket replay. It holds what was said.
	Trace io.Writer
}

// Run holds the conversation in real time. It returns when the conversation is over,
// when the person hangs up or when ctx ends; nothing of it runs any more then.
func (c Call) Run(ctx context.Context) error {
	s, err := c.Session()
	if err != nil {
		return err
	}
	return s.Run(ctx)
}

// RunVirtual is [Call.Run] in virtual time, which begins at start and passes as fast as
// the frames of the leg are read. The leg must not wait for a clock, as those of leg/file
// do not.
func (c Call) RunVirtual(ctx context.Context, start time.Time) error {
	s, err := c.Session()
	if err != nil {
		return err
	}
	return s.RunVirtual(ctx, start)
}

// Session prepares the conversation without holding it, for a program that observes or
// steers it; [session.Session.Run] holds it. It fails where the agent lacks something,
// a tool for example.
func (c Call) Session() (*session.Session, error) {
	o, err := c.Options()
	if err != nil {
		return nil, err
	}
	s, err := session.New(o)
	if err != nil {
		return nil, err
	}
	if c.Said != nil {
		s.OnSpoken(c.Said)
	}
	return s, nil
}

// Options are the parts of the conversation, for a program that makes the session
// itself; [Call.Said] is not among them. The leg may be missing still.
func (c Call) Options() (session.Options, error) {
	if c.Agent == nil {
		return session.Options{}, errors.New("call: Agent must be set")
	}
	o, err := c.Agent.session(c.Detector)
	if err != nil {
		return session.Options{}, fmt.Errorf("call: %w", err)
	}
	o.Leg, o.Trace = c.Leg, c.Trace
	o.Recognizer, o.Synthesizer, o.Detector = c.Recognizer, c.Synthesizer, c.Detector
	if c.Text {
		o = text.Session(o)
	}
	if c.Agent.Configure != nil {
		c.Agent.Configure(&o)
	}
	return o, nil
}

// Chat prepares a conversation by text in step: [session.Text.Start] begins it, and each
// line is answered before the next one is taken.
func (a *Agent) Chat() (*session.Text, error) {
	o, err := Call{Agent: a, Text: true}.Options()
	if err != nil {
		return nil, err
	}
	return session.NewText(session.TextOptions{
		Conv: o.Conv, Tools: o.Tools, ModelTools: o.ModelTools, Model: o.Model, Instructions: o.Instructions, Wait: wait.For,
	})
}
