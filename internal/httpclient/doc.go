// Package httpclient bounds what HTTP clients read, and sends a key to no server but
// its own. It decides nothing about requests: it wraps the transport and the redirects
// of an [net/http.Client], starts no goroutine and keeps no state.
package httpclient
