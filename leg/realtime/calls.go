package realtime

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/wait"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/leg/realtime/projection"
	"github.com/hocketvoice/hocket/port"
)

// This file implements calls over WebRTC, whose sound does not travel in events.

// Call is the sound of a call and the channel of its events.
type Call interface {
	port.Leg
	port.Watcher
	// Send queues an event for the client without blocking. It returns an error if the
	// client does not keep up, and after the end of the call.
	Send(text string) error
	// Receive waits for the client's next event and returns it. It returns io.EOF when
	// the call has ended.
	Receive(ctx context.Context) (string, error)
	// Return answers the offer of a client that has come back. If the offer is for a
	// new connection, Fresh returns when that connection is established.
	Return(ctx context.Context, offer string) (answer string, err error)
	// Fresh waits until a new connection has replaced the last one. The new client does
	// not know the earlier events: those not yet delivered are dropped, and so are new
	// ones until Reopen is called.
	Fresh(ctx context.Context) error
	Reopen()
	// Close ends the call.
	Close() error
}

// callLine is the sound of a conversation that is a call.
type callLine struct {
	Call
	c   *conn
	pos atomic.Int64 // samples heard so far
	// silence replaces the person's sound while the client itself decides when a turn
	// ends.
	silence [legRate / 50]int16
}

// Read implements [port.Leg]. While turn detection is off, the sound goes to the ear
// and the session hears silence.
func (l *callLine) Read(ctx context.Context) (audio.Frame, error) {
	f, err := l.Call.Read(ctx)
	if err != nil {
		return f, err
	}
	l.pos.Add(int64(len(f.PCM)))
	l.c.step(ctx, projection.Appended{Samples: len(f.PCM)})
	if !l.c.detects() {
		l.c.hear(ctx, earJob{pcm: append([]int16(nil), f.PCM...)})
		f.PCM = l.silence[:len(f.PCM)]
	}
	return f, nil
}

// WriteSpeech implements [port.SpeechWriter]. The sound itself is sent by Write;
// WriteSpeech only updates the projection.
func (l *callLine) WriteSpeech(turn int, pcm []int16) { l.c.writeSpeech(turn, pcm) }

func (l *callLine) heard() int {
	return int(audio.Pos(l.pos.Load()).Duration(legRate).Milliseconds())
}

func (l *callLine) push(_ context.Context, c chunk) error {
	if c.then != nil {
		c.then() // no sound is queued: all of it has been heard
	}
	return nil
}

func (l *callLine) drop() {}

// setLine does nothing, since the call knows the state of its connection.
func (l *callLine) setLine(port.Line) {}

func (l *callLine) end() { _ = l.Close() } // the error has no receiver

// channel is a transport over the data channel of a call.
type channel struct{ call Call }

// Read implements transport.
func (c *channel) Read(ctx context.Context) ([]byte, error) {
	text, err := c.call.Receive(ctx)
	return []byte(text), err
}

// retry is the interval between attempts to send to a client that does not keep up.
const retry = 20 * time.Millisecond

// Write implements transport. It retries until ctx ends.
func (c *channel) Write(ctx context.Context, b []byte) error {
	text := string(b)
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := c.call.Send(text)
		if err == nil {
			return nil
		}
		if wait.For(ctx, retry) != nil {
			return err
		}
	}
}

// Ping does nothing, since the call knows whether the client is connected.
func (c *channel) Ping(context.Context) error { return nil }

// Close implements transport. A data channel cannot carry a code and a reason.
func (c *channel) Close(int, string) { _ = c.call.Close() }

// serveOptions answers preflight requests. It allows pages of any origin if the server
// requires a key.
func (s *Server) serveOptions(w http.ResponseWriter, r *http.Request) {
	s.allowOrigin(w)
	w.Header().Set("Access-Control-Allow-Methods", "POST")
	w.Header().Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) allowOrigin(w http.ResponseWriter) {
	if s.o.Authorize != nil {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Expose-Headers", "Location, Retry-After, "+headerConversation+", "+headerResume)
	}
}

