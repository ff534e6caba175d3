package httptool

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/httpclient"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// actionsOf compiles actions from the text of an agent's file.
func actionsOf(t *testing.T, actions string) []agent.Action {
	t.Helper()
	text := "version: \"1.0\"\nsettings: {instructions: be brief}\nslots:\n  origin: {type: string}\n  seats: {type: integer}\nactions:\n" + actions
	a, problems := dialog.Parse([]agent.File{{Name: "a.yaml", Data: []byte(text)}})
	for _, p := range problems {
		if p.Severity == agent.SeverityError {
			t.Fatal(p)
		}
	}
	return a.Actions()
}

func tool(t *testing.T, handler http.HandlerFunc, actions string) *Tool {
	t.Helper()
	server := httptest.NewServer(handler)
	client := server.Client()
	client.CheckRedirect = httpclient.SameServer
	t.Cleanup(server.Close)
	env := map[string]string{"AIRLINE_URL": server.URL, "AIRLINE_KEY": "hush-hush"}
	tl, err := New(Options{
		Actions: actionsOf(t, actions), Client: client, Backoff: time.Millisecond,
		Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	})
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

// answer writes a body. It ignores write errors.
func answer(w io.Writer, body string) { _, _ = io.WriteString(w, body) }

const search = `
  search:
    inputs: [origin, seats]
    outputs: [price]
    idempotent: true
    http:
      method: POST
      url: "${AIRLINE_URL}/from/{origin}"
      headers: {Authorization: "Bearer ${AIRLINE_KEY}"}
      query: {q: "a b&{origin}"}
      body: {where: "{origin}", seats: "{seats}", note: "from {origin}", fixed: [1, true]}
      retries: 2
`

// TestRequest checks that slots and environment variables are inserted, escaped
// where a user could cause harm, with their types.
func TestRequest(t *testing.T) {
	tl := tool(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var got map[string]any
		if err := json.Unmarshal(body, &got); err != nil {
			t.Error(err)
		}
		for what, pair := range map[string][2]string{
			"path":            {r.URL.EscapedPath(), "/from/New%20York%2F..%2Fadmin"},
			"query":           {r.URL.Query().Get("q"), "a b&New York/../admin"},
			"authorization":   {r.Header.Get("Authorization"), "Bearer hush-hush"},
			"idempotency key": {r.Header.Get("Idempotency-Key"), "k1"},
			"where":           {got["where"].(string), "New York/../admin"},
			"note":            {got["note"].(string), "from New York/../admin"},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%s is %q, expected %q", what, pair[0], pair[1])
			}
		}
		if got["seats"] != 2.0 {
			t.Errorf("seats is %v, expected the number 2", got["seats"])
		}
		answer(w, `{"price": 120}`)
	}, search)
	out, err := tl.Call(context.Background(), port.ToolCall{ID: "k1", Name: "search", Arguments: `{"origin":"New York/../admin","seats":2}`}, nil)
	if err != nil || out != `{"price": 120}` {
		t.Errorf("%s, %v", out, err)
	}
	if s := tl.Specs(); len(s) != 1 || s[0].Irreversible || !strings.Contains(string(s[0].Schema), `"origin"`) {
		t.Errorf("specs %+v", s)
	}
}

