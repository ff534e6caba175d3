package hub

import (
	"cmp"

	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// failed reports the failure of a provider or a tool to operators.
func (c *Conversation) failed(f journal.Failure) {
	c.hub.o.Log.Warn("provider or tool failed", "conversation", c.id, "agent", c.agent, "kind", f.Kind, "name", cmp.Or(f.Name, c.served[f.Kind]),
		"class", f.Class, "attempt", f.Attempt, "seconds", f.Latency.Seconds(), "retried", f.Retried)
	if c.hub.o.Watch != nil {
		c.hub.o.Watch.Failed(c.agent, f)
	}
}

// Retried reports a failed attempt that a tool itself repeats. It is meant for
// [session.Options].
func (c *Conversation) Retried(r port.Retry) {
	c.failed(journal.Failure{Kind: "tool", Name: r.Name, Class: errclass.Of(r.Class).Name, Attempt: r.Attempt, Latency: r.Latency, Retried: true})
}
