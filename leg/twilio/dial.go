package twilio

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/internal/carrier"
	"github.com/hocketvoice/hocket/internal/failure"
	"github.com/hocketvoice/hocket/internal/httpclient"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

const (
	maxAnswer = 64 << 10
	// connecting is how long a call that is answered may take to begin.
	connecting = 15 * time.Second
)

// errOver says that a command came after the end of its call.
var errOver = errors.New("twilio: the call is over")

func newClient(o Options) *http.Client {
	c := &http.Client{}
	if o.Client != nil {
		*c = *o.Client
	}
	c.Transport = &httpclient.Transport{Base: cmp.Or(c.Transport, http.DefaultTransport), MaxAnswer: maxAnswer}
	c.CheckRedirect = httpclient.SameServer
	return c
}

// outgoing is a call that the server places. What Twilio says of it may come in any order.
type outgoing struct {
	token   string
	answers chan port.Answer
	legs    chan *line // has the leg when the stream has begun
	over    chan error // has the reason why nobody has answered
	// progress tells a state.
	progress func(string)
}

// connected passes the leg to who waits for it.
func (o *outgoing) connected(l *line) error {
	select {
	case o.legs <- l:
		return nil
	default:
		return errors.Join(errors.New("a call has a stream already"), l.Close())
	}
}

// teller returns a function that tells each state once, in the order in which they are known.
func teller(tell func(string)) func(string) {
	var mu sync.Mutex
	told := map[string]bool{}
	return func(state string) {
		mu.Lock()
		defer mu.Unlock()
		if tell == nil || told[state] || told["answered"] {
			return
		}
		told[state] = true
		tell(state)
	}
}

// Dial places a call and returns its leg when it is answered and its stream has begun. The leg is
// the caller's, who must close it. If nobody answers, the error wraps the reason, such as
// [port.ErrLineBusy]; if Twilio refuses the call it is a [*port.Failure].
func (s *Server) Dial(ctx context.Context, d port.Dial) (Leg, error) {
	if s.o.Account == "" {
		return nil, errors.New("twilio: the name of the account is empty: it is required to place calls")
	}
	token := rand.Text()
	c := &call{out: &outgoing{
		token: token, answers: make(chan port.Answer, 8), legs: make(chan *line, 1), over: make(chan error, 1), progress: teller(d.Progress),
	}}
	s.mu.Lock()
	s.placed[token] = c
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		if c.line == nil {
			delete(s.placed, token)
		}
		s.mu.Unlock()
	}()
	sid, err := s.place(ctx, token, d)
	if err != nil {
		return nil, err
	}
	limit := time.NewTimer(d.Ring + connecting)
	defer limit.Stop()
	select {
	case l := <-c.out.legs:
		return l, nil
	case err = <-c.out.over:
		return nil, fmt.Errorf("twilio: %w", err)
	case <-limit.C:
		err = fmt.Errorf("twilio: the call has no stream: %w", port.ErrNoAnswer)
	case <-ctx.Done():
		err = ctx.Err()
	}
	if wrong := s.update(context.WithoutCancel(ctx), Incoming{Call: sid, Account: s.o.Account}, "Status", "completed"); wrong != nil && !errors.Is(wrong, errOver) {
		s.failed("a call could not be given up: %w", wrong)
	}
	select {
	case l := <-c.out.legs:
		_ = l.Close()
	default:
	}
	return nil, err
}

// place asks Twilio to place a call and returns Twilio's name of it. It is asked once: a second
// request would be a second call.
func (s *Server) place(ctx context.Context, token string, d port.Dial) (sid string, err error) {
	form := url.Values{
		"To": {d.To}, "From": {d.From}, "Url": {s.base + "/voice?dial=" + token}, "Method": {http.MethodPost},
		"Timeout":        {strconv.Itoa(max(5, int(d.Ring.Seconds())))},
		"StatusCallback": {s.base + "/status?dial=" + token}, "StatusCallbackMethod": {http.MethodPost},
		"StatusCallbackEvent": {"initiated", "ringing", "answered", "completed"},
	}
	if d.Detect {
		form.Set("MachineDetection", "Enable")
		if d.AwaitEnd {
			form.Set("MachineDetection", "DetectMessageEnd")
		}
		form.Set("AsyncAmd", "true")
		form.Set("AsyncAmdStatusCallback", s.base+"/machine?dial="+token)
		form.Set("AsyncAmdStatusCallbackMethod", http.MethodPost)
	}
	var answer []byte
	err = carrier.Once(ctx, func(ctx context.Context) error {
		answer, err = s.post(ctx, "place a call", "/Accounts/"+url.PathEscape(s.o.Account)+"/Calls.json", form)
		return err
	})
	if err != nil {
		return "", err
	}
	var m struct {
		SID string `json:"sid"`
	}
	if err := json.Unmarshal(answer, &m); err != nil || m.SID == "" {
		return "", failure.New(errclass.ServerError, "twilio: place a call: the answer names no call")
	}
	return m.SID, nil
}

