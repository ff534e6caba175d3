package conv

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// ReplyKind says why the agent speaks.
type ReplyKind string

// The kinds of the agent's turns.
const (
	ReplyAnswer   ReplyKind = "answer"   // to answer the user's turn
	ReplyGreeting ReplyKind = "greeting" // to say the first words
	ReplyCheckIn  ReplyKind = "check_in" // to break a long silence
	ReplyGoodbye  ReplyKind = "goodbye"  // to say the last words before the conversation ends
	ReplyNews     ReplyKind = "news"     // to tell a result that no reply waited for
	ReplyNotice   ReplyKind = "notice"   // to apologize for an answer that failed
	ReplyExplicit ReplyKind = "explicit" // because a client asked for it (response.create), or to recover from an error
	ReplyResumed  ReplyKind = "resumed"  // to say the rest of a reply that was cut off
)

// reply is the agent's open turn. It has three independent states, which the package
// documentation describes: how much of the text has come ([progress]), what the synthesizer
// has of it ([voice]), and whether the reply is held back ([hold]).
type reply struct {
	Turn     int // number of the turn; zero: no turn is open
	UserTurn int // number of the user's turn that it answers; zero: none
	Kind     ReplyKind
	Started  time.Time
	Began    time.Time // when the voice began that said the words that it answers

	Request   int // number of the current request; zero: the words are those of the engine or the dialogue
	Before    int // number of the request whose calls led to the current one
	Attempt   int // number of the current try, from 1; each try is a request with a number of its own
	Why       RequestReason
	Asked     string // the text of the request: the user's words, or words to reword
	Requested bool   // the driver has sent the request
	Progress  progress
	Advice    string // the answer to a request for advice, while the flows do not use it yet

	Part    int    // the current part of the turn, from 1; tools divide the turn into parts
	Seq     int    // number of texts handed to the voice
	Text    string // all text of the turn so far
	Unsaid  string // the end of Text that has not been handed to the voice
	Sealed  int    // how many bytes of Text are in the history
	Voice   voice
	Earlier bool // audio of an earlier part has not played to its end
	Silent  bool // the reply is text only
	Hold    hold
}

// progress says how much of the text of the current part of a reply has come.
type progress uint8

// The values of [progress].
const (
	progressAsking   progress = iota // no text has come
	progressRetrying                 // a try has failed; the next one follows after a pause
	progressArriving                 // some text or a call has come
	progressComplete                 // no more text will come
)

// voice says what the synthesizer has of the current part of a reply.
type voice uint8

// The values of [voice].
const (
	voiceUnused   voice = iota // no text that is still to be heard
	voiceSpeaking              // some text, and more may follow
	voiceEnded                 // all text, and it knows that no more follows
	voiceOver                  // all text, and the audio was played to its end or dropped
)

// hold says whether a reply is held back because a voice is heard. No audio of a held reply
// plays, and none of its calls starts.
type hold uint8

// The values of [hold].
const (
	holdNone    hold = iota // the reply is not held
	holdReply               // the reply is held
	holdResults             // the reply is held, and the model has not got the results of its tools yet
)

// Held reports whether the reply is held back.
func (r *reply) Held() bool { return r.Hold != holdNone }

// Voiced reports whether the synthesizer has text of the current part whose audio has not been
// played to its end or dropped.
func (r *reply) Voiced() bool { return r.Voice == voiceSpeaking || r.Voice == voiceEnded }

// Complete reports whether all text of the current part has come. Advice to the flows does not
// count as text.
func (r *reply) Complete() bool { return r.Progress == progressComplete && !r.consulting() }

// Retrying reports whether a try has failed and the next one waits for its pause.
func (r *reply) Retrying() bool { return r.Progress == progressRetrying }

// Advised reports whether a request for advice has ended, with or without advice, and the
// flows have not used it yet.
func (r *reply) Advised() bool { return r.Progress == progressComplete && r.consulting() }

// answered reports whether text or a call has come for the request.
func (r *reply) answered() bool { return r.Progress >= progressArriving }

// sounding reports whether audio of the turn has not been played to its end or dropped.
func (r *reply) sounding() bool { return r.Voiced() || r.Earlier }

// stale reports whether an event belongs to another turn, or to a request that has been
// replaced.
func (r *reply) stale(number, request int) bool {
	if number != 0 && number != r.Turn {
		return true
	}
	return request != 0 && request != r.Request
}

// consulting reports whether the current request is for advice.
func (r *reply) consulting() bool {
	return r.Request != 0 && (r.Why == RequestUnderstanding || r.Why == RequestWording)
}

// agrees reports whether the user's turn is a yes that the dialogue must still handle. Asked
// contains the yes.
func (r *reply) agrees() bool { return r.Why == requestYes }

// unreadWords reports whether the flows must still handle the user's turn: a model is asked
// what it means, or it is a yes to which the user may add something.
func (r *reply) unreadWords() bool {
	return r.agrees() || r.consulting() && r.Why == RequestUnderstanding
}

