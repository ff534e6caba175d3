package projection

import (
	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// Input is something that has happened. The set is closed.
//
//sumtype:decl
type Input interface{ isInput() }

// Connected says that a client is connected, the first one or one that comes back.
type Connected struct{}

// Disconnected says that the client is away. It may come back.
type Disconnected struct{}

// Stepped says that the machine has made a step. It is valid during the call.
type Stepped struct {
	Event  conv.Event
	Output *conv.Output
	State  *conv.State
}

// Requested says that the client has sent an event, which was read without an error. Sound is
// told by [Appended].
type Requested struct{ Event wire.ClientEvent }

// Appended says that the client has sent sound.
type Appended struct{ Samples int }

// CommitReached answers [ReachCommit].
type CommitReached struct{}

// VoiceNoted says that the uplink has found a voice, or the end of the person's turn, in the frame
// that has just been heard. The machine's step comes later.
type VoiceNoted struct {
	Utterance int
	Ended     bool
}

// Transcribed answers [RecognizeBuffer] and [RecognizeSound]. Failure is why there are no
// words; empty: there are.
type Transcribed struct{ Item, Text, Failure string }

// ModelAsked says that the machine wants an answer for a turn of the agent's. Tools are the names
// of the installation's own tools, History is what the machine knows of the conversation.
type ModelAsked struct {
	Turn         int
	Instructions string
	Tools        []string
	History      []Message
}

// ModelCalled says that the model calls a tool of the client's.
type ModelCalled struct {
	Response string
	Call     Call
}

// ModelSpent says that the model has made so many tokens more. Limited says that the response has
// had all that it may.
type ModelSpent struct {
	Response string
	Tokens   int
	Limited  bool
}

// ModelAnswered says that the model has said all that it has to say, or has failed.
type ModelAnswered struct {
	Response string
	Failure  *Failure // nil: it has not
}

// Spoken says that the agent's sound of a turn is sent. PCM is handed on and not kept.
type Spoken struct {
	Turn int
	PCM  []int16
}

// BesideSaid says that the model has said something in a response beside the conversation.
type BesideSaid struct{ Response, Text string }

// BesideSpoken says that such a response has been spoken that far. PCM is handed on and not kept.
type BesideSpoken struct {
	Response string
	PCM      []int16
}

// BesideEnded says that such a response is over. Cut says that it was not let end.
type BesideEnded struct {
	Response string
	Failure  *Failure // nil: it has not failed
	Cut      bool
}

// TimePassed says that the time of [Projection.Deadline] has come. Too early, it does nothing.
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

// Call is a call of a tool.
type Call struct{ ID, Name, Arguments string }

// Failure is what a response failed of.
type Failure struct{ Code, Message string }
