package fake

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// TelnyxOptions describes an account. Key and Webhook are required.
type TelnyxOptions struct {
	// Key is the API key that commands must have.
	Key string
	// Webhook is the URL of the webhooks of the account's application.
	Webhook string
	// Client sends webhooks and opens streams; http.DefaultClient if nil.
	Client *http.Client
	// Encoding is the format of the telephones' sound, see [Options]. If empty it is the one that
	// the server asks for.
	Encoding string
	// Shuffle is that of [Options].
	Shuffle bool
	// Fault, if not nil, returns what goes wrong with the n-th attempt of an action, from 1.
	Fault func(action string, n int) Fault
	// Parties, if not nil, returns who is called under a number.
	Parties func(to string) Party
	// Deliver, if not nil, returns how webhooks of a type are delivered.
	Deliver func(event string) Delivery
}

// Fault is something that goes wrong with a command. The zero value is no fault.
type Fault struct {
	Status     int    // of the answer
	RetryAfter string // a header of the answer, in seconds
	Code       string // of the error in the answer
	Done       bool   // the command is carried out all the same
	Silent     bool   // there is no answer
}

// Delivery is how a webhook is delivered. The zero value is once, at once.
type Delivery struct {
	Again int           // number of deliveries after the first
	Late  time.Duration // before the first
	Lost  bool          // it is not delivered
}

const (
	webhookLimit   = 2 * time.Second         // for the answer to a webhook
	webhookRetries = 2                       // of a webhook that was not delivered
	idleLimit      = 1600 * time.Millisecond // of a call on which nothing is sent
	remembers      = time.Minute             // for how long a repeated command is ignored
)

// Telnyx plays Telnyx's Call Control: an [http.Handler] of the API, which posts signed webhooks and
// opens streams. It is safe for concurrent use.
type Telnyx struct {
	o       TelnyxOptions
	private ed25519.PrivateKey
	stop    chan struct{} // closed by Close
	done    sync.WaitGroup

	mu       sync.Mutex // guards the fields below, and those of calls
	calls    map[string]*TelnyxCall
	attempts map[string]int
	refused  []string
	broken   []string
}

// TelnyxCall is a call. It is safe for concurrent use.
type TelnyxCall struct {
	f        *Telnyx
	id       string
	session  string
	from, to string
	outgoing bool
	state    string        // client_state
	streamed chan *Call    // the streams that have begun
	over     chan struct{} // closed when the call is over

	// Guarded by the mu of f.
	answered bool
	idle     time.Duration // that the stream may be silent
	stream   *Call
	streams  bool
	url      string // of the stream
	cause    string
	source   string
	actions  []string
	times    []time.Time // of actions
	commands map[string]time.Time
}

// NewTelnyx returns an account. The caller must close it.
func NewTelnyx(o TelnyxOptions) *Telnyx {
	private := keyOf(o.Key)
	o.Client = cmp.Or(o.Client, http.DefaultClient)
	return &Telnyx{
		o: o, private: private, stop: make(chan struct{}),
		calls: make(map[string]*TelnyxCall), attempts: make(map[string]int),
	}
}

// keyOf returns the key with which the webhooks of an account are signed. It follows from the API
// key, so that a server can be told of it before the fake runs.
func keyOf(apiKey string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("a fake of Telnyx " + apiKey))
	return ed25519.NewKeyFromSeed(seed[:])
}

// TelnyxPublicKey returns the key with which the webhooks of the account with an API key are
// verified.
func TelnyxPublicKey(apiKey string) string {
	public, _ := keyOf(apiKey).Public().(ed25519.PublicKey)
	return base64.StdEncoding.EncodeToString(public)
}

// PublicKey returns the key with which webhooks are verified.
func (f *Telnyx) PublicKey() string { return TelnyxPublicKey(f.o.Key) }

// Sign returns the headers of a webhook that is sent at a time.
func (f *Telnyx) Sign(body []byte, at time.Time) http.Header {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	signature := ed25519.Sign(f.private, append([]byte(timestamp+"|"), body...))
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("Telnyx-Timestamp", timestamp)
	h.Set("Telnyx-Signature-Ed25519", base64.StdEncoding.EncodeToString(signature))
	return h
}

// Close ends all calls without a word. It returns what the server has done that Telnyx does not
// allow.
func (f *Telnyx) Close() error {
	close(f.stop)
	f.mu.Lock()
	var streams []*Call
	for _, c := range f.calls {
		if c.stream != nil {
			streams = append(streams, c.stream)
		}
	}
	f.mu.Unlock()
	var err error
	for _, s := range streams {
		err = cmp.Or(err, s.Close())
	}
	f.done.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.broken) > 0 {
		err = fmt.Errorf("the server breaks rules: %q", f.broken)
	}
	return err
}

// Attempts returns how often a command was sent.
func (f *Telnyx) Attempts(action string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.attempts[action]
}

// Refused returns the webhooks that the server has not taken, with the status or the error.
func (f *Telnyx) Refused() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.refused)
}

// Ring begins a call.
func (f *Telnyx) Ring(from, to string) *TelnyxCall {
	c := f.newCall(from, to)
	f.tell(c, "call.initiated", map[string]any{"state": "parked"})
	return c
}

