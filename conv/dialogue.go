package conv

import (
	"encoding/json"
	"fmt"

	"github.com/hocketvoice/hocket/dialog"
)

// This file: the third region, the dialogue of package dialog, and how its
// answers become turns.

// flows is the dialogue, for who changes it.
func (c *Conversation) flows() *dialog.State {
	c.out.Keep = true
	return &c.st.Dialogue
}

// expect notes what the agent awaits and tells who listens, if it is something
// else than before.
func (c *Conversation) expect(e dialog.Expectation) {
	if !c.st.Expect.Equal(e) {
		c.st.Expect, c.st.Expecting = e, true
		c.emit(Expect{Expect: e})
	}
}

// phrase is the engine's own words for a code, in the conversation's language.
func (c *Conversation) phrase(code string) string { return c.phrases.Text(code) }

// greet says the first words and reports whether there are any.
func (c *Conversation) greet() bool {
	text := c.opts.Greeting
	if c.opts.Agent != nil {
		var out dialog.Output
		if c.st.Expecting {
			out = c.opts.Agent.Repeat(c.flows(), c.st.Now) // it was lost before it was heard
		} else {
			out = c.opts.Agent.Start(c.flows(), c.st.Now)
		}
		if text != "" {
			out.Say = []dialog.Line{{Text: text}}
		}
		if goesOn(out) {
			c.openReply(ReplyGreeting, 0)
			c.become(Understanding, "greeting")
			c.followDialogue(out, "greeting")
			return true
		}
		c.expect(out.Expect)
		text = lines(out.Say)
	}
	if text == "" {
		return false
	}
	c.say(ReplyGreeting, text, "", "greeting")
	return true
}

// answerFromDialogue lets the flows answer the user's turn.
func (c *Conversation) answerFromDialogue(text string, confidence float64, cause string) {
	out := c.opts.Agent.Handle(c.flows(), c.st.Now, c.message(text, confidence, c.st.Reply.Began))
	c.followDialogue(out, cause)
}

// repeatFromDialogue says the last response again: the turn it answered is
// taken in, what was lost is the voice.
func (c *Conversation) repeatFromDialogue() {
	c.followDialogue(c.opts.Agent.Repeat(c.flows(), c.st.Now), "resumed")
}

// followDialogue carries out what the dialogue wants within the agent's turn.
func (c *Conversation) followDialogue(out dialog.Output, cause string) {
	r := &c.st.Reply
	c.confirms(out)
	if out.Understand != nil {
		c.expect(out.Expect)
		c.consult(RequestUnderstanding, out.Understand.Text)
		return
	}
	c.expect(out.Expect)
	if out.End {
		c.st.Pending.Ending = true
	}
	if out.Handoff {
		c.notify(LevelInfo, "handoff")
	}
	text := lines(out.Say)
	switch {
	case out.Act != nil:
		c.speakAll(text)
		r.Done = true
		c.closePart()
		c.startAction(out.Act, cause)
	case out.Ask:
		c.speakAll(text)
		c.request(RequestUtterance, c.utteranceText(r.UserTurn))
	case c.wordable(out.Say, text):
		c.consult(RequestWording, text)
	default:
		c.sayWords(text, "", cause)
	}
}

// goesOn reports whether an output asks for more than words.
func goesOn(out dialog.Output) bool {
	return out.Act != nil || out.Understand != nil || out.Ask || out.Handoff || out.End || out.Confirm != nil
}

// followNext goes on with a flow that moved when nobody waited for it.
func (c *Conversation) followNext() {
	p := &c.st.Pending
	out := p.Follow[0]
	p.Follow = append(p.Follow[:0:0], p.Follow[1:]...)
	c.openReply(ReplyNews, 0)
	c.become(Understanding, "told")
	c.followDialogue(out, "told")
}

// startAction runs an action of the flow as a tool: one call, one result.
func (c *Conversation) startAction(act *dialog.ActionCall, cause string) {
	r := &c.st.Reply
	if c.callKnown(act.ID) {
		// It runs once, and its result moves the flow.
		c.endReply(TurnCompleted)
		c.become(ListeningReady, cause)
		return
	}
	args, err := json.Marshal(act.Inputs)
	if err != nil {
		panic(fmt.Sprintf("conv: inputs of action %s do not marshal: %v", act.Name, err))
	}
	key := act.Key
	if key == act.ID {
		key = ""
	}
	c.sealPart()
	c.st.Calls = append(c.st.Calls, Call{
		ID: act.ID, Key: key, Name: act.Name, Arguments: string(args), Secrets: act.Secrets,
		Turn: r.Turn, Long: act.Long, State: CallHeld,
		Started: c.st.Now, Action: true,
	})
	c.startHeldCalls(cause)
}

// actionEnded gives an action's result to the dialogue and returns what it
// says to it.
func (c *Conversation) actionEnded(call Call, r result) dialog.Output {
	in := dialog.ActionEnded{ID: call.ID}
	if r.Forgotten {
		in.Missing = c.opts.Agent.SlotsOf(call.Name, call.Secrets)
	} else if r.Failed {
		in.Failed = true
		in.Message = r.Text
	} else if err := json.Unmarshal([]byte(r.Text), &in.Outputs); err != nil {
		in.Outputs = map[string]any{"result": r.Text}
	}
	return c.opts.Agent.Handle(c.flows(), c.st.Now, in)
}

func lines(say []dialog.Line) string {
	text := ""
	for _, line := range say {
		text = joinWords(text, squeeze(line.Text))
	}
	return text
}
