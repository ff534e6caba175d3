package agent

import "slices"

// stepType is the type of a step.
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

// stepTypeNames has the names in files, in the order of the constants.
var stepTypeNames = []string{"collect", "say", "action", "branch", "confirm", "set", "while", "call", "link", "handoff", "engine"}

func (t stepType) String() string { return stepTypeNames[t] }

// EndTarget is a step index that stands for the end of the flow.
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
	AskFirst   bool // a value from before the question is not accepted

	Action  *Action // action
	Outputs []outputMap
	OnError int
	FailsTo bool // whether the file has on_error

	Evaluate *expr // branch; may be the name of a slot
	Cases    []branchCase
	Fallback int

	Answer            string // confirm: name of the slot or variable for the answer
	OnConfirm, OnDeny int
	DenyEnds          bool // whether a no ends the flow, since the file has no on_deny

	Sets      []Setting // set
	Condition *expr     // set, while, collect
	Suggest   *expr     // collect: the value that a yes accepts

	Body   []int // while
	Exit   int
	InLoop bool

	Target *Flow // call, link

	Phrase string // say: a phrase of the engine
	Number *expr  // say: the number of its form, from 1; larger numbers select the last
	Do     string // engine

	reads  []string // slots and variables on which the step depends
	Writes []string
}

type outputMap struct {
	Variable string
	Output   string
	Swapped  bool // may be {output: variable}, since the action declares no outputs
}

type branchCase struct {
	Pattern string
	Target  int
}

// Setting gives a slot or variable a value: a constant, a text or an expression.
type Setting struct {
	Name       string
	Value      any // used if the others are nil
	Text       *Template
	Expression *expr
}

// waits reports whether the step waits for the user.
func (s *Step) waits() bool { return s.Type == StepCollect || s.Type == StepConfirm }

// Decides reports whether the step only chooses the next step (seed 003, VALIDATING_SLOT ->
// UNDERSTANDING: "need to decide next action").
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

// Wording says whether a model may reword a message.
type Wording int

const (
	WordingBySettings Wording = iota // settings.rephrase_responses decides
	WordingFixed                     // no
	wordingFree                      // yes
)
