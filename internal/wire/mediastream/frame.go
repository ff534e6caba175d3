package mediastream

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Kind is what a frame from the carrier says.
type Kind uint8

// The kinds of frames.
const (
	Other     Kind = iota // nothing that matters here
	Connected             // the first frame of most carriers; nothing is known yet
	Begin                 // the stream begins
	Media                 // sound of the person
	Key                   // a key of the telephone was pressed
	Mark                  // what was sent before a mark was played, or dropped
	Cleared               // the carrier has dropped the sound that it had not played
	Failed                // the carrier refuses a frame
	End                   // the stream ends: the call has ended or goes on without it
)

// Frame is a decoded frame. Payload and Token are valid until the next call of Decode.
type Frame struct {
	Kind    Kind
	Start   Start  // of Begin
	Payload []byte // sound of the person, of Media
	Chunk   uint64 // the number of the payload, counted from 1, or 0
	Key     byte   // one of 0-9, *, #, A-D
	Mark    string // the name of a mark
	Text    string // of Failed: the carrier's words. Of Connected: the stream's token, if the carrier repeats it
}

// Start describes the stream that begins. What a carrier does not tell is empty.
type Start struct {
	Stream, Call, Account string
	From, To              string // numbers in the form of E.164
	Format                Format // of the person's sound
	Parameters            map[string]string
}

// maxText limits the texts of a frame that are kept.
const maxText = 512

// ErrFrame is wrapped by the errors of [Decoder.Decode].
var ErrFrame = errors.New("invalid frame")

// Decoder decodes the frames of one stream. It must be used by one goroutine at a time.
type Decoder struct {
	dialect *Dialect
	format  Format
	payload []byte
}

// NewDecoder returns a decoder of a carrier's frames.
func NewDecoder(d *Dialect) *Decoder { return &Decoder{dialect: d, format: d.format} }

// Decode decodes a text message. It decodes frames with sound without allocating.
func (d *Decoder) Decode(data []byte) (Frame, error) {
	var event, media []byte
	o := openObject(data)
	for o.next() {
		switch string(o.name) {
		case "event":
			event = inner(o.value)
		case "media":
			media = o.value
		}
	}
	if o.bad {
		return Frame{}, fmt.Errorf("%w: expected a JSON object", ErrFrame)
	}
	if string(event) == "media" && media != nil {
		return d.media(media)
	}
	return d.decode(data)
}

// media decodes the sound of a frame. Sound that the carrier has sent itself is [Other].
func (d *Decoder) media(data []byte) (Frame, error) {
	f := Frame{Kind: Media}
	var payload []byte
	o := openObject(data)
	for o.next() {
		switch string(o.name) {
		case "track":
			if strings.HasPrefix(string(inner(o.value)), "outbound") {
				f.Kind = Other
			}
		case "chunk":
			f.Chunk = number(inner(o.value))
		case "payload":
			payload = inner(o.value)
		}
	}
	if o.bad || payload == nil {
		return Frame{}, fmt.Errorf("%w: media: expected an object with a payload", ErrFrame)
	}
	if f.Kind == Other {
		return f, nil
	}
	if bytes.IndexByte(payload, '\\') >= 0 { // some carriers escape the slash
		payload = bytes.ReplaceAll(payload, []byte(`\/`), []byte("/"))
	}
	d.payload = append(d.payload[:0], make([]byte, base64.StdEncoding.DecodedLen(len(payload)))...)
	n, err := base64.StdEncoding.Decode(d.payload, payload)
	if err != nil {
		return Frame{}, fmt.Errorf("%w: media.payload: expected base64", ErrFrame)
	}
	f.Payload = d.payload[:n]
	return f, nil
}

// number returns a number of digits, or 0.
func number(digits []byte) (n uint64) {
	if len(digits) > 18 {
		return 0
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0
		}
		n = 10*n + uint64(c-'0')
	}
	return n
}

// message contains the members of all carriers' other frames.
type message struct {
	Event       string
	StreamSid   string `json:"streamSid"`
	StreamID    string `json:"stream_id"`
	StreamSID   string `json:"stream_sid"`
	StreamIDs   string `json:"streamId"`
	Token       string `json:"x-telnyx-streaming-auth-token"`
	ContentType string `json:"content-type"`
	Digit       string
	Name        string
	Start       *start
	DTMF        struct{ Digit string } `json:"dtmf"`
	Mark        struct{ Name string }
	Payload     struct{ Title, Detail, Mark string }
}

// start contains the members of all carriers' first frames.
type start struct {
	StreamSid     string `json:"streamSid"`
	StreamSID     string `json:"stream_sid"`
	StreamID      string `json:"streamId"`
	CallSid       string `json:"callSid"`
	CallSID       string `json:"call_sid"`
	CallID        string `json:"callId"`
	CallControlID string `json:"call_control_id"`
	AccountSid    string `json:"accountSid"`
	AccountSID    string `json:"account_sid"`
	AccountID     string `json:"accountId"`
	UserID        string `json:"user_id"`
	From, To      string
	MediaFormat   *format           `json:"mediaFormat"`
	MediaFormat2  *format           `json:"media_format"`
	Parameters    map[string]string `json:"customParameters"`
	Parameters2   map[string]string `json:"custom_parameters"`
}

// format is a carrier's description of the sound. Rates are numbers or strings.
type format struct {
	Encoding    string
	SampleRate  json.RawMessage `json:"sampleRate"`
	SampleRate2 json.RawMessage `json:"sample_rate"`
}