// serveCalls handles POST /v1/realtime/calls, which carries an offer and optionally a
// session.
func (s *Server) serveCalls(w http.ResponseWriter, r *http.Request) {
	s.allowOrigin(w)
	start, from, bad := s.start(r)
	if bad != nil {
		status := http.StatusBadRequest
		switch {
		case bad.Code == wire.CodeInvalidKey:
			status = http.StatusUnauthorized
		case bad.Type == wire.ServerError:
			status = statusOf(bad)
		}
		httpError(w, status, bad)
		return
	}
	if s.o.Answer == nil {
		httpError(w, http.StatusBadRequest, wire.Invalid(wire.CodeUnsupported, "", "Calls over WebRTC are not configured on this server."))
		return
	}
	offer, configuration, bad := readCall(w, r)
	if bad == nil && configuration != "" {
		start, bad = configure(start, []byte(configuration))
	}
	if bad != nil {
		httpError(w, http.StatusBadRequest, bad)
		return
	}
	from.Model = start.Model
	token := resumeToken(r)
	if token != "" && s.callBack(w, r, from, token, offer) {
		return
	}
	call, answer, status, bad := s.answerOffer(r.Context(), offer)
	if bad != nil {
		httpError(w, status, bad)
		return
	}
	var a *arrival
	if token != "" {
		if l, ok := call.(port.Returner); ok {
			l.Returning()
		}
		a, bad = s.restore(r.Context(), from, token, call)
	} else {
		a, bad = s.open(r.Context(), from, start, call)
	}
	if bad == nil {
		bad = s.answerCall(r, a)
	}
	if bad != nil {
		_ = call.Close() // no client has connected yet
		httpError(w, statusOf(bad), bad)
		return
	}
	answered(w, a, answer)
}

// answerOffer returns the call for an offer and the answer, or an error with its status.
func (s *Server) answerOffer(ctx context.Context, offer string) (call Call, answer string, status int, bad *wire.Error) {
	call, answer, err := s.o.Answer(ctx, offer)
	switch {
	case errors.Is(err, ErrBusy):
		return nil, "", http.StatusServiceUnavailable, wire.Invalid(wire.CodeRateLimit, "", "There are too many calls.")
	case err != nil:
		return nil, "", http.StatusBadRequest, wire.Invalid("invalid_offer", "sdp", "The offer cannot be answered: %v", err)
	case call.Rate() != legRate:
		_ = call.Close()
		return nil, "", http.StatusInternalServerError, &wire.Error{Type: wire.ServerError, Message: "Calls have another sampling rate than 24 kHz."}
	}
	return call, answer, http.StatusCreated, nil
}

// statusOf returns the HTTP status for a conversation or a secret that could not be
// created.
func statusOf(bad *wire.Error) int {
	switch {
	case bad.Code == wire.CodeResume:
		return http.StatusNotFound
	case bad == restarting, bad == errFull, bad == errAgain:
		return http.StatusServiceUnavailable
	case bad.Code == wire.CodeRateLimit:
		return http.StatusTooManyRequests
	default:
		return http.StatusInternalServerError
	}
}

var restarting = &wire.Error{Type: wire.ServerError, Code: "server_restarting", Message: "The server restarts."}

// answerCall starts the conversation of a call.
func (s *Server) answerCall(r *http.Request, a *arrival) *wire.Error {
	c := a.c
	c.callID = newID("rtc")
	c.attach(newLink(&channel{c.call}, isBeta(r)))
	s.promise(r.Context(), a)
	if !s.begin(context.WithoutCancel(r.Context()), c.callID, a) { // the call outlives its request
		a.end()
		return restarting
	}
	if !a.returns() {
		_ = s.issue(r.Context(), c) // on failure the client still has a valid token
	}
	return nil
}

