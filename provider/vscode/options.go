package vscode

import (
	"context"
	"encoding/json"
	"errors"
)

// The methods of the editor. Package internal/editor documents the connection.
const (
	MethodReply = "lm/request"
	MethodCall  = "tool/call"
)

// Editor makes requests to the editor. It is safe for concurrent use.
type Editor interface {
	// Request makes a request and stores the answer in result. Until then it calls part, which
	// may be nil, with each part of the answer, in order, in the calling goroutine. Request
	// returns at once when ctx ends or part fails; the editor is then told to cancel, and what
	// it sends later is dropped. An error of the editor itself is an [*Error].
	Request(ctx context.Context, method string, params, result any, part func(json.RawMessage) error) error
}

// Error is the editor's answer to a request that failed there.
type Error struct {
	// Code is the code of a vscode.LanguageModelError, such as "Blocked", or of the extension;
	// empty if there is none.
	Code string `json:"code"`
	// Message is for people.
	Message string `json:"message"`
}

// Error returns the code and the message.
func (e *Error) Error() string {
	if e.Code == "" {
		return e.Message
	}
	return e.Code + ": " + e.Message
}

// Options configures a [Model].
type Options struct {
	Editor Editor
	// MaxReply limits the text and the arguments of one reply in bytes; 1 MiB if 0.
	MaxReply int
	// MaxCalls limits the calls of tools of one reply; 16 if 0.
	MaxCalls int
}

// Validate returns an error if an option is missing or invalid.
func (o Options) Validate() error {
	switch {
	case o.Editor == nil:
		return errors.New("vscode: Editor must be set")
	case o.MaxReply < 0 || o.MaxCalls < 0:
		return errors.New("vscode: MaxReply and MaxCalls must not be negative")
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.MaxReply == 0 {
		o.MaxReply = 1 << 20
	}
	if o.MaxCalls == 0 {
		o.MaxCalls = 16
	}
	return o
}
