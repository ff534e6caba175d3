// Package api is the HTTP side of a server: the control API, the event streams,
// the panel, health.
//
// It decides who may do what, how large and how slow a client may be, and how
// things are written as JSON. What a conversation does is the hub's and the
// session's business; how one is connected is that of the functions in
// [Options].
package api
