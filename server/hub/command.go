package hub

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/session"
)

// maxText bounds the length of a typed line in bytes.
const maxText = 8 << 10

// Command is a request of the person to a conversation (seed 000, PAT-003).
type Command struct {
	Type    string `json:"type"`
	Text    string `json:"text,omitempty"`    // send_text: the line
	Pressed *bool  `json:"pressed,omitempty"` // push_to_talk: the button
	Open    *bool  `json:"open,omitempty"`    // microphone: whether the caller's page shall open it
	Reason  string `json:"reason,omitempty"`  // endConversation, suspend
	// ID identifies the delegated work that cancel stops; if empty, cancel stops
	// everything that the conversation waits for.
	ID string `json:"id,omitempty"`
}

// CommandTypes returns the types of commands.
func CommandTypes() []string {
	return []string{
		"startConversation", "endConversation", "interrupt", "suspend", "resume", "cancel", "recover", "send_text", "push_to_talk", CommandMicrophone,
	}
}

// CommandMicrophone asks the page that holds the conversation to open or close its microphone.
const CommandMicrophone = "microphone"

// ErrCommand is wrapped by errors about invalid commands.
var ErrCommand = errors.New("bad command")

func badCommand(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrCommand, fmt.Errorf(format, args...))
}

// Command carries out a command. It returns an error that wraps [ErrCommand] if the
// command is invalid, a [*session.ActiveError] for a second start, and
// [session.ErrEnded] after the end.
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
		return c.sendText(s, m.Text)
	case "push_to_talk":
		if m.Pressed == nil {
			return badCommand("push_to_talk: field pressed is missing: expected true or false")
		}
		if *m.Pressed {
			return s.Post(conv.SpeechStarted{Source: conv.SourcePushToTalk})
		}
		return s.Post(conv.SpeechStopped{Source: conv.SourcePushToTalk})
	case CommandMicrophone:
		if m.Open == nil {
			return badCommand("microphone: field open is missing: expected true or false")
		}
		c.say(time.Now(), TypeMicrophone, Microphone{*m.Open})
		return nil
	default:
		return badCommand("type is %q: expected one of %s", m.Type, strings.Join(CommandTypes(), ", "))
	}
}

// callOff cancels one delegated call, or all calls that are waited for if id is
// empty.
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

func (c *Conversation) sendText(s *session.Session, text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return badCommand("send_text: field text is missing")
	case len(text) > maxText:
		return badCommand("text has %d bytes: expected at most %d", len(text), maxText)
	case !utf8.ValidString(text):
		return badCommand("text must be valid UTF-8")
	}
	c.rest.Store(false) // it is answered before the conversation is handed over
	return s.SendText(text)
}
