package agent

import (
	"slices"
	"time"

	"github.com/hocketvoice/hocket/dialog/value"
)

// Definition is the compiled content of an agent's files: settings, slots, actions and
// flows. A Definition that was parsed is not modified any more and is safe for concurrent
// use.
type Definition struct {
	Settings     Settings
	Description  string // what the agent does, for people
	Instructions string
	Tools        []string // tools that a model may call
	ToolsSet     bool
	Lang         *value.Language
	Messages     map[string]Variants // phrases of the engine

	Slots     []*Slot
	Secrets   []*Slot // the secret ones among Slots
	SlotIndex map[string]*Slot
	Vars      map[string]bool // variables: names that flows set and that are not slots

	Actions     []*Action
	ActionIndex map[string]*Action

	Flows     []*Flow
	FlowIndex map[string]*Flow // including built-in flows
	Replaced  []*Flow          // flows of the files that replace built-in ones
	Start     *Flow
}

// Flow is a compiled flow.
type Flow struct {
	Name        string
	Index       int
	Description string
	Label       string
	Triggers    []Trigger
	Slots       []*Slot // slots that its steps and triggers use, in order
	Steps       []*Step
	IDs         map[string]int // step ids
	First       int
	Writes      []string // slots and variables that a run sets
	Mentions    *value.Phrases
	Takes       []string // slots that another flow has filled and this one takes over
	Keeps       []string // slots whose values outlive the flow
	guard       *expr    // condition for starting the flow, or nil
	Proposes    *Flow    // the flow to propose when the user accepts what was found
	Called      bool     // whether a call or link step of another flow leads to it
	Builtin     bool     // whether it is a built-in flow, which only the engine starts
	Default     *Flow    // the default built-in flow that it replaces, or nil
}

// Trigger is a phrase that starts a flow.
type Trigger struct {
	Text  string
	Parts []TriggerPart
	Core  []TriggerPart // Parts without words like "I want to"; nil if too few are left
	Slots bool          // whether Parts contains slots
}

// TriggerPart is a word of a trigger, or a slot in braces.
type TriggerPart struct {
	Word string
	Slot *Slot
}

// Settings are the settings of an agent's files.
type Settings struct {
	Language string // BCP 47 tag of the words in use: "en", "de"
	Greeting string // "" selects the default greeting
	Start    string // flow that the conversation starts with, or ""
	Model    ModelSettings
	// Upstream is the name of the speech-to-speech service that hears, answers and speaks for
	// the agent, or "".
	Upstream string
	// Rephrase lets a model reword what the flows say, except where a step
	// forbids it.
	Rephrase bool
	Tone     string
	// Handoff allows handing over to a person.
	Handoff bool
	// Retries is the number of misses in a row after which the agent hands over.
	Retries int
	// MinConfidence is the least confidence of the recognizer with which an utterance is
	// acted on; below it the agent asks again. Recognizers differ in what their confidence
	// means. 0 accepts every utterance.
	MinConfidence float64
	HistoryLimit  int // maximum number of messages in a State
	TraceLimit    int // maximum number of events in a State
	StepLimit     int // maximum number of steps in a turn
	// Other has the settings that other packages read ("turn", "limits", "persistence"),
	// unchanged.
	Other map[string]any

	modelAnswersSet bool
}

// ModelSettings says what a language model is used for.
type ModelSettings struct {
	Understanding bool   // whether it finds out what the user means
	Answers       bool   // whether it answers what the flows do not cover
	Name          string // name of the model
	Other         map[string]any
}

// The defaults of [Settings].
const (
	defaultRetries      = 3
	defaultHistoryLimit = 40
	defaultTraceLimit   = 48
	defaultStepLimit    = 200
)

// Action is an action that a flow may run.
type Action struct {
	Name        string
	Description string
	Inputs      []ActionInput
	Outputs     []string
	// RequiresConfirmation reports whether the user must say yes before each run.
	RequiresConfirmation bool
	// Idempotent reports whether running the action twice does no harm, so that a failed
	// run may be retried without asking.
	Idempotent bool
	HTTP       *HTTPCall
	MCP        *MCPCall
	Tool       *ToolUse
	// Long reports whether a run is delegated work that may take minutes and outlive the
	// turn.
	Long bool
	// Declared reports whether the files declare the action. Otherwise only steps name it,
	// and the program provides it.
	Declared bool
	// Mocked reports whether the files say what the action returns. The engine then ends
	// the action at once and asks for no call. An action in [Options.Actions] is never
	// mocked.
	Mocked bool
	// Checks is the slot whose values the action checks, or "". Such an action comes from
	// the slot's validator, and no step names it.
	Checks string

	Confirmation Variants
	Mock         []Setting // outputs, when Mocked
}

// ActionInput is an argument of an action.
type ActionInput struct {
	Name     string // of the argument
	From     string // the slot or variable that has the value
	Optional bool
}

// HTTPCall says how to run an action over HTTP. The caller replaces {slot} by the slot's
// value and ${NAME} by the environment variable's.
type HTTPCall struct {
	Method  string
	URL     string
	Headers map[string]string
	Query   map[string]string
	Body    any // nil stands for the inputs as a JSON object
	Timeout time.Duration
	Retries int
}

// MCPCall says which tool of which MCP server runs an action.
type MCPCall struct {
	Server string
	Tool   string
	// Outputs has the path of each output in the tool's result, a JSON object
	// ("booking.reference"). If it is empty, the keys of the object are the outputs.
	Outputs map[string]string
}

// ToolUse says which tool of the installation runs an action.
type ToolUse struct {
	Kind string // "command", "a2a" or "transfer"
	Name string
	// Outputs are the same as in an [MCPCall].
	Outputs map[string]string
}

// SlotNames returns the names of all slots.
func (a *Definition) SlotNames() []string {
	names := make([]string, 0, len(a.Slots))
	for _, s := range a.Slots {
		names = append(names, s.Name)
	}
	return names
}

// FlowNames returns the names of all flows, except built-in ones.
func (a *Definition) FlowNames() []string {
	names := make([]string, 0, len(a.Flows))
	for _, f := range a.Flows {
		names = append(names, f.Name)
	}
	return names
}

// SlotOf returns the named slot, or nil.
func (a *Definition) SlotOf(name string) *Slot { return a.SlotIndex[name] }

// MayStart reports whether the condition of the flow is true. lookup returns the values of
// names. A flow without a condition may always start.
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

// NoFlow is the value of current_flow if no flow is active (seed 003).
const NoFlow = "none"
