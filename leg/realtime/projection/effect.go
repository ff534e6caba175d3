package projection

import (
	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// Effect is work for the loop: data that can be printed and compared. The set is closed.
// Nothing is waited for; what comes of it returns as an [Input].
//
//sumtype:decl
type Effect interface{ isEffect() }

// Post hands facts to the machine, in their order and without others between them.
type Post struct{ Events []conv.Event }

// Configure brings the turn detection of [Projection.Session] to the uplink.
type Configure struct{}

// ReachCommit asks for [CommitReached] when all sound sent so far has been heard.
type ReachCommit struct{}

// RecognizeBuffer ends the utterance that was sent without turn detection;
// [Transcribed] answers with its words.
type RecognizeBuffer struct{ Item string }

// RecognizeSound has the sound inside an item recognized; [Transcribed] answers.
type RecognizeSound struct {
	Item   string
	Format wire.Format
	Sound  []byte
}

// DropBuffer drops the utterance that was sent without turn detection.
type DropBuffer struct{}

// DropSound drops what was sent and has not been heard.
type DropSound struct{}

// DiscardInput drops what the uplink has heard and not yet made words of.
type DiscardInput struct{}

// AnswerBeside makes a response beside the conversation. [BesideSaid], [ModelCalled],
// [ModelSpent] and [BesideSpoken] tell what comes of it, and one [BesideEnded] its end.
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
// sends them as "response.output_audio.delta". Without a byte there is no event.
type Sound struct {
	wire.Place
	Format wire.Format
	PCM    []int16 // at [Rate]
	Rest   bool    // the response has no more sound: what the encoder still holds is sent
}

// EventType implements [wire.Event].
func (Sound) EventType() string { return wire.AudioDelta{}.EventType() }
