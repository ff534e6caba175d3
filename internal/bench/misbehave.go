package bench

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/hocketvoice/hocket/internal/wait"
)

// This file implements misbehaving clients.

// kind is one way to misbehave. run does so until ctx ends or it is done; its
// errors are errors of the measurement.
type kind struct {
	name string
	run  func(ctx context.Context, f *faulty, t *tally) error
}

var misbehaviours = []kind{
	{"killed", killed},
	{"half open", halfOpen},
	{"never reads", neverReads},
	{"frames of 1 MB", largeFrames},
	{"invalid JSON", invalidJSON},
	{"wrong order", wrongOrder},
	{"flood of events", flood},
	{"two clients", twoClients},
	{"connect and disconnect", storm},
}

// rude is a misbehaving client.
type rude struct {
	ws    *websocket.Conn
	tcp   *net.TCPConn
	token string
	done  chan struct{} // closed when listen has ended
}

// dial connects a client. It does not read.
func (f *faulty) dial(ctx context.Context, token string) (*rude, error) {
	c := &rude{done: make(chan struct{})}
	plain := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		var ok bool
		if c.tcp, ok = conn.(*net.TCPConn); !ok {
			return nil, errors.Join(errors.New("not a TCP connection"), conn.Close())
		}
		return conn, nil
	}}}
	ws, w, err := websocket.Dial(ctx, f.url, &websocket.DialOptions{HTTPClient: plain, HTTPHeader: http.Header{"Hocket-Resume-Token": {token}}})
	if err != nil {
		return nil, err
	}
	if w.Body != nil {
		_ = w.Body.Close() // the connection was taken over
	}
	ws.SetReadLimit(4 << 20)
	c.ws, c.token = ws, w.Header.Get("Hocket-Resume-Token")
	return c, nil
}

func (c *rude) send(ctx context.Context, event string) error {
	return c.ws.Write(ctx, websocket.MessageText, []byte(event))
}

// harmless is an event that every conversation accepts.
const harmless = `{"type":"session.update","session":{"type":"realtime","instructions":"be brief"}}`

// listen reads the server's messages until the connection ends.
func (c *rude) listen(ctx context.Context, t *tally) {
	defer close(c.done)
	for {
		_, b, err := c.ws.Read(ctx)
		if err != nil {
			t.note(ending(ctx, err))
			return
		}
		var m struct {
			Type  string
			Error struct{ Code string }
		}
		if json.Unmarshal(b, &m) == nil && m.Type == "error" {
			t.note("error " + m.Error.Code)
		}
	}
}

// follow starts listen; bye waits for it.
func (c *rude) follow(ctx context.Context, t *tally) { go c.listen(context.WithoutCancel(ctx), t) }

// ending describes how a connection ended.
func ending(ctx context.Context, err error) string {
	code := websocket.CloseStatus(err)
	switch {
	case code != -1:
		return fmt.Sprintf("closed %d", code)
	case ctx.Err() != nil:
		return "still connected"
	default:
		return "connection ended"
	}
}

// bye closes a client's connection normally.
func (c *rude) bye() {
	_ = c.ws.Close(websocket.StatusNormalClosure, "") // it may already be closed
	<-c.done
}

// killed simulates a client whose process dies during the greeting.
func killed(ctx context.Context, f *faulty, t *tally) error {
	for ctx.Err() == nil {
		c, err := f.dial(ctx, "")
		if err != nil {
			return unless(ctx, err)
		}
		err = c.send(ctx, harmless)
		_ = wait.For(ctx, 200*time.Millisecond)
		if err = errors.Join(err, c.tcp.SetLinger(0), c.tcp.Close()); err != nil {
			return unless(ctx, err)
		}
		t.note("reset by the client")
		_ = c.ws.CloseNow() // if it is still open
	}
	return nil
}