// TestValueAddsAParameter checks that a caller's value remains one value in its
// place, and cannot change the server.
func TestValueAddsAParameter(t *testing.T) {
	const evil = "bob&role=admin#x/../y?role=admin;role=admin, role=admin\"+%26"
	var got *http.Request
	var body []byte
	tl := tool(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
		answer(w, `{}`)
	}, `
  user:
    inputs: [origin]
    http:
      url: "${AIRLINE_URL}/users/{origin}?user={origin}&role=guest"
      query: {again: "{origin}"}
      headers: {X-User: "{origin}", X-Roles: "user={origin}; role=guest", Cookie: "user={origin}; role=guest"}
      body: {user: "{origin}", note: "{\"user\": \"{origin}\"}"}
`)
	arguments, err := json.Marshal(map[string]string{"origin": evil})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tl.Call(t.Context(), port.ToolCall{ID: "k", Name: "user", Arguments: string(arguments)}, nil); err != nil {
		t.Fatal(err)
	}
	if want := url.PathEscape(evil); got.URL.EscapedPath() != "/users/"+want {
		t.Errorf("the path is %s, want /users/%s", got.URL.EscapedPath(), want)
	}
	want := url.Values{"user": {evil}, "role": {"guest"}, "again": {evil}}
	if q, err := url.ParseQuery(got.URL.RawQuery); err != nil || !reflect.DeepEqual(q, want) {
		t.Errorf("the query is %v, %v, want %v", q, err, want)
	}
	if h := got.Header.Get("X-User"); h != evil {
		t.Errorf("a header that is the value alone is %q, want %q", h, evil)
	}
	cookies := got.Cookies()
	if len(cookies) != 2 || cookies[1].Name != "role" || cookies[1].Value != "guest" {
		t.Errorf("the cookies are %v, want user and role=guest", cookies)
	} else if v, err := url.PathUnescape(cookies[0].Value); err != nil || v != evil {
		t.Errorf("the cookie user is %q, want %q", v, evil)
	}
	roles := strings.FieldsFunc(got.Header.Get("X-Roles"), func(c rune) bool { return strings.ContainsRune("; ,&\"", c) })
	if len(roles) != 2 || roles[1] != "role=guest" {
		t.Errorf("the header's parameters are %q, want two", roles)
	}
	var said map[string]string
	if err := json.Unmarshal(body, &said); err != nil || len(said) != 2 || said["user"] != evil {
		t.Errorf("the body is %s, %v", body, err)
	}
	for _, value := range []string{"a\r\nX-Role: admin", "a\x00", "a\x7f"} {
		arguments, err := json.Marshal(map[string]string{"origin": value})
		if err != nil {
			t.Fatal(err)
		}
		_, err = tl.Call(t.Context(), port.ToolCall{ID: "k", Name: "user", Arguments: string(arguments)}, nil)
		if err == nil || !strings.Contains(err.Error(), "control character") {
			t.Errorf("%q as a header: %v", value, err)
		}
	}
}

// TestPathThatLeadsUpward checks that two values cannot form a path segment of two
// dots.
func TestPathThatLeadsUpward(t *testing.T) {
	tl := tool(t, nil, `
  read:
    inputs: [origin, seats]
    http: {url: "${AIRLINE_URL}/users/{origin}{seats}/name"}
`)
	_, err := tl.Call(t.Context(), port.ToolCall{ID: "k", Name: "read", Arguments: `{"origin":".","seats":"."}`}, nil)
	if err == nil || !strings.Contains(err.Error(), ". and .. must not be path segments") {
		t.Errorf("%v", err)
	}
}

// TestCallerNamesTheServer checks that a value cannot continue the host's name
// after a variable.
func TestCallerNamesTheServer(t *testing.T) {
	for _, c := range []struct{ base, address string }{
		{"", "http://{origin}/x"},
		{"", "http://user:{origin}@example.org/"},
		{"", "{origin}://example.org/"},
		{"http://good.example", "${BASE}{origin}"},
		{"http:/", "${BASE}/{origin}"},
	} {
		a := actionsOf(t, "  go:\n    inputs: [origin]\n    http: {url: http://example.org}\n")
		a[0].HTTP.URL = c.address
		_, err := New(Options{Actions: a, Getenv: func(string) (string, bool) { return c.base, true }})
		if err == nil || !strings.Contains(err.Error(), "{origin}: a slot must not be part of the server's name") {
			t.Errorf("%s with BASE=%s: %v", c.address, c.base, err)
		}
	}
}

