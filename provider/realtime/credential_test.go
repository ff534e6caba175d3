package realtime_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/internal/nettest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/provider/realtime"
	"github.com/hocketvoice/hocket/provider/realtime/fake"
)

// authority is a service for tokens of Entra, and in front of a fake.
type authority struct {
	next http.Handler

	mu     sync.Mutex
	tokens int
	forms  []url.Values
	opened []string // how connections were opened
	refuse bool
}

func (a *authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	if !strings.HasSuffix(r.URL.Path, "/token") {
		a.opened = append(a.opened, r.URL.String()+" "+r.Header.Get("Authorization")+" "+r.Header.Get("Api-Key"))
		a.mu.Unlock()
		a.next.ServeHTTP(w, r)
		return
	}
	defer a.mu.Unlock()
	_ = r.ParseForm() // a form that cannot be read is empty
	a.forms = append(a.forms, r.PostForm)
	w.Header().Set("Content-Type", "application/json")
	if a.refuse {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":"invalid_client","error_description":"the secret ` + r.PostForm.Get("client_secret") + ` is wrong"}`)) //nolint:gosec // the form is that of the client under test
		return
	}
	a.tokens++
	_ = json.NewEncoder(w).Encode(map[string]any{"token_type": "Bearer", "expires_in": 3600, "access_token": "token-" + string(rune('0'+a.tokens))})
}

// TestEntra checks that a token is got for the application, kept until shortly before its end,
// and got again then.
func TestEntra(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &authority{next: &fake.Server{}}
		service := overNetwork(t, a, realtime.Options{
			Model: "mine", URL: "wss://mine.openai.azure.com/openai/v1/realtime", Entra: &realtime.Entra{Tenant: "contoso", Client: "app-1"},
		})
		for _, after := range []time.Duration{0, 30 * time.Minute, 29*time.Minute + time.Second} {
			<-time.After(after)
			openClose(t, service)
		}
		want := []string{"Bearer token-1 ", "Bearer token-1 ", "Bearer token-2 "}
		for i := range a.opened {
			if !strings.HasSuffix(a.opened[i], want[i]) || !strings.HasPrefix(a.opened[i], "/openai/v1/realtime?model=mine ") {
				t.Errorf("connection %d was opened by %q: expected %q", i, a.opened[i], want[i])
			}
		}
		if len(a.opened) != 3 || len(a.forms) != 2 {
			t.Fatalf("%d connections and %d tokens: expected 3 and 2", len(a.opened), len(a.forms))
		}
		f := a.forms[0]
		if f.Get("client_id") != "app-1" || f.Get("client_secret") != "app-secret-9" || f.Get("grant_type") != "client_credentials" ||
			f.Get("scope") != "https://cognitiveservices.azure.com/.default" {
			t.Errorf("the token was asked for by %v", f)
		}
	})
}

// TestEntraRefuses checks that a refused application is a failure of its own, without secrets.
func TestEntraRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &authority{next: &fake.Server{}, refuse: true}
		service := overNetwork(t, a, realtime.Options{
			Model: "mine", URL: "wss://mine.openai.azure.com/openai/v1/realtime", Entra: &realtime.Entra{Tenant: "contoso", Client: "app-1"},
		})
		_, err := service.Open(t.Context(), port.UpstreamConfig{}, func(port.UpstreamEvent) {})
		f, ok := errors.AsType[*port.Failure](err)
		if !ok || f.Code != errclass.AuthFailure || strings.Contains(f.Message, "app-secret-9") || !strings.Contains(f.Message, "invalid_client") {
			t.Errorf("error %#v", err)
		}
	})
}

// TestSecrets checks that a client secret opens sessions until shortly before its end, and that
// the key goes only to where secrets are made.
func TestSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &authority{next: &fake.Server{Key: key}}
		service := overNetwork(t, a, realtime.Options{Model: "m", Secrets: "https://api.openai.com/v1/realtime/client_secrets"}) //nolint:gosec // an address
		for _, after := range []time.Duration{0, 8 * time.Minute, time.Minute + time.Second} {
			<-time.After(after)
			openClose(t, service)
		}
		want := []string{
			"/v1/realtime/client_secrets Bearer " + key + " ", "/v1/realtime?model=m Bearer ek_1 ", "/v1/realtime?model=m Bearer ek_1 ",
			"/v1/realtime/client_secrets Bearer " + key + " ", "/v1/realtime?model=m Bearer ek_2 ",
		}
		if !slices.Equal(a.opened, want) {
			t.Errorf("requests %q: expected %q", a.opened, want)
		}
	})
}