// asks begins the first try of a request.
func (r *reply) asks(request int, why RequestReason, text string) {
	r.Request, r.Attempt, r.Why, r.Asked = request, 1, why, text
	r.Requested, r.Progress, r.Advice = false, progressAsking, ""
}

// asksAnew begins the next try of a request, under a new number.
func (r *reply) asksAnew(request int) {
	r.Request, r.Attempt = request, r.Attempt+1
	r.Requested, r.Progress = false, progressAsking
}

// ask returns the effect for the current request, without its context.
func (r *reply) ask() RequestReply {
	return RequestReply{
		Turn: r.Turn, UserTurn: r.UserTurn, Request: r.Request, Attempt: r.Attempt, Text: r.Asked, Why: r.Why,
	}
}

// Came notes that text or a call has come for the request.
func (r *reply) Came() {
	r.Requested = true
	r.Progress = max(r.Progress, progressArriving)
}

// retries drops the text of a try that failed.
func (r *reply) retries() {
	r.Text, r.Unsaid = r.Text[:r.Sealed], ""
	r.Progress = progressRetrying
}

// add appends text to the reply.
func (r *reply) add(text string) {
	r.Text += text
	r.Unsaid += text
}

// voiced notes that text of the current part has been handed to the voice, or that audio of
// the part has begun to play.
func (r *reply) voiced() {
	switch r.Voice {
	case voiceUnused:
		r.Voice = voiceSpeaking
	case voiceOver:
		r.Voice = voiceEnded
	case voiceSpeaking, voiceEnded:
	}
}

// unvoiced notes that the audio of the current part has been played to its end, or dropped.
func (r *reply) unvoiced() {
	switch r.Voice {
	case voiceSpeaking:
		r.Voice = voiceUnused
	case voiceEnded:
		r.Voice = voiceOver
	case voiceUnused, voiceOver:
	}
}

// closes reports whether the voice must be told now that the part has no more text. It does so
// once for each part.
func (r *reply) closes() bool {
	if !r.Complete() || r.Held() || r.Voice != voiceSpeaking {
		return false
	}
	r.Voice = voiceEnded
	return true
}

// nextPart begins the next part of the turn, after a tool.
func (r *reply) nextPart() {
	r.Part++
	r.Earlier = r.Earlier || r.Voiced()
	r.Voice, r.Progress = voiceUnused, progressArriving
}

// over reports whether nothing of the reply is left to say or to play, as far as the reply
// knows: the [playout] may still play.
func (r *reply) over() bool { return r.Complete() && !r.Held() && !r.sounding() }

// nextWords removes the whole words from Unsaid and returns them. A word is whole when white
// space follows it.
func (r *reply) nextWords() (text string, ok bool) {
	at := strings.LastIndexFunc(r.Unsaid, unicode.IsSpace)
	if at < 0 {
		return "", false
	}
	_, size := utf8.DecodeRuneInString(r.Unsaid[at:])
	n := at + size
	text = squeeze(r.Unsaid[:n])
	r.Unsaid = r.Unsaid[n:]
	return text, true
}

// nextSentence removes the next whole sentence from Unsaid and returns it. If all is set and
// no whole sentence is left, it returns the rest. ok reports whether there was any text.
func (r *reply) nextSentence(all bool) (text string, ok bool) {
	n := sentenceEnd(r.Unsaid)
	if n == 0 && all {
		n = len(r.Unsaid)
	}
	if n == 0 {
		return "", false
	}
	text = squeeze(r.Unsaid[:n])
	r.Unsaid = r.Unsaid[n:]
	return text, true
}

// dropUnsaid removes the text that was not handed to the voice from the reply.
func (r *reply) dropUnsaid() {
	r.Text = r.Text[:len(r.Text)-min(len(r.Unsaid), len(r.Text)-r.Sealed)]
	r.Unsaid = ""
}

// close tells the voice that the part has no more text, if that is so and has not been told
// before.
func (r *reply) close(out *Output) {
	if r := r; r.closes() {
		out.emit(EndSpeech{Turn: r.Turn, Part: r.Part})
	}
}

func (r *reply) speak(out *Output, text, code string) {
	r.Seq++
	r.voiced()
	out.emit(Speak{Turn: r.Turn, Part: r.Part, Seq: r.Seq, Text: text, Code: code})
}

// speakWords hands the whole words of Unsaid to the voice. It does nothing if the reply is held
// or text only.
func (r *reply) speakWords(out *Output) {
	if r.Held() || r.Silent {
		return
	}
	if text, ok := r.nextWords(); ok && text != "" {
		r.speak(out, text, "")
	}
}

// speakSentences hands the whole sentences of Unsaid to the voice; if all is set, also the rest
// of Unsaid. It does nothing if the reply is held or text only.
func (r *reply) speakSentences(out *Output, all bool) {
	if r.Held() || r.Silent {
		return
	}
	for {
		text, ok := r.nextSentence(all)
		if !ok {
			return
		}
		if text != "" {
			r.speak(out, text, "")
		}
	}
}
