package a2a

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/hocketvoice/hocket/internal/httpclient"
)

// transport converts responses that should have been streams to streams.
type transport struct{ base http.RoundTripper }

// RoundTrip sends a request.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.base.RoundTrip(r)
	if err != nil || httpclient.IsEventStream(resp) {
		return resp, err
	}
	if resp.StatusCode != http.StatusOK || !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		return resp, nil
	}
	// Some servers answer a refused stream request with plain JSON. The SDK finds
	// the reason only in an event.
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
