package soniox

import (
	"cmp"
	"time"

	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
)

// speaking is the protocol of a connection to the synthesizer.
type speaking struct {
	o     Options
	fail  func(class, text string) *port.Failure
	spell hosted.Speller // by stream
}

// voiceConfig is the first message of a stream.
type voiceConfig struct {
	Stream      string  `json:"stream_id"`
	Model       string  `json:"model"`
	Language    string  `json:"language"`
	Voice       string  `json:"voice"`
	AudioFormat string  `json:"audio_format"`
	SampleRate  int     `json:"sample_rate"`
	Timestamps  bool    `json:"return_timestamps"`
	Speed       float64 `json:"speed,omitempty"`
}

// textMessage is a piece of a text.
type textMessage struct {
	Stream string `json:"stream_id"`
	Text   string `json:"text"`
	End    bool   `json:"text_end"`
}

// maxText is the length of the text of a message in characters.
const maxText = 5000

// Open implements [hosted.Speaking].
func (s *speaking) Open() []socket.Message { return nil }

// Speak implements [hosted.Speaking].
func (s *speaking) Speak(id string, u port.Utterance) []socket.Message {
	c := voiceConfig{
		Stream: id, Model: s.o.Model, Language: hosted.Primary(u.Language), Voice: cmp.Or(u.Voice, s.o.Voice),
		AudioFormat: "pcm_s16le", SampleRate: s.o.Rate, Timestamps: true,
		Speed: hosted.Pace(u.Rate, 0.7, 1.3),
	}
	messages := []socket.Message{hosted.JSON(c)}
	for _, part := range hosted.Split(u.Text, maxText) {
		messages = append(messages, hosted.JSON(textMessage{Stream: id, Text: part}))
	}
	return append(messages, hosted.JSON(textMessage{Stream: id, End: true}))
}

// Cancel implements [hosted.Speaking]. The service ends the stream with a last message.
func (s *speaking) Cancel(id string) ([]socket.Message, bool) {
	return []socket.Message{hosted.JSON(struct {
		Stream string `json:"stream_id"`
		Cancel bool   `json:"cancel"`
	}{id, true})}, true
}

// Keepalive implements [hosted.Speaking].
func (s *speaking) Keepalive() []socket.Message {
	return []socket.Message{socket.Text(`{"keep_alive":true}`)}
}

// event is a message of the service.
type event struct {
	Stream     string    `json:"stream_id"`
	Audio      string    `json:"audio"`
	Terminated bool      `json:"terminated"`
	Code       errorCode `json:"error_code"`
	Message    string    `json:"error_message"`
	Timestamps struct {
		Characters []string  `json:"characters"`
		Starts     []float64 `json:"character_start_times_seconds"`
	} `json:"timestamps"`
}

// Receive implements [hosted.Speaking].
func (s *speaking) Receive(m socket.Message) ([]hosted.Sound, error) {
	var e event
	if err := hosted.Decode(m, &e, s.fail); err != nil {
		return nil, err
	}
	sound := hosted.Sound{ID: e.Stream, Done: e.Terminated}
	if e.Code != "" || e.Message != "" {
		err := e.Code.reported(e.Message, s.fail)
		if e.Stream == "" {
			return nil, err
		}
		sound.Err = err
	}
	var err error
	if sound.PCM, err = hosted.Base64(e.Audio, s.fail); err != nil {
		return nil, err
	}
	sound.Words = s.words(e)
	return []hosted.Sound{sound}, nil
}

// words returns the words whose beginnings a message tells.
func (s *speaking) words(e event) []hosted.Spoken {
	starts := make([]time.Duration, len(e.Timestamps.Starts))
	for i, at := range e.Timestamps.Starts {
		starts[i] = hosted.Milliseconds(at * 1000)
	}
	return s.spell.Add(e.Stream, e.Timestamps.Characters, starts, e.Terminated)
}
