package session

import (
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
)

// codeInterrupted is the code of a call whose process has died.
const codeInterrupted = "INTERRUPTED"

// newConversation makes a conversation, or the one of a snapshot, and its veil. One that
// has ended cannot go on.
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

// goOn resumes a conversation that was restored, and runs again what ran when its
// snapshot was taken. A new conversation is none of its business. It runs on the
// loop's goroutine.
func (s *Session) goOn(now time.Time) error {
	if s.o.Restore == nil {
		s.tools.adopt()
		return nil
	}
	defer s.tools.adopt()
	ran := running(s.conv) // before: what is said again may start others
	if err := s.resume(now); err != nil {
		return err
	}
	for _, call := range ran {
		switch {
		case call.Adopted():
			s.tools.follow(call.ID, call.Key)
			continue
		case call.Long && s.tools.outlives(call.ID):
			s.tools.delegate(call.ID, asked(call)) // it is the same task
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

// running are the calls that the conversation waits for.
func running(c *conv.Conversation) []conv.Call {
	var list []conv.Call
	for _, call := range c.State().Calls {
		if call.State == conv.CallRunning {
			list = append(list, call)
		}
	}
	return list
}

// asked is a call as it is run, with its key.
func asked(call conv.Call) port.ToolCall {
	key := call.Key
	if key == "" {
		key = call.ID
	}
	return port.ToolCall{ID: key, Name: call.Name, Arguments: call.Arguments}
}

// unsafe is the failure of a call that must not run again, because nobody knows
// whether it was done, or with what it was called; nil for one that may.
func (b toolbox) unsafe(c *conv.Conversation, call conv.Call) error {
	tool := b.model
	if call.Action() {
		tool = b.flows
	}
	spec, ok := specOf(tool, call.Name)
	switch {
	case !ok:
		return nil // it fails by itself
	case spec.Irreversible, c.Options().Privacy == conv.PrivacyNone: // its arguments were not kept
	case call.Forgotten():
		return &port.Failure{Code: conv.CodeForgotten, Message: "the program was interrupted, and the secrets of " + call.Name + " were not kept"}
	default:
		return nil
	}
	return &port.Failure{Code: codeInterrupted, Message: "the program was interrupted, and it is not known whether " + call.Name + " was done"}
}

// keys go before the idempotency keys of a conversation's calls.
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
