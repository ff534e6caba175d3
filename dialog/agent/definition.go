package agent

import (
	"slices"
	"time"

	"github.com/hocketvoice/hocket/dialog/value"
)

// Definition is what the files of an agent say, compiled: settings, slots, actions,
// flows. Nothing changes it once it is parsed, so that any number of conversations on
// any number of goroutines may share one.
type Definition struct {
	Settings     Settings
	Instructions string
	Tools        []string // what a model may call
	ToolsSet     bool
	Lang         *value.Language
	Messages     map[string]Variants // the engine's own phrases

	Slots     []*Slot
	Secrets   []*Slot // those of them that are secret
	SlotIndex map[string]*Slot
	Vars      map[string]bool // names that flows set beside slots

	Actions     []*Action
	ActionIndex map[string]*Action

	Flows     []*Flow
	FlowIndex map[string]*Flow // built-in flows too
	Replaced  []*Flow          // those that stand for built-in ones
	Start     *Flow
}

// Flow is a compiled flow.
type Flow struct {
	Name        string
	Index       int
	Description string
	Label       string
	Triggers    []Trigger
	Slots       []*Slot // that its steps and triggers use, in order
	Steps       []*Step
	IDs         map[string]int // step ids
	First       int
	Writes      []string // slots and variables that a run sets
	Mentions    *value.Phrases
	Takes       []string // slots that another flow has filled and this one takes over
	Keeps       []string // slots whose values outlive the flow
	guard       *expr    // it starts only where this is true; nil: everywhere
	Proposes    *Flow    // what is proposed when the user likes what was found
	Called      bool     // a step of another flow calls it or goes on with it
	Builtin     bool     // the engine begins it, and nobody else
	Default     *Flow    // the built-in flow that it replaces, if it does
}

// Trigger is a phrase that starts a flow.
type Trigger struct {
	Text  string
	Parts []TriggerPart
	Core  []TriggerPart // without "I want to"; nil if too little is left to go by
	Slots bool          // has braces
}

// TriggerPart is a word of a trigger, or a slot in braces.
type TriggerPart struct {
	Word string
	Slot *Slot
}

// Settings are the settings of an agent's files.
type Settings struct {
	Language string // BCP 47 tag of the words in use: "en", "de"
	Greeting string // "": the engine's own
	Start    string // flow that begins by itself
	Model    ModelSettings
	// Rephrase lets a model reword what the flows say, except where a step
	// forbids it.
	Rephrase bool
	Tone     string
	// Handoff allows giving the user to a person.
	Handoff bool
	// Retries is how often the user may be misunderstood in a row before the
	// handoff.
	Retries int
	// MinConfidence is how sure the recognizer has to be: below it, nothing that
	// the user said is acted upon, and the question is asked again. What counts
	// as sure is the recognizer's own; 0 acts on everything.
	MinConfidence float64
	HistoryLimit  int // messages that a State keeps
	TraceLimit    int // events that a State keeps
	StepLimit     int // steps that one turn may take
	// Other are settings that mean something elsewhere ("turn", "limits",
	// "persistence"), as they stand in the file.
	Other map[string]any

	modelAnswersSet bool
}

// ModelSettings say what a language model is used for.
type ModelSettings struct {
	Understanding bool   // ask it what the user meant
	Answers       bool   // let it answer what the flows do not cover
	Name          string // of the model
	Other         map[string]any
}

// The defaults of [Settings].
const (
	defaultRetries      = 3
	defaultHistoryLimit = 40
	defaultTraceLimit   = 48
	defaultStepLimit    = 200
)

// Action is what a flow may ask to be run.
type Action struct {
	Name        string
	Description string
	Inputs      []ActionInput
	Outputs     []string
	// RequiresConfirmation: the user has to say yes before each run.
	RequiresConfirmation bool
	// Idempotent: running it twice does no harm; a failure may be retried
	// without asking.
	Idempotent bool
	HTTP       *HTTPCall
	MCP        *MCPCall
	Tool       *ToolUse
	// Long: a delegated agent carries it out, for minutes. The call is one of those
	// that outlive the turn.
	Long bool
	// Declared: the files declare it; else only steps name it and the program
	// provides it.
	Declared bool
	// Mocked: the files say what the action returns, and nothing carries it out:
	// it ends at once, inside the engine, and no [ActionCall] is made for it. An
	// action that [Options.Actions] names is never mocked.
	Mocked bool
	// Checks is the slot whose value the action asks a service about: it stands in
	// the slot's validator, and no step names it.
	Checks string

	Confirmation Variants
	Mock         []Setting // outputs, when Mocked
}

// ActionInput is one argument of an action.
type ActionInput struct {
	Name     string // of the argument
	From     string // the slot or variable it is taken from
	Optional bool
}

// HTTPCall says how an action is carried out over HTTP. Values in braces are
// slots, ${NAME} is the environment's; the caller fills both in.
type HTTPCall struct {
	Method  string
	URL     string
	Headers map[string]string
	Query   map[string]string
	Body    any // nil: the inputs as a JSON object
	Timeout time.Duration
	Retries int
}

// MCPCall says which tool of which server carries an action out.
type MCPCall struct {
	Server string
	Tool   string
	// Outputs are taken from the tool's result, a JSON object: by their names, the
	// keys that lead to them ("booking.reference"). Without any, the object's keys
	// are the outputs.
	Outputs map[string]string
}

// ToolUse says which of the installation's tools carries an action out.
type ToolUse struct {
	Kind string // "command" or "a2a"
	Name string
	// Outputs are taken from the result as those of an [MCPCall] are.
	Outputs map[string]string
}

// SlotNames are the names of all slots.
func (a *Definition) SlotNames() []string {
	names := make([]string, 0, len(a.Slots))
	for _, s := range a.Slots {
		names = append(names, s.Name)
	}
	return names
}

// FlowNames are the names of all flows.
func (a *Definition) FlowNames() []string {
	names := make([]string, 0, len(a.Flows))
	for _, f := range a.Flows {
		names = append(names, f.Name)
	}
	return names
}

// SlotOf finds a slot by name, nil if there is none.
func (a *Definition) SlotOf(name string) *Slot { return a.SlotIndex[name] }

// MayStart reports whether the flow's condition is true, with the values of names. A flow
// without one may always start.
func (f *Flow) MayStart(lookup func(name string) any) bool {
	if f.guard == nil {
		return true
	}
	ok, err := f.guard.Truth(lookup)
	return ok && err == nil
}

// Guarded reports whether the flow has a condition.
func (f *Flow) Guarded() bool { return f.guard != nil }

// UsesSlot reports whether a slot belongs to the flow.
func (f *Flow) UsesSlot(s *Slot) bool { return slices.Contains(f.Slots, s) }

// NoFlow is current_flow while none is active (seed 003).
const NoFlow = "none"
