// Package text provides the leg of a conversation by text, which transmits no
// sound.
//
// The person's lines enter the conversation as events, and the agent's text is read
// from the conversation's events. [Leg] reports whether the person is present, and
// [Session] changes a session's options to those of such a conversation.
package text
