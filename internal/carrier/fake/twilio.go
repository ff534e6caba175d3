package fake

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // Twilio's signatures are HMAC-SHA1
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// TwilioOptions describes an account of Twilio's. Secret and URL are required.
type TwilioOptions struct {
	// Secret is the account's auth token, which signs requests and authorizes commands.
	Secret string
	// URL is that of the server's option: the webhook is its path /voice.
	URL string
	// Client sends webhooks and opens streams; http.DefaultClient if nil.
	Client *http.Client
	// From and To are the numbers of a call that comes in.
	From, To string
	// Parties, if not nil, returns who is called under a number.
	Parties func(to string) Party
	// Lost, if not nil, reports whether a webhook of a path is lost.
	Lost func(path string) bool
}

// TwilioAccount is the account's name.
const TwilioAccount = "AC1"

// TwilioSignature returns the signature of a request with the parameters of its body.
func TwilioSignature(secret, address string, form url.Values) string {
	mac := hmac.New(sha1.New, []byte(secret))
	text := address
	for _, name := range slices.Sorted(maps.Keys(form)) {
		text += name + form.Get(name)
	}
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Twilio plays Twilio: it posts signed webhooks, carries out the TwiML of their answers, and is an
// [http.Handler] of the API. It is safe for concurrent use.
type Twilio struct {
	o    TwilioOptions
	ctx  context.Context //nolint:containedctx // it ends with the account
	stop context.CancelFunc
	done sync.WaitGroup

	mu       sync.Mutex // guards the fields below, and those of calls
	calls    map[string]*TwilioCall
	broken   []string
	commands int
}

// TwilioCall is a call. It is safe for concurrent use.
type TwilioCall struct {
	f       *Twilio
	id      string
	form    url.Values    // of its webhooks
	party   Party         // of a call that was placed
	streams chan *Call    // those that have begun
	over    chan struct{} // closed when the call is over
	moved   chan string   // an address from which the call goes on

	// Guarded by the mu of f.
	stream *Call
	refuse string   // why the call was refused
	verbs  []string // that were carried out
	ended  bool
	hungUp chan struct{} // closed when the person or the server has hung up
}

// NewTwilio returns an account. The caller must close it.
func NewTwilio(o TwilioOptions) *Twilio {
	o.Client = cmp.Or(o.Client, http.DefaultClient)
	ctx, stop := context.WithCancel(context.Background())
	return &Twilio{o: o, ctx: ctx, stop: stop, calls: make(map[string]*TwilioCall)}
}

// Close ends all calls without a word. It returns what the server has done that Twilio does not
// allow.
func (f *Twilio) Close() error {
	f.stop()
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

func (f *Twilio) rule(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = append(f.broken, fmt.Sprintf(format, args...))
}

// newCall returns a call of the account.
func (f *Twilio) newCall(from, to, direction string) *TwilioCall {
	c := &TwilioCall{
		f: f, id: "CA" + rand.Text(), streams: make(chan *Call, 16), over: make(chan struct{}), moved: make(chan string, 1), hungUp: make(chan struct{}),
		form: url.Values{"AccountSid": {TwilioAccount}, "From": {from}, "To": {to}, "Direction": {direction}},
	}
	c.form.Set("CallSid", c.id)
	f.mu.Lock()
	f.calls[c.id] = c
	f.mu.Unlock()
	return c
}

// Ring begins a call that comes in.
func (f *Twilio) Ring() *TwilioCall {
	c := f.newCall(f.o.From, f.o.To, "inbound")
	f.done.Go(func() { c.live(strings.TrimRight(f.o.URL, "/")+"/voice", "ringing") })
	return c
}

// Stream waits for the next stream of the call. It returns an error if the call ends before.
func (c *TwilioCall) Stream(ctx context.Context) (*Call, error) {
	select {
	case s := <-c.streams:
		return s, nil
	default:
	}
	select {
	case s := <-c.streams:
		return s, nil
	case <-c.over:
		c.f.mu.Lock()
		defer c.f.mu.Unlock()
		return nil, fmt.Errorf("the call is over: %s", c.refuse)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ID returns the name of the call.
func (c *TwilioCall) ID() string { return c.id }

// Over returns a channel that is closed when the call is over.
func (c *TwilioCall) Over() <-chan struct{} { return c.over }

// Verbs returns the TwiML that was carried out, such as "Connect" and "Dial +15550100".
func (c *TwilioCall) Verbs() []string {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	return slices.Clone(c.verbs)
}

// HangUp ends the call on behalf of the person.
func (c *TwilioCall) HangUp() {
	c.f.mu.Lock()
	if !c.ended {
		c.ended = true
		close(c.hungUp)
	}
	stream := c.stream
	c.f.mu.Unlock()
	if stream != nil {
		stream.HangUp()
	}
}

// Drop breaks the connection of the stream, which the call survives.
func (c *TwilioCall) Drop() {
	c.f.mu.Lock()
	stream := c.stream
	c.f.mu.Unlock()
	if stream != nil {
		_ = stream.Close()
	}
}

// live carries out TwiML from an address to the end of the call.
func (c *TwilioCall) live(address, status string) {
	defer close(c.over)
	more := url.Values{"CallStatus": {status}}
	for address != "" {
		body, err := c.post(address, more)
		if err != nil {
			c.end(err.Error())
			return
		}
		verbs, err := parseTwiML(body)
		if err != nil {
			c.end(fmt.Sprintf("the answer %.200q is no TwiML: %v", body, err))
			return
		}
		more = url.Values{"CallStatus": {"in-progress"}}
		address = c.run(verbs, more)
	}
	c.end("the TwiML has ended")
}

// end notes why the call is over.
func (c *TwilioCall) end(why string) {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	if c.refuse == "" {
		c.refuse = why
	}
	if !c.ended {
		c.ended = true
		close(c.hungUp)
	}
}

// post posts a webhook of the call and returns the answer.
func (c *TwilioCall) post(address string, more url.Values) ([]byte, error) {
	form := maps.Clone(c.form)
	maps.Copy(form, more)
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" {
		return nil, fmt.Errorf("the address %q: expected the scheme https", address)
	}
	if c.f.o.Lost != nil && c.f.o.Lost(u.Path[strings.LastIndexByte(u.Path, '/')+1:]) {
		return nil, errors.New("the webhook is lost")
	}
	ctx, cancel := context.WithTimeout(c.f.ctx, 15*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode())) //nolint:gosec // Twilio calls what it is told to
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Twilio-Signature", TwilioSignature(c.f.o.Secret, address, form))
	resp, err := c.f.o.Client.Do(r) //nolint:gosec // likewise
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("the server responded %s: %s", resp.Status, strings.TrimSpace(string(body)))
	}
	return body, err
}

// run carries verbs out. It returns the address of the next ones, or "".
func (c *TwilioCall) run(verbs []verb, more url.Values) (next string) {
	for _, v := range verbs {
		select {
		case <-c.hungUp:
			return ""
		default:
		}
		c.f.mu.Lock()
		c.verbs = append(c.verbs, strings.TrimSpace(v.Name+" "+c.target(v)))
		c.f.mu.Unlock()
		switch v.Name {
		case "Connect":
			if err := c.connect(v); err != nil {
				c.end(err.Error())
				return ""
			}
		case "Redirect":
			return v.Text
		case "Dial":
			more.Set("DialCallStatus", c.dial(v))
			select {
			case next := <-c.moved:
				return next
			default:
				return v.Attrs["action"]
			}
		case "Reject":
			c.end("the server refuses the call: " + v.Attrs["reason"])
			return ""
		case "Hangup":
			return ""
		default:
			c.f.rule("the verb %s is unknown", v.Name)
			return ""
		}
		select {
		case next := <-c.moved:
			return next
		default:
		}
	}
	return ""
}

// target returns whom a Dial calls.
func (c *TwilioCall) target(v verb) string {
	if v.Name != "Dial" || len(v.Verbs) == 0 {
		return ""
	}
	return v.Verbs[0].Text
}

// connect holds a stream to its end.
func (c *TwilioCall) connect(v verb) error {
	if len(v.Verbs) != 1 || v.Verbs[0].Name != "Stream" {
		return errors.New("the verb Connect has no Stream")
	}
	address := v.Verbs[0].Attrs["url"]
	if !strings.HasPrefix(address, "wss://") || strings.Contains(address, "?") {
		return fmt.Errorf("the stream's URL is %q: expected the scheme wss and no query", address)
	}
	parameters := make(map[string]string)
	for _, p := range v.Verbs[0].Verbs {
		parameters[p.Attrs["name"]] = p.Attrs["value"]
	}
	stream, err := Dial(c.f.ctx, Options{
		Dialect: "twilio", URL: address, Client: c.f.o.Client, Stream: "MZ" + rand.Text(), Call: c.id, From: c.form.Get("From"), To: c.form.Get("To"),
		Parameters: parameters, Header: http.Header{"X-Twilio-Signature": {TwilioSignature(c.f.o.Secret, address, nil)}},
	})
	if err != nil {
		return err
	}
	c.f.mu.Lock()
	c.stream = stream
	ended := c.ended
	c.f.mu.Unlock()
	if ended {
		stream.HangUp()
	}
	c.streams <- stream
	select {
	case <-stream.Over():
	case <-c.f.ctx.Done():
	}
	if err := stream.Close(); err != nil {
		c.f.rule("%v", err)
	}
	return nil
}

// dial connects the person with somebody and returns how it went.
func (c *TwilioCall) dial(v verb) string {
	limit, err := strconv.Atoi(v.Attrs["timeout"])
	if err != nil || len(v.Verbs) != 1 || !isNumber(v.Verbs[0].Text) || !isNumber(v.Attrs["callerId"]) || v.Attrs["action"] == "" {
		c.f.rule("Dial %+v", v)
		return "failed"
	}
	var p Party
	if c.f.o.Parties != nil {
		p = c.f.o.Parties(v.Verbs[0].Text)
	}
	wait := min(p.After, time.Duration(limit)*time.Second)
	if p.How == "no_answer" || p.After > wait {
		p.How, wait = "no_answer", time.Duration(limit)*time.Second
	}
	if !c.pause(wait) {
		return "canceled"
	}
	if !p.answers() {
		return map[string]string{"busy": "busy", "no_answer": "no-answer", "reject": "busy", "unreachable": "failed"}[p.How]
	}
	if v.Verbs[0].Attrs["statusCallbackEvent"] == "answered" {
		child := url.Values{"CallSid": {"CA" + rand.Text()}, "ParentCallSid": {c.id}, "CallStatus": {"in-progress"}, "To": {v.Verbs[0].Text}}
		_, _ = c.post(v.Verbs[0].Attrs["statusCallback"], child) // Twilio does not mind
	}
	if p.Talk == 0 {
		p.Talk = 24 * time.Hour
	}
	c.pause(p.Talk)
	return "completed"
}

// pause waits. It reports whether the call goes on as before.
func (c *TwilioCall) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case address := <-c.moved:
		c.moved <- address
	case <-c.hungUp:
	case <-c.f.ctx.Done():
	}
	return false
}