// carryCall serves the connections of a call, one after the other, until the call ends.
func (c *conn) carryCall(ctx context.Context) {
	defer c.leave()
	for l := c.link; ; { // the first connection is already attached
		on, stop := context.WithCancel(ctx)
		fresh := false
		var watch sync.WaitGroup
		watch.Go(func() {
			defer stop()
			fresh = c.call.Fresh(on) == nil
		})
		_ = c.carry(on, l) // Fresh tells whether the call has ended
		stop()
		watch.Wait()
		if !fresh {
			return
		}
		l = newLink(l.t, l.beta)
		c.call.Reopen()
		if !c.attach(l) {
			return
		}
	}
}

// callBack answers the offer of a client that returns to a call running on this server.
// It returns false, and answers nothing, if there is no such call and another server
// may have it.
func (s *Server) callBack(w http.ResponseWriter, r *http.Request, from Caller, token, offer string) bool {
	a, bad := s.comeBack(from, token)
	switch {
	case a == nil && bad == nil && s.o.Resume != nil:
		return false
	case a == nil && bad == nil:
		bad = errResume
	case bad == nil && a.c.call == nil:
		a.end()
		bad = errResume // the conversation uses another transport
	}
	if bad != nil {
		httpError(w, statusOf(bad), bad)
		return true
	}
	answer, err := a.c.call.Return(r.Context(), offer)
	if err != nil {
		a.end()
		httpError(w, http.StatusBadRequest, wire.Invalid("invalid_offer", "sdp", "The offer cannot be answered: %v", err))
		return true
	}
	s.promise(r.Context(), a)
	answered(w, a, answer)
	return true
}

// answered writes the answer to an offer.
func answered(w http.ResponseWriter, a *arrival, answer string) {
	a.tell(w.Header())
	w.Header().Set("Content-Type", "application/sdp")
	w.Header().Set("Location", "/v1/realtime/calls/"+a.c.callID)
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, answer) //nolint:gosec // the content type is not HTML; a client that has gone never connects
}

// maxOffer limits the size of an offer together with its session, in bytes.
const maxOffer = 256 << 10

// readCall reads the offer, and the session if there is one, from a request. The body
// is either the offer or a multipart form, whose parts need no content types.
func readCall(w http.ResponseWriter, r *http.Request) (offer, configuration string, bad *wire.Error) {
	unreadable := wire.Invalid(wire.CodeInvalidValue, "", "Expected an offer as application/sdp, or a form with the parts 'sdp' and 'session'.")
	r.Body = http.MaxBytesReader(w, r.Body, maxOffer)
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err == nil && kind == "application/sdp":
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return "", "", unreadable
		}
		return string(b), "", nil
	case err != nil || kind != "multipart/form-data":
		return "", "", unreadable
	}
	for parts := multipart.NewReader(r.Body, params["boundary"]); ; {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", "", unreadable
		}
		b, err := io.ReadAll(part)
		if err != nil {
			return "", "", unreadable
		}
		switch part.FormName() {
		case "sdp":
			offer = string(b)
		case "session":
			configuration = strings.TrimSpace(string(b))
		}
	}
	if offer == "" {
		return "", "", wire.Invalid(wire.CodeMissing, "sdp", "Missing required parameter: 'sdp'.")
	}
	return offer, configuration, nil
}

// serveCall handles the actions on a call. Calls of browsers can only be hung up.
func (s *Server) serveCall(w http.ResponseWriter, r *http.Request) {
	s.allowOrigin(w)
	owner, ok := s.allow(w, r)
	if !ok {
		return
	}
	s.mu.Lock()
	c := s.conns[r.PathValue("id")]
	s.mu.Unlock()
	if c == nil || c.call == nil || c.owner != owner {
		httpError(w, http.StatusNotFound, wire.Invalid("call_id_not_found", "call_id", "No call with the id '%s' was found.", r.PathValue("id")))
		return
	}
	if r.PathValue("do") != "hangup" {
		httpError(w, http.StatusBadRequest, wire.Invalid(wire.CodeUnsupported, "", "This is for calls over SIP."))
		return
	}
	c.conclude(closeNormal, "the call was hung up")
	w.WriteHeader(http.StatusOK)
}
