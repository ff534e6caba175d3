package a2a

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// transport adds the key, and bounds what a server answers.
type transport struct {
	base http.RoundTripper
	key  string
}

// RoundTrip sends a request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.key != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+t.key)
	}
	resp, err := t.base.RoundTrip(r)
	if err != nil || strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return resp, err
	}
	resp.Body = &bounded{resp.Body, maxMessage}
	if resp.StatusCode != http.StatusOK || !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		return resp, nil
	}
	// Some servers answer a call for a stream that they refuse without one: the SDK
	// finds the reason where it is an event.
	text, err := io.ReadAll(resp.Body)
	closing := resp.Body.Close()
	if err := errors.Join(err, closing); err != nil {
		return nil, err
	}
	var line bytes.Buffer
	if json.Compact(&line, text) == nil {
		text = fmt.Appendf(nil, "data: %s\n\n", line.Bytes())
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp, nil
}

// sameHost keeps the key from being carried to another server.
func sameHost(req *http.Request, via []*http.Request) error {
	if len(via) >= 5 || req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme {
		return errors.New("redirected to another host")
	}
	return nil
}

// bounded is a body that may not be longer.
type bounded struct {
	io.ReadCloser
	left int
}

// Read fails behind the bound.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("the answer has more than %d bytes", maxMessage)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
