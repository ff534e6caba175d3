package dialog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// stateJSON is the JSON form of [State]: the seed's fields under their names, then the
// engine's.
type stateJSON struct {
	Version           string            `json:"version"`
	Messages          []ChatMessage     `json:"messages"`
	Slots             map[string]any    `json:"slots"`
	CurrentFlow       string            `json:"current_flow"`
	ConversationState ConversationState `json:"conversation_state"`
	CurrentStep       *string           `json:"current_step"`
	WaitingForSlot    *string           `json:"waiting_for_slot"`
	TurnCount         int               `json:"turn_count"`
	LastResponse      string            `json:"last_response"`
	LastNLUCall       *float64          `json:"last_nlu_call"`
	Trace             []TraceEvent      `json:"trace"`
	Metadata          map[string]any    `json:"metadata"`

	NLUCalls      int            `json:"nlu_calls"`
	Cache         *NLUCache      `json:"nlu_cache,omitempty"`
	Stack         []Frame        `json:"flow_stack,omitempty"`
	Path          []string       `json:"path,omitempty"`
	Finished      *FinishedFlow  `json:"finished_flow,omitempty"`
	Variants      map[string]int `json:"variants,omitempty"`
	Proposed      string         `json:"proposed_flow,omitempty"`
	ProposedSlots map[string]any `json:"proposed_slots,omitempty"`
	Later         []Request      `json:"later_requests,omitempty"`
	Asking        *Asking        `json:"asking,omitempty"`
	Suggested     *Suggestion    `json:"suggested,omitempty"`
	Confirmation  *Confirmation  `json:"pending_confirmation,omitempty"`
	Granted       bool           `json:"confirmation_granted,omitempty"`
	GrantedFor    map[string]any `json:"confirmation_granted_for,omitempty"`
	Action        *PendingAction `json:"pending_action,omitempty"`
	Checked       map[string]any `json:"checked_slots,omitempty"`
	Pending       string         `json:"pending_text,omitempty"`
	Recent        []string       `json:"recent_slots,omitempty"`
	Given         []string       `json:"given_slots,omitempty"`
	Kept          []string       `json:"kept_slots,omitempty"`
	Acted         bool           `json:"acted,omitempty"`
	Week          string         `json:"week,omitempty"`
	Either        map[string]any `json:"either,omitempty"`
	Changing      bool           `json:"changing,omitempty"`
	Misses        int            `json:"misses,omitempty"`
	Runs          int            `json:"flow_runs,omitempty"`
	Calls         int            `json:"action_calls,omitempty"`
	ReadBack      bool           `json:"read_back,omitempty"`
	HandedOff     bool           `json:"handed_off,omitempty"`
	About         map[string]any `json:"about,omitempty"`
}

// MarshalJSON encodes the state in the seed's form.
func (s State) MarshalJSON() ([]byte, error) { return json.Marshal(s.Form()) }

// Form returns the value that MarshalJSON encodes. Inside a larger value, package json
// encodes it without parsing the result again.
func (s State) Form() any {
	j := stateJSON{
		Version: SchemaVersion, Messages: s.Messages, Slots: s.Slots, CurrentFlow: s.CurrentFlow,
		ConversationState: s.ConversationState, TurnCount: s.TurnCount, LastResponse: s.LastResponse,
		Trace: s.Trace, Metadata: s.Metadata,
		NLUCalls: s.NLUCalls, Cache: s.Cache, Stack: s.Stack, Path: s.Path, Finished: s.Finished, Proposed: s.Proposed, Variants: s.Variants,
		ProposedSlots: s.ProposedSlots, Later: s.Later,
		Asking: s.Asking, Suggested: s.Suggested, Confirmation: s.Confirmation, Granted: s.Granted, GrantedFor: s.GrantedFor,
		Action: s.Action, Checked: s.Checked, Pending: s.Pending, Recent: s.Recent, Given: s.Given, Kept: s.Kept, Acted: s.Acted, Week: s.Week, Either: s.Either, Changing: s.Changing, Misses: s.Misses, Runs: s.Runs,
		Calls: s.Calls, ReadBack: s.ReadBack, HandedOff: s.HandedOff, About: s.About,
	}
	if j.Messages == nil {
		j.Messages = []ChatMessage{}
	}
	if j.Slots == nil {
		j.Slots = map[string]any{}
	}
	if j.Trace == nil {
		j.Trace = []TraceEvent{}
	}
	if j.Metadata == nil {
		j.Metadata = map[string]any{}
	}
	if j.CurrentFlow == "" {
		j.CurrentFlow = agent.NoFlow
	}
	if j.ConversationState == "" {
		j.ConversationState = Idle
	}
	if s.CurrentStep != "" {
		j.CurrentStep = &s.CurrentStep
	}
	if s.WaitingForSlot != "" {
		j.WaitingForSlot = &s.WaitingForSlot
	}
	if s.LastNLUCall != 0 {
		j.LastNLUCall = &s.LastNLUCall
	}
	return j
}

