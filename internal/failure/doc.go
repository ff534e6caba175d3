// Package failure maps the errors of services over HTTP and WebSocket to classes of failure
// (seed 001, section 4.7). The adapters of services share it.
package failure
