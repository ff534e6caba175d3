package port

import (
	"context"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// Recognizer opens streams of speech recognition. It is safe for concurrent
// use; a stream is not.
type Recognizer interface {
	// Open starts a stream. Results go to sink until Close has returned. An
	// engine that decodes in process calls sink from within the stream's own
	// methods, on the caller's goroutine; a remote one may call it from any
	// goroutine, one call at a time. sink never blocks.
	Open(ctx context.Context, cfg RecognizerConfig, sink func(Transcript)) (RecognizerStream, error)
}

// RecognizerConfig describes one stream.
type RecognizerConfig struct {
	Rate     int    // of the frames that will be written, in hertz
	Language string // BCP 47, "en" if empty
}

// RecognizerStream recognizes one caller's speech, utterance by utterance. All
// methods are called by one goroutine.
type RecognizerStream interface {
	// Begin opens an utterance. The frames of the pre-roll (what was heard just
	// before speech was detected) follow as ordinary frames. Begin during an
	// open utterance is harmless and continues it.
	Begin() error
	// Write hands over the next 20 ms. Outside an utterance an engine may
	// ignore it or use it to learn the background. It must keep up with real
	// time; it may decode inside the call.
	Write(f audio.Frame) error
	// Expect says what the agent expects to hear next. It holds from the next
	// Begin on.
	Expect(e Expectation)
	// Finalize closes the utterance and asks for its final transcript. Exactly
	// one Transcript with Final set answers each Finalize of an open utterance,
	// with empty text when nothing was understood.
	Finalize() error
	// Discard closes the utterance without a result.
	Discard() error
	// Close ends the stream and frees what it holds; an open utterance gets no
	// result. Only Close may follow it, and does nothing then.
	Close() error
}

// Transcript is one result of recognition.
type Transcript struct {
	Text       string        // words separated by single spaces, lower case, no punctuation unless the engine gives it
	Confidence float64       // 0 to 1, the engine's belief in Text
	Final      bool          // no more results for these words
	Endpoint   bool          // the engine judges that the speaker has finished
	Start, End time.Duration // where the words lie, since the start of the stream
	// Expected is set when Text was matched by the Expectation's phrases and
	// confirmed; Text is then exactly one of the expected forms.
	Expected bool
}

// Expectation says what the agent awaits, so that a recognizer can prefer it.
// The zero value expects anything.
type Expectation struct {
	Kind    string   // the slot's type: "city", "date", "digits", "yes_no", ...; empty for free speech
	Phrases []string // JSGF right-hand sides or plain phrases that are likely next; may be empty
}

// Synthesizer turns text into speech. It is safe for concurrent use.
type Synthesizer interface {
	// Rate is the sampling rate of the speech it makes, in hertz.
	Rate() int
	// Speak calls emit with consecutive pieces of speech as they are made, the
	// first long before the last exists. emit blocks while the playout is full
	// and returns an error once the speech is no longer wanted; Speak then
	// returns that error. Speak returns ctx.Err() when ctx ends. The PCM handed
	// to emit is lent for the duration of the call.
	Speak(ctx context.Context, u Utterance, emit func(Speech) error) error
}

// Utterance is a text to be spoken.
type Utterance struct {
	Text     string
	Voice    string  // the engine's name for a voice; its default if empty
	Language string  // BCP 47, "en" if empty
	Rate     float64 // 1 is the voice's own pace; 0 means 1
}

// Speech is a piece of synthesized sound.
type Speech struct {
	PCM []int16
	// Marks tell where words begin, in rising order of At, for the heard ledger.
	// An engine without word timing leaves it empty.
	Marks []Mark
}

// Mark says that the text up to Text (a byte offset into Utterance.Text) has
// been spoken when the sample At (counted from the start of the utterance) is
// reached.
type Mark struct {
	At   audio.Pos
	Text int
}
