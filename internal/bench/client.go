package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/server/hub"
)

// client calls a running server. It must be used by one goroutine.
type client struct {
	url, key string
	http     *http.Client
}

// opened is a new conversation.
type opened struct {
	ID     string `json:"id"`
	SDP    string `json:"sdp"`
	Resume string `json:"resume_token"`
}

func (c *client) request(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var b bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&b).Encode(body); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, &b)
	if err != nil {
		return nil, err
	}
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	return c.http.Do(r)
}

// call sends a request and decodes the response into v, which may be nil.
func (c *client) call(ctx context.Context, method, path string, body, v any) error {
	w, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer w.Body.Close()
	b, err := io.ReadAll(io.LimitReader(w.Body, 1<<20))
	switch {
	case err != nil:
		return err
	case w.StatusCode >= http.StatusMultipleChoices:
		return fmt.Errorf("%s %s: status %d: %s", method, path, w.StatusCode, bytes.TrimSpace(b))
	case v == nil:
		return nil
	}
	return json.Unmarshal(b, v)
}

func (c *client) command(ctx context.Context, id, what, text string) error {
	return c.call(ctx, http.MethodPost, "/v1/conversations/"+id+"/commands", hub.Command{Type: what, Text: text}, nil)
}

// events is the event stream of a conversation from its beginning.
type events struct {
	body  io.Closer
	lines *bufio.Reader
}

func (c *client) follow(ctx context.Context, id string) (*events, error) {
	w, err := c.request(ctx, http.MethodGet, "/v1/conversations/"+id+"/events?from=1", nil)
	if err != nil {
		return nil, err
	}
	if w.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("events: status %d", w.StatusCode), w.Body.Close())
	}
	return &events{body: w.Body, lines: bufio.NewReader(w.Body)}, nil
}

// state reads until the conversation enters a state of the view agent-voice, and
// returns the time.
func (e *events) state(want string) (time.Time, error) {
	return e.until("state "+want, func(m hub.Message) bool {
		var p hub.StatePayload
		return m.Type == hub.TypeState && json.Unmarshal(m.Payload, &p) == nil && p.State == want
	})
}

// phase reads until the machine enters a phase, and returns the time.
func (e *events) phase(want string) (time.Time, error) {
	return e.until("phase "+want, func(m hub.Message) bool {
		var p hub.Transition
		return m.Type == hub.TypeTransition && json.Unmarshal(m.Payload, &p) == nil && p.Phase.To.String() == want
	})
}

func (e *events) until(what string, fits func(hub.Message) bool) (time.Time, error) {
	for {
		line, err := e.lines.ReadString('\n')
		if err != nil {
			return time.Time{}, fmt.Errorf("waiting for %s: %w", what, err)
		}
		data, ok := strings.CutPrefix(line, "data: ")
		var m hub.Message
		if ok && json.Unmarshal([]byte(data), &m) == nil && fits(m) {
			return time.Now(), nil
		}
	}
}
