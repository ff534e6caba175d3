package port

import (
	"context"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// Recognizer opens streams of speech recognition. It is safe for concurrent use;
// its streams are not.
type Recognizer interface {
	// Open starts a stream. Results go to sink until Close has returned. An engine
	// that decodes in process calls sink from within the stream's methods, on the
	// caller's goroutine; a remote engine may call it from any goroutine, but makes
	// one call at a time. sink never blocks.
	Open(ctx context.Context, cfg RecognizerConfig, sink func(Transcript)) (RecognizerStream, error)
}

// RecognizerConfig describes one stream.
type RecognizerConfig struct {
	Rate     int    // of the frames that will be written, in hertz
	Language string // BCP 47, "en" if empty
}

// RecognizerStream recognizes the speech of one caller, utterance by utterance. All
// methods are called by one goroutine.
type RecognizerStream interface {
	// Begin starts an utterance. The frames of the pre-roll (the sound just before
	// speech was detected) follow through Write. Begin during an utterance
	// continues it.
	Begin() error
	// Write takes the next 20 ms. Outside an utterance an engine may ignore them or
	// use them to estimate the background noise. Write may decode within the call,
	// but must keep up with real time.
	Write(f audio.Frame) error
	// Expect tells the engine what the agent expects to hear. It takes effect at
	// the next Begin.
	Expect(e Expectation)
	// Finalize ends the utterance and requests its final transcript. Each Finalize
	// of an utterance yields exactly one Transcript with Final set; its text is
	// empty when nothing was understood.
	Finalize() error
	// Discard ends the utterance without a result.
	Discard() error
	// Close ends the stream and frees its resources. An unfinished utterance gets
	// no result. After Close only Close may be called, which then does nothing.
	Close() error
}

// Transcript is one result of recognition.
type Transcript struct {
	Text       string        // words separated by single spaces; lower case and without punctuation unless the engine provides them
	Confidence float64       // 0 to 1, the engine's confidence in Text
	Final      bool          // no more results follow for these words
	Endpoint   bool          // the engine judges that the speaker has finished
	Start, End time.Duration // position of the words, from the start of the stream
	// Expected reports that Text matched a phrase of the Expectation and was
	// confirmed. Text is then exactly one of the expected forms.
	Expected bool
	// Words are the words of Text with their times, if the engine knows these.
	Words []Word
	// Language is the BCP 47 tag of the language that was spoken, if the engine tells it.
	Language string
	// EndOfTurn is the engine's probability, above 0 to 1, that the speaker has finished.
	// It is 0 if the engine has none.
	EndOfTurn float64
}

// Word is a word of a [Transcript].
type Word struct {
	Text       string
	Start, End time.Duration // from the start of the stream
	Confidence float64       // 0 to 1
}

// Expectation describes what the agent expects to hear, so that a recognizer can
// prefer it. The zero value means that anything may be said.
type Expectation struct {
	Kind    string   // the slot's type: "city", "date", "digits", "yes_no", ...; empty for free speech
	Phrases []string // likely phrases, as JSGF right-hand sides or plain text; may be empty
}

// Synthesizer turns text into speech. It is safe for concurrent use.
type Synthesizer interface {
	// Rate returns the sampling rate of the speech, in hertz.
	Rate() int
	// Speak synthesizes u and calls emit with consecutive pieces of speech as they
	// are produced; the first piece must not wait for the last. emit blocks while
	// the playout buffer is full and returns an error when the speech is no longer
	// wanted; Speak then returns that error. Speak returns ctx.Err() when ctx ends.
	// The PCM passed to emit is valid only during the call.
	Speak(ctx context.Context, u Utterance, emit func(Speech) error) error
}

// Utterance is a text to be spoken.
type Utterance struct {
	Text     string
	Voice    string  // the engine's name for a voice; its default voice if empty
	Language string  // BCP 47, "en" if empty
	Rate     float64 // speaking rate relative to the voice's default; 0 means 1
}

// Speech is a piece of synthesized sound.
type Speech struct {
	PCM []int16
	// Marks say where words begin, in ascending order of At; they tell how much of
	// the text was heard. It is empty if the engine has no word timing.
	Marks []Mark
}

// Mark says that the text up to the byte offset Text of Utterance.Text has been
// spoken when the sample At, counted from the start of the utterance, is reached.
type Mark struct {
	At   audio.Pos
	Text int
}

// Languages is a [Recognizer] or a [Synthesizer] that knows certain languages only.
type Languages interface {
	// Languages returns them as BCP 47 tags; a tag without a region stands for all of its
	// regions.
	Languages() []string
}
