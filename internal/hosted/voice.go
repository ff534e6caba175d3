package hosted

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
)

// voice is a connection to a synthesizer. Its reader passes sound to the text that it belongs
// to and drops the sound of cancelled texts; its keeper sends what need not be waited for.
type voice struct {
	s        *Synthesizer
	conn     *socket.Conn
	same     string
	endNow   context.CancelFunc
	requests chan struct{} // holds a token if the keeper has something to send

	mu        sync.Mutex // guards the fields below
	protocol  Speaking
	current   *text           // the text that is being spoken
	cancelled map[string]bool // texts that the service has not ended
	send      []socket.Message
	used      time.Time // when it was used last
	made      time.Time
	begun     []time.Time // when its last texts began
	dead      bool
	why       error // why it is dead; nil if it was closed
}

func newVoice(s *Synthesizer, conn *socket.Conn, protocol Speaking, same string) *voice {
	now := time.Now()
	return &voice{
		s: s, conn: conn, protocol: protocol, same: same,
		requests: make(chan struct{}, 1), cancelled: make(map[string]bool), used: now, made: now,
	}
}

// end closes the connection. Its goroutines end by themselves.
func (v *voice) end() {
	v.mu.Lock()
	v.dead = true
	v.mu.Unlock()
	v.endNow()
	_ = v.conn.CloseNow() // it is not used any more
}

// room reports whether the connection can take another text.
func (v *voice) room(now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	o := &v.s.o
	v.begun = slices.DeleteFunc(v.begun, func(at time.Time) bool { return now.Sub(at) >= time.Minute })
	return !v.dead && v.current == nil && len(v.cancelled) < o.Texts &&
		(o.PerMinute == 0 || len(v.begun) < o.PerMinute) && (o.Life == 0 || now.Sub(v.made) < o.Life)
}

// begin sends a text.
func (v *voice) begin(ctx context.Context, t *text, u port.Utterance) error {
	v.mu.Lock()
	v.current, v.begun = t, append(v.begun, time.Now())
	messages := v.protocol.Speak(t.id, u)
	v.mu.Unlock()
	err := v.conn.Write(ctx, messages...)
	if err == nil || ctx.Err() != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.why != nil {
		return v.why // it came first
	}
	return err
}

// cancel stops a text, if the service has not ended it. It does not wait.
func (v *voice) cancel(id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.current == nil || v.current.id != id || v.dead {
		return
	}
	v.current = nil
	messages, ok := v.protocol.Cancel(id)
	if !ok {
		v.dead = true
		v.endNow()
		return
	}
	if !v.s.o.Forgets {
		v.cancelled[id] = true
	}
	v.send = append(v.send, messages...)
	select {
	case v.requests <- struct{}{}:
	default:
	}
}

// rest records that the connection is not used.
func (v *voice) rest(now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.current, v.used = nil, now
}

// read reads the connection until it ends.
func (v *voice) read(ctx context.Context) {
	defer v.s.forget(v)
	defer v.end()
	for {
		m, err := v.conn.Read(ctx)
		if err == nil {
			err = v.receive(m)
		}
		if err != nil {
			v.fail(err)
			return
		}
	}
}

// receive passes on what a message says.
func (v *voice) receive(m socket.Message) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	sounds, err := v.protocol.Receive(m)
	if err != nil {
		return err
	}
	for _, s := range sounds {
		if s.Err != nil {
			s.Done = true
		}
		if v.current != nil && v.current.id == s.ID {
			v.current.put(s)
			if s.Done {
				v.current = nil
			}
		}
		if s.Done {
			delete(v.cancelled, s.ID)
		}
	}
	return nil
}

// fail ends the text that is being spoken.
func (v *voice) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.dead = true
	if v.why == nil {
		v.why = err
	}
	if v.current != nil {
		v.current.put(Sound{ID: v.current.id, Done: true, Err: err})
		v.current = nil
	}
}

// keep sends requests and keepalives, and closes a connection that nobody has used for long.
func (v *voice) keep(ctx context.Context) {
	timer := time.NewTimer(v.s.o.Keepalive)
	defer timer.Stop()
	for {
		idle := false
		select {
		case <-ctx.Done():
			_ = v.conn.CloseNow() // its reader ends
			return
		case <-v.requests:
		case now := <-timer.C:
			timer.Reset(v.s.o.Keepalive)
			if idle = v.idle(now); !idle {
				v.end()
				return
			}
		}
		due := v.due()
		if idle && len(due) == 0 {
			ping(ctx, &v.s.workers, v.conn, v.s.o.Keepalive)
		}
		if v.conn.Write(ctx, due...) != nil {
			v.end()
			return
		}
	}
}

// idle asks for a keepalive. It returns false if the connection was not used for long.
func (v *voice) idle(now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.current == nil && now.Sub(v.used) >= v.s.o.Idle {
		return false
	}
	v.send = append(v.send, v.protocol.Keepalive()...)
	return true
}

// due returns what is to be sent.
func (v *voice) due() []socket.Message {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := v.send
	v.send = nil
	return all
}
