package realtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/hocketvoice/hocket/internal/failure"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// early is how long before its end a token or a client secret is replaced.
const early = time.Minute

// maxGrant is the maximum size of an answer with a token or a client secret, in bytes.
const maxGrant = 64 << 10

// credential opens connections: a key, or what is got for a key. It is safe for concurrent
// use.
type credential struct {
	o   Options
	key string // the key, or the secret of the application; empty if the server wants none

	mu    sync.Mutex // guards the fields below
	token string     // what was got for the key
	until time.Time
	// getting is closed when the token that is being got has come, or has failed.
	getting chan struct{}
}

func newCredential(o Options) (*credential, error) {
	env := o.KeyEnv
	if o.Entra != nil {
		env = o.Entra.SecretEnv
	}
	c := &credential{o: o}
	if env == "" {
		return c, nil
	}
	c.key = strings.TrimSpace(o.Getenv(env))
	if c.key == "" {
		return nil, fmt.Errorf("realtime: the environment variable %s is not set: it must contain the service's key", env)
	}
	if strings.ContainsFunc(c.key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, fmt.Errorf("realtime: the key in the environment variable %s must not contain spaces or control characters", env)
	}
	return c, nil
}

// header returns the header that opens a connection.
func (c *credential) header(ctx context.Context, client *http.Client) (http.Header, error) {
	h := http.Header{"User-Agent": {"hocket"}}
	if c.o.Beta && c.o.APIVersion == "" {
		h.Set("OpenAI-Beta", "realtime=v1")
	}
	key := c.key
	if c.o.Entra != nil || c.o.Secrets != "" {
		var err error
		if key, err = c.current(ctx, client); err != nil {
			return nil, err
		}
	}
	switch {
	case key == "":
	case c.o.azure() && c.o.Entra == nil && c.o.Secrets == "":
		h.Set("Api-Key", key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
	return h, nil
}

// current returns the token, and gets another one if it has none or the one that it has ends
// soon. Several callers wait for the same one.
func (c *credential) current(ctx context.Context, client *http.Client) (string, error) {
	for {
		c.mu.Lock()
		if token := c.token; token != "" && c.o.Now().Before(c.until.Add(-early)) {
			c.mu.Unlock()
			return token, nil
		}
		getting := c.getting
		if getting == nil {
			getting = make(chan struct{})
			c.getting = getting
			c.mu.Unlock()
			token, until, err := c.get(ctx, client)
			c.mu.Lock()
			if c.getting = nil; err == nil {
				c.token, c.until = token, until
			}
			c.mu.Unlock()
			close(getting)
			return token, err
		}
		c.mu.Unlock()
		select {
		case <-getting:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// forget drops a token that the service has refused.
func (c *credential) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = ""
}

// hide removes the key and the token from a text.
func (c *credential) hide(text string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, secret := range []string{c.key, c.token} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}

// get gets a token for the key.
func (c *credential) get(ctx context.Context, client *http.Client) (token string, until time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.Connect)
	defer cancel()
	if c.o.Entra != nil {
		return c.entra(ctx, client)
	}
	return c.secret(ctx, client)
}

// entra gets a token of Microsoft Entra.
func (c *credential) entra(ctx context.Context, client *http.Client) (string, time.Time, error) {
	e := c.o.Entra
	config := clientcredentials.Config{
		ClientID: e.Client, ClientSecret: c.key, Scopes: []string{e.Scope}, AuthStyle: oauth2.AuthStyleInParams,
		TokenURL: strings.TrimRight(e.Authority, "/") + "/" + url.PathEscape(e.Tenant) + "/oauth2/v2.0/token",
	}
	token, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
	if err == nil {
		until := token.Expiry
		if until.IsZero() {
			until = c.o.Now().Add(2 * early)
		}
		return token.AccessToken, until, nil
	}
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		class := failure.OfStatus(refused.Response.StatusCode)
		if refused.Response.StatusCode == http.StatusBadRequest {
			class = errclass.AuthFailure // RFC 6749, section 5.2: the status of every refusal but one
		}
		f := c.failed(class, "the service for tokens refused the application: "+refused.ErrorCode)
		f.After = failure.After(refused.Response.Header, c.o.Now())
		return "", time.Time{}, f
	}
	class, text := failure.OfTransport(err)
	return "", time.Time{}, c.failed(class, "get a token: "+text)
}

// secret gets a client secret.
func (c *credential) secret(ctx context.Context, client *http.Client) (string, time.Time, error) {
	body := fmt.Sprintf(`{"session":{"type":"realtime","model":%q}}`, c.o.Model)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.o.Secrets, strings.NewReader(body))
	if err != nil {
		return "", time.Time{}, fmt.Errorf("realtime: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	switch {
	case c.key == "":
	case c.o.azure():
		req.Header.Set("Api-Key", c.key)
	default:
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	res, err := client.Do(req)
	if err != nil {
		class, text := failure.OfTransport(err)
		return "", time.Time{}, c.failed(class, "get a client secret: "+text)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxGrant))
	if err != nil {
		class, text := failure.OfTransport(err)
		return "", time.Time{}, c.failed(class, "get a client secret: "+text)
	}
	if res.StatusCode/100 != 2 {
		f := c.failed(failure.OfStatus(res.StatusCode), fmt.Sprintf("the server responded %d to the request for a client secret", res.StatusCode))
		f.After = failure.After(res.Header, c.o.Now())
		return "", time.Time{}, f
	}
	var grant struct {
		Value     string `json:"value"`
		ExpiresAt int64  `json:"expires_at"`
		Older     struct {
			Value     string `json:"value"`
			ExpiresAt int64  `json:"expires_at"`
		} `json:"client_secret"` // the beta's form
	}
	if json.Unmarshal(b, &grant) != nil || grant.Value == "" && grant.Older.Value == "" {
		return "", time.Time{}, c.failed(errclass.ServerError, "the answer to the request for a client secret has no value")
	}
	if grant.Value == "" {
		grant.Value, grant.ExpiresAt = grant.Older.Value, grant.Older.ExpiresAt
	}
	return grant.Value, time.Unix(grant.ExpiresAt, 0), nil
}

func (c *credential) failed(class, text string) *port.Failure {
	return failure.New(class, c.hide("realtime: "+text))
}