// TestAzureHeader checks where each kind of Azure gets the deployment and the key.
func TestAzureHeader(t *testing.T) {
	for _, c := range []struct {
		o    realtime.Options
		want string
	}{
		{realtime.Options{Model: "d", URL: "wss://mine.openai.azure.com/openai/v1/realtime"}, "/openai/v1/realtime?model=d  " + key},
		{
			realtime.Options{Model: "d", URL: "wss://mine.openai.azure.com", APIVersion: "2024-10-01-preview"},
			"/openai/realtime?api-version=2024-10-01-preview&deployment=d  " + key,
		},
		{realtime.Options{Model: "m"}, "/v1/realtime?model=m Bearer " + key + " "},
		{realtime.Options{Model: "m", URL: "wss://other.example/v1/realtime"}, "/v1/realtime?model=m  "},
		{realtime.Options{Model: "m", URL: "ws://api.openai.com/v1/realtime"}, "/v1/realtime?model=m  "},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := &authority{next: &fake.Server{Beta: true}}
			openClose(t, overNetwork(t, a, c.o))
			if len(a.opened) != 1 || a.opened[0] != c.want {
				t.Errorf("opened by %q: expected %q", a.opened, c.want)
			}
		})
	}
}

// overNetwork returns a service of a server in memory.
func overNetwork(t *testing.T, h http.Handler, o realtime.Options) *realtime.Service {
	t.Helper()
	transport := nettest.Serve(t, h).Transport()
	o.Transport = transport
	o.Getenv = func(name string) string {
		return map[string]string{realtime.OpenAIKeyEnv: key, realtime.AzureKeyEnv: key, "AZURE_CLIENT_SECRET": "app-secret-9"}[name]
	}
	service, err := realtime.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = service.Close()
		transport.CloseIdleConnections()
	})
	return service
}

func openClose(t *testing.T, service *realtime.Service) {
	t.Helper()
	s, err := service.Open(t.Context(), port.UpstreamConfig{}, func(port.UpstreamEvent) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestOptions checks what is refused, and that no error shows an address.
//
//nolint:gosec // the passwords open nothing
func TestOptions(t *testing.T) {
	for _, c := range []struct {
		o    realtime.Options
		want string
	}{
		{realtime.Options{}, "Model must be set"},
		{realtime.Options{Model: "m", URL: "https://user:sesame@x/"}, "must be a wss or ws URL"},
		{realtime.Options{Model: "m", URL: "wss://user:sesame@x/"}, "must not contain a user name"},
		{realtime.Options{Model: "m", URL: "wss://x/?key=sesame"}, "must not contain a query"},
		{realtime.Options{Model: "m", APIVersion: "v"}, "requires Azure's URL"},
		{realtime.Options{Model: "m", Detection: "x"}, "expected server_vad, semantic_vad or none"},
		{realtime.Options{Model: "m", Eagerness: "x"}, "expected low, medium, high or auto"},
		{realtime.Options{Model: "m", Noise: "x"}, "expected near_field or far_field"},
		{realtime.Options{Model: "m", Format: "x"}, "expected pcm, pcmu or pcma"},
		{realtime.Options{Model: "m", Threshold: 2}, "expected 0 to 1"},
		{realtime.Options{Model: "m", Silence: -1}, "must not be negative"},
		{realtime.Options{Model: "m", MaxTokens: -1}, "expected 0 or more"},
		{realtime.Options{Model: "m", Secrets: "ftp://sesame"}, "must be an http or https URL"},
		{realtime.Options{Model: "m", Entra: &realtime.Entra{Client: "c"}}, "the tenant of entra must be set"},
		{realtime.Options{Model: "m", Entra: &realtime.Entra{Tenant: "t"}}, "the client of entra must be set"},
		{realtime.Options{Model: "m", Entra: &realtime.Entra{Tenant: "t", Client: "c"}, Secrets: "https://x"}, "must not both be set"},
		{realtime.Options{Model: "m", KeyEnv: "NONE"}, "NONE is not set"},
	} {
		c.o.Getenv = func(string) string { return "" }
		_, err := realtime.New(c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%+v: error %v, expected %q", c.o, err, c.want)
		}
	}
	for _, c := range []struct {
		o    realtime.Options
		want string
	}{
		{realtime.Options{Model: "m"}, ""},
		{realtime.Options{Model: "m", URL: "wss://mine.openai.azure.com/openai/v1/realtime"}, ""},
		{realtime.Options{Model: "m", URL: "ws://localhost:1/v1/realtime", KeyEnv: "MINE"}, ""},
		{realtime.Options{Model: "m", URL: "ws://localhost:1/v1/realtime", KeyEnv: realtime.OpenAIKeyEnv}, "api.openai.com"},
		{realtime.Options{Model: "m", URL: "wss://a.cloudapp.azure.com/x", KeyEnv: realtime.AzureKeyEnv}, "openai.azure.com"},
		{realtime.Options{Model: "m", Secrets: "https://elsewhere/x"}, "api.openai.com"},
	} {
		if got := c.o.ForeignKey(); got != c.want {
			t.Errorf("%+v: the key belongs to %q, expected %q", c.o, got, c.want)
		}
	}
}