// TestRetries checks that only idempotent requests are retried, with the same key.
func TestRetries(t *testing.T) {
	var n atomic.Int32
	unavailable := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Idempotency-Key") != "k" {
			t.Error("another key")
		}
		if n.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		answer(w, `5`)
	}
	tl := tool(t, unavailable, search)
	out, err := tl.Call(context.Background(), port.ToolCall{ID: "k", Name: "search", Arguments: `{"origin":"a"}`}, nil)
	if err != nil || out != `{"price":5}` || n.Load() != 3 {
		t.Errorf("%s, %v after %d requests", out, err, n.Load())
	}
	n.Store(0)
	if tl.Specs()[0].Long {
		t.Error("the action counts as delegated, although its file does not say so")
	}
	tl = tool(t, unavailable, strings.Replace(search, "idempotent: true", "idempotent: false\n    long: true", 1))
	_, err = tl.Call(context.Background(), port.ToolCall{ID: "k", Name: "search", Arguments: `{"origin":"a"}`}, nil)
	f, _ := errors.AsType[*port.Failure](err)
	if f == nil || f.Code != errclass.ServerError || n.Load() != 1 {
		t.Errorf("%v after %d requests, expected a server error after one", err, n.Load())
	}
	if s := tl.Specs(); !s[0].Irreversible {
		t.Error("the action is not irreversible")
	} else if !s[0].Long {
		t.Error("the action does not count as delegated, although its file says so")
	}
}

// TestFailures checks that each failure has its class and contains no credentials.
func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		args    string
		code    string
		want    string
	}{
		"refused":       {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, `{}`, errclass.ToolError, "403"},
		"no JSON":       {func(w http.ResponseWriter, _ *http.Request) { answer(w, "<html>") }, `{}`, errclass.ToolError, "not valid JSON"},
		"too long":      {func(w http.ResponseWriter, _ *http.Request) { answer(w, strings.Repeat("x", DefaultMaxBody+1)) }, `{}`, errclass.ToolError, "more than"},
		"a way up":      {nil, `{"origin":".."}`, errclass.ToolError, ". and .. must not be path segments"},
		"bad arguments": {nil, `[1]`, errclass.ToolError, "not a JSON object"},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		}, `{}`, errclass.NetworkTimeout, "another host"},
		"cut": {func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, `{}`, errclass.NetworkTimeout, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			tl := tool(t, c.handler, search)
			_, err := tl.Call(context.Background(), port.ToolCall{ID: "k", Name: "search", Arguments: c.args}, nil)
			f, _ := errors.AsType[*port.Failure](err)
			if f == nil || f.Code != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, expected %s with %q", err, c.code, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "hush") {
				t.Errorf("a credential in %v", err)
			}
		})
	}
	tl := tool(t, nil, search)
	if _, err := tl.Call(context.Background(), port.ToolCall{Name: "dance", Arguments: `{}`}, nil); err == nil || !strings.Contains(err.Error(), `"dance"`) {
		t.Errorf("an unknown action: %v", err)
	}
}

// TestTimeout checks that an action ends at its timeout and with its context.
func TestTimeout(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		<-r.Context().Done()
	}
	tl := tool(t, hang, search+"      timeout: 20ms\n")
	_, err := tl.Call(context.Background(), port.ToolCall{Name: "search", Arguments: `{}`}, nil)
	if f, _ := errors.AsType[*port.Failure](err); f == nil || f.Code != errclass.NetworkTimeout || !strings.Contains(err.Error(), "the request timed out") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := tool(t, hang, search).Call(ctx, port.ToolCall{Name: "search", Arguments: `{}`}, nil); err == nil {
		t.Error("a cancelled action has a result")
	}
}

