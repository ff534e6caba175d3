package httpclient

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Transport sends requests to one server. It adds the key and limits the size of
// responses: reading beyond the limit fails. Event streams are not limited; their
// reader must limit each event. It is safe for concurrent use.
type Transport struct {
	Base      http.RoundTripper
	Key       string // value of the Authorization header; none if empty
	MaxAnswer int    // bytes
}

// RoundTrip sends a request.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.Key != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+t.Key)
	}
	resp, err := t.Base.RoundTrip(r)
	if err == nil && !IsEventStream(resp) {
		resp.Body = &bounded{resp.Body, t.MaxAnswer, t.MaxAnswer}
	}
	return resp, err
}

// IsEventStream reports whether a response is an event stream.
func IsEventStream(resp *http.Response) bool {
	return strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
}

// SameServer is a CheckRedirect function for an [http.Client]. It allows at most
// four redirects, and none that would send a key to another server or without
// encryption.
func SameServer(req *http.Request, via []*http.Request) error {
	switch first := via[0].URL; {
	case len(via) >= 5:
		return errors.New("more than 4 redirects")
	case req.URL.Host != first.Host || req.URL.Scheme != first.Scheme:
		return errors.New("redirected to another host")
	default:
		return nil
	}
}

// bounded is a body of limited length.
type bounded struct {
	io.ReadCloser
	left, most int
}

// Read returns an error beyond the limit.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		if n, err := b.ReadCloser.Read(make([]byte, 1)); n == 0 && err != nil {
			return 0, err
		}
		return 0, fmt.Errorf("the response has more than %d bytes", b.most)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
