package mediastream

import (
	"encoding/base64"
	"encoding/json"
)

// Encoder encodes the frames for the carrier. It is safe for concurrent use.
type Encoder struct {
	dialect           *Dialect
	head, mark, clear string // what surrounds the payload and the name of a mark, and a whole frame
	tail              string
}

// NewEncoder returns an encoder of frames for a stream with sound of a format.
func NewEncoder(d *Dialect, stream string, f Format) *Encoder {
	e := &Encoder{dialect: d, tail: `"}}`}
	of := ""
	if d.stream != "" {
		of = `,"` + d.stream + `":` + quoted(stream)
	}
	switch d {
	case Vonage:
		e.mark, e.clear = `{"action":"notify","payload":{"mark":"`, `{"action":"clear"}`
	case Plivo:
		contentType := map[Encoding]string{MuLaw: "audio/x-mulaw", ALaw: "audio/x-alaw"}[f.Encoding]
		if contentType == "" {
			contentType = "audio/x-l16"
		}
		rate, _ := json.Marshal(f.Rate)
		e.head = `{"event":"playAudio"` + of + `,"media":{"contentType":"` + contentType + `","sampleRate":` + string(rate) + `,"payload":"`
		e.mark, e.clear = `{"event":"checkpoint"`+of+`,"name":"`, `{"event":"clearAudio"`+of+`}`
		return e
	default:
		e.head = `{"event":"media"` + of + `,"media":{"payload":"`
		e.mark, e.clear = `{"event":"mark"`+of+`,"mark":{"name":"`, `{"event":"clear"`+of+`}`
	}
	return e
}

// AppendMedia appends a frame of sound. It allocates nothing if dst has room. Carriers that
// take binary messages get the payload as it is.
func (e *Encoder) AppendMedia(dst, payload []byte) []byte {
	if e.dialect.Binary {
		return append(dst, payload...)
	}
	dst = append(dst, e.head...)
	dst = base64.StdEncoding.AppendEncode(dst, payload)
	return append(dst, e.tail...)
}

// AppendMark appends a frame that asks for a report when what was sent before is played. name
// consists of letters, digits, and hyphens.
func (e *Encoder) AppendMark(dst, name []byte) []byte {
	dst = append(append(dst, e.mark...), name...)
	if e.dialect == Plivo {
		return append(dst, `"}`...)
	}
	return append(dst, e.tail...)
}

// AppendClear appends a frame that drops what was sent and not yet played.
func (e *Encoder) AppendClear(dst []byte) []byte { return append(dst, e.clear...) }

// quoted returns a text as JSON.
func quoted(s string) string {
	b, _ := json.Marshal(s) // a string has no errors
	return string(b)
}
