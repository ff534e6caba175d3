package projection

import (
	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// Effect is work for the loop, as data that can be printed and compared. The projection
// does not wait for it; its result returns as an [Input]. The set of effects is closed.
//
//sumtype:decl
type Effect interface{ isEffect() }

// Post passes events to the machine, in order and without others in between.
type Post struct{ Events []conv.Event }

// Configure sets the uplink's turn detection to that of [Projection.Session].
type Configure struct{}

// ReachCommit requests [CommitReached] when all sound received so far has been heard.
type ReachCommit struct{}

// RecognizeBuffer ends the utterance that was received without turn detection.
// [Transcribed] returns its words.
type RecognizeBuffer struct{ Item string }

// RecognizeSound requests the recognition of the sound in an item. [Transcribed]
// returns its words.
type RecognizeSound struct {
	Item   string
	Format wire.Format
	Sound  []byte
}

// DropBuffer discards the utterance that was received without turn detection.
type DropBuffer struct{}

// DropSound discards sound that was received and not yet heard.
type DropSound struct{}

// DiscardInput discards what the uplink has heard and not yet transcribed.
type DiscardInput struct{}

// AnswerBeside makes a response beside the conversation. Its progress returns as
// [BesideSaid], [ModelCalled], [ModelSpent] and [BesideSpoken], and its end as one
// [BesideEnded].
type AnswerBeside struct {
	Question Question
	Audio    bool    // the answer is spoken
	Speed    float64 // of the voice
}

func (Post) isEffect()            {}
func (Configure) isEffect()       {}
func (ReachCommit) isEffect()     {}
func (RecognizeBuffer) isEffect() {}
func (RecognizeSound) isEffect()  {}
func (DropBuffer) isEffect()      {}
func (DropSound) isEffect()       {}
func (DiscardInput) isEffect()    {}
func (AnswerBeside) isEffect()    {}

// Sound is an event that the loop completes: it encodes the samples in the format and
// sends them as "response.output_audio.delta". It sends nothing if there are no bytes.
type Sound struct {
	wire.Place
	Format wire.Format
	PCM    []int16 // at [Rate]
	Rest   bool    // the response ends: send what the encoder still holds
}

// EventType implements [wire.Event].
func (Sound) EventType() string { return wire.AudioDelta{}.EventType() }