// unless returns err unless it is due to the end of the fault's time.
func unless(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// halfOpen simulates a client whose machine disappears without sending a packet.
func halfOpen(ctx context.Context, f *faulty, t *tally) error {
	c, err := f.dial(ctx, "")
	if err != nil {
		return unless(ctx, err)
	}
	defer func() { _ = c.ws.CloseNow() }()
	if err := c.send(ctx, harmless); err != nil {
		return unless(ctx, err)
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	_ = wait.For(late, 2*faultPing+faultTimeout+time.Second) // until the server detects it
	c.listen(late, t)                                        // read what has arrived in the meantime
	return nil
}

// neverReads simulates a client that requests much and reads nothing.
func neverReads(ctx context.Context, f *faulty, t *tally) error {
	c, err := f.dial(ctx, "")
	if err != nil {
		return unless(ctx, err)
	}
	defer func() { _ = c.ws.CloseNow() }()
	if err := c.tcp.SetReadBuffer(4096); err != nil {
		return err
	}
	ask := `{"type":"session.update","session":{"type":"realtime","instructions":"` + strings.Repeat("x", 50_000) + `"}}`
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	for late.Err() == nil {
		if c.send(late, ask) != nil && late.Err() == nil {
			t.note("cut off")
			return nil
		}
	}
	t.note("still connected")
	return nil
}

// largeFrames sends sound in frames of 1 MB, and finally one that exceeds the
// limit.
func largeFrames(ctx context.Context, f *faulty, t *tally) error {
	c, err := f.dial(ctx, "")
	if err != nil {
		return unless(ctx, err)
	}
	c.follow(ctx, t)
	defer func() { _ = c.ws.CloseNow(); <-c.done }()
	sound := func(size int) string {
		return `{"type":"input_audio_buffer.append","audio":"` + base64.StdEncoding.EncodeToString(make([]byte, size)) + `"}`
	}
	frame := sound(1 << 20 / 4 * 3)
	for range 8 {
		if err := c.send(ctx, frame); err != nil {
			return unless(ctx, err)
		}
		t.note("frames taken")
	}
	_ = c.send(ctx, sound(16<<20)) // the server closes the connection while it is sent
	select {
	case <-c.done:
	case <-ctx.Done():
	}
	return nil
}

// every sends events at intervals until ctx ends, and then disconnects.
func (f *faulty) every(ctx context.Context, t *tally, interval time.Duration, events ...string) error {
	c, err := f.dial(ctx, "")
	if err != nil {
		return unless(ctx, err)
	}
	c.follow(ctx, t)
	defer c.bye()
	for i := 0; ctx.Err() == nil; i++ {
		if c.send(context.WithoutCancel(ctx), events[i%len(events)]) != nil {
			break // the server has closed the connection: listen records how
		}
		if interval > 0 {
			_ = wait.For(ctx, interval)
		}
	}
	return nil
}

func invalidJSON(ctx context.Context, f *faulty, t *tally) error {
	return f.every(ctx, t, 5*time.Millisecond, `{"type":`, `[]`, "\x00", `{"type":"session.update","session":7}`, `{"type":"nonsense"}`)
}

func wrongOrder(ctx context.Context, f *faulty, t *tally) error {
	return f.every(
		ctx, t, 5*time.Millisecond,
		`{"type":"input_audio_buffer.commit"}`, `{"type":"response.cancel","response_id":"resp_none"}`,
		`{"type":"conversation.item.truncate","item_id":"none","content_index":0,"audio_end_ms":0}`,
		`{"type":"conversation.item.delete","item_id":"none"}`, `{"type":"conversation.item.retrieve","item_id":"none"}`,
		`{"type":"conversation.item.create","previous_item_id":"none","item":{"type":"message","role":"user","content":[]}}`,
		`{"type":"response.create","response":{"input":[{"type":"item_reference","id":"none"}]}}`,
	)
}

// flood sends events as fast as possible.
func flood(ctx context.Context, f *faulty, t *tally) error {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return f.every(late, t, 0, `{"type":"response.cancel","response_id":"resp_none"}`)
}

// twoClients simulates a second client that takes over the conversation of the
// first, which tries to return with a used token.
func twoClients(ctx context.Context, f *faulty, t *tally) error {
	for ctx.Err() == nil {
		if err := f.takeOver(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

func (f *faulty) takeOver(ctx context.Context, t *tally) error {
	var list []*rude
	defer func() {
		for _, c := range list {
			c.bye()
		}
	}()
	token := ""
	for _, used := range []bool{false, false, true} {
		if used {
			token = list[0].token
		}
		c, err := f.dial(ctx, token)
		if err != nil {
			return unless(ctx, err)
		}
		list, token = append(list, c), c.token
		c.follow(ctx, t)
		if !used {
			if err := c.send(ctx, harmless); err != nil {
				return unless(ctx, err)
			}
			_ = wait.For(ctx, 50*time.Millisecond)
		}
	}
	return nil
}

// stormMost limits the connections of one client of a storm.
const stormMost = 500

// storm connects and disconnects as fast as possible, half of the times without a
// message.
func storm(ctx context.Context, f *faulty, t *tally) error {
	for i := 0; i < stormMost && ctx.Err() == nil; i++ {
		c, err := f.dial(ctx, "")
		if err != nil {
			return unless(ctx, err)
		}
		t.note("connections")
		if i%2 == 0 {
			_ = c.ws.CloseNow()
			continue
		}
		c.follow(ctx, t)
		c.bye()
	}
	return nil
}
