package task

// Mode determines what happens to a second task of a tool while one is running.
type Mode string

// The modes. The empty mode is Allow.
const (
	Allow   Mode = "allow"   // both run
	Reject  Mode = "reject"  // the second task is refused with a failure of code DUPLICATE
	Replace Mode = "replace" // the first task is cancelled
)

// By determines which tasks of the same caller are duplicates. If the caller is not
// known, tasks of the same conversation are compared.
type By string

// The criteria. The empty one is ByName.
const (
	ByName      By = "name"      // the same tool
	ByArguments By = "arguments" // the same tool and the same arguments, regardless of the order of keys and white space
)

// Policy determines how duplicates of a tool's task are handled.
type Policy struct {
	Mode Mode
	By   By
}
