package errclass

import "strings"

// Class describes a failure code (seed 001, section 4.7).
type Class struct {
	Name   string
	Action Action
	// Retries limits how often a request is retried within the state that failed; 0
	// means never.
	Retries int
}

// Action says how the machine reacts to a class of failure.
type Action uint8

// The actions.
const (
	Recover   Action = iota // notify, then return to listening
	Retry                   // try again, with back-off
	Return                  // pass the error to the mind
	Reconnect               // open a new session
	End                     // notify with a remedy, then end the conversation
)

// The names of the classes.
const (
	RateLimit      = "RATE_LIMIT"
	NetworkTimeout = "NETWORK_TIMEOUT"
	ToolError      = "TOOL_ERROR"
	InvalidArgs    = "INVALID_ARGS"
	SessionExpired = "SESSION_EXPIRED"
	AuthFailure    = "AUTH_FAILURE"
	ServerError    = "SERVER_ERROR"
	Unknown        = "UNKNOWN"
)

// All returns the classes in the order of the seed.
func All() []Class {
	return []Class{
		{RateLimit, Retry, 3},
		{NetworkTimeout, Retry, 3},
		{ToolError, Return, 3},
		{InvalidArgs, Return, 3},
		{SessionExpired, Reconnect, 0},
		{AuthFailure, End, 0},
		{ServerError, Retry, 1},
		{Unknown, Recover, 0},
	}
}

// Of returns the class of a code. It ignores case and treats '-' as '_'. It returns
// the class [Unknown] for a code of no known class.
func Of(code string) Class {
	var unknown Class
	for _, class := range All() {
		if sameCode(class.Name, code) {
			return class
		}
		if class.Name == Unknown {
			unknown = class
		}
	}
	return unknown
}

func sameCode(name, code string) bool {
	return strings.EqualFold(name, strings.ReplaceAll(code, "-", "_"))
}
