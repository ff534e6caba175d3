// Package redact prepares text from other programs and servers for people: it makes
// it one line, limits its length, and removes credentials that the caller passes.
// It has no state.
package redact
