package archtest

import "github.com/hocketvoice/hocket/internal/cli"

// hocket is the program, run in this process.
var hocket program = cli.Run
