package fake

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// fields are the members of commands.
type fields struct {
	CommandID   string `json:"command_id"`
	ClientState string `json:"client_state"`

	SendSilence *bool `json:"send_silence_when_idle"` // of answer

	StreamURL   string `json:"stream_url"` // of streaming_start, like the following
	Track       string `json:"stream_track"`
	Codec       string `json:"stream_codec"`
	Mode        string `json:"stream_bidirectional_mode"`
	Reply       string `json:"stream_bidirectional_codec"`
	Rate        int    `json:"stream_bidirectional_sampling_rate"`
	TargetLegs  string `json:"stream_bidirectional_target_legs"`
	Dialogflow  *bool  `json:"enable_dialogflow"`
	AuthToken   string `json:"stream_auth_token"`
	CustomNames []struct {
		Name, Value string
	} `json:"custom_parameters"`

	Cause string `json:"cause"` // of reject

	Connection string `json:"connection_id"` // of a dial
	To         string `json:"to"`            // of a dial and a transfer, like the following
	From       string `json:"from"`
	Timeout    int    `json:"timeout_secs"`
	Machine    string `json:"answering_machine_detection"`
}

// refusal is an error of the API.
type refusal struct {
	status int
	code   string
	text   string
}

// ServeHTTP implements [http.Handler] for POST .../calls and .../calls/ID/actions/ACTION.
func (f *Telnyx) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, action, ok := strings.Cut(r.URL.Path, "/actions/")
	id := path[strings.LastIndexByte(path, '/')+1:]
	if !ok && strings.HasSuffix(path, "/calls") {
		action, id, ok = "dial", "", true
	}
	if !ok || r.Method != http.MethodPost {
		f.answer(w, &refusal{http.StatusNotFound, "10005", "Resource not found"})
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+f.o.Key {
		f.answer(w, &refusal{http.StatusUnauthorized, "10009", "Authentication failed"})
		return
	}
	f.mu.Lock()
	f.attempts[action]++
	n := f.attempts[action]
	f.mu.Unlock()
	var fault Fault
	if f.o.Fault != nil {
		fault = f.o.Fault(action, n)
	}
	var no *refusal
	var placed *TelnyxCall
	switch {
	case fault != (Fault{}) && !fault.Done:
	case action == "dial":
		placed, no = f.dial(r) //nolint:contextcheck // webhooks outlive the request
	default:
		no = f.obey(r, id, action) //nolint:contextcheck // webhooks outlive the request
	}
	switch {
	case fault.Silent:
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done():
		case <-f.stop:
		}
	case fault.Status != 0:
		if fault.RetryAfter != "" {
			w.Header().Set("Retry-After", fault.RetryAfter)
		}
		f.answer(w, &refusal{fault.Status, cmp.Or(fault.Code, "10007"), "A fault"})
	case placed != nil:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{
			"call_control_id": placed.id, "call_session_id": placed.session, "call_leg_id": "leg-" + placed.id, "is_alive": false, "record_type": "call",
		}})
	default:
		f.answer(w, no)
	}
}

// answer answers a command.
func (f *Telnyx) answer(w http.ResponseWriter, no *refusal) {
	w.Header().Set("Content-Type", "application/json")
	if no == nil {
		_, _ = io.WriteString(w, `{"data":{"result":"ok"}}`)
		return
	}
	w.WriteHeader(no.status)
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": []any{map[string]any{
		"code": no.code, "title": no.text, "detail": no.text + ": +15551234567", // Telnyx's words may contain numbers
	}}})
}

// rule records a broken rule.
func (f *Telnyx) rule(format string, args ...any) *refusal {
	text := fmt.Sprintf(format, args...)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = append(f.broken, text)
	return &refusal{http.StatusUnprocessableEntity, "10015", text}
}

// read reads the members of a command.
func (f *Telnyx) read(r *http.Request, action string) (m fields, no *refusal) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		err = d.Decode(&m)
	}
	if err != nil || r.Header.Get("Content-Type") != "application/json" {
		return m, f.rule("%s: invalid body: %v", action, err)
	}
	if m.CommandID == "" {
		return m, f.rule("%s: command_id is missing", action)
	}
	return m, nil
}

