// Command gen explores the shipped machine and writes the transitions that it
// reaches, with their causes, as Go: what `hocket machine` prints. It decides
// nothing about them, and never writes when a promise of the machine is broken:
// package explore says what is reached.
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
