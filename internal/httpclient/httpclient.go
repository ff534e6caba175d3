package httpclient

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Transport sends requests to one server. It adds the key, and bounds what the server
// answers: reading more of it fails. A stream of events is bounded by who reads it,
// event by event. It is safe for concurrent use.
type Transport struct {
	Base      http.RoundTripper
	Key       string // for the header Authorization; "" sends none
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

// IsEventStream reports whether an answer is a stream of events.
func IsEventStream(resp *http.Response) bool {
	return strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
}

// SameServer follows redirects as an [http.Client] asks: four at most, and none that
// would take a key to another server, or to the same one in the open.
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

// bounded is a body that may not be longer.
type bounded struct {
	io.ReadCloser
	left, most int
}

// Read fails behind the bound.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		if n, err := b.ReadCloser.Read(make([]byte, 1)); n == 0 && err != nil {
			return 0, err
		}
		return 0, fmt.Errorf("the answer has more than %d bytes", b.most)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