// UnmarshalJSON decodes a state that MarshalJSON encoded. It returns an error if the schema
// version is unknown.
func (s *State) UnmarshalJSON(data []byte) error {
	var j stateJSON
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&j); err != nil {
		return fmt.Errorf("dialogue state: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("dialogue state: unexpected data after the JSON object")
	}
	if j.Version != "" && j.Version != SchemaVersion {
		return fmt.Errorf("dialogue state: version %q: expected %q", j.Version, SchemaVersion)
	}
	if !slices.Contains(ConversationStates(), j.ConversationState) {
		if j.ConversationState != "" {
			return fmt.Errorf("dialogue state: conversation_state %q: expected one of %v", j.ConversationState, ConversationStates())
		}
		j.ConversationState = Idle
	}
	*s = State{
		Messages: j.Messages, Slots: j.Slots, CurrentFlow: j.CurrentFlow, ConversationState: j.ConversationState,
		TurnCount: j.TurnCount, LastResponse: j.LastResponse, Trace: j.Trace, Metadata: j.Metadata,
		NLUCalls: j.NLUCalls, Cache: j.Cache, Stack: j.Stack, Path: j.Path, Finished: j.Finished, Proposed: j.Proposed, Variants: j.Variants,
		ProposedSlots: j.ProposedSlots, Later: j.Later,
		Asking: j.Asking, Suggested: j.Suggested, Confirmation: j.Confirmation, Granted: j.Granted, GrantedFor: j.GrantedFor,
		Action: j.Action, Checked: j.Checked, Pending: j.Pending, Recent: j.Recent, Given: j.Given, Kept: j.Kept, Acted: j.Acted, Week: j.Week, Either: j.Either, Changing: j.Changing, Misses: j.Misses, Runs: j.Runs,
		Calls: j.Calls, ReadBack: j.ReadBack, HandedOff: j.HandedOff, About: j.About,
	}
	// The decoder leaves spare capacity; these take none.
	s.Messages = append(make([]ChatMessage, 0, len(j.Messages)), j.Messages...)
	s.Trace = append(make([]TraceEvent, 0, len(j.Trace)), j.Trace...)
	if s.CurrentFlow == "" {
		s.CurrentFlow = agent.NoFlow
	}
	if j.CurrentStep != nil {
		s.CurrentStep = *j.CurrentStep
	}
	if j.WaitingForSlot != nil {
		s.WaitingForSlot = *j.WaitingForSlot
	}
	if j.LastNLUCall != nil {
		s.LastNLUCall = *j.LastNLUCall
	}
	s.canonical()
	if s.unused() {
		*s = State{} // a dialogue that has not begun
	}
	return nil
}

// unused reports whether the dialogue has not begun.
func (s *State) unused() bool {
	return len(s.Messages) == 0 && len(s.Slots) == 0 && len(s.Trace) == 0 && len(s.Metadata) == 0 &&
		s.CurrentFlow == agent.NoFlow && s.ConversationState == Idle && s.TurnCount == 0 && s.LastResponse == ""
}

// canonical converts the numbers that JSON decodes to those of the engine.
func (s *State) canonical() {
	for k, v := range s.Slots {
		s.Slots[k] = value.Canonical(v)
	}
	for k, v := range s.Checked {
		s.Checked[k] = value.Canonical(v)
	}
	for k, v := range s.Either {
		s.Either[k] = value.Canonical(v)
	}
	for k, v := range s.ProposedSlots {
		s.ProposedSlots[k] = value.Canonical(v)
	}
	for k, v := range s.About {
		s.About[k] = value.Canonical(v)
	}
	for k, v := range s.Metadata {
		s.Metadata[k] = value.Canonical(v)
	}
	for i := range s.Stack {
		for k, v := range s.Stack[i].Saved {
			s.Stack[i].Saved[k] = value.Canonical(v)
		}
		for k, v := range s.Stack[i].For {
			s.Stack[i].For[k] = value.Canonical(v)
		}
	}
	for k, v := range s.GrantedFor {
		s.GrantedFor[k] = value.Canonical(v)
	}
	if s.Suggested != nil {
		s.Suggested.Value = value.Canonical(s.Suggested.Value)
	}
	if s.Action != nil {
		for k, v := range s.Action.Inputs {
			s.Action.Inputs[k] = value.Canonical(v)
		}
	}
	if s.Cache != nil {
		for i := range s.Cache.Commands {
			s.Cache.Commands[i].Value = value.Canonical(s.Cache.Commands[i].Value)
		}
	}
	for i := range s.Trace {
		s.Trace[i].Data.Value = value.Canonical(s.Trace[i].Data.Value)
	}
}
