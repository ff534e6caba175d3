package realtime

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/socket"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// Service is a speech-to-speech service behind an endpoint of the protocol. It implements
// port.Upstream and is safe for concurrent use. Its sessions share nothing but the
// credential.
type Service struct {
	o        Options
	endpoint string
	key      *credential
	dialer   *socket.Dialer
	client   *http.Client
	own      *http.Transport // nil if the caller's is used
}

var _ port.Upstream = (*Service)(nil)

// New returns a service. It reads the key and does not contact the server. The caller must
// close the service after its sessions.
func New(o Options) (*Service, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	endpoint, err := o.endpoint()
	if err != nil {
		return nil, err
	}
	key, err := newCredential(o)
	if err != nil {
		return nil, err
	}
	s := &Service{o: o, endpoint: endpoint, key: key}
	way := o.Transport
	if way == nil {
		s.own = &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: o.Connect, KeepAlive: 15 * time.Second}).DialContext,
			TLSHandshakeTimeout:    o.Connect,
			MaxResponseHeaderBytes: 64 << 10,
		}
		way = s.own
	}
	s.dialer = socket.New(socket.Options{
		Name: "realtime", Secrets: []string{key.key}, Connect: o.Connect, MaxMessage: 16 << 20, Transport: way,
	})
	s.client = &http.Client{
		Transport: way,
		// A redirect would take the key elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s, nil
}

// Close releases the service. Its sessions must be closed before.
func (s *Service) Close() error {
	s.dialer.Close()
	if s.own != nil {
		s.own.CloseIdleConnections()
	}
	return nil
}

// Rate returns the sampling rate of the sound in both directions.
func (s *Service) Rate() int { return s.o.format().SampleRate() }

// Open opens a session.
func (s *Service) Open(ctx context.Context, cfg port.UpstreamConfig, sink func(port.UpstreamEvent)) (port.UpstreamStream, error) {
	header, err := s.key.header(ctx, s.client)
	if err != nil {
		return nil, err
	}
	conn, err := s.dialer.Dial(ctx, s.endpoint, header)
	if err != nil {
		return nil, s.refused(err)
	}
	st := newStream(s, conn, sink)
	_ = st.send(wire.MarshalUpdate(updateID, s.params(cfg), s.o.Beta)) // a new session has room
	st.run()                                                           //nolint:contextcheck // the session outlives ctx, until Close
	if err := st.opened(ctx); err != nil {
		_ = st.Close() // the first error says more
		return nil, s.refused(err)
	}
	if err := st.Add(cfg.History...); err != nil {
		_ = st.Close() // likewise
		return nil, err
	}
	return st, nil
}

// refused hides the token in an error, and forgets the token if the service has refused it.
func (s *Service) refused(err error) error {
	f, ok := errors.AsType[*port.Failure](err)
	if !ok {
		return err
	}
	if f.Code == errclass.AuthFailure {
		s.key.forget()
	}
	hidden := *f
	hidden.Message = s.key.hide(f.Message)
	return &hidden
}

// params returns the configuration of a session.
func (s *Service) params(cfg port.UpstreamConfig) wire.SessionParams {
	p := wire.SessionParams{
		Instructions: cfg.Instructions, Voice: s.o.Voice, Format: s.o.format(), TurnDetection: s.o.detection(),
		NoiseReduction: s.o.Noise, MaxTokens: s.o.MaxTokens,
	}
	for _, t := range cfg.Tools {
		schema := t.Schema
		if len(schema) == 0 {
			schema = []byte(`{"type":"object","properties":{}}`)
		}
		p.Tools = append(p.Tools, wire.Tool{Type: "function", Name: t.Name, Description: t.Description, Parameters: schema})
	}
	if s.o.Transcriber != "none" {
		p.Transcription = &wire.Transcription{Model: s.o.Transcriber, Language: cfg.Language}
		p.Transcription.Language, _, _ = strings.Cut(cfg.Language, "-") // ISO 639-1
	}
	return p
}

// encode returns samples in the format of the session.
func (s *Service) encode(pcm []int16) []byte {
	switch s.o.Format {
	case FormatPCMU:
		return audio.MuLaw.AppendEncode(nil, pcm)
	case FormatPCMA:
		return audio.ALaw.AppendEncode(nil, pcm)
	default:
		b := make([]byte, 0, 2*len(pcm))
		for _, v := range pcm {
			b = append(b, byte(v), byte(uint16(v)>>8))
		}
		return b
	}
}

// decode appends the samples in the format of the session to pcm. rest is the first byte of
// an incomplete sample.
func (s *Service) decode(pcm []int16, b []byte) (_ []int16, rest []byte) {
	switch s.o.Format {
	case FormatPCMU:
		return audio.MuLaw.AppendDecode(pcm, b), nil
	case FormatPCMA:
		return audio.ALaw.AppendDecode(pcm, b), nil
	default:
		for ; len(b) > 1; b = b[2:] {
			pcm = append(pcm, int16(uint16(b[0])|uint16(b[1])<<8))
		}
		return pcm, b
	}
}
