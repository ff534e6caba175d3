package conv

import "strings"

// ErrorClass is what is known about a code of failure: seed 001, 4.7.
type ErrorClass struct {
	Name   string
	Action ErrorAction
	// Retries bounds the retries of a request within the state that failed; 0
	// means none.
	Retries int
}

// ErrorAction is what a class of failure leads to.
type ErrorAction uint8

// The actions.
const (
	ActionRecover   ErrorAction = iota // notify, recover to listening
	ActionRetry                        // ask again, with back-off
	ActionReturn                       // give the error to the mind
	ActionReconnect                    // a new session
	ActionEnd                          // notify with a remedy, end the conversation
)

// The names of the classes.
const (
	ClassRateLimit      = "RATE_LIMIT"
	ClassNetworkTimeout = "NETWORK_TIMEOUT"
	ClassToolError      = "TOOL_ERROR"
	ClassInvalidArgs    = "INVALID_ARGS"
	ClassSessionExpired = "SESSION_EXPIRED"
	ClassAuthFailure    = "AUTH_FAILURE"
	ClassServerError    = "SERVER_ERROR"
	ClassUnknown        = "UNKNOWN"
)

// ErrorClasses are the classes in the seed's order.
func ErrorClasses() []ErrorClass {
	return []ErrorClass{
		{ClassRateLimit, ActionRetry, 3},
		{ClassNetworkTimeout, ActionRetry, 3},
		{ClassToolError, ActionReturn, 3},
		{ClassInvalidArgs, ActionReturn, 3},
		{ClassSessionExpired, ActionReconnect, 0},
		{ClassAuthFailure, ActionEnd, 0},
		{ClassServerError, ActionRetry, 1},
		{ClassUnknown, ActionRecover, 0},
	}
}

// ClassOf finds the class of a code, in any case and with '-' for '_'; a code
// that belongs to none is [ClassUnknown].
func ClassOf(code string) ErrorClass {
	var unknown ErrorClass
	for _, class := range ErrorClasses() {
		if sameCode(class.Name, code) {
			return class
		}
		if class.Name == ClassUnknown {
			unknown = class
		}
	}
	return unknown
}

func sameCode(name, code string) bool {
	return strings.EqualFold(name, strings.ReplaceAll(code, "-", "_"))
}
