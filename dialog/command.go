package dialog

import "github.com/hocketvoice/hocket/dialog/command"

// The commands that an understanding may return: see package command.
type (
	// CommandType says what the user wants.
	CommandType = command.Type
	// Command is one request or statement of the user.
	Command = command.Command
	// Dropped is a command that the agent does not accept, with the reason.
	Dropped = command.Dropped
	// FinishedFlow is a flow that has ended and may be re-opened.
	FinishedFlow = command.Finished
	// Suggestion is a doubtful value.
	Suggestion = command.Suggestion
)

// The commands.
const (
	StartFlow   = command.StartFlow
	SetSlot     = command.SetSlot
	CorrectSlot = command.CorrectSlot
	Cancel      = command.Cancel
	Confirm     = command.Confirm
	Deny        = command.Deny
	Clarify     = command.Clarify
	ListOptions = command.ListOptions
	RepeatLast  = command.RepeatLast
	Restart     = command.Restart
	Handoff     = command.Handoff
	Help        = command.Help
	Retry       = command.Retry
	Skip        = command.Skip
	Chitchat    = command.Chitchat
	Goodbye     = command.Goodbye
	AskSlot     = command.AskSlot
)

// CommandTypes returns all commands, for prompts.
func CommandTypes() []CommandType { return command.Types() }
