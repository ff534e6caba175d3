package dialog

// Agent is a compiled agent.
type Agent struct{}

// Command is one thing that a model understood.
type Command struct{}

// State is the dialogue's state.
type State struct{}

// Clone returns a deep copy.
func (s State) Clone() State { return s }

// Start begins the dialogue.
func (a *Agent) Start(st *State, now Clock) Output { return Output{} }

// Handle takes an input.
func (a *Agent) Handle(st *State, now Clock, in Input) Output { return Output{} }

// Repeat says the last response again.
func (a *Agent) Repeat(st *State, now Clock) Output { return Output{} }

// File is a named file of an agent.
type File struct {
	Name string
	Data []byte
}

// Problem is what is wrong with a file.
type Problem struct{}

// String names the problem.
func (p Problem) String() string { return "" }

// Parse compiles an agent.
func Parse(files []File) (*Agent, []Problem) { return &Agent{}, nil }