// obey carries a command out.
func (f *Telnyx) obey(r *http.Request, id, action string) *refusal {
	m, no := f.read(r, action)
	if no != nil {
		return no
	}
	f.mu.Lock()
	c := f.calls[id]
	if c == nil {
		f.mu.Unlock()
		return &refusal{http.StatusNotFound, "90015", "Invalid Call Control ID"}
	}
	at, again := c.commands[m.CommandID]
	ended, answered, streams := c.cause != "", c.answered, c.streams
	f.mu.Unlock()
	if ended {
		return &refusal{http.StatusUnprocessableEntity, "90018", "Call has already ended"}
	}
	if again && time.Since(at) < remembers {
		return nil
	}
	switch action {
	case "answer":
		if answered || c.outgoing {
			return f.rule("answer: the call is answered already")
		}
		f.note(c, m.CommandID, action, func() {
			c.answered = true
			if m.SendSilence == nil || !*m.SendSilence {
				c.idle = idleLimit
			}
		})
		f.tell(c, "call.answered", map[string]any{"state": "answered"})
	case "reject":
		if answered || m.Cause != "USER_BUSY" && m.Cause != "CALL_REJECTED" {
			return f.rule("reject: answered %v, cause %q", answered, m.Cause)
		}
		f.note(c, m.CommandID, action, func() {})
		c.end(map[string]string{"USER_BUSY": "user_busy", "CALL_REJECTED": "call_rejected"}[m.Cause], "callee")
	case "hangup":
		f.note(c, m.CommandID, action, func() {})
		switch {
		case c.outgoing && answered:
			c.end("normal_clearing", "caller")
		case c.outgoing:
			c.end("originator_cancel", "caller")
		default:
			c.end("normal_clearing", "callee")
		}
	case "streaming_stop":
		f.note(c, m.CommandID, action, func() {})
		f.mu.Lock()
		stream := c.stream
		f.mu.Unlock()
		if stream != nil {
			stream.HangUp()
		}
	case "transfer":
		if !answered || !isNumber(m.To) || !isNumber(m.From) || m.Timeout < 5 || m.Timeout > 600 {
			return f.rule("transfer: answered %v, %+v", answered, m)
		}
		f.note(c, m.CommandID, action+" "+m.To, func() {})
		f.done.Go(func() { f.transfer(c, m) })
	case "streaming_start":
		if err := m.streaming(); err != nil || !answered || streams {
			return f.rule("streaming_start: answered %v, streams %v: %v", answered, streams, err)
		}
		f.note(c, m.CommandID, action, func() { c.streams, c.url = true, m.StreamURL })
		f.done.Go(func() { f.connect(c, m) })
	default:
		return f.rule("%s: unknown command", action)
	}
	return nil
}

// note records a command that is carried out.
func (f *Telnyx) note(c *TelnyxCall, id, action string, change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c.commands[id] = time.Now()
	c.actions, c.times = append(c.actions, action), append(c.times, time.Now())
	change()
}

// streaming returns an error if the fields are not what the server must say: most have a default
// with which the caller hears nothing.
func (m *fields) streaming() error {
	out, err := named(m.Reply)
	switch {
	case err != nil:
		return err
	case !strings.HasPrefix(m.StreamURL, "wss://"):
		return errors.New("stream_url: expected the scheme wss")
	case m.Track != "inbound_track":
		return fmt.Errorf("stream_track is %q", m.Track)
	case m.Mode != "rtp":
		return fmt.Errorf("stream_bidirectional_mode is %q", m.Mode)
	case m.TargetLegs != "self":
		return fmt.Errorf("stream_bidirectional_target_legs is %q", m.TargetLegs)
	case m.Rate != out.clock:
		return fmt.Errorf("stream_bidirectional_sampling_rate is %d", m.Rate)
	}
	_, err = named(m.Codec)
	return err
}

// connect opens the stream of a call.
func (f *Telnyx) connect(c *TelnyxCall, m fields) {
	params := map[string]any{"stream_url": m.StreamURL, "track": m.Track}
	parameters := make(map[string]string)
	for _, p := range m.CustomNames {
		parameters[p.Name] = p.Value
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	stream, err := Dial(ctx, Options{
		Dialect: "telnyx", URL: m.StreamURL, Client: f.o.Client, Stream: "stream-" + c.id, Call: c.id, From: c.from, To: c.to, Parameters: parameters,
		Encoding: cmp.Or(f.o.Encoding, m.Codec), Reply: m.Reply, Shuffle: f.o.Shuffle, Idle: c.idle,
	})
	if err != nil {
		f.mu.Lock()
		c.streams = false
		f.mu.Unlock()
		f.tell(c, "streaming.failed", map[string]any{"failure_reason": "connection_failed", "stream_id": "stream-" + c.id, "stream_params": params, "stream_type": "websocket"})
		return
	}
	f.mu.Lock()
	c.stream = stream
	ended := c.cause != ""
	if !ended {
		c.streamed <- stream
	}
	f.mu.Unlock()
	if ended {
		stream.HangUp()
	}
	f.tell(c, "streaming.started", map[string]any{"stream_id": "stream-" + c.id, "stream_params": params, "stream_type": "websocket"})
	select {
	case <-stream.Over():
	case <-f.stop:
		return
	}
	if stream.Dropped() {
		c.end("timeout", "unknown")
	}
	f.mu.Lock()
	c.streams = false
	f.mu.Unlock()
	f.tell(c, "streaming.stopped", map[string]any{"stream_id": "stream-" + c.id, "stream_params": params, "stream_type": "websocket"})
}
