package socket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/hocketvoice/hocket/internal/failure"
	"github.com/hocketvoice/hocket/internal/httpclient"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// Options configures a [Dialer]. The zero value is ready to use.
type Options struct {
	// Name precedes the messages of errors, such as the name of the service.
	Name string
	// Secrets do not appear in errors.
	Secrets []string
	// Connect limits the time to connect and to open the WebSocket; 5 s if 0.
	Connect time.Duration
	// Write limits the time to write one message; 5 s if 0.
	Write time.Duration
	// MaxMessage limits the size of a message that is read, in bytes; 4 MiB if 0.
	MaxMessage int64
	// Transport sends the request that opens a WebSocket. If it is nil, the dialer uses
	// its own, with the environment's proxy.
	Transport http.RoundTripper
}

// Dialer opens WebSockets. It is safe for concurrent use.
type Dialer struct {
	o      Options
	hide   *strings.Replacer
	client *http.Client
	own    *http.Transport // nil if the caller's is used
}

// New returns a dialer. Close releases it.
func New(o Options) *Dialer {
	if o.Connect == 0 {
		o.Connect = 5 * time.Second
	}
	if o.Write == 0 {
		o.Write = 5 * time.Second
	}
	if o.MaxMessage == 0 {
		o.MaxMessage = 4 << 20
	}
	d := &Dialer{o: o}
	var pairs []string
	for _, s := range o.Secrets {
		if s != "" {
			pairs = append(pairs, s, "***")
		}
	}
	d.hide = strings.NewReplacer(pairs...)
	transport := o.Transport
	if transport == nil {
		d.own = &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: o.Connect, KeepAlive: 15 * time.Second}).DialContext,
			TLSHandshakeTimeout:    o.Connect,
			MaxResponseHeaderBytes: 64 << 10,
		}
		transport = d.own
	}
	d.client = &http.Client{
		Transport: transport,
		// A redirect would take the key elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return d
}

// Close releases the dialer. Its sockets stay open.
func (d *Dialer) Close() {
	if d.own != nil {
		d.own.CloseIdleConnections()
	}
}

// Message is a message of a WebSocket.
type Message struct {
	Binary bool
	Data   []byte
}

// Text returns a text message.
func Text(s string) Message { return Message{Data: []byte(s)} }

// Dial opens a WebSocket. address is a ws or wss URL. An error is a [*port.Failure] unless
// ctx has ended.
func (d *Dialer) Dial(ctx context.Context, address string, header http.Header, protocols ...string) (*Conn, error) {
	handshake, cancel := context.WithTimeout(ctx, d.o.Connect)
	defer cancel()
	ws, res, err := websocket.Dial(handshake, address, &websocket.DialOptions{ //nolint:bodyclose // Dial says that it need not be closed
		HTTPClient: d.client, HTTPHeader: header, Subprotocols: protocols,
	})
	switch {
	case err == nil:
		ws.SetReadLimit(d.o.MaxMessage)
		return &Conn{d: d, ws: ws}, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case handshake.Err() != nil:
		return nil, d.Failure(errclass.NetworkTimeout, fmt.Sprintf("the server has not opened the connection within %v", d.o.Connect))
	case res != nil && res.StatusCode != http.StatusSwitchingProtocols:
		return nil, d.refused(res)
	}
	class, text := failure.OfTransport(err)
	return nil, d.Failure(class, text)
}

// refused returns the failure for a response in place of a WebSocket.
func (d *Dialer) refused(res *http.Response) error {
	text := "no message"
	// A page of HTML says nothing about the service.
	if kind := res.Header.Get("Content-Type"); !strings.Contains(kind, "html") && res.Body != nil {
		if body, _ := io.ReadAll(io.LimitReader(res.Body, 1024)); len(body) > 0 { // what can be read of it is enough
			text = string(body)
		}
	}
	if res.StatusCode/100 == 3 {
		text = "redirects are not followed"
	}
	f := d.Failure(failure.OfStatus(res.StatusCode), fmt.Sprintf("the server responded %d %s: %s", res.StatusCode, http.StatusText(res.StatusCode), text))
	if f.Retryable {
		f.After = failure.After(res.Header, time.Now())
	}
	return f
}

// Failure returns a failure of a class whose message contains no secret.
func (d *Dialer) Failure(class, message string) *port.Failure {
	if d.o.Name != "" {
		message = d.o.Name + ": " + message
	}
	return failure.New(class, d.hide.Replace(message))
}

// Conn is a WebSocket. Read must be called by one goroutine at a time; the other methods are
// safe for concurrent use. The caller must close it.
type Conn struct {
	d  *Dialer
	ws *websocket.Conn
}

// Read returns the next message. When ctx ends, the connection is closed. An error is a
// [*port.Failure] unless ctx has ended.
func (c *Conn) Read(ctx context.Context) (Message, error) {
	kind, data, err := c.ws.Read(ctx)
	if err != nil {
		return Message{}, c.broken(ctx, err)
	}
	return Message{Binary: kind == websocket.MessageBinary, Data: data}, nil
}

// Write sends messages. When ctx ends or the time for writing is over, the connection is
// closed. An error is like that of Read.
func (c *Conn) Write(ctx context.Context, messages ...Message) error {
	for _, m := range messages {
		kind := websocket.MessageText
		if m.Binary {
			kind = websocket.MessageBinary
		}
		limited, cancel := context.WithTimeout(ctx, c.d.o.Write)
		err := c.ws.Write(limited, kind, m.Data)
		late := limited.Err() != nil
		cancel()
		switch {
		case err != nil && ctx.Err() == nil && late:
			return c.d.Failure(errclass.NetworkTimeout, fmt.Sprintf("the server has read nothing for %v", c.d.o.Write))
		case err != nil:
			return c.broken(ctx, err)
		}
	}
	return nil
}

