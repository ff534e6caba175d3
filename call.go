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

// Call is one conversation. Agent and Leg are required.
type Call struct {
	Agent *Agent
	Leg   port.Leg // the connection to the person

	Recognizer  port.Recognizer  // nil: speech is not recognized
	Synthesizer port.Synthesizer // nil: the agent has no voice, and each attempt to speak is a fault
	Detector    port.Detector    // nil: speech is detected by energy alone
	// Text makes a conversation by text ([session.Machine.SendText]), which uses
	// none of the three fields above.
	Text bool

	// Said, if not nil, is called with each finished turn and its words. It runs on
	// the conversation's goroutine and must not block.
	Said func(session.Spoken)
	// Trace, if not nil, receives a trace for "hocket replay". The trace contains
	// what was said.
	Trace io.Writer
}

// Run holds the conversation in real time. It returns when the conversation is
// over, the person hangs up or ctx ends; by then all its goroutines have ended.
func (c Call) Run(ctx context.Context) error {
	s, err := c.Session()
	if err != nil {
		return err
	}
	return s.Run(ctx)
}

// RunVirtual is like [Call.Run] in virtual time, which begins at start and advances
// as fast as the frames of the leg are read. The leg must not wait for a clock;
// those of leg/file do not.
func (c Call) RunVirtual(ctx context.Context, start time.Time) error {
	s, err := c.Session()
	if err != nil {
		return err
	}
	return s.RunVirtual(ctx, start)
}

// Session prepares the conversation without running it, for a program that observes
// or controls it; [session.Session.Run] runs it. Session returns an error if the
// agent is incomplete, for example if a tool is missing.
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

// Options returns the options of the conversation, for a program that creates the
// session itself. They do not include [Call.Said]. Leg may be nil.
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

// Chat prepares a conversation by text that runs step by step: [session.Text.Start]
// begins it, and each line is answered before the next one is accepted.
func (a *Agent) Chat() (*session.Text, error) {
	o, err := Call{Agent: a, Text: true}.Options()
	if err != nil {
		return nil, err
	}
	return session.NewText(session.TextOptions{
		Conv: o.Conv, Tools: o.Tools, ModelTools: o.ModelTools, Model: o.Model, Instructions: o.Instructions, Location: o.Location, Wait: wait.For,
	})
}
