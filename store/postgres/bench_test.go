package postgres

import (
	"testing"

	"github.com/hocketvoice/hocket/internal/pgtest"
	"github.com/hocketvoice/hocket/porttest"
)

// durable is the database server of the benchmarks. It waits for the disk.
var durable = pgtest.Server{Durable: true}

// BenchmarkStores measures the calls of a store: see [porttest.BenchmarkStores]. Goal: below
// 2 ms for a save, with a server's disk.
func BenchmarkStores(b *testing.B) {
	porttest.BenchmarkStores(b, func(b *testing.B) porttest.Stores { return views(begun(b, Options{URL: durable.Database(b)})) })
}

// BenchmarkCallers measures how long it takes to find the conversations of a caller: see
// [porttest.BenchmarkCallers].
func BenchmarkCallers(b *testing.B) {
	porttest.BenchmarkCallers(b, func(b *testing.B) porttest.Stores { return views(begun(b, Options{URL: durable.Database(b)})) })
}
