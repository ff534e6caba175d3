package routes

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAllowed(t *testing.T) {
	mux := http.NewServeMux()
	nothing := func(http.ResponseWriter, *http.Request) {}
	for _, p := range []string{"GET /a", "POST /a", "POST /b/{id}", "/", "/any"} {
		mux.HandleFunc(p, nothing)
	}
	for path, want := range map[string]string{"/a": "GET, HEAD, POST", "/b/1": "POST", "/b": "", "/any": "", "/a/": ""} {
		if got := Allowed(mux, httptest.NewRequest(http.MethodDelete, path, nil)); got != want {
			t.Errorf("%s: %q, expected %q", path, got, want)
		}
	}
}
