package task

// Mode is what happens to a second task of a tool while one runs.
type Mode string

// The modes. The empty one is Allow.
const (
	Allow   Mode = "allow"   // both run
	Reject  Mode = "reject"  // the second is refused: a failure of code DUPLICATE
	Replace Mode = "replace" // the first is called off
)

// By is what makes two tasks of one tool duplicates, beside the caller or, where
// nobody is known, the conversation.
type By string

// The ways. The empty one is ByName.
const (
	ByName      By = "name"      // the tool
	ByArguments By = "arguments" // the tool and its arguments, however they are written
)

// Policy is what is done with duplicates of a tool.
type Policy struct {
	Mode Mode
	By   By
}
