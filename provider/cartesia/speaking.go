package cartesia

import (
	"cmp"

	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
)

// speaking is the protocol of a connection. A text is a context.
type speaking struct {
	o    Options
	fail func(class, text string) *port.Failure
}

// The slowest and the fastest pace.
const (
	slowest = 0.6
	fastest = 1.5
)

// generation is the request for the sound of a text.
type generation struct {
	Model      string      `json:"model_id"`
	Transcript string      `json:"transcript"`
	Voice      voice       `json:"voice"`
	Language   string      `json:"language"`
	Context    string      `json:"context_id"`
	Format     format      `json:"output_format"`
	Timestamps bool        `json:"add_timestamps"`
	Normalized bool        `json:"use_normalized_timestamps"`
	Continue   bool        `json:"continue"`
	Buffer     int         `json:"max_buffer_delay_ms"`
	Config     *generating `json:"generation_config,omitempty"`
}

type voice struct {
	Mode string `json:"mode"`
	ID   string `json:"id"`
}

type format struct {
	Container string `json:"container"`
	Encoding  string `json:"encoding"`
	Rate      int    `json:"sample_rate"`
}

type generating struct {
	Speed float64 `json:"speed"`
}

// Open implements [hosted.Speaking].
func (s *speaking) Open() []socket.Message { return nil }

// Speak implements [hosted.Speaking]. The text is whole: nothing is waited for.
func (s *speaking) Speak(id string, u port.Utterance) []socket.Message {
	g := generation{
		Model: s.o.Model, Transcript: u.Text, Voice: voice{"id", cmp.Or(u.Voice, s.o.Voice)}, Language: hosted.Primary(u.Language),
		Context: id, Format: format{"raw", "pcm_s16le", s.o.Rate}, Timestamps: true,
	}
	if pace := hosted.Pace(u.Rate, slowest, fastest); pace != 0 {
		g.Config = &generating{pace}
	}
	return []socket.Message{hosted.JSON(g)}
}

// Cancel implements [hosted.Speaking]. The service sends nothing more for the text, or what it
// has begun.
func (s *speaking) Cancel(id string) ([]socket.Message, bool) {
	return []socket.Message{hosted.JSON(struct {
		Context string `json:"context_id"`
		Cancel  bool   `json:"cancel"`
	}{id, true})}, true
}

// Keepalive implements [hosted.Speaking].
func (s *speaking) Keepalive() []socket.Message { return nil }

// event is a message of the service.
type event struct {
	report
	Type    string `json:"type"`
	Context string `json:"context_id"`
	Data    string `json:"data"`
	Words   struct {
		Words  []string  `json:"words"`
		Starts []float64 `json:"start"`
	} `json:"word_timestamps"`
}

// Receive implements [hosted.Speaking].
func (s *speaking) Receive(m socket.Message) ([]hosted.Sound, error) {
	var e event
	if err := hosted.Decode(m, &e, s.fail); err != nil {
		return nil, err
	}
	sound := hosted.Sound{ID: e.Context}
	switch e.Type {
	case "chunk":
		var err error
		if sound.PCM, err = hosted.Base64(e.Data, s.fail); err != nil {
			return nil, err
		}
	case "timestamps":
		for i, w := range e.Words.Words[:min(len(e.Words.Words), len(e.Words.Starts))] {
			sound.Words = append(sound.Words, hosted.Spoken{Word: w, Start: hosted.Milliseconds(e.Words.Starts[i] * 1000)})
		}
	case "done":
		sound.Done = true
	case "error":
		sound.Done, sound.Err = true, e.failure(s.fail)
		if e.Context == "" {
			return nil, sound.Err
		}
	default:
		return nil, nil // there are others, such as flush_done
	}
	return []hosted.Sound{sound}, nil
}
