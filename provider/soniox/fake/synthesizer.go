package fake

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/internal/fakes"
)

// Synthesizer is the endpoint of the synthesizer. Its fields must be set before it serves.
// It is safe for concurrent use.
type Synthesizer struct {
	fakes.Server
	// Key is the key that clients must have.
	Key string
	// Mouth speaks.
	Mouth fakes.Mouth
	// Now returns the time of day; time.Now if nil.
	Now func() time.Time
}

const (
	voiceIdle  = 35 * time.Second // a keepalive is due after 20 to 30 s
	maxStreams = 5
	maxText    = 5000
)

// voiceMessage is any message of a client.
type voiceMessage struct {
	APIKey        string   `json:"api_key"`
	Stream        *string  `json:"stream_id"`
	Model         *string  `json:"model"`
	Language      string   `json:"language"`
	Voice         string   `json:"voice"`
	AudioFormat   string   `json:"audio_format"`
	SampleRate    *int     `json:"sample_rate"`
	Bitrate       *int     `json:"bitrate"`
	Speed         *float64 `json:"speed"`
	ReduceSilence *bool    `json:"reduce_silence"`
	Timestamps    bool     `json:"return_timestamps"`
	Text          *string  `json:"text"`
	TextEnd       bool     `json:"text_end"`
	Cancel        bool     `json:"cancel"`
	KeepAlive     bool     `json:"keep_alive"`
}

// stream is a text that is being spoken.
type stream struct {
	voiceMessage
	text  string
	ended bool
}

// ServeHTTP serves a WebSocket.
func (s *Synthesizer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	serve(&s.Server, w, r, s.Key, func(c *fakes.Conn, known bool) { //nolint:contextcheck // c has its context
		v := &speaker{s: s, c: c, known: known, late: !timeOf(s.Now).Before(keyEnds()), streams: make(map[string]*stream)}
		v.serve()
		v.texts.Stop()
	})
}

// speaker serves one connection.
type speaker struct {
	s     *Synthesizer
	c     *fakes.Conn
	known bool // the handshake had the key
	late  bool // keys are refused in messages
	texts fakes.Texts

	mu      sync.Mutex // guards streams
	streams map[string]*stream
}

func (v *speaker) serve() {
	for {
		data, binary, err := v.c.Read(voiceIdle)
		if err != nil {
			if errors.Is(err, fakes.ErrIdle) {
				v.refuse("", &refusal{http.StatusRequestTimeout, "Request timeout: no keep_alive."})
			}
			return
		}
		var m voiceMessage
		if binary || fakes.Strict(data, &m) != nil {
			v.refuse("", bad("Invalid message: %.200s", data))
			return
		}
		if m.Stream == nil {
			if !m.KeepAlive {
				v.refuse("", bad("Missing required field: stream_id"))
				return
			}
			continue
		}
		if no := v.obey(m); no != nil {
			v.refuse(*m.Stream, no)
			v.end(*m.Stream)
		}
	}
}

func (v *speaker) refuse(id string, no *refusal) {
	v.s.Break("%s", no.message)
	m := map[string]any{"error_code": no.status, "error_message": no.message}
	if id != "" {
		m["stream_id"] = id
	}
	v.c.SendJSON(m)
	if id == "" {
		v.c.Close(1000, "")
	}
}

// end ends a stream.
func (v *speaker) end(id string) {
	v.mu.Lock()
	delete(v.streams, id)
	v.mu.Unlock()
	v.texts.End(id)
	v.c.SendJSON(map[string]any{"terminated": true, "stream_id": id})
}

// obey handles a message of a stream.
func (v *speaker) obey(m voiceMessage) *refusal {
	id := *m.Stream
	v.mu.Lock()
	s, n := v.streams[id], len(v.streams)
	v.mu.Unlock()
	switch {
	case m.Cancel:
		if s != nil { // it may have ended meanwhile
			v.end(id)
		}
		return nil
	case m.Model != nil:
		if no := v.check(m, s != nil, n); no != nil {
			return no
		}
		v.mu.Lock()
		v.streams[id] = &stream{voiceMessage: m}
		v.mu.Unlock()
		return nil
	case s == nil:
		return bad("Stream %q was not started.", id)
	case m.Text == nil || len([]rune(*m.Text)) > maxText:
		return bad("text must have at most 5000 characters.")
	case s.ended:
		return bad("Stream %q has ended.", id)
	}
	s.text += *m.Text
	if s.ended = m.TextEnd; s.ended {
		v.speak(id, s)
	}
	return nil
}

// check checks the first message of a stream.
func (v *speaker) check(m voiceMessage, known bool, streams int) *refusal {
	formats := []string{"pcm_s16le", "pcm_mulaw", "pcm_alaw"}
	switch {
	case v.known && m.APIKey != "":
		return bad("The API key is in the handshake and in the message.")
	case !v.known && (v.late || m.APIKey != v.s.Key):
		return &refusal{http.StatusUnauthorized, "Incorrect API key."}
	case known:
		return bad("Stream %q exists already.", *m.Stream)
	case *m.Stream == "" || len(*m.Stream) > 256:
		return bad("stream_id must have 1 to 256 characters.")
	case streams == maxStreams:
		return &refusal{http.StatusTooManyRequests, "Too many streams on this connection."}
	case m.Language == "" || m.Voice == "":
		return bad("Missing required field: language or voice")
	case !slices.Contains(formats, m.AudioFormat):
		return bad("Invalid audio_format.")
	case m.SampleRate == nil || !slices.Contains([]int{8000, 16000, 24000, 44100, 48000}, *m.SampleRate):
		return bad("Invalid sample_rate.")
	case m.Speed != nil && (*m.Speed < 0.7 || *m.Speed > 1.3):
		return bad("speed must be between 0.7 and 1.3.")
	}
	return nil
}

// speak speaks the text of a stream.
func (v *speaker) speak(id string, s *stream) {
	v.texts.Speak(v.c.Context(), id, func(ctx context.Context) {
		err := v.s.Mouth.Speak(ctx, s.text, s.Language, *s.SampleRate, func(p fakes.Piece) error {
			m := map[string]any{"stream_id": id, "audio": base64.StdEncoding.EncodeToString(fakes.Encode(s.AudioFormat, p.PCM))}
			if s.Timestamps {
				m["timestamps"] = timestamps(p)
			}
			v.c.SendJSON(m)
			return ctx.Err()
		})
		if ctx.Err() != nil {
			return // who cancels has told the client
		}
		if err != nil {
			v.refuse(id, &refusal{http.StatusInternalServerError, err.Error()})
		} else {
			v.c.SendJSON(map[string]any{"stream_id": id, "audio": "", "audio_end": true})
		}
		v.end(id)
	})
}

// timestamps returns the characters of a piece and their times.
func timestamps(p fakes.Piece) map[string]any {
	characters, begin, end := p.Characters()
	starts, ends := []float64{}, []float64{}
	for i := range characters {
		starts, ends = append(starts, begin[i].Seconds()), append(ends, end[i].Seconds())
	}
	return map[string]any{"characters": characters, "character_start_times_seconds": starts, "character_end_times_seconds": ends}
}
