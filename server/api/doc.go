// Package api is the HTTP side of a server: the control API, the event streams, the
// panel and the health checks.
//
// It implements access control, limits on size and slowness of clients, and the
// JSON encoding. Conversations are implemented by the packages hub and session, and
// connections by the functions in [Options].
package api
