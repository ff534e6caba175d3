// Command gen explores the shipped machine and writes the reached transitions with
// their causes as Go code, which `hocket machine` prints. It writes nothing if the
// machine violates a property.
package main

import (
	"fmt"
	"os"

	"github.com/hocketvoice/hocket/internal/explore"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run() error {
	m, err := explore.Reach(explore.Shipped())
	if err != nil {
		return err
	}
	src, err := m.Source()
	if err != nil {
		return err
	}
	return os.WriteFile("reached_gen.go", src, 0o600)
}
