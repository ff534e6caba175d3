// Package redact makes text that came from programs and servers of others fit for
// people: on one line, bounded, and without credentials. It holds no state and knows no
// credentials of its own; the caller passes them.
package redact
