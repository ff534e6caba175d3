package elevenlabs

import (
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
)

// speaking is the protocol of a connection. A text is a context.
type speaking struct {
	rate  int
	fail  func(class, text string) *port.Failure
	spell hosted.Speller   // by context
	bytes map[string]int64 // of sound, by context
}

// The slowest and the fastest pace.
const (
	slowest = 0.7
	fastest = 1.2
)

// message is a message to the service.
type message struct {
	Context  string    `json:"context_id"`
	Text     string    `json:"text,omitempty"`
	Settings *settings `json:"voice_settings,omitempty"`
	Flush    bool      `json:"flush,omitempty"`
	Close    bool      `json:"close_context,omitempty"`
}

// settings are those of a context.
type settings struct {
	Speed float64 `json:"speed"`
}

// Open implements [hosted.Speaking].
func (s *speaking) Open() []socket.Message { return nil }

// Speak implements [hosted.Speaking]. The context is closed at once: a closed context goes on
// with what was flushed, and its end is told only if it was closed.
func (s *speaking) Speak(id string, u port.Utterance) []socket.Message {
	begin := message{Context: id, Text: " "}
	if pace := hosted.Pace(u.Rate, slowest, fastest); pace != 0 {
		begin.Settings = &settings{pace}
	}
	return []socket.Message{
		hosted.JSON(begin),
		hosted.JSON(message{Context: id, Text: u.Text + " ", Flush: true}),
		hosted.JSON(message{Context: id, Close: true}),
	}
}

// Cancel implements [hosted.Speaking]. The context was closed already, and there is no other way
// to stop it: what it has to say is dropped.
func (s *speaking) Cancel(string) ([]socket.Message, bool) { return nil, true }

// Keepalive implements [hosted.Speaking].
func (s *speaking) Keepalive() []socket.Message { return []socket.Message{socket.Text(`{"text":""}`)} }

// event is a message of the service. Both spellings of its fields exist.
type event struct {
	ContextID  string    `json:"contextId"`
	Context    string    `json:"context_id"`
	Audio      string    `json:"audio"`
	Final      bool      `json:"isFinal"`
	IsFinal    bool      `json:"is_final"`
	Alignment  alignment `json:"alignment"`
	Normalized alignment `json:"normalizedAlignment"`
	Error      string    `json:"error"`
	Message    string    `json:"message"`
}

// alignment says when characters begin, counted from the beginning of the sound of the message.
type alignment struct {
	Chars  []string  `json:"chars"`
	Starts []float64 `json:"charStartTimesMs"`
}

// Receive implements [hosted.Speaking].
func (s *speaking) Receive(m socket.Message) ([]hosted.Sound, error) {
	var e event
	if err := hosted.Decode(m, &e, s.fail); err != nil {
		return nil, err
	}
	id := e.ContextID
	if id == "" {
		id = e.Context
	}
	sound := hosted.Sound{ID: id, Done: e.Final || e.IsFinal}
	if e.Error != "" || e.Message != "" {
		err := failure(e.Error, e.Message, s.fail)
		if id == "" {
			return nil, err
		}
		sound.Err, sound.Done = err, true
	}
	var err error
	if sound.PCM, err = hosted.Base64(e.Audio, s.fail); err != nil {
		return nil, err
	}
	sound.Words = s.words(id, e, sound.Done)
	if s.bytes == nil {
		s.bytes = make(map[string]int64)
	}
	if s.bytes[id] += int64(len(sound.PCM)); sound.Done {
		delete(s.bytes, id)
	}
	return []hosted.Sound{sound}, nil
}

// words returns the words whose beginnings a message tells. The text as it was sent is preferred
// to that which is spoken: "$25" to "twenty-five dollars".
func (s *speaking) words(id string, e event, last bool) []hosted.Spoken {
	a := e.Alignment
	if len(a.Chars) == 0 {
		a = e.Normalized
	}
	from := audio.Pos(s.bytes[id] / 2).Duration(s.rate)
	starts := make([]time.Duration, len(a.Starts))
	for i, at := range a.Starts {
		starts[i] = from + hosted.Milliseconds(at)
	}
	return s.spell.Add(id, a.Chars, starts, last)
}