// Ping sends a ping and waits for its answer or the end of ctx. Another goroutine must read.
func (c *Conn) Ping(ctx context.Context) error {
	if err := c.ws.Ping(ctx); err != nil {
		return c.broken(ctx, err)
	}
	return nil
}

// Close sends a close message and waits at most 5 s for its answer.
func (c *Conn) Close(code int, reason string) error {
	return c.ws.Close(websocket.StatusCode(code), reason)
}

// CloseNow closes the connection without a close message.
func (c *Conn) CloseNow() error { return c.ws.CloseNow() }

// Failure returns a failure of a class whose message contains no secret.
func (c *Conn) Failure(class, message string) *port.Failure { return c.d.Failure(class, message) }

// broken returns the failure of a connection that has ended.
func (c *Conn) broken(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	if errors.Is(err, websocket.ErrMessageTooBig) {
		return c.d.Failure(errclass.ServerError, fmt.Sprintf("a message is longer than %d bytes", c.d.o.MaxMessage))
	}
	if e, ok := errors.AsType[websocket.CloseError](err); ok {
		text := fmt.Sprintf("the server closed the connection with %d", e.Code)
		if e.Reason != "" {
			text += ": " + e.Reason
		}
		return c.d.Failure(classOfClose(e.Code), text)
	}
	class, text := failure.OfTransport(err)
	return c.d.Failure(class, text)
}

// classOfClose returns the class of a close code (RFC 6455, section 7.4.1, and the registry
// that it names).
func classOfClose(code websocket.StatusCode) string {
	switch code {
	case websocket.StatusNormalClosure, websocket.StatusGoingAway, websocket.StatusServiceRestart, websocket.StatusTryAgainLater,
		websocket.StatusNoStatusRcvd, websocket.StatusAbnormalClosure:
		return errclass.NetworkTimeout
	case websocket.StatusInternalError, websocket.StatusBadGateway:
		return errclass.ServerError
	case 3000: // Unauthorized
		return errclass.AuthFailure
	case 3003: // Forbidden
		return errclass.AuthFailure
	case 3008: // Timeout
		return errclass.NetworkTimeout
	default:
		return errclass.Unknown // what was sent would be refused again
	}
}

// Address is the address of a service.
type Address struct {
	Own  string              // the vendor's, such as wss://host/path
	URL  string              // the one to use in its place; may be empty
	Env  string              // the vendor's environment variable for the key
	Key  string              // the environment variable to use in its place; may be empty
	Find func(string) string // os.Getenv if nil
}

// Access is a service of a vendor that wants a key.
type Access struct {
	Address
	Name   string // of the vendor, as errors name it
	Header string // the header with the key
	Scheme string // what precedes the key there, such as "Bearer "
	// Transport is that of [Options].
	Transport http.RoundTripper
}

// Open returns the dialer and the header of connections to the service.
func (a Access) Open() (*Dialer, http.Header, error) {
	key, err := a.Secret()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	header := http.Header{}
	if key != "" {
		header.Set(a.Header, a.Scheme+key)
	}
	return New(Options{Name: a.Name, Secrets: []string{key}, Transport: a.Transport}), header, nil
}

// WithQuery returns an address with parameters added to those that it has. The address must
// be valid.
func WithQuery(address string, add url.Values) string {
	u, err := url.Parse(address)
	if err != nil {
		return address // Dial returns the error
	}
	q := u.Query()
	maps.Copy(q, add)
	u.RawQuery = q.Encode()
	return u.String()
}

// CheckURL returns an error if a text is not the address of a WebSocket. The error is to follow
// the name of an option. It does not contain the text, since it may contain a password.
func CheckURL(text string) error {
	_, err := httpclient.ParseBase(text, "is not the address of a WebSocket: expected a URL such as wss://HOST/PATH", "wss", "ws")
	return err
}

// KeyEnv returns the environment variable with the key: the one that was chosen, or the
// vendor's if the address is the vendor's over TLS, so that its key goes to its hosts alone. It
// returns "" if no key is sent.
func (a Address) KeyEnv() string {
	if a.Key != "" {
		return a.Key
	}
	if a.URL == "" || a.vendors() {
		return a.Env
	}
	return ""
}

// Foreign reports whether the vendor's own environment variable was chosen for an address
// that is not the vendor's over TLS.
func (a Address) Foreign() bool { return a.Key == a.Env && a.URL != "" && !a.vendors() }

// vendors reports whether URL is a host of the vendor over TLS: Own's, or one in the same
// domain.
func (a Address) vendors() bool {
	u, err1 := url.Parse(a.URL)
	own, err2 := url.Parse(a.Own)
	if err1 != nil || err2 != nil || u.Scheme != "wss" || u.User != nil {
		return false
	}
	host, labels := strings.ToLower(u.Hostname()), strings.Split(own.Hostname(), ".")
	domain := strings.Join(labels[max(0, len(labels)-2):], ".")
	return host == domain || strings.HasSuffix(host, "."+domain)
}

// Where returns the URL.
func (a Address) Where() string {
	if a.URL == "" {
		return a.Own
	}
	return a.URL
}

// Secret returns the key, or "" if none is sent. The error says which variable is not set.
func (a Address) Secret() (string, error) {
	env := a.KeyEnv()
	if env == "" {
		return "", nil
	}
	find := a.Find
	if find == nil {
		find = os.Getenv
	}
	key := strings.TrimSpace(find(env))
	if key == "" {
		return "", fmt.Errorf("the environment variable %s is not set: expected the key", env)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", fmt.Errorf("the key in the environment variable %s has spaces or control characters", env)
	}
	return key, nil
}
