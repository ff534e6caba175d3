// Package socket dials WebSockets of services: with a key that goes to one host alone, with
// TLS and the environment's proxy, with limits, and with errors that have a class of failure
// (seed 001, section 4.7) and no secret. The adapters of speech services share it.
package socket
