package realtime

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzCall checks that any request for a call is either read (as a plain body or a
// form) within the size limit or refused with a message.
func FuzzCall(f *testing.F) {
	form := "--x\r\nContent-Disposition: form-data; name=\"sdp\"\r\n\r\nv=0\r\n\r\n--x\r\nContent-Disposition: form-data; name=\"session\"\r\n\r\n{\"type\":\"realtime\"}\r\n--x--\r\n"
	for _, seed := range [][2]string{
		{"application/sdp", "v=0\r\n"},
		{"multipart/form-data; boundary=x", form},
		{"multipart/form-data; boundary=x", form[:len(form)/2]},
		{"multipart/form-data", form},
		{"multipart/form-data; boundary=\"\"", "--\r\n"},
		{"text/plain; charset=\xff", ""},
		{"", ""},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, kind, body string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/realtime/calls", strings.NewReader(body))
		r.Header["Content-Type"] = []string{kind}
		offer, configuration, bad := readCall(httptest.NewRecorder(), r)
		if bad != nil {
			if bad.Message == "" || bad.Type == "" {
				t.Fatalf("an error without words: %#v", bad)
			}
			return
		}
		if len(offer)+len(configuration) > len(body) || len(offer) > maxOffer {
			t.Fatalf("%d and %d bytes of %d", len(offer), len(configuration), len(body))
		}
		if s, bad := configured(json.RawMessage(configuration)); bad != nil && bad.Message == "" {
			t.Fatalf("an error without words: %#v of %+v", bad, s)
		}
	})
}

// FuzzConnect checks that any query and headers are either accepted or refused with a
// message.
func FuzzConnect(f *testing.F) {
	for _, seed := range [][2]string{
		{"model=x", "realtime, openai-insecure-api-key.k"},
		{"intent=transcription&api-version=1&deployment=y", ""},
		{"intent=x", ""},
		{"call_id=1", ""},
		{"%zz;a=b&&=&resume=\x00", "a,,b, "},
		{"api-key=ek_1&model=" + strings.Repeat("a", 300), "openai-beta.realtime-v1"},
	} {
		f.Add(seed[0], seed[1])
	}
	s := &Server{}
	f.Fuzz(func(t *testing.T, query, protocols string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/realtime", nil)
		r.URL.RawQuery = query
		r.Header["Sec-Websocket-Protocol"] = []string{protocols}
		if strings.HasPrefix(key(r), secretPrefix+"_") {
			return // an error of a store
		}
		if _, _, bad := s.start(r); bad != nil && bad.Message == "" {
			t.Fatalf("%q is refused without words", query)
		}
		resumeToken(r)
	})
}
