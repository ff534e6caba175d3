// Package httpclient checks the URLs of services, limits the size of HTTP responses and
// prevents a key from being sent to another server. It provides a transport and a
// redirect policy for an [net/http.Client].
package httpclient
