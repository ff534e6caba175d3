package httpclient

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestTransport checks that the key is sent, responses are limited, and streams are
// not.
func TestTransport(t *testing.T) {
	body := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer sesame" {
			t.Errorf("the server is sent %q", got)
		}
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	client := &http.Client{Transport: &Transport{Base: http.DefaultTransport, Key: "sesame", MaxAnswer: 10}}
	defer client.CloseIdleConnections()
	for _, c := range []struct {
		kind   string
		length int
		want   string
	}{
		{"text/plain", 10, ""}, {"text/plain", 11, "the response has more than 10 bytes"}, {"text/event-stream", 11, ""},
	} {
		body = strings.Repeat("x", c.length)
		resp, err := client.Get(server.URL + "?type=" + url.QueryEscape(c.kind))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close() // it was read
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want || err == nil && !bytes.Equal(b, []byte(body)) {
			t.Errorf("%s of %d bytes: %q, error %v", c.kind, c.length, b, err)
		}
	}
}

// TestSameServer checks that a key is sent neither to another server nor without
// encryption.
func TestSameServer(t *testing.T) {
	for _, c := range []struct {
		to   string
		via  int
		want string
	}{
		{"https://a/other", 4, ""},
		{"https://a/other", 5, "more than 4 redirects"},
		{"https://b/", 1, "redirected to another host"},
		{"http://a/", 1, "redirected to another host"},
		{"https://a:8443/", 1, "redirected to another host"},
	} {
		via := make([]*http.Request, c.via)
		for i := range via {
			via[i] = httptest.NewRequest(http.MethodGet, "https://a/", http.NoBody)
		}
		err := SameServer(httptest.NewRequest(http.MethodGet, c.to, http.NoBody), via)
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s after %d: %v", c.to, c.via, err)
		}
	}
}
