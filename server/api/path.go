package api

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/server/gate"
)

// This file implements servers that clients reach under a path ("/voice/"). A proxy may
// remove the path from requests; the handlers never see it.

// ParsePath parses [Options.Path]. It returns the path without the slash at its end:
// empty for the root.
func ParsePath(text string) (string, error) {
	path, err := gate.ParsePath(text)
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if own := []string{"v1", "openai", "healthz", "readyz", "metrics"}; slices.Contains(own, first) {
		return "", fmt.Errorf("is %q: must not begin with a path of the server itself (/%s)", text, first)
	}
	return path, nil
}

// below returns a request without Options.Path, and the prefix for paths in the
// response. The path of inner is empty if the request is for Options.Path without its
// final slash.
func (s *Server) below(r *http.Request) (inner *http.Request, prefix string) {
	route := gate.RouteOf(r)
	rest, cut := s.cutPath(r.URL.Path)
	raw, cutRaw := s.cutPath(r.URL.RawPath)
	cut = cut && (cutRaw || r.URL.RawPath == "")
	prefix = cmp.Or(route.Prefix, s.o.Path)
	if cut && route.Prefix != "" && !strings.HasSuffix(route.Prefix, s.o.Path) {
		prefix += s.o.Path
	}
	if r.Header.Get(forwarded) != "" {
		prefix = "" // the node that has forwarded the request adds it
	}
	if !cut {
		if _, unclean := s.cutPath(path.Clean(r.URL.Path)); unclean {
			prefix = strings.TrimSuffix(prefix, s.o.Path) // the redirect to the clean path contains it
		}
		return r, prefix
	}
	inner = r.WithContext(r.Context())
	at := *r.URL
	at.Path, at.RawPath = rest, raw
	inner.URL = &at
	return inner, prefix
}

// cutPath removes Options.Path from a path. ok is false if the path is not below it.
func (s *Server) cutPath(path string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, s.o.Path)
	return rest, ok && s.o.Path != "" && (rest == "" || rest[0] == '/')
}

// openAPI answers with the description of the API, including its URL.
func (s *Server) openAPI(w http.ResponseWriter, r *http.Request) {
	doc := s.OpenAPI()
	route := gate.RouteOf(r)
	at := url.URL{Scheme: cmp.Or(route.Scheme, "http"), Host: route.Host}
	if q, ok := r.Context().Value(requestKey{}).(*request); ok {
		at.Path = q.prefix
	}
	doc["servers"] = []any{object{"url": at.String()}}
	writeJSON(w, http.StatusOK, doc)
}
