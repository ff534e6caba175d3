package dialog

import (
	"slices"
	"time"

	"github.com/hocketvoice/hocket/dialog/value"
)

// Agent is a compiled agent: flows, slots, actions and the understanding
// trained on them. It never changes, so that any number of conversations on any
// number of goroutines may share one.
type Agent struct {
	settings     Settings
	instructions string
	tools        []string // what a model may call
	toolsSet     bool
	lang         *value.Language
	messages     map[string]variants // the engine's own phrases

	slots     []*slot
	secrets   []*slot // those of them that are secret
	slotIndex map[string]*slot
	vars      map[string]bool // names that flows set beside slots

	actions     []*Action
	actionIndex map[string]*Action

	flows     []*flow
	flowIndex map[string]*flow
	start     *flow

	intents     *classifier
	flowWords   []map[string]bool // by flow: the words that speak for it
	flowWeights map[string]float64
	askables    []askable
	askWeights  map[string]float64
	values      *value.Phrases // of all slots that list theirs

	prompt Prompt // what is the same in every prompt

	idlePhrases  []string // grammars
	errorPhrases []string
}

// flow is a compiled flow.
type flow struct {
	name        string
	index       int
	description string
	label       string
	triggers    []trigger
	slots       []*slot // that its steps and triggers use, in order
	steps       []*step
	ids         map[string]int // step ids
	first       int
	writes      []string // slots and variables that a run sets
	mentions    *value.Phrases
	takes       []string // slots that another flow has filled and this one takes over
	proposes    *flow    // what is proposed when the user likes what was found

	confirmPhrases []string // grammars
	idlePhrases    []string // after the flow has ended
}

// trigger is a phrase that starts a flow.
type trigger struct {
	text  string
	parts []triggerPart
	core  []triggerPart // without "I want to"; nil if too little is left to go by
	slots bool          // has braces
}

type triggerPart struct {
	word string
	slot *slot
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

	confirmation variants
	mock         []setting // outputs, when Mocked
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

// FlowInfo describes a flow to those who show or prompt with it.
type FlowInfo struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Triggers    []string `json:"triggers,omitempty"`
	Slots       []string `json:"slots,omitempty"`
}

// SlotInfo describes a slot to those who show or prompt with it.
type SlotInfo struct {
	Name        string     `json:"name"`
	Type        value.Type `json:"type"`
	Description string     `json:"description,omitempty"`
	Values      []string   `json:"values,omitempty"`
	Required    bool       `json:"required"`
	// Secret: its value is neither said nor shown, and no model gets it.
	Secret bool `json:"secret,omitempty"`
}

// Settings returns the agent's settings, defaults filled in. Their maps are not
// to be changed.
func (a *Agent) Settings() Settings { return a.settings }

// Instructions are what a model is told, "" if none is used.
func (a *Agent) Instructions() string { return a.instructions }

// Tools are the names of the tools that a model may call for this agent, "*" for
// all there are; ok is false where its files do not say.
func (a *Agent) Tools() (names []string, ok bool) { return slices.Clone(a.tools), a.toolsSet }

// Language is the tag of the agent's language.
func (a *Agent) Language() string { return a.settings.Language }

// Actions lists the actions in the order of the files.
func (a *Agent) Actions() []Action {
	out := make([]Action, 0, len(a.actions))
	for _, act := range a.actions {
		out = append(out, *act)
	}
	return out
}

// Action returns the action of a name.
func (a *Agent) Action(name string) (Action, bool) {
	act, ok := a.actionIndex[name]
	if !ok {
		return Action{}, false
	}
	return *act, true
}

// Flows describes the flows in the order of the files.
func (a *Agent) Flows() []FlowInfo {
	out := make([]FlowInfo, 0, len(a.flows))
	for _, f := range a.flows {
		info := FlowInfo{Name: f.name, Description: f.description}
		for _, t := range f.triggers {
			info.Triggers = append(info.Triggers, t.text)
		}
		for _, s := range f.slots {
			info.Slots = append(info.Slots, s.name)
		}
		out = append(out, info)
	}
	return out
}

// Slots describes the slots in the order of the files.
func (a *Agent) Slots() []SlotInfo {
	out := make([]SlotInfo, 0, len(a.slots))
	for _, s := range a.slots {
		info := SlotInfo{Name: s.name, Type: s.Type, Description: s.description, Required: s.required, Secret: s.Secret}
		for _, v := range s.Values {
			info.Values = append(info.Values, v.Value)
		}
		out = append(out, info)
	}
	return out
}

// slotNames are the names of all slots.
func (a *Agent) slotNames() []string {
	names := make([]string, 0, len(a.slots))
	for _, s := range a.slots {
		names = append(names, s.name)
	}
	return names
}

// flowNames are the names of all flows.
func (a *Agent) flowNames() []string {
	names := make([]string, 0, len(a.flows))
	for _, f := range a.flows {
		names = append(names, f.name)
	}
	return names
}

// slotOf finds a slot by name, nil if there is none.
func (a *Agent) slotOf(name string) *slot { return a.slotIndex[name] }

// usesSlot reports whether a slot belongs to the flow.
func (f *flow) usesSlot(s *slot) bool { return slices.Contains(f.slots, s) }
