package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/server/hub"
)

// FuzzBody checks that any body is accepted or refused with a client error.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"type":"interrupt"}`, `{"type":"push_to_talk","pressed":true}`, `{"agent":"x","transport":"text","sdp":"v=0\r\n"}`,
		``, `null`, `[]`, `{"type":7}`, `{"type":"x","type":"y"}`, `{"resume":"rt_"}{}`, "\xff\xfe", `{"text":"\ud800"}`,
	} {
		f.Add(seed)
	}
	s := &Server{o: Options{MaxBody: 1 << 10}}
	f.Fuzz(func(t *testing.T, body string) {
		for _, into := range []any{&hub.Command{}, &NewConversation{}, &Description{}} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
			err := s.read(httptest.NewRecorder(), r, into)
			if err == nil {
				continue
			}
			if got := failureOf(err); got.status < 400 || got.status >= 500 || got.message == "" {
				t.Errorf("%q is refused with %d %q", body, got.status, got.message)
			}
		}
	})
}

// FuzzKeys checks that a file of keys is accepted or refused, and that errors
// contain no key.
func FuzzKeys(f *testing.F) {
	for _, seed := range []string{"office 5f0c9a86f2b14f05\n# x\nphone 91a7a0c3e6b2f854,abcdefghijklmnop", "", ",,,", "a b c", "\x00", strings.Repeat("x", 5000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := ParseKeys(text)
		if err != nil {
			for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ',' || r == ' ' }) {
				if len(w) >= shortestKey && strings.Contains(err.Error(), w) {
					t.Errorf("%q: the error is %v", text, err)
				}
			}
			return
		}
		if k.None() {
			t.Errorf("%q gives no keys, and no error", text)
		}
	})
}

// FuzzOrigin checks that any headers lead to an access decision.
func FuzzOrigin(f *testing.F) {
	for _, seed := range [][2]string{{"localhost", "http://localhost"}, {"[::1]:80", "null"}, {"", "http://"}, {"a:b:c", "://"}, {"127.0.0.1.evil.example", "http://127.0.0.1.evil.example"}} {
		f.Add(seed[0], seed[1])
	}
	s := &Server{}
	f.Fuzz(func(t *testing.T, host, origin string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Host = host
		r.Header["Origin"] = []string{origin}
		_ = s.checkOrigin(r)
		if s.checkHost(r) == nil && !strings.Contains(strings.ToLower(host), "localhost") && !strings.Contains(host, "127.") && !strings.Contains(host, ":") {
			t.Errorf("the host %q counts as this machine", host)
		}
	})
}

// FuzzQuery checks that parameters, ids and Last-Event-ID are accepted within their
// limits, or refused with a client error.
func FuzzQuery(f *testing.F) {
	for _, seed := range [][3]string{
		{"from=1&steps=1", "", "conv_a"},
		{"from=-1", "9223372036854775807", ""},
		{"limit=100&before=2026-01-05T09:00:00Z", "x", "a/b"},
		{"limit=99999999999999999999", "18446744073709551615", strings.Repeat("a", 600)},
		{"%zz&from=%00", "\x00", "\xff\x00"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, query, last, id string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.URL.RawQuery = query
		r.Header["Last-Event-ID"] = []string{last}
		r.SetPathValue("id", id)
		stream, err1 := streamOptions(r)
		stored, err2 := storedQuery(r, who{owner: "o"})
		named, err3 := conversationID(r)
		for _, err := range []error{err1, err2, err3} {
			if err == nil {
				continue
			}
			if got := failureOf(err); got.status < 400 || got.status >= 500 || got.message == "" || len(got.message) > 4*(len(query)+len(last))+300 {
				t.Errorf("%q is refused with %d %q", query, got.status, got.message)
			}
		}
		if err1 == nil && stream.From > 1<<63 || err2 == nil && (stored.Limit < 1 || stored.Limit > storedMost) || err3 == nil && (named == "" || len(named) > 512) {
			t.Errorf("%q, %q, %q is %+v, %+v, %q", query, last, id, stream, stored, named)
		}
	})
}
