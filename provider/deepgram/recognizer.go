package deepgram

import (
	"cmp"
	"net/url"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
)

// NewRecognizer returns a recognizer. The caller must close it.
func NewRecognizer(o Options) (*hosted.Recognizer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.Model, o.Endpointing = cmp.Or(o.Model, RecognizerModel), cmp.Or(o.Endpointing, 300*time.Millisecond)
	own := NovaURL
	if o.flux() {
		own = FluxURL
	}
	access := o.access(own)
	dialer, header, err := access.Open()
	if err != nil {
		return nil, err
	}
	return hosted.NewRecognizer(hosted.RecognizerOptions{
		Dialer: dialer, Keepalive: 4 * time.Second,
		Line: func(cfg port.RecognizerConfig, e port.Expectation) (hosted.Line, error) {
			protocol := hosted.Hearing(&nova{expect: e, model: o.Model, rate: cfg.Rate, fail: dialer.Failure})
			parameters := o.novaParameters
			if o.flux() {
				protocol, parameters = &flux{fail: dialer.Failure}, o.fluxParameters
			}
			return hosted.Line{URL: socket.WithQuery(access.Where(), parameters(cfg, e)), Header: header, Hearing: protocol}, nil
		},
	}), nil
}

// closeStream ends a connection in order.
func closeStream() []socket.Message { return []socket.Message{socket.Text(`{"type":"CloseStream"}`)} }

// linear returns the message with sound.
func linear(pcm []int16) socket.Message {
	return socket.Message{Binary: true, Data: audio.AppendS16LE(nil, pcm)}
}

// set adds a parameter for each value.
func set(q url.Values, name string, values ...string) { q[name] = append(q[name], values...) }
