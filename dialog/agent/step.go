package agent

import "slices"

// stepType says what a step does.
type stepType int

// The types of steps.
const (
	StepCollect stepType = iota
	StepSay
	StepAction
	StepBranch
	StepConfirm
	StepSet
	StepWhile
	StepCall
	StepLink
	StepHandoff
	StepEngine
)

// stepTypeNames are the names in files, in the order of the constants.
var stepTypeNames = []string{"collect", "say", "action", "branch", "confirm", "set", "while", "call", "link", "handoff", "engine"}

func (t stepType) String() string { return stepTypeNames[t] }

// EndTarget as the index of a step is the end of the flow.
const EndTarget = -1

// Step is a compiled step of a flow.
type Step struct {
	ID    string
	Type  stepType
	index int
	Next  int // step that follows, or EndTarget

	Message Variants
	Wording Wording

	Slot       *Slot // collect
	Validators []NamedValidator
	Invalid    Variants
	Rejections []Rejection
	AskFirst   bool // what was said before the question is not taken

	Action  *Action // action
	Outputs []outputMap
	OnError int
	FailsTo bool // OnError is given

	Evaluate *expr // branch; a slot's name is an expression too
	Cases    []branchCase
	Fallback int

	Answer            string // confirm: where the answer is kept
	OnConfirm, OnDeny int
	DenyEnds          bool // no on_deny: a no ends the flow

	Sets      []Setting // set
	Condition *expr     // set, while, collect
	Suggest   *expr     // collect: a value that a yes takes

	Body   []int // while
	Exit   int
	InLoop bool

	Target *Flow // call, link

	Phrase string // say: a phrase of the engine
	Number *expr  // say: which of its forms, from 1; the last for more
	Do     string // engine

	reads  []string // slots and variables that decide what the step does
	Writes []string
}

type outputMap struct {
	Variable string
	Output   string
	Swapped  bool // written the other way round where no output is declared
}

type branchCase struct {
	Pattern string
	Target  int
}

// Setting gives a slot or variable a value: a constant, a text or an expression.
type Setting struct {
	Name       string
	Value      any // when the others are nil
	Text       *Template
	Expression *expr
}

// waits reports whether the step stops for the user.
func (s *Step) waits() bool { return s.Type == StepCollect || s.Type == StepConfirm }

// Decides reports whether the step only chooses where to go (seed 003,
// VALIDATING_SLOT -> UNDERSTANDING: "need to decide next action").
func (s *Step) Decides() bool {
	switch s.Type {
	case StepBranch, StepSet, StepWhile, StepCall, StepLink:
		return true
	case StepCollect, StepSay, StepAction, StepConfirm, StepHandoff, StepEngine:
		return false
	default:
		return false
	}
}

// ReadsName reports whether the step depends on a slot or variable.
func (s *Step) ReadsName(name string) bool {
	return slices.Contains(s.reads, name)
}

// Wording says whether a model may put what is said into other words.
type Wording int

const (
	WordingBySettings Wording = iota // as settings.rephrase_responses says
	WordingFixed                     // it may not
	wordingFree                      // it may
)