// TestLong checks the default timeout of a delegated agent.
func TestLong(t *testing.T) {
	for _, long := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			file := search
			if long {
				file = strings.Replace(search, "idempotent: true", "long: true", 1)
			}
			tl, err := New(Options{
				Actions: actionsOf(t, file), Getenv: func(string) (string, bool) { return "http://agent.example", true },
				Client: &http.Client{Transport: afterAMinute{}},
			})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			out, err := tl.Call(t.Context(), port.ToolCall{Name: "search", Arguments: `{}`}, nil)
			if took := time.Since(began); long && (err != nil || out != `{"price":5}` || took != time.Minute) || !long && (err == nil || took != DefaultTimeout) {
				t.Errorf("long %v: %s, error %v, after %v", long, out, err, took)
			}
		})
	}
}

// afterAMinute is a transport that answers after a minute.
type afterAMinute struct{}

// RoundTrip answers the request.
func (afterAMinute) RoundTrip(r *http.Request) (*http.Response, error) {
	timer := time.NewTimer(time.Minute)
	defer timer.Stop()
	select {
	case <-timer.C:
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("5"))}, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// TestNew checks that configuration errors are reported at the start.
func TestNew(t *testing.T) {
	_, err := New(Options{Actions: actionsOf(t, search), Getenv: func(string) (string, bool) { return "", false }})
	if err == nil || err.Error() != "action search: the environment variable AIRLINE_URL is not set" {
		t.Errorf("%v", err)
	}
	if _, err := New(Options{MaxBody: -1}); err == nil {
		t.Error("a negative limit is taken")
	}
}

// FuzzFill checks that a file's text and a user's values yield a text or an error.
func FuzzFill(f *testing.F) {
	f.Add("a {b} ${C} }", "v")
	f.Add("${", "{b}")
	tl := &Tool{o: Options{}.withDefaults()}
	f.Fuzz(func(t *testing.T, text, value string) {
		out, err := tl.fill(text, map[string]any{"b": value}, asIs)
		if err == nil && !strings.Contains(text, "{") && out != text {
			t.Fatalf("%q became %q", text, out)
		}
	})
}

// FuzzTarget checks that a value after the host changes neither the server nor the
// number of path segments and parameters.
func FuzzTarget(f *testing.F) {
	for _, value := range []string{"bob&role=admin", "../x", "a b+c%26", "?a=b#c", "\x00", "é", "\\evil.example"} {
		f.Add(value)
	}
	tl := &Tool{o: Options{}.withDefaults()}
	f.Fuzz(func(t *testing.T, value string) {
		u, err := tl.target("http://example.org/a/{b}/c?d={b}&e=f", map[string]any{"b": value})
		if err != nil {
			t.Fatal(err)
		}
		q, err := url.ParseQuery(u.RawQuery)
		if err != nil || u.Host != "example.org" || u.Fragment != "" || strings.Count(u.EscapedPath(), "/") != 3 ||
			!reflect.DeepEqual(q, url.Values{"d": {value}, "e": {"f"}}) {
			t.Fatalf("%q became %s: %v, %v", value, u, q, err)
		}
		if h, err := tl.header("d={b}; e=f", map[string]any{"b": value}); err != nil || strings.Count(h, ";") != 1 || strings.Count(h, " ") != 1 {
			t.Fatalf("%q became the header %q, %v", value, h, err)
		}
	})
}

// FuzzAnswer checks that a response becomes a JSON object or a failure with a
// message.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{`{"price":5}`, `5`, `[1]`, ``, ` null `, `<html>`, `{"a":`, "\xff", `"\ud800"`} {
		f.Add([]byte(seed), "out")
	}
	f.Fuzz(func(t *testing.T, body []byte, name string) {
		for _, a := range []*agent.Action{{Name: "a"}, {Name: "a", Outputs: []string{name}}} {
			out, err := outputs(a, body)
			var object map[string]json.RawMessage
			if err != nil && strings.TrimSpace(err.Error()) == "" || err == nil && json.Unmarshal([]byte(out), &object) != nil {
				t.Fatalf("%q became %q, %v", body, out, err)
			}
		}
	})
}
