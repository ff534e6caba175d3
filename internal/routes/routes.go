package routes

import (
	"net/http"
	"strings"
)

// methods are the methods that handlers may support.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// Allowed returns the methods that a mux supports for a request's path, in the form
// of the header Allow. It returns an empty string if the path is unknown. Patterns
// without a method are ignored. It is safe for concurrent use.
func Allowed(mux *http.ServeMux, r *http.Request) string {
	var list []string
	for _, m := range methods {
		probe := &http.Request{Method: m, URL: r.URL, Host: r.Host}
		if _, pattern := mux.Handler(probe); strings.Contains(pattern, " ") {
			list = append(list, m)
		}
	}
	return strings.Join(list, ", ")
}