func (f *Telnyx) newCall(from, to string) *TelnyxCall {
	c := &TelnyxCall{
		f: f, id: "v3:" + rand.Text(), from: from, to: to, streamed: make(chan *Call, 16), over: make(chan struct{}),
		commands: make(map[string]time.Time),
	}
	c.session = "session-" + c.id
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[c.id] = c
	return c
}

// Drop breaks the connection of the stream, which the call survives.
func (c *TelnyxCall) Drop() {
	c.f.mu.Lock()
	stream := c.stream
	c.f.mu.Unlock()
	if stream != nil {
		_ = stream.Close()
	}
}

// Placed returns the calls that the server has placed, or that a transfer has.
func (f *Telnyx) Placed() []*TelnyxCall {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []*TelnyxCall
	for _, c := range f.calls {
		if c.outgoing {
			list = append(list, c)
		}
	}
	return list
}

// Event returns the body of a webhook of a call.
func (c *TelnyxCall) Event(kind string, more map[string]any, attempt int, id string) []byte {
	payload := map[string]any{
		"call_control_id": c.id, "call_leg_id": "leg-" + c.id, "call_session_id": c.session, "connection_id": "1494404757140276705",
		"from": c.from, "to": c.to, "direction": "incoming", "client_state": nil,
	}
	if c.outgoing {
		payload["direction"] = "outgoing"
	}
	if c.state != "" {
		payload["client_state"] = c.state
	}
	maps.Copy(payload, more)
	body, err := json.Marshal(map[string]any{
		"data": map[string]any{
			"record_type": "event", "event_type": kind, "id": id, "occurred_at": time.Now().UTC().Format(time.RFC3339Nano), "payload": payload,
		},
		"meta": map[string]any{"attempt": attempt, "delivered_to": c.f.o.Webhook},
	})
	if err != nil {
		panic(err) // it consists of texts
	}
	return body
}

// tell delivers a webhook.
func (f *Telnyx) tell(c *TelnyxCall, kind string, more map[string]any) {
	d := Delivery{}
	if f.o.Deliver != nil {
		d = f.o.Deliver(kind)
	}
	if d.Lost {
		return
	}
	id := rand.Text()
	f.done.Go(func() {
		select {
		case <-time.After(d.Late):
		case <-f.stop:
			return
		}
		again, failures := d.Again, 0
		for attempt := 1; ; attempt++ {
			status, err := f.post(c.Event(kind, more, attempt, id))
			switch {
			case err == nil && status/100 == 2:
				if again == 0 {
					return
				}
				again--
			default:
				f.mu.Lock()
				f.refused = append(f.refused, fmt.Sprintf("%s: %d %v", kind, status, err))
				f.mu.Unlock()
				retried := err != nil || status >= 500 || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests
				if failures++; !retried || failures > webhookRetries {
					if kind == "call.initiated" {
						c.end("unspecified", "unknown") // nobody answers
					}
					return
				}
			}
			select {
			case <-f.stop:
				return
			default:
			}
		}
	})
}

// post posts a webhook.
func (f *Telnyx) post(body []byte) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), webhookLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.o.Webhook, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header = f.Sign(body, time.Now())
	resp, err := f.o.Client.Do(r)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// Stream waits for the next stream. It returns an error if the call ends before.
func (c *TelnyxCall) Stream(ctx context.Context) (*Call, error) {
	select {
	case s := <-c.streamed:
		return s, nil
	default:
	}
	select {
	case s := <-c.streamed:
		return s, nil
	case <-c.over:
		c.f.mu.Lock()
		defer c.f.mu.Unlock()
		return nil, fmt.Errorf("the call is over: %s", c.cause)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ID returns the name of the call.
func (c *TelnyxCall) ID() string { return c.id }

// HangUp ends the call on behalf of the caller.
func (c *TelnyxCall) HangUp() { c.end("normal_clearing", "caller") }

// Over returns a channel that is closed when the call is over.
func (c *TelnyxCall) Over() <-chan struct{} { return c.over }

// Cause returns why the call is over, and on whose behalf.
func (c *TelnyxCall) Cause() (cause, source string) {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	return c.cause, c.source
}

// StreamURL returns where the server wants the stream, or "".
func (c *TelnyxCall) StreamURL() string {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	return c.url
}

// Actions returns the commands that were carried out.
func (c *TelnyxCall) Actions() []string {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	return slices.Clone(c.actions)
}

// Began returns when a command was carried out first, or the zero time.
func (c *TelnyxCall) Began(action string) time.Time {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	if i := slices.Index(c.actions, action); i >= 0 {
		return c.times[i]
	}
	return time.Time{}
}

// end ends the call.
func (c *TelnyxCall) end(cause, source string) {
	f := c.f
	f.mu.Lock()
	if c.cause != "" {
		f.mu.Unlock()
		return
	}
	c.cause, c.source = cause, source
	stream := c.stream
	f.mu.Unlock()
	if stream != nil {
		stream.HangUp()
	}
	close(c.over)
	f.tell(c, "call.hangup", map[string]any{"hangup_cause": cause, "hangup_source": source, "sip_hangup_cause": "unspecified", "state": "hangup"})
}
