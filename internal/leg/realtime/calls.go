package realtime

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hocketvoice/hocket/audio"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/port"
)

// This file: calls over WebRTC, whose sound goes beside the events.

// Call is the sound of a call, and the channel of its events.
type Call interface {
	port.Leg
	port.Watcher
	// Send queues an event for the client. It does not wait; it fails while the
	// client does not keep up, and behind the end.
	Send(text string) error
	// Receive waits for the client's next event. io.EOF says that the call has
	// ended.
	Receive(ctx context.Context) (string, error)
	// Close ends the call.
	Close() error
}

// callLine is a call's sound as a conversation uses it.
type callLine struct {
	Call
	c   *conn
	pos atomic.Int64 // samples that were heard
	// silence is what is heard while the client itself says when a turn is over.
	silence [legRate / 50]int16
}

// Read implements [port.Leg]. Without detection the sound goes to the ear.
func (l *callLine) Read(ctx context.Context) (audio.Frame, error) {
	f, err := l.Call.Read(ctx)
	if err != nil {
		return f, err
	}
	l.pos.Add(int64(len(f.PCM)))
	manual := false
	l.c.locked(func() {
		manual = !l.c.detects()
		l.c.uncommitted += len(f.PCM)
	})
	if manual {
		l.c.ear.push(ctx, earJob{pcm: append([]int16(nil), f.PCM...)})
		f.PCM = l.silence[:len(f.PCM)]
	}
	return f, nil
}

// WriteSpeech implements [port.SpeechWriter]: the frame carries the sound, the
// events tell of it.
func (l *callLine) WriteSpeech(turn int, pcm []int16) { l.c.writeSpeech(turn, pcm) }

func (l *callLine) heard() int {
	return int(audio.Pos(l.pos.Load()).Duration(legRate).Milliseconds())
}

func (l *callLine) push(_ context.Context, c chunk) error {
	if c.then != nil {
		c.then() // all sound that there is has been heard
	}
	return nil
}

func (l *callLine) drop() {}

func (l *callLine) end() { _ = l.Close() } // nothing is left to tell

// channel is the channel of a call's events as a transport.
type channel struct{ call Call }

// Read implements transport.
func (c *channel) Read(ctx context.Context) ([]byte, error) {
	text, err := c.call.Receive(ctx)
	return []byte(text), err
}

// retry is how long a client that does not keep up is given before the next try.
const retry = 20 * time.Millisecond

// Write implements transport.
func (c *channel) Write(ctx context.Context, b []byte) error {
	text := string(b)
	for {
		err := c.call.Send(text)
		if err == nil {
			return nil
		}
		timer := time.NewTimer(retry)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// Ping implements transport: the call knows by itself whether the client is there.
func (c *channel) Ping(context.Context) error { return nil }

// Close implements transport. The channel has no place for a reason.
func (c *channel) Close(int, string) { _ = c.call.Close() }

// serveOptions lets pages of other origins call, where a key proves that they may.
func (s *Server) serveOptions(w http.ResponseWriter, r *http.Request) {
	s.allowOrigin(w)
	w.Header().Set("Access-Control-Allow-Methods", "POST")
	w.Header().Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) allowOrigin(w http.ResponseWriter) {
	if s.o.Authorize != nil {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Expose-Headers", "Location")
	}
}

// serveCalls is POST /v1/realtime/calls: an offer, and perhaps a session.
func (s *Server) serveCalls(w http.ResponseWriter, r *http.Request) {
	s.allowOrigin(w)
	start, bad := s.start(r)
	if bad != nil {
		status := http.StatusBadRequest
		if bad.Code == wire.CodeInvalidKey {
			status = http.StatusUnauthorized
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
		start, bad = start.Update([]byte(configuration), wire.UpdateOptions{Opening: true})
	}
	if bad != nil {
		httpError(w, http.StatusBadRequest, bad)
		return
	}
	call, answer, err := s.o.Answer(r.Context(), offer)
	switch {
	case errors.Is(err, ErrBusy):
		httpError(w, http.StatusServiceUnavailable, wire.Invalid(wire.CodeRateLimit, "", "There are too many calls."))
		return
	case err != nil:
		httpError(w, http.StatusBadRequest, wire.Invalid("invalid_offer", "sdp", "The offer cannot be answered: %v", err))
		return
	case call.Rate() != legRate:
		_ = call.Close()
		httpError(w, http.StatusInternalServerError, &wire.Error{Type: wire.ServerError, Message: "Calls have another sampling rate than 24 kHz."})
		return
	}
	id := newID("rtc")
	ctx := context.WithoutCancel(r.Context()) // the call outlives its request
	// Close waits for it, as for all connections.
	go func() {
		defer func() { _ = call.Close() }() // it may have ended
		s.serve(ctx, &channel{call}, call, id, isBeta(r), start)
	}()
	w.Header().Set("Content-Type", "application/sdp")
	w.Header().Set("Location", "/v1/realtime/calls/"+id)
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, answer) // the client may be gone; then nobody connects
}

// maxOffer bounds an offer and a session beside it.
const maxOffer = 256 << 10

// readCall takes the offer, and the session where there is one, from a request:
// the whole body, or the parts of a form, which need no types.
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

// serveCall is what is done to a call. Only hanging up is for calls of browsers.
func (s *Server) serveCall(w http.ResponseWriter, r *http.Request) {
	s.allowOrigin(w)
	if !s.allow(w, r) {
		return
	}
	s.mu.Lock()
	c := s.conns[r.PathValue("id")]
	s.mu.Unlock()
	if c == nil || !c.call {
		httpError(w, http.StatusNotFound, wire.Invalid("call_id_not_found", "call_id", "No call with the id '%s' was found.", r.PathValue("id")))
		return
	}
	if r.PathValue("do") != "hangup" {
		httpError(w, http.StatusBadRequest, wire.Invalid(wire.CodeUnsupported, "", "This is for calls over SIP."))
		return
	}
	c.out.close(closeNormal, "the call was hung up")
	w.WriteHeader(http.StatusOK)
}
