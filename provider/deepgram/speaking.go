package deepgram

import (
	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// speaking is the protocol of a connection to the synthesizer. Its messages name no text: they
// are about the text that was sent last, which is the only one.
type speaking struct {
	fail    func(class, text string) *port.Failure
	id      string // of the text; empty if there is none
	parts   int    // of the text, that were not spoken
	heard   bool   // there was sound of it
	cleared bool   // it was cancelled
	owed    int    // parts of cancelled texts that may yet be reported as spoken
}

// maxText is the length of the text of a message in characters.
const maxText = 2000

// The control messages.
const (
	flushMessage = `{"type":"Flush"}`
	clearMessage = `{"type":"Clear"}`
)

// Open implements [hosted.Speaking].
func (s *speaking) Open() []socket.Message { return nil }

// Speak implements [hosted.Speaking].
func (s *speaking) Speak(id string, u port.Utterance) []socket.Message {
	var messages []socket.Message
	s.id, s.parts, s.heard, s.cleared = id, 0, false, false
	for _, part := range hosted.Split(u.Text, maxText) {
		s.parts++
		messages = append(messages, hosted.JSON(struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{"Speak", part}), socket.Text(flushMessage))
	}
	return messages
}

// Cancel implements [hosted.Speaking]. The service answers.
func (s *speaking) Cancel(string) ([]socket.Message, bool) {
	s.cleared = true
	return []socket.Message{socket.Text(clearMessage)}, true
}

// Keepalive implements [hosted.Speaking].
func (s *speaking) Keepalive() []socket.Message { return nil }

// Receive implements [hosted.Speaking].
func (s *speaking) Receive(m socket.Message) ([]hosted.Sound, error) {
	if m.Binary {
		if s.id == "" {
			return nil, nil // late
		}
		s.heard, s.owed = true, 0
		return []hosted.Sound{{ID: s.id, PCM: m.Data}}, nil
	}
	var r report
	if err := hosted.Decode(m, &r, s.fail); err != nil {
		return nil, err
	}
	switch r.Type {
	case "Flushed":
		return s.flushed(), nil
	case "Cleared":
		if !s.cleared {
			return nil, nil
		}
		s.owed += s.parts
		return s.done(nil), nil
	case "Warning":
		if s.heard || s.cleared {
			return nil, nil
		}
		// The text, or the request for its sound, was not taken.
		return s.done(s.fail(errclass.RateLimit, "the server warns "+r.Code+": "+r.Description)), nil
	case "Error":
		return nil, r.failure(s.fail)
	default:
		return nil, nil // there are others, such as Metadata
	}
}

// flushed handles the end of the sound of a part.
func (s *speaking) flushed() []hosted.Sound {
	switch {
	case !s.heard && s.owed > 0:
		s.owed-- // late: there is no part without sound
		return nil
	case s.id == "":
		return nil
	}
	if s.parts--; s.parts > 0 || s.cleared {
		return nil // a cancelled text ends with the answer to that
	}
	return s.done(nil)
}

// done ends the text.
func (s *speaking) done(err error) []hosted.Sound {
	if s.id == "" {
		return nil
	}
	sound := hosted.Sound{ID: s.id, Done: true}
	if err != nil {
		sound.Err = err
	}
	s.id, s.parts = "", 0
	return []hosted.Sound{sound}
}
