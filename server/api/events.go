package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/hocketvoice/hocket/server/hub"
)

// follow streams the messages of a conversation.
func (s *Server) follow(w http.ResponseWriter, r *http.Request, p who) error {
	c, err := s.find(r, p)
	if err != nil {
		return err
	}
	o, err := streamOptions(r)
	if err != nil {
		return err
	}
	return s.stream(w, r, c.Owner(), func() (*hub.Stream, error) { return c.Stream(o) }, c.Info)
}

// followList streams the changes of the list.
func (s *Server) followList(w http.ResponseWriter, r *http.Request, p who) error {
	o, err := streamOptions(r)
	if err != nil {
		return err
	}
	o.Visible = func(owner string) bool { return p.sees(owner, "") }
	return s.stream(w, r, p.owner, func() (*hub.Stream, error) { return s.o.Hub.Watch(o) }, func() (all hub.Info) { return all })
}

// streamOptions returns the start of a stream: the parameter from, or the number
// after the Last-Event-ID of a reconnecting client.
func streamOptions(r *http.Request) (o hub.StreamOptions, err error) {
	q := r.URL.Query()
	o.Steps = q.Get("steps") == "1"
	if from := q.Get("from"); from != "" {
		if o.From, err = strconv.ParseUint(from, 10, 63); err != nil || o.From == 0 {
			return o, fail(http.StatusBadRequest, "bad_request", "from is %q: expected the number of a message, from 1", from)
		}
		return o, nil
	}
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		n, err := strconv.ParseUint(last, 10, 63)
		if err != nil {
			return o, fail(http.StatusBadRequest, "bad_request", "Last-Event-ID is %q: expected the number of a message", last)
		}
		o.From = n + 1
	}
	return o, nil
}

// stream opens a stream and serves it, as a WebSocket if requested. last describes the
// conversation at the end of the stream; the client is told if it continues elsewhere.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, owner string, open func() (*hub.Stream, error), last func() hub.Info) error {
	release, err := s.place(owner)
	if err != nil {
		return err
	}
	defer release()
	events, err := open()
	if err != nil {
		return err
	}
	defer events.Close()
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		s.serveSocket(w, r, events, last)
		return nil
	}
	s.serveEvents(r.Context(), w, events, last)
	return nil
}

// place counts the streams of an owner. The caller must call release.
func (s *Server) place(owner string) (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[owner] >= s.o.MaxStreams {
		return nil, fail(http.StatusTooManyRequests, "too_many_streams", "too many event streams: the limit is %d", s.o.MaxStreams)
	}
	s.streams[owner]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.streams[owner]--; s.streams[owner] == 0 {
			delete(s.streams, owner)
		}
	}, nil
}

// next returns the next message and its JSON, or nothing when a keep-alive is due.
func (s *Server) next(ctx context.Context, events *hub.Stream) (m hub.Message, b []byte, err error) {
	wait, cancel := context.WithTimeout(ctx, s.o.KeepAlive)
	defer cancel()
	m, err = events.Next(wait)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return m, nil, nil
	}
	if err != nil {
		return m, nil, err
	}
	b, err = json.Marshal(m)
	return m, b, err
}

// serveEvents writes server-sent events until one side ends the stream. It
// disconnects a client that does not read.
func (s *Server) serveEvents(ctx context.Context, w http.ResponseWriter, events *hub.Stream, last func() hub.Info) {
	conn := http.NewResponseController(w)
	_ = conn.SetReadDeadline(time.Time{}) // an error means that there is no deadline
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	var out bytes.Buffer
	send := func() error {
		_ = conn.SetWriteDeadline(time.Now().Add(s.o.WriteWait)) // as above
		if _, err := w.Write(out.Bytes()); err != nil {
			return err
		}
		out.Reset()
		return conn.Flush()
	}
	out.WriteString(": hocket\n\n")
	for {
		if err := send(); err != nil {
			return
		}
		m, b, err := s.next(ctx, events)
		switch {
		case errors.Is(err, io.EOF):
			data := "{}"
			if i := last(); !i.Over() {
				data = `{"reason":"` + i.Reason + `"}` // one of the hub's reasons, which need no escaping
			}
			out.WriteString("event: end\ndata: " + data + "\n\n")
			_ = send() // the last event
			return
		case err != nil:
			return
		case b == nil:
			out.WriteString(": still here\n\n")
			continue
		}
		if m.Type != hub.TypeGap {
			out.WriteString("id: " + strconv.FormatUint(m.Seq, 10) + "\n")
		}
		out.WriteString("data: ")
		out.Write(b)
		out.WriteString("\n\n")
	}
}

// serveSocket writes messages to a WebSocket until one side ends the stream.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request, events *hub.Stream, last func() hub.Info) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the origin was already checked
		Subprotocols:       []string{"hocket.events"},
	})
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = conn.CloseNow() }() // it may already be closed
	conn.SetReadLimit(4 << 10)
	ctx := conn.CloseRead(r.Context()) // nothing is expected from the client
	for {
		_, b, err := s.next(ctx, events)
		switch {
		case errors.Is(err, io.EOF) && !last().Over():
			_ = conn.Close(websocket.StatusServiceRestart, "the conversation continues elsewhere: resume it")
			return
		case errors.Is(err, io.EOF):
			_ = conn.Close(websocket.StatusNormalClosure, "the conversation has ended")
			return
		case err != nil:
			_ = conn.Close(websocket.StatusGoingAway, "")
			return
		}
		if err := s.sendSocket(ctx, conn, b); err != nil {
			return
		}
	}
}

// sendSocket sends a message or a ping.
func (s *Server) sendSocket(ctx context.Context, conn *websocket.Conn, b []byte) error {
	ctx, cancel := context.WithTimeout(ctx, s.o.WriteWait)
	defer cancel()
	if b == nil {
		return conn.Ping(ctx)
	}
	return conn.Write(ctx, websocket.MessageText, b)
}
