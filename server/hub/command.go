package hub

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/session"
)

// maxText bounds a typed line, in bytes.
const maxText = 8 << 10

// Command is what a person wants of a conversation (seed 000, PAT-003).
type Command struct {
	Type    string `json:"type"`
	Text    string `json:"text,omitempty"`    // send_text: the line
	Pressed *bool  `json:"pressed,omitempty"` // push_to_talk: the button
	Reason  string `json:"reason,omitempty"`  // endConversation, suspend
	// ID is that of the delegated work which cancel calls off; empty: all that the
	// conversation waits for.
	ID string `json:"id,omitempty"`
}

// CommandTypes are the commands there are.
func CommandTypes() []string {
	return []string{
		"startConversation", "endConversation", "interrupt", "suspend", "resume", "cancel", "recover", "send_text", "push_to_talk",
	}
}

// ErrCommand is among the causes of an error about a command that makes no
// sense.
var ErrCommand = errors.New("bad command")

func badCommand(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrCommand, fmt.Errorf(format, args...))
}

// Command carries a command out. It fails with [ErrCommand] for one that makes
// no sense, with a [*session.ActiveError] for a second start, and with
// [session.ErrEnded] behind the end.
func (c *Conversation) Command(m Command) error {
	c.Return()
	s := c.session.Load()
	if s == nil {
		return session.ErrEnded
	}
	switch m.Type {
	case "startConversation":
		if s.State().Phase == conv.Faulted {
			return s.Post(conv.UserStart{})
		}
		return s.StartConversation()
	case "endConversation":
		return s.EndConversation(m.Reason)
	case "interrupt":
		return s.HandleUserInterrupt("command")
	case "suspend":
		return s.Suspend(m.Reason)
	case "resume":
		return s.Resume()
	case "cancel":
		return callOff(s, m.ID)
	case "recover":
		return s.Recover()
	case "send_text":
		return sendText(s, m.Text)
	case "push_to_talk":
		if m.Pressed == nil {
			return badCommand("push_to_talk has no field pressed: expected true or false")
		}
		if *m.Pressed {
			return s.Post(conv.SpeechStarted{Source: conv.SourcePushToTalk})
		}
		return s.Post(conv.SpeechStopped{Source: conv.SourcePushToTalk})
	default:
		return badCommand("type is %q: expected one of %s", m.Type, strings.Join(CommandTypes(), ", "))
	}
}

// callOff calls off one delegated call, or with no id what is waited for.
func callOff(s *session.Session, id string) error {
	if id == "" {
		return s.Cancel()
	}
	err := s.CancelTask(id)
	if errors.Is(err, session.ErrNoTask) {
		return badCommand("id is %q: %w", id, err)
	}
	return err
}

func sendText(s *session.Session, text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return badCommand("send_text has no text")
	case len(text) > maxText:
		return badCommand("text has %d bytes: expected at most %d", len(text), maxText)
	case !utf8.ValidString(text):
		return badCommand("text is no UTF-8")
	}
	return s.SendText(text)
}
