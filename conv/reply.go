package conv

import "time"

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

// Reply is the agent's open turn. It has three independent states, which the package
// documentation describes: how much of the text has come ([Progress]), what the synthesizer
// has of it ([Voice]), and whether the reply is held back ([Hold]).
type Reply struct {
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
	Progress  Progress
	Advice    string // the answer to a request for advice, while the flows do not use it yet

	Part    int    // the current part of the turn, from 1; tools divide the turn into parts
	Seq     int    // number of texts handed to the voice
	Text    string // all text of the turn so far
	Unsaid  string // the end of Text that has not been handed to the voice
	Sealed  int    // how many bytes of Text are in the history
	Voice   Voice
	Earlier bool // audio of an earlier part has not played to its end
	Silent  bool // the reply is text only
	Hold    Hold
}

// Progress says how much of the text of the current part of a reply has come.
type Progress uint8

// The values of [Progress].
const (
	ProgressAsking   Progress = iota // no text has come
	ProgressRetrying                 // a try has failed; the next one follows after a pause
	ProgressArriving                 // some text or a call has come
	ProgressComplete                 // no more text will come
)

// Voice says what the synthesizer has of the current part of a reply.
type Voice uint8

// The values of [Voice].
const (
	VoiceUnused   Voice = iota // no text that is still to be heard
	VoiceSpeaking              // some text, and more may follow
	VoiceEnded                 // all text, and it knows that no more follows
	VoiceOver                  // all text, and the audio was played to its end or dropped
)

// Hold says whether a reply is held back because a voice is heard. No audio of a held reply
// plays, and none of its calls starts.
type Hold uint8

// The values of [Hold].
const (
	HoldNone    Hold = iota // the reply is not held
	HoldReply               // the reply is held
	HoldResults             // the reply is held, and the model has not got the results of its tools yet
)

// Held reports whether the reply is held back.
func (r *Reply) Held() bool { return r.Hold != HoldNone }

// Voiced reports whether the synthesizer has text of the current part whose audio has not been
// played to its end or dropped.
func (r *Reply) Voiced() bool { return r.Voice == VoiceSpeaking || r.Voice == VoiceEnded }

// Complete reports whether all text of the current part has come. Advice to the flows does not
// count as text.
func (r *Reply) Complete() bool { return r.Progress == ProgressComplete && !r.consulting() }

// Advised reports whether a request for advice has ended, with or without advice, and the
// flows have not used it yet.
func (r *Reply) Advised() bool { return r.Progress == ProgressComplete && r.consulting() }

// answered reports whether text or a call has come for the request.
func (r *Reply) answered() bool { return r.Progress >= ProgressArriving }

// sounding reports whether audio of the turn has not been played to its end or dropped.
func (r *Reply) sounding() bool { return r.Voiced() || r.Earlier }

// stale reports whether an event belongs to another turn, or to a request that has been
// replaced.
func (r *Reply) stale(number, request int) bool {
	if number != 0 && number != r.Turn {
		return true
	}
	return request != 0 && request != r.Request
}

// consulting reports whether the current request is for advice.
func (r *Reply) consulting() bool {
	return r.Request != 0 && (r.Why == RequestUnderstanding || r.Why == RequestWording)
}

// unreadWords reports whether the flows have not handled the user's turn yet because a model
// is asked what it means.
func (r *Reply) unreadWords() bool { return r.consulting() && r.Why == RequestUnderstanding }

// asks begins the first try of a request.
func (r *Reply) asks(request int, why RequestReason, text string) {
	r.Request, r.Attempt, r.Why, r.Asked = request, 1, why, text
	r.Requested, r.Progress, r.Advice = false, ProgressAsking, ""
}

// asksAnew begins the next try of a request, under a new number.
func (r *Reply) asksAnew(request int) {
	r.Request, r.Attempt = request, r.Attempt+1
	r.Requested, r.Progress = false, ProgressAsking
}

// ask returns the effect for the current request, without its context.
func (r *Reply) ask() RequestReply {
	return RequestReply{
		Turn: r.Turn, UserTurn: r.UserTurn, Request: r.Request, Attempt: r.Attempt, Text: r.Asked, Why: r.Why,
	}
}

// came notes that text or a call has come for the request.
func (r *Reply) came() {
	r.Requested = true
	r.Progress = max(r.Progress, ProgressArriving)
}

// retries drops the text of a try that failed.
func (r *Reply) retries() {
	r.Text, r.Unsaid = r.Text[:r.Sealed], ""
	r.Progress = ProgressRetrying
}

// add appends text to the reply.
func (r *Reply) add(text string) {
	r.Text += text
	r.Unsaid += text
}

// voiced notes that text of the current part has been handed to the voice, or that audio of
// the part has begun to play.
func (r *Reply) voiced() {
	switch r.Voice {
	case VoiceUnused:
		r.Voice = VoiceSpeaking
	case VoiceOver:
		r.Voice = VoiceEnded
	case VoiceSpeaking, VoiceEnded:
	}
}

// unvoiced notes that the audio of the current part has been played to its end, or dropped.
func (r *Reply) unvoiced() {
	switch r.Voice {
	case VoiceSpeaking:
		r.Voice = VoiceUnused
	case VoiceEnded:
		r.Voice = VoiceOver
	case VoiceUnused, VoiceOver:
	}
}

// closes reports whether the voice must be told now that the part has no more text. It does so
// once for each part.
func (r *Reply) closes() bool {
	if !r.Complete() || r.Held() || r.Voice != VoiceSpeaking {
		return false
	}
	r.Voice = VoiceEnded
	return true
}

// nextPart begins the next part of the turn, after a tool.
func (r *Reply) nextPart() {
	r.Part++
	r.Earlier = r.Earlier || r.Voiced()
	r.Voice, r.Progress = VoiceUnused, ProgressArriving
}

// over reports whether nothing of the reply is left to say or to play, as far as the reply
// knows: the [Playout] may still play.
func (r *Reply) over() bool { return r.Complete() && !r.Held() && !r.sounding() }

// nextSentence removes the next whole sentence from Unsaid and returns it. If all is set and
// no whole sentence is left, it returns the rest. ok reports whether there was any text.
func (r *Reply) nextSentence(all bool) (text string, ok bool) {
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
func (r *Reply) dropUnsaid() {
	r.Text = r.Text[:len(r.Text)-min(len(r.Unsaid), len(r.Text)-r.Sealed)]
	r.Unsaid = ""
}

// close tells the voice that the part has no more text, if that is so and has not been told
// before.
func (r *Reply) close(out *Output) {
	if r := r; r.closes() {
		out.emit(EndSpeech{Turn: r.Turn, Part: r.Part})
	}
}

func (r *Reply) speak(out *Output, text, code string) {
	r.Seq++
	r.voiced()
	out.emit(Speak{Turn: r.Turn, Part: r.Part, Seq: r.Seq, Text: text, Code: code})
}

// speakSentences hands the whole sentences of Unsaid to the voice; if all is set, also the rest
// of Unsaid. It does nothing if the reply is held or text only.
func (r *Reply) speakSentences(out *Output, all bool) {
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
