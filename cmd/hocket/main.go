// Command hocket holds spoken conversations between people and agents. What it
// can do is in package cli.
package main

import (
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // time zones where the machine has no list of them

	"github.com/hocketvoice/hocket/internal/cli"
)

func main() {
	// A reader that goes away is an error of the write, which ends the command
	// quietly, not a signal that kills it in the middle.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
