// Package text is the leg of a conversation by text: no sound goes either way.
//
// The person's lines come in beside it, as facts, and what the agent says is
// read from the events of the conversation. [Leg] says whether the person is there,
// and [Session] makes the parts of a session those of such a conversation.
package text
