package twilio

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/hocketvoice/hocket/internal/carrier"
	"github.com/hocketvoice/hocket/internal/wire/mediastream"
	"github.com/hocketvoice/hocket/port"
)

// ErrBusy says that a call is refused because there are too many. The caller hears a busy tone.
var ErrBusy = carrier.ErrBusy

const (
	maxBody  = 64 << 10
	maxQuery = 4 << 10
)

// Incoming describes a call that comes in.
type Incoming struct {
	Call     string // Twilio's name of the call
	Account  string // Twilio's name of the account
	From, To string // numbers in the form of E.164, or what Twilio says in their place
}

// Leg is the leg of a call. It reports what the caller has heard ([port.Acknowledger]): never
// more than Twilio has played, and at most 200 ms less.
type Leg interface {
	port.Leg
	port.Acknowledger
	port.KeyReader
	Close() error
}

// Server is the handler of Twilio's requests: POST /voice below the URL, the webhook of a number,
// and GET /media, to which the stream connects. A call's stream is admitted once, with a token
// that only the answer to the webhook has. It is safe for concurrent use.
type Server struct {
	o     Options
	voice string // addresses as Twilio signs them
	media string

	expected carrier.Expected[Incoming]
}

// New returns a server. It returns an error if an option is invalid.
func New(o Options) (*Server, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(u.EscapedPath(), "/")
	return &Server{o: o, voice: "https://" + u.Host + base + "/voice", media: "wss://" + u.Host + base + "/media"}, nil
}

// ServeHTTP implements [http.Handler]. It looks at the last element of the path alone, so it can
// be mounted anywhere.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	switch path[strings.LastIndexByte(path, '/')+1:] {
	case "voice":
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "expected POST", http.StatusMethodNotAllowed)
			return
		}
		s.answer(w, r)
	case "media":
		s.connect(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) failed(format string, args ...any) {
	if s.o.Failed != nil {
		s.o.Failed(fmt.Errorf("twilio: "+format, args...))
	}
}

// unsigned refuses a request without a valid signature. Anybody can send one, so that only its
// sender is told: Twilio's console shows it.
func unsigned(w http.ResponseWriter) {
	http.Error(w, "the signature is invalid: the auth token must be that of the account, and the URL the one that Twilio calls", http.StatusForbidden)
}

// answer answers the webhook of a number.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil || len(r.URL.RawQuery) > maxQuery {
		http.Error(w, "the form is invalid", http.StatusBadRequest)
		return
	}
	address := s.voice
	if r.URL.RawQuery != "" {
		address += "?" + r.URL.RawQuery
	}
	if !signed(s.o.Secret, r.Header.Get("X-Twilio-Signature"), address, r.PostForm) {
		unsigned(w)
		return
	}
	c := Incoming{
		Call: r.PostForm.Get("CallSid"), Account: r.PostForm.Get("AccountSid"), From: r.PostForm.Get("From"), To: r.PostForm.Get("To"),
	}
	if c.Call == "" {
		http.Error(w, "CallSid is missing", http.StatusBadRequest)
		return
	}
	if s.o.Admit != nil {
		if err := s.o.Admit(r.Context(), c); err != nil {
			s.write(w, refusal(errors.Is(err, ErrBusy)))
			return
		}
	}
	token, err := s.expected.Add(c.Call, c) // a webhook that Twilio repeats gets a new one
	if err != nil {
		s.failed("a call is refused: %w", err)
		s.write(w, refusal(true))
		return
	}
	s.write(w, response{Connect: &connect{Stream: stream{
		URL: s.media, Parameters: []parameter{{Name: "token", Value: token}},
	}}})
}

// connect takes the stream of a call.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	if !signed(s.o.Secret, r.Header.Get("X-Twilio-Signature"), s.media, nil) {
		unsigned(w)
		return
	}
	var call Incoming
	leg, err := carrier.Upgrade(w, r, carrier.Options{Dialect: mediastream.Twilio, Admit: func(start mediastream.Start) error {
		var ok bool
		if call, ok = s.expected.Take(start.Parameters["token"]); !ok || call.Call != start.Call {
			return errors.New("the stream is not that of an announced call")
		}
		return nil
	}})
	if err != nil {
		s.failed("a stream is refused: %w", err)
		return
	}
	if err := s.o.Start(context.WithoutCancel(r.Context()), call, leg); err != nil { // the call outlives the request
		s.failed("a call could not begin: %w", err)
	}
}

func (s *Server) write(w http.ResponseWriter, answer response) {
	b, err := xml.Marshal(answer)
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/xml")
	_, _ = w.Write(append([]byte(xml.Header), b...)) // Twilio repeats a webhook without an answer
}

// response is an answer in TwiML.
type response struct {
	XMLName xml.Name `xml:"Response"`
	Connect *connect `xml:"Connect"`
	Reject  *reject  `xml:"Reject"`
}

type connect struct {
	Stream stream `xml:"Stream"`
}

type stream struct {
	URL        string      `xml:"url,attr"`
	Parameters []parameter `xml:"Parameter"`
}

type parameter struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type reject struct {
	Reason string `xml:"reason,attr"`
}

func refusal(busy bool) response {
	reason := "rejected"
	if busy {
		reason = "busy"
	}
	return response{Reject: &reject{Reason: reason}}
}