// update changes a call.
func (s *Server) update(ctx context.Context, in Incoming, name, value string) error {
	return carrier.Repeat(ctx, func(ctx context.Context) error {
		_, err := s.post(ctx, "change a call", "/Accounts/"+url.PathEscape(in.Account)+"/Calls/"+url.PathEscape(in.Call)+".json", url.Values{name: {value}})
		return err
	})
}

// post makes one request and returns the answer.
func (s *Server) post(ctx context.Context, what, path string, form url.Values) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.o.API+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, failure.New(errclass.Unknown, "twilio: "+what+": the URL of the command is invalid")
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	account, _, _ := strings.Cut(strings.TrimPrefix(path, "/Accounts/"), "/")
	r.SetBasicAuth(account, s.o.Secret)
	resp, err := s.http.Do(r)
	if err != nil {
		class, text := failure.OfTransport(err)
		return nil, failure.New(class, "twilio: "+what+": "+text)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if resp.StatusCode/100 == 2 {
		return answer, err
	}
	var m struct {
		Code int `json:"code"` // the words beside it may contain numbers
	}
	_ = json.Unmarshal(answer, &m)
	if resp.StatusCode == http.StatusNotFound && m.Code == 20404 {
		return nil, errOver
	}
	text := fmt.Sprintf("twilio: %s: the server responded %d %s", what, resp.StatusCode, http.StatusText(resp.StatusCode))
	if m.Code != 0 {
		text += fmt.Sprintf(", error %d", m.Code)
	}
	f := failure.New(failure.OfStatus(resp.StatusCode), text)
	if f.Retryable {
		f.After = failure.After(resp.Header, time.Now())
	}
	return nil, f
}

// dialing returns the call of a token, which is now answered, or nil.
func (s *Server) dialing(token string, in Incoming) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.placed[token]
	if c != nil && c.Call == "" {
		c.Incoming = in
	}
	return c
}

// progress takes what Twilio says of a call that the server has placed.
func (s *Server) progress(token, status string) {
	s.mu.Lock()
	c := s.placed[token]
	var on *carrier.Line
	if c != nil {
		on = c.line
	}
	over := status != "initiated" && status != "queued" && status != "ringing" && status != "in-progress"
	if over {
		delete(s.placed, token)
	}
	s.mu.Unlock()
	switch {
	case c == nil:
	case status == "ringing":
		c.out.progress("ringing")
	case status == "in-progress":
		c.out.progress("answered")
	case over && on != nil:
		on.End()
	case over:
		err := reason(status)
		if err == nil {
			err = port.ErrRejected // it was answered, and was over before its stream began
		}
		select {
		case c.out.over <- err:
		default:
		}
	}
}

// machine takes who has answered a call that the server has placed.
func (s *Server) machine(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	c := s.placed[r.URL.Query().Get("dial")]
	s.mu.Unlock()
	if c != nil {
		answer := port.AnswerUnsure
		switch by := r.PostForm.Get("AnsweredBy"); {
		case by == "human":
			answer = port.AnswerHuman
		case by == "fax":
			answer = port.AnswerFax
		case by == "machine_start":
			answer = port.AnswerMachine
		case strings.HasPrefix(by, "machine_end"):
			answer = port.AnswerBeep
		}
		select {
		case c.out.answers <- answer:
		default: // nobody waits for so many
		}
	}
	w.WriteHeader(http.StatusNoContent)
}
