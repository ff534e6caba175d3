package projection

import (
	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// Input is something that has happened. The set of inputs is closed.
//
//sumtype:decl
type Input interface{ isInput() }

// Connected reports that a client has connected, for the first time or again.
type Connected struct{}

// Disconnected reports that the client has disconnected. It may return.
type Disconnected struct{}

// Stepped reports a step of the machine. Its fields are only valid during the call.
type Stepped struct {
	Event  conv.Event
	Output *conv.Output
	State  *conv.State
}

// Requested reports a valid event from the client. Sound is reported by [Appended]
// instead.
type Requested struct{ Event wire.ClientEvent }

// Appended reports that the client has sent sound.
type Appended struct{ Samples int }

// CommitReached answers [ReachCommit].
type CommitReached struct{}

// VoiceNoted reports that the uplink has detected speech, or the end of the person's
// turn, in the frame that was just heard. The machine's step for it follows later.
type VoiceNoted struct {
	Utterance int
	Ended     bool
}

// Transcribed answers [RecognizeBuffer] and [RecognizeSound]. Failure is empty, or the
// reason why there are no words.
type Transcribed struct{ Item, Text, Failure string }

// ModelAsked reports that the machine requests a reply for an agent's turn. Tools
// contains the names of this server's own tools, and History the machine's history of
// the conversation.
type ModelAsked struct {
	Turn         int
	Instructions string
	Tools        []string
	History      []Message
}

// ModelCalled reports that the model calls one of the client's tools.
type ModelCalled struct {
	Response string
	Call     Call
}

// ModelSpent reports the number of tokens that the model has just produced. Limited
// reports that the response has reached its token limit.
type ModelSpent struct {
	Response string
	Tokens   int
	Limited  bool
}

// ModelAnswered reports that the model has finished or failed.
type ModelAnswered struct {
	Response string
	Failure  *Failure // nil if it has not failed
}

// Spoken reports that sound of the agent's turn is to be sent. PCM is passed on and not
// kept.
type Spoken struct {
	Turn int
	PCM  []int16
}

// BesideSaid reports text of a response beside the conversation.
type BesideSaid struct{ Response, Text string }

// BesideSpoken reports sound of a response beside the conversation. PCM is passed on
// and not kept.
type BesideSpoken struct {
	Response string
	PCM      []int16
}

// BesideEnded reports the end of a response beside the conversation. Cut reports that
// it was cancelled.
type BesideEnded struct {
	Response string
	Failure  *Failure // nil if it has not failed
	Cut      bool
}

// TimePassed reports that the time of [Projection.Deadline] has come. If it is too
// early, it does nothing.
type TimePassed struct{}

func (Connected) isInput()     {}
func (Disconnected) isInput()  {}
func (Stepped) isInput()       {}
func (Requested) isInput()     {}
func (Appended) isInput()      {}
func (CommitReached) isInput() {}
func (VoiceNoted) isInput()    {}
func (Transcribed) isInput()   {}
func (ModelAsked) isInput()    {}
func (ModelCalled) isInput()   {}
func (ModelSpent) isInput()    {}
func (ModelAnswered) isInput() {}
func (Spoken) isInput()        {}
func (BesideSaid) isInput()    {}
func (BesideSpoken) isInput()  {}
func (BesideEnded) isInput()   {}
func (TimePassed) isInput()    {}

// Call is a tool call.
type Call struct{ ID, Name, Arguments string }

// Failure is the error with which a response has failed.
type Failure struct{ Code, Message string }
