package openai

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/provider/openai/fake"
)

func TestStatuses(t *testing.T) {
	html := fake.Answer{
		Status: 502, Header: map[string][]string{"Content-Type": {"text/html"}},
		Body: "<html><title>502 Bad Gateway</title>secret page</html>",
	}
	limited := fake.Failure(429, "rate_limit_exceeded", "Rate limit reached")
	limited.Header["Retry-After"] = []string{"7"}
	plain := func(status int, body string) fake.Answer {
		return fake.Answer{Status: status, Header: map[string][]string{"Content-Type": {"application/json"}}, Body: body}
	}
	for name, test := range map[string]struct {
		a     fake.Answer
		class string
		after time.Duration
		words string
	}{
		"401":                {fake.Failure(401, "invalid_api_key", "Incorrect API key provided: "+testKey), errclass.AuthFailure, 0, "provided: [key]"},
		"403":                {fake.Failure(403, "forbidden", "Country not supported"), errclass.AuthFailure, 0, "403 Forbidden: Country"},
		"402":                {plain(402, `{"error":"pay first"}`), errclass.AuthFailure, 0, "pay first"},
		"404":                {fake.Failure(404, "model_not_found", "The model `x` does not exist"), errclass.Unknown, 0, "base URL and the model"},
		"400":                {fake.Failure(400, "context_length_exceeded", "too long"), errclass.Unknown, 0, "too long"},
		"429":                {limited, errclass.RateLimit, 7 * time.Second, "Rate limit reached"},
		"429, quota":         {fake.Failure(429, "insufficient_quota", "You exceeded your quota"), errclass.AuthFailure, 0, "quota"},
		"500":                {fake.Failure(500, "server_error", "boom"), errclass.ServerError, 0, "boom"},
		"503, llama.cpp":     {plain(503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`), errclass.ServerError, 0, "Loading model"},
		"504":                {plain(504, ``), errclass.NetworkTimeout, 0, "no message"},
		"408":                {plain(408, `{}`), errclass.NetworkTimeout, 0, "no message"},
		"400, older vLLM":    {plain(400, `{"object":"error","message":"bad role","type":"BadRequestError","code":400}`), errclass.Unknown, 0, "bad role"},
		"422, FastAPI":       {plain(422, `{"detail":"field required"}`), errclass.Unknown, 0, "field required"},
		"422, a list":        {plain(422, `{"detail":[{"loc":["body"]}]}`), errclass.Unknown, 0, "no message"},
		"a page":             {html, errclass.ServerError, 0, "502 Bad Gateway: no message, body of type text/html"},
		"a redirect":         {fake.Answer{Status: 307, Header: map[string][]string{"Location": {"http://elsewhere.test/"}}}, errclass.Unknown, 0, "redirects are not followed"},
		"another success":    {fake.Answer{Status: 204}, errclass.Unknown, 0, "204"},
		"a page as success":  {fake.Answer{Status: 200, Header: map[string][]string{"Content-Type": {"text/html"}}, Body: "<html>"}, errclass.Unknown, 0, "text/html: expected an event stream"},
		"no type at all":     {fake.Answer{Status: 200, Header: map[string][]string{"Content-Type": {"?"}}, Body: "x"}, errclass.Unknown, 0, "no message: expected an event stream"},
		"an error, 200":      {plain(200, `{"error":{"message":"overloaded","code":"rate_limit_exceeded"}}`), errclass.RateLimit, 0, "overloaded"},
		"half an object":     {plain(200, `{"choices":[`), errclass.ServerError, 0, "invalid event in the stream"},
		"an object of else":  {plain(200, `{"ok":true}`), errclass.ServerError, 0, "contains no reply"},
		"a message too long": {fake.Failure(500, "x", strings.Repeat("very\nlong ", 1000)), errclass.ServerError, 0, "very long very"},
	} {
		t.Run(name, func(t *testing.T) {
			try(t, answers(test.a), nil, func(w *world) {
				f := w.failure(test.class, test.words)
				if f.After != test.after {
					t.Errorf("after %v, expected %v", f.After, test.after)
				}
				if want := errclass.Of(test.class).Retries > 0; f.Retryable != want {
					t.Errorf("retryable %v, expected %v", f.Retryable, want)
				}
				if strings.Contains(f.Message, "secret page") || len(f.Message) > 600 || strings.Contains(f.Message, "\n") {
					t.Errorf("message %q", f.Message)
				}
				if n := len(w.server.Requests()); n != 1 {
					t.Errorf("%d requests, expected 1: nothing is retried here", n)
				}
			})
		})
	}
}

func TestBrokenStreams(t *testing.T) {
	good := fake.Text("one ", "two")
	cut := func(n int) fake.Answer { a := good; a.Cut = n; return a }
	unended := fake.Stream(fake.Said("one "))
	unended.NoDone = true
	size := len("data: "+good.Events[0]+"\n\n") + len("data: "+good.Events[1]+"\n\n")
	for name, test := range map[string]struct {
		a       fake.Answer
		class   string
		partial string
		words   string
	}{
		"cut within an event":    {cut(size + 20), errclass.NetworkTimeout, "one ", "connection failed"},
		"cut between events":     {cut(size), errclass.NetworkTimeout, "one ", "connection failed"},
		"cut at a line's end":    {cut(size - 1), errclass.NetworkTimeout, "", "connection failed"},
		"ended within an event":  {fake.Answer{Raw: "data: " + fake.Said("one ") + "\n\ndata: {\"choi"}, errclass.NetworkTimeout, "one ", "ended before the reply was complete"},
		"ended between events":   {unended, errclass.NetworkTimeout, "one ", "ended before the reply was complete"},
		"no JSON":                {fake.Stream(fake.Said("one "), "{oops"), errclass.ServerError, "one ", "invalid event in the stream"},
		"JSON of something else": {fake.Stream(fake.Said("one "), `{"choices":"x"}`), errclass.ServerError, "one ", "invalid event in the stream"},
		"an error event":         {fake.Stream(fake.Said("one "), `{"error":{"message":"The server had an error","type":"server_error","code":null}}`), errclass.ServerError, "one ", "The server had an error"},
		"an error with a status": {fake.Stream(`{"error":{"message":"slow down","code":429}}`), errclass.RateLimit, "", "slow down"},
		"an error of vLLM":       {fake.Stream(`{"object":"error","message":"bad","type":"BadRequestError","code":400}`), errclass.Unknown, "", "bad"},
		"an error as a text":     {fake.Stream(`{"error":"out of memory"}`), errclass.ServerError, "", "out of memory"},
		"an event named error":   {fake.Answer{Raw: "event: error\ndata: {\"message\":\"gone\",\"type\":\"timeout\"}\n\n"}, errclass.NetworkTimeout, "", "gone"},
		"a text named error":     {fake.Answer{Raw: "event: error\ndata: gone\n\n"}, errclass.ServerError, "", "no message"},
		"a key in the stream":    {fake.Stream(`{"error":{"message":"bad key ` + testKey + `","type":"authentication_error"}}`), errclass.AuthFailure, "", "bad key [key]"},
		"a quota in the stream":  {fake.Stream(`{"error":{"message":"pay","type":"insufficient_quota"}}`), errclass.AuthFailure, "", "pay"},
		"an event too long":      {fake.Stream(fake.Said("one "), fake.Said(strings.Repeat("x", 3000))), errclass.ServerError, "one ", "longer than 2000 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			try(t, answers(test.a), func(o *Options, _ *fake.Server) { o.MaxEvent = 2000 }, func(w *world) {
				f := w.failure(test.class, test.words)
				if f.Partial != test.partial {
					t.Errorf("partial %q, expected %q", f.Partial, test.partial)
				}
			})
		})
	}
	t.Run("an answer too long", func(t *testing.T) {
		for _, a := range []fake.Answer{
			fake.Text(strings.Repeat("x", 500), strings.Repeat("y", 500), strings.Repeat("z", 500)),
			{Header: map[string][]string{"Content-Type": {"application/json"}}, Body: `{"choices":[],"x":"` + strings.Repeat("x", 3000) + `"}`},
			{Raw: strings.Repeat(": comment\n", 1000)},
		} {
			try(t, answers(a), func(o *Options, _ *fake.Server) { o.MaxReply = 2000 }, func(w *world) {
				w.wantFailure(errclass.ServerError, "longer than 2000 bytes")
			})
		}
	})
}

func TestTLSIsExpectedAndTrusted(t *testing.T) {
	plain := httptest.NewServer(&fake.Server{})
	defer plain.Close()
	secure := httptest.NewTLSServer(&fake.Server{})
	defer secure.Close()
	secure.Config.ErrorLog = nil
	for base, words := range map[string]string{
		strings.Replace(plain.URL, "http:", "https:", 1) + "/v1": "TLS handshake failed",
		secure.URL + "/v1": "certificate is not trusted",
	} {
		m, err := New(Options{BaseURL: base, Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		err = m.Reply(t.Context(), question(), nil)
		if f := wantFailure(t, err, errclass.Unknown, words); f.Retryable {
			t.Errorf("%s: retryable", words)
		}
		_ = m.Close()
	}
	plain.Close()
	m, err := New(Options{BaseURL: plain.URL + "/v1", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	wantFailure(t, m.Reply(t.Context(), question(), nil), errclass.NetworkTimeout, "refused")
}