// decode decodes all frames without sound.
func (d *Decoder) decode(data []byte) (Frame, error) {
	var m message
	if err := json.Unmarshal(data, &m); err != nil {
		return Frame{}, fmt.Errorf("%w: %s", ErrFrame, reason(err))
	}
	switch m.Event {
	case "connected":
		return Frame{Kind: Connected, Text: short(m.Token)}, nil
	case "start":
		if m.Start == nil {
			return Frame{}, fmt.Errorf("%w: start: expected an object", ErrFrame)
		}
		return d.begin(&m)
	case "websocket:connected":
		f, err := d.contentType(m.ContentType)
		return Frame{Kind: Begin, Start: Start{Format: f}}, err
	case "dtmf", "websocket:dtmf":
		return key(first(m.DTMF.Digit, m.Digit))
	case "mark", "playedStream", "websocket:notify":
		if m.Event != d.dialect.played {
			return Frame{}, nil
		}
		return Frame{Kind: Mark, Mark: short(first(m.Mark.Name, m.Name, m.Payload.Mark))}, nil
	case "clearedAudio", "websocket:cleared":
		return Frame{Kind: Cleared}, nil
	case "error":
		return Frame{Kind: Failed, Text: short(strings.TrimSpace(m.Payload.Title + " " + m.Payload.Detail))}, nil
	case "stop":
		return Frame{Kind: End}, nil
	case "media":
		return Frame{}, fmt.Errorf("%w: media: expected an object with a payload", ErrFrame)
	}
	return Frame{}, nil
}

// begin decodes the frame with which a stream begins.
func (d *Decoder) begin(m *message) (Frame, error) {
	s := m.Start
	f := Frame{Kind: Begin, Start: Start{
		Stream:  short(first(m.StreamSid, m.StreamID, m.StreamSID, m.StreamIDs, s.StreamSid, s.StreamSID, s.StreamID)),
		Call:    short(first(s.CallSid, s.CallControlID, s.CallSID, s.CallID)),
		Account: short(first(s.AccountSid, s.AccountSID, s.AccountID, s.UserID)),
		From:    short(s.From), To: short(s.To), Format: d.format, Parameters: s.Parameters,
	}}
	if f.Start.Parameters == nil {
		f.Start.Parameters = s.Parameters2
	}
	if d.dialect.stream != "" && f.Start.Stream == "" {
		return Frame{}, fmt.Errorf("%w: start: expected the name of the stream", ErrFrame)
	}
	described := s.MediaFormat
	if described == nil {
		described = s.MediaFormat2
	}
	if described != nil {
		rate := d.format.Rate
		if raw := first(string(described.SampleRate), string(described.SampleRate2)); raw != "" {
			rate = int(number([]byte(strings.Trim(raw, `"`))))
		}
		var err error
		if f.Start.Format, err = d.named(described.Encoding, rate); err != nil {
			return Frame{}, err
		}
	}
	d.format = f.Start.Format
	return f, nil
}

// named returns the format that a carrier calls by a name.
func (d *Decoder) named(name string, rate int) (Format, error) {
	f := Format{Rate: rate}
	switch strings.ToLower(strings.TrimPrefix(strings.ToLower(name), "audio/")) {
	case "":
		return d.format, nil
	case "x-mulaw", "mulaw", "pcmu":
		f.Encoding = MuLaw
	case "x-alaw", "alaw", "pcma":
		f.Encoding = ALaw
	case "g722":
		f = Format{Encoding: G722, Rate: 16000} // 8000 is the clock of its packets
	case "l16", "x-l16", "x-raw", "raw", "slin", "linear16":
		f.Encoding = d.dialect.linear
	default:
		return f, fmt.Errorf("%w: the sound is %q: expected PCMU, PCMA, G722 or L16", ErrFrame, short(name))
	}
	if err := f.check(); err != nil {
		return f, fmt.Errorf("%w: %w", ErrFrame, err)
	}
	return f, nil
}

// contentType decodes a type such as audio/l16;rate=16000.
func (d *Decoder) contentType(s string) (Format, error) {
	name, parameters, _ := strings.Cut(s, ";")
	rate := d.format.Rate
	if _, digits, ok := strings.Cut(parameters, "rate="); ok {
		n, err := strconv.Atoi(digits)
		if err != nil {
			return Format{}, fmt.Errorf("%w: content-type is %q: expected a rate", ErrFrame, short(s))
		}
		rate = n
	}
	f, err := d.named(name, rate)
	if err == nil {
		d.format = f
	}
	return f, err
}

const keys = "0123456789*#ABCD"

// key checks a pressed key.
func key(digit string) (Frame, error) {
	if len(digit) != 1 || strings.IndexByte(keys, digit[0]) < 0 {
		return Frame{}, fmt.Errorf("%w: dtmf.digit is %q: expected one of 0-9, *, #, A-D", ErrFrame, short(digit))
	}
	return Frame{Kind: Key, Key: digit[0]}, nil
}

// first returns the first text that is not empty.
func first(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

// short limits a text.
func short(s string) string {
	if len(s) > maxText {
		return strings.ToValidUTF8(s[:maxText], "")
	}
	return s
}

// reason returns why a frame cannot be decoded, in words.
func reason(err error) string {
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return fmt.Sprintf("%s is a %s: expected %s", wrong.Field, wrong.Value, wrong.Type)
	}
	return "expected JSON"
}
