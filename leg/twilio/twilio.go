package twilio

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

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

// Leg is the leg of a call. It reports what the person has heard ([port.Acknowledger]): never
// more than Twilio has played, and at most 200 ms less. It outlives its streams ([port.Watcher]).
type Leg interface {
	port.Leg
	port.Acknowledger
	port.KeyReader
	port.Watcher
	port.Forwarder
	port.AnswerReader
	Close() error // which ends the call, unless it was transferred
}

// Server is the handler of Twilio's requests below the URL: POST /voice, the webhook of a number;
// GET /media, to which streams connect; and what Twilio is told to call in the course of a call:
// POST /again, when a stream has ended, /dialed, /status and /machine. A stream is admitted once,
// with a token that only the answer to a webhook has. It is safe for concurrent use.
type Server struct {
	o        Options
	base     string // https, without a slash at the end
	media    string
	http     *http.Client
	expected carrier.Expected[*call]

	mu     sync.Mutex       // guards the fields below, and some of calls
	calls  map[string]*call // whose streams have begun, by Twilio's name
	placed map[string]*call // that the server has placed, by their token
}

// New returns a server. It returns an error if an option is invalid.
func New(o Options) (*Server, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, err
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	return &Server{
		o: o, base: "https://" + u.Host + path, media: "wss://" + u.Host + path + "/media", http: newClient(o),
		calls: make(map[string]*call), placed: make(map[string]*call),
	}, nil
}

// ServeHTTP implements [http.Handler]. It looks at the last element of the path alone, so it can
// be mounted anywhere.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	last := path[strings.LastIndexByte(path, '/')+1:]
	if last == "media" {
		s.connect(w, r)
		return
	}
	answer := map[string]func(http.ResponseWriter, *http.Request){
		"voice": s.voice, "again": s.again, "dialed": s.dialed, "status": s.status, "machine": s.machine,
	}[last]
	switch {
	case answer == nil:
		http.NotFound(w, r)
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "expected POST", http.StatusMethodNotAllowed)
	case s.form(w, r, last):
		answer(w, r)
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

// form reads the form of a webhook. It refuses one that Twilio has not signed, or that names no
// call, and reports whether the webhook is to be answered.
func (s *Server) form(w http.ResponseWriter, r *http.Request, name string) bool {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil || len(r.URL.RawQuery) > maxQuery {
		http.Error(w, "the form is invalid", http.StatusBadRequest)
		return false
	}
	address := s.base + "/" + name
	if r.URL.RawQuery != "" {
		address += "?" + r.URL.RawQuery
	}
	if !signed(s.o.Secret, r.Header.Get("X-Twilio-Signature"), address, r.PostForm) {
		unsigned(w)
		return false
	}
	if s.o.Vouch != nil {
		s.o.Vouch(r.Context())
	}
	if r.PostForm.Get("CallSid") == "" {
		http.Error(w, "CallSid is missing", http.StatusBadRequest)
		return false
	}
	return true
}

// voice answers the webhook of a number, and that of a call that was placed and is answered.
func (s *Server) voice(w http.ResponseWriter, r *http.Request) {
	form := r.PostForm
	in := Incoming{Call: form.Get("CallSid"), Account: form.Get("AccountSid"), From: form.Get("From"), To: form.Get("To")}
	if token := r.URL.Query().Get("dial"); token != "" {
		c := s.dialing(token, in)
		if c == nil {
			write(w, response{Hangup: &empty{}}) // it was given up
			return
		}
		c.out.progress("answered")
		s.stream(w, c)
		return
	}
	if s.o.Admit != nil {
		if err := s.o.Admit(r.Context(), in); err != nil {
			write(w, refusal(errors.Is(err, ErrBusy)))
			return
		}
	}
	s.stream(w, &call{Incoming: in})
}

// stream answers with a stream. A webhook that Twilio repeats gets a new token.
func (s *Server) stream(w http.ResponseWriter, c *call) {
	token, err := s.expected.Add(c.Call, c)
	if err != nil {
		s.failed("a call is refused: %w", err)
		write(w, refusal(true))
		return
	}
	write(w, streaming(s.media, token, s.base+"/again"))
}

// connect takes the stream of a call.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	if !signed(s.o.Secret, r.Header.Get("X-Twilio-Signature"), s.media, nil) {
		unsigned(w)
		return
	}
	if s.o.Vouch != nil {
		s.o.Vouch(r.Context())
	}
	var c *call
	leg, err := carrier.Upgrade(w, r, carrier.Options{Dialect: mediastream.Twilio, Admit: func(start mediastream.Start) error {
		var ok bool
		if c, ok = s.expected.Take(start.Parameters["token"]); !ok || c.Call != start.Call {
			return errors.New("the stream is not that of an announced call")
		}
		return nil
	}})
	if err != nil {
		s.failed("a stream is refused: %w", err)
		return
	}
	if err := s.attach(context.WithoutCancel(r.Context()), c, leg); err != nil { // the call outlives the request
		s.failed("a call could not begin: %w", err)
	}
}
