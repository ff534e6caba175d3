package routes

import (
	"net/http"
	"strings"
)

// methods are those that handlers have.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// Allowed are the methods with which a mux has a request's path, as the header
// Allow lists them; empty: it has no such path. A pattern without a method does not
// count. It is safe for concurrent use.
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
