package session

import (
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
)

// codeInterrupted is the code of a call whose process has died.
const codeInterrupted = "INTERRUPTED"

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
		case call.Adopted:
			s.tools.follow(call.ID, call.Key)
			continue
		case call.Long && s.o.Delegation.Tasks != nil:
			s.tools.delegate(call.ID, asked(call)) // it is the same task
			continue
		}
		if err := s.toolbox.unsafe(call); err != nil {
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
// whether it was done; nil for one that may.
func (b toolbox) unsafe(call conv.Call) error {
	tool := b.model
	if call.Action {
		tool = b.flows
	}
	if spec, ok := specOf(tool, call.Name); !ok || !spec.Irreversible {
		return nil // one that is not there fails by itself
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
