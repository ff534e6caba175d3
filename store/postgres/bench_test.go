package postgres

import (
	"testing"

	"github.com/hocketvoice/hocket/internal/pgtest"
	"github.com/hocketvoice/hocket/porttest"
)

// durable is the server of the benchmarks: it waits for the disk.
var durable = pgtest.Server{Durable: true}

// BenchmarkStores is what a store costs, whichever: see [porttest.BenchmarkStores]. Goal:
// below 2 ms for a save, with a disk of a server.
func BenchmarkStores(b *testing.B) {
	porttest.BenchmarkStores(b, func(b *testing.B) porttest.Stores { return views(begun(b, Options{URL: durable.Database(b)})) })
}

// BenchmarkCallers is what it costs to find the conversations of a caller: see
// [porttest.BenchmarkCallers].
func BenchmarkCallers(b *testing.B) {
	porttest.BenchmarkCallers(b, func(b *testing.B) porttest.Stores { return views(begun(b, Options{URL: durable.Database(b)})) })
}
