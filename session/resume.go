package session

import (
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
)

// codeInterrupted is the error code of a call that may not run again after its process died.
const codeInterrupted = "INTERRUPTED"

// newConversation returns a new conversation, or that of a snapshot, and its veil. It returns
// [ErrNotResumable] for a snapshot of a conversation that has ended.
func newConversation(o conv.Options, snapshot []byte) (c *conv.Conversation, v *conv.Veil, err error) {
	if snapshot == nil {
		c, err = conv.New(o)
	} else if c, err = conv.Restore(o, snapshot); err == nil && !c.Resumable() {
		err = ErrNotResumable
	}
	if err != nil {
		return nil, nil, err
	}
	v, err = conv.NewVeil(c)
	return c, v, err
}

// goOn resumes a restored conversation and runs the calls again that ran when its snapshot was
// taken. For a new conversation it only adopts tasks. It runs on the loop's goroutine.
func (s *Session) goOn(now time.Time) error {
	if s.o.Restore == nil {
		s.tools.adopt()
		return nil
	}
	defer s.tools.adopt()
	ran := running(s.conv) // before resume, which may start other calls
	if err := s.resume(now); err != nil {
		return err
	}
	for _, call := range ran {
		switch {
		case call.Adopted():
			s.tools.follow(call.ID, call.Key)
			continue
		case call.Long && s.tools.outlives(call.ID):
			s.tools.delegate(call.ID, asked(call)) // Tasks recognizes the task by its key
			continue
		}
		if err := s.toolbox.unsafe(s.conv, call); err != nil {
			if err := s.step(now, callEnded(call.ID, call.Long, "", err)); err != nil {
				return err
			}
			continue
		}
		s.tools.start(call.ID, asked(call), call.Long)
	}
	return nil
}

// running returns the running calls of the conversation.
func running(c *conv.Conversation) []conv.Call {
	var list []conv.Call
	for _, call := range c.State().Calls {
		if call.Running() {
			list = append(list, call)
		}
	}
	return list
}

// asked returns a call in the form in which tools take it. Its ID is the idempotency key.
func asked(call conv.Call) port.ToolCall {
	key := call.Key
	if key == "" {
		key = call.ID
	}
	return port.ToolCall{ID: key, Name: call.Name, Arguments: call.Arguments}
}

// unsafe returns an error if a call must not run again, because its effect may have happened
// already or because its arguments were not stored. It returns nil if the call may run.
func (b toolbox) unsafe(c *conv.Conversation, call conv.Call) error {
	tool := b.model
	if call.Action() {
		tool = b.flows
	}
	spec, ok := specOf(tool, call.Name)
	switch {
	case !ok:
		return nil // runTool reports that there is no such tool
	case spec.Irreversible, c.Options().Privacy == conv.PrivacyNone: // the arguments were not stored
	case call.Forgotten():
		return &port.Failure{Code: conv.CodeForgotten, Message: "the program was interrupted, and the secrets of " + call.Name + " were not kept"}
	default:
		return nil
	}
	return &port.Failure{Code: codeInterrupted, Message: "the program was interrupted, and it is not known whether " + call.Name + " was done"}
}

// keys returns the prefix of the idempotency keys of a conversation's calls: given, or else the
// conversation's id.
func keys(given, id string) string {
	if given == "" {
		given = id
	}
	if given == "" {
		return ""
	}
	return given + "/"
}

func (s *Session) keys() string { return keys(s.o.Keys, s.o.ID) }
