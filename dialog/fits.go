package dialog

import (
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// Fits returns an error if a dialogue cannot go on with the agent, because it is in the
// middle of something that the agent does not have: the state is that of another agent, or
// of another version of it.
func (a *Agent) Fits(st *State) error {
	check := func(names ...string) error {
		for _, name := range names {
			if name != "" && !a.known(name) && !slices.Contains(st.Given, name) {
				return fmt.Errorf("the dialogue has the slot %q, which the agent does not have", name)
			}
		}
		return nil
	}
	if err := a.hasStep(st.CurrentFlow, st.CurrentStep); err != nil {
		return err
	}
	for _, f := range st.Stack {
		if err := a.hasStep(f.Flow, f.Step); err != nil {
			return err
		}
	}
	if c := st.Confirmation; c != nil {
		if err := a.hasStep(st.CurrentFlow, c.Step); err != nil {
			return err
		}
	}
	if act := st.Action; act != nil && a.def.ActionIndex[act.Name] == nil {
		return fmt.Errorf("the dialogue waits for the action %q, which the agent does not have", act.Name)
	}
	if err := check(st.WaitingForSlot); err != nil {
		return err
	}
	if st.Asking != nil {
		if err := check(append([]string{st.Asking.Slot}, st.Asking.More...)...); err != nil {
			return err
		}
	}
	return check(st.Recent...)
}

// hasStep checks a flow that goes on, or that waits to.
func (a *Agent) hasStep(flow, step string) error {
	if flow == "" || flow == agent.NoFlow {
		return nil
	}
	f := a.def.FlowIndex[flow]
	if f == nil {
		return fmt.Errorf("the dialogue is in the flow %q, which the agent does not have", flow)
	}
	if _, ok := f.IDs[step]; step != "" && !ok {
		return fmt.Errorf("the dialogue is at the step %q of the flow %q, which the agent does not have", step, flow)
	}
	return nil
}
