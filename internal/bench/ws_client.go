package bench

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/hocketvoice/hocket/audio"
)

// caller is one client. talk and listen run in a goroutine each.
type caller struct {
	ws *websocket.Conn

	token string        // allows it to reconnect
	least time.Duration // minimum duration of a response; 0 disables the check

	mu sync.Mutex // guards n
	n  notes
}

// notes is what a client has observed.
type notes struct {
	late      []time.Duration
	answers   []time.Duration
	responses int
	skip      bool  // the current response began before restart
	cut       int   // responses that were not completed
	short     int   // completed responses with too little sound
	err       error // connection error; nil if connected or ended by the context
}

func newCaller(ctx context.Context, url string, o *websocket.DialOptions) (*caller, error) {
	ws, w, err := websocket.Dial(ctx, url, o)
	if err != nil {
		return nil, err
	}
	if w.Body != nil {
		_ = w.Body.Close() // the connection was taken over
	}
	ws.SetReadLimit(4 << 20)
	return &caller{ws: ws, token: w.Header.Get("Hocket-Resume-Token")}, nil
}

// greeted is the time after which the greeting has been played.
const greeted = 8 * time.Second

// talk sends sound in real time.
func (c *caller) talk(ctx context.Context, said [][]byte, silence []byte, shift time.Duration) {
	period := int(askEvery / appendEvery)
	n := -int((shift + greeted) / appendEvery)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for due := time.Now(); ; timer.Reset(time.Until(due)) {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		due = due.Add(appendEvery)
		event := silence
		if at := (n + 2*period) % period; n >= 0 && at < len(said) {
			event = said[at]
		}
		n++
		if c.ws.Write(ctx, websocket.MessageText, event) != nil {
			return
		}
	}
}

// listen reads the server's messages and records the delay of the sound: each piece
// is due when the earlier ones have been played.
func (c *caller) listen(ctx context.Context) {
	defer func() { _ = c.ws.CloseNow() }() // talking must stop too
	var first, stopped time.Time
	var played time.Duration
	for {
		_, b, err := c.ws.Read(ctx)
		if err != nil {
			if ctx.Err() == nil {
				c.note(func(n *notes) { n.err = err })
			}
			return
		}
		now := time.Now()
		var m struct {
			Type, Delta string
			Response    struct{ Status string }
		}
		if json.Unmarshal(b, &m) != nil {
			continue
		}
		switch m.Type {
		case "input_audio_buffer.speech_stopped":
			stopped = now
		case "response.created":
			first, played = time.Time{}, 0
			c.note(func(n *notes) { n.skip = false })
		case "response.done":
			c.note(func(n *notes) { n.done(m.Response.Status, played, c.least) })
		case "response.output_audio.delta":
			c.note(func(n *notes) {
				if first.IsZero() {
					first = now
					if !stopped.IsZero() {
						n.answers = append(n.answers, now.Sub(stopped))
						stopped = time.Time{}
					}
				}
				if n.skip {
					return // the delay may be due to earlier sound
				}
				n.late = append(n.late, max(0, now.Sub(first)-played))
			})
			played += audio.Pos(base64.StdEncoding.DecodedLen(len(m.Delta)) / 2).Duration(wsRate)
		}
	}
}

// done records the end of a response with the duration of its sound.
func (n *notes) done(status string, sound, least time.Duration) {
	n.responses++
	switch {
	case n.skip:
	case status != "completed":
		n.cut++
	case sound < least:
		n.short++
	}
}

func (c *caller) note(what func(*notes)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	what(&c.n)
}

// restart clears the notes.
func (c *caller) restart() { c.note(func(n *notes) { *n = notes{err: n.err, skip: true} }) }

// noted returns the notes.
func (c *caller) noted() (n notes) {
	c.note(func(now *notes) { n = *now })
	return n
}
