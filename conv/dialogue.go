package conv

import (
	"encoding/json"
	"fmt"

	"github.com/hocketvoice/hocket/dialog"
)

// This file connects the machine with its third region, the dialogue of package dialog: it
// turns the outputs of the dialogue into turns of the agent.

// expect notes what the agent expects from the user, and emits [Expect] if that has changed.
func (s *State) expect(out *Output, e dialog.Expectation) {
	if !s.Expect.Equal(e) {
		s.Expect, s.Expecting = e, true
		out.emit(Expect{Expect: e})
	}
}

// flows returns the dialogue for a change, and notes that it has changed.
func (s *State) flows() *dialog.State {
	s.changed = true
	return &s.Dialogue
}

// greet says the first words of the agent and reports whether there are any.
func (c *Conversation) greet() bool {
	text := c.opts.Greeting
	if c.opts.Agent != nil {
		var out dialog.Output
		if c.st.Expecting {
			out = c.opts.Agent.Repeat(c.st.flows(), c.st.Now) // the greeting was lost before it was heard
		} else {
			out = c.opts.Agent.Start(c.st.flows(), c.st.Now)
		}
		if text != "" {
			out.Say = []dialog.Line{{Text: text}}
		}
		if goesOn(out) {
			c.st.openReply(&c.out, ReplyGreeting, 0)
			c.become(Understanding, causeGreeting)
			c.followDialogue(out, "greeting")
			return true
		}
		c.st.expect(&c.out, out.Expect)
		text = lines(out.Say)
	}
	if text == "" {
		return false
	}
	c.say(ReplyGreeting, text, "", causeGreeting)
	return true
}

// dialogueFailed reports whether the dialogue is in its error state.
func (s *State) dialogueFailed(o *Options) bool {
	return o.Agent != nil && s.Dialogue.ConversationState == dialog.Error
}

// recoverDialogue takes the dialogue out of its error state. It does nothing if the dialogue
// is in another state.
func (c *Conversation) recoverDialogue() {
	if !c.st.dialogueFailed(&c.opts) {
		return
	}
	out := c.opts.Agent.RecoverFromError(c.st.flows(), c.st.Now)
	if !goesOn(out) && len(out.Say) == 0 {
		c.st.expect(&c.out, out.Expect) // the dialogue has nothing to say or do
		return
	}
	c.st.openReply(&c.out, ReplyExplicit, 0)
	c.become(Understanding, causeUserRecover)
	c.followDialogue(out, causeUserRecover)
}

// followDialogue carries out an output of the dialogue within the agent's open turn.
func (c *Conversation) followDialogue(out dialog.Output, cause Cause) {
	r := &c.st.Reply
	c.st.confirms(out)
	if out.Understand != nil {
		c.st.expect(&c.out, out.Expect)
		c.st.consult(&c.out, &c.opts, RequestUnderstanding, out.Understand.Text)
		return
	}
	c.st.expect(&c.out, out.Expect)
	if out.End {
		c.st.Pending.Ending = true
	}
	if out.Handoff {
		c.out.notify(LevelInfo, "handoff")
	}
	text := lines(out.Say)
	switch {
	case out.Act != nil:
		c.st.speakAll(&c.out, text)
		r.Progress = progressComplete
		c.st.Reply.close(&c.out)
		c.startAction(out.Act, cause)
	case out.Ask:
		c.st.speakAll(&c.out, text)
		c.st.request(&c.out, &c.opts, RequestUtterance, c.st.History.utteranceText(r.UserTurn))
	case c.st.wordable(&c.opts, out.Say, text):
		c.st.consult(&c.out, &c.opts, RequestWording, text)
	default:
		c.sayWords(text, "", cause)
	}
}

// goesOn reports whether an output asks for more than to say words.
func goesOn(out dialog.Output) bool {
	return out.Act != nil || out.Understand != nil || out.Ask || out.Handoff || out.End || out.Confirm != nil
}

// startAction runs an action of a flow as a call of a tool or task.
func (c *Conversation) startAction(act *dialog.ActionCall, cause Cause) {
	r := &c.st.Reply
	if c.st.callKnown(act.ID) {
		// An action runs once. The flow continues when its result comes.
		c.endReply(TurnCompleted)
		c.become(ListeningReady, cause)
		return
	}
	args, err := json.Marshal(act.Inputs)
	if err != nil {
		panic(fmt.Sprintf("conv: marshal the inputs of action %s: %v", act.Name, err))
	}
	key := act.Key
	if key == act.ID {
		key = ""
	}
	c.st.sealPart(&c.opts)
	c.st.Calls = append(c.st.Calls, Call{
		ID: act.ID, Key: key, Name: act.Name, Arguments: string(args), Secrets: act.Secrets,
		Turn: r.Turn, Long: act.Long, State: callHeld,
		Started: c.st.Now, Origin: originFlow,
	})
	c.startHeldCalls(cause)
}

// actionEnded gives the result of an action to the dialogue and returns the output of the
// dialogue.
func (s *State) actionEnded(o *Options, call Call, r result) dialog.Output {
	in := dialog.ActionEnded{ID: call.ID}
	if r.Forgotten {
		in.Missing = o.Agent.SlotsOf(call.Name, call.Secrets)
	} else if r.Failed {
		in.Failed = true
		in.Message = r.Text
	} else if err := json.Unmarshal([]byte(r.Text), &in.Outputs); err != nil {
		in.Outputs = map[string]any{"result": r.Text}
	}
	return o.Agent.Handle(s.flows(), s.Now, in)
}

// lines returns the texts of lines as one text.
func lines(say []dialog.Line) string {
	text := ""
	for _, line := range say {
		text = joinWords(text, squeeze(line.Text))
	}
	return text
}
