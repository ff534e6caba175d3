// Package httptool carries out the actions of an agent's flows over HTTP, as
// their files describe them. It fills in slots and the environment, sends, and
// reads the outputs; it decides nothing about the dialogue, and never repeats
// what may have been done: only idempotent requests are sent again.
//
// It is built on net/http alone: an action is one request and one answer, and
// what a client library would add (a retry of everything, a body of its own
// choosing) is what an action must not do.
package httptool
