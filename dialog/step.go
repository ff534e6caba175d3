package dialog

import "slices"

// stepType says what a step does.
type stepType int

const (
	stepCollect stepType = iota
	stepSay
	stepAction
	stepBranch
	stepConfirm
	stepSet
	stepWhile
	stepCall
	stepLink
	stepHandoff
)

// stepTypeNames are the names in files, in the order of the constants.
var stepTypeNames = []string{"collect", "say", "action", "branch", "confirm", "set", "while", "call", "link", "handoff"}

func (t stepType) String() string { return stepTypeNames[t] }

// endTarget as the index of a step is the end of the flow.
const endTarget = -1

// step is a compiled step of a flow.
type step struct {
	id    string
	typ   stepType
	index int
	next  int // step that follows, or endTarget

	message variants
	wording wording

	slot       *slot // collect
	validators []namedValidator
	invalid    variants
	phrases    []string // grammar

	action  *Action // action
	outputs []outputMap
	onError int
	failsTo bool // onError is given

	evaluate *expr // branch; a slot's name is an expression too
	cases    []branchCase
	fallback int

	answer            string // confirm: where the answer is kept
	onConfirm, onDeny int
	denyEnds          bool // no on_deny: a no ends the flow

	sets      []setting // set
	condition *expr     // set, while

	body   []int // while
	exit   int
	inLoop bool

	target *flow // call, link

	reads  []string // slots and variables that decide what the step does
	writes []string
}

type outputMap struct {
	variable string
	output   string
	swapped  bool // written the other way round where no output is declared
}

type branchCase struct {
	pattern string
	target  int
}

type setting struct {
	name  string
	value any // when the others are nil
	text  *template
	expr  *expr
}

// waits reports whether the step stops for the user.
func (s *step) waits() bool { return s.typ == stepCollect || s.typ == stepConfirm }

// decides reports whether the step only chooses where to go (seed 003,
// VALIDATING_SLOT -> UNDERSTANDING: "need to decide next action").
func (s *step) decides() bool {
	switch s.typ {
	case stepBranch, stepSet, stepWhile, stepCall, stepLink:
		return true
	case stepCollect, stepSay, stepAction, stepConfirm, stepHandoff:
		return false
	default:
		return false
	}
}

// readsName reports whether the step depends on a slot or variable.
func (s *step) readsName(name string) bool {
	return slices.Contains(s.reads, name)
}
