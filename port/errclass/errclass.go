package errclass

import "strings"

// Class is what is known about a code of failure: seed 001, 4.7.
type Class struct {
	Name   string
	Action Action
	// Retries bounds the retries of a request within the state that failed; 0
	// means none.
	Retries int
}

// Action is what a class of failure leads to.
type Action uint8

// The actions.
const (
	Recover   Action = iota // notify, recover to listening
	Retry                   // ask again, with back-off
	Return                  // give the error to the mind
	Reconnect               // a new session
	End                     // notify with a remedy, end the conversation
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

// All are the classes in the seed's order.
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

// Of finds the class of a code, in any case and with '-' for '_'; a code
// that belongs to none is [Unknown].
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
