package conv

import "time"

// ReplyKind says why the agent speaks.
type ReplyKind string

// The kinds of the agent's turns.
const (
	ReplyAnswer   ReplyKind = "answer"   // to the user's turn
	ReplyGreeting ReplyKind = "greeting" // the first words
	ReplyCheckIn  ReplyKind = "check_in" // after dead air
	ReplyGoodbye  ReplyKind = "goodbye"  // the last words; the conversation ends after them
	ReplyNews     ReplyKind = "news"     // a result that nobody waited for
	ReplyNotice   ReplyKind = "notice"   // an apology
	ReplyExplicit ReplyKind = "explicit" // response.create
	ReplyResumed  ReplyKind = "resumed"  // the rest of a reply that a noise cut off
)

// Reply is the agent's open turn. Three things are true of it at any time, each with
// a life of its own, written out in the package documentation: how far its text is
// ([Progress]), what the voice has of it ([Voice]), and whether it is held back
// ([Hold]).
type Reply struct {
	Turn     int // zero: none is open
	UserTurn int // the user's turn that it answers; zero: none
	Kind     ReplyKind
	Started  time.Time
	Began    time.Time // when the voice of the words that it answers began

	Request   int // the request that is out; zero: the words are the engine's or the dialogue's own
	Before    int // the request whose calls led to this one
	Attempt   int
	Why       RequestReason
	Asked     string // the words that go with it: the user's, or those that a model may say otherwise
	Requested bool   // the driver has confirmed that the request is out
	Progress  Progress
	Advice    string // what the model says to a request of the flows, once it is complete

	Part    int    // the current stretch of the turn, from 1; tools divide it
	Seq     int    // texts handed to the voice
	Text    string // all text of the turn so far
	Unsaid  string // the end of Text that the voice has not been given
	Sealed  int    // bytes of Text that are in the history
	Voice   Voice  // what the voice has of the current part
	Earlier bool   // audio of an earlier part has not been played to its end
	Silent  bool   // the reply is text only
	Hold    Hold
}

// Progress says how far the text of the current part of a reply is.
type Progress uint8

// The values of [Progress].
const (
	ProgressAsking   Progress = iota // nothing has come back yet
	ProgressRetrying                 // a try has failed; the next follows after a pause
	ProgressArriving                 // some of it has come
	ProgressComplete                 // no more will come
)

// Voice says what the synthesizer has of the current part of a reply.
type Voice uint8

// The values of [Voice].
const (
	VoiceUnused   Voice = iota // nothing, or nothing that is still to be heard
	VoiceSpeaking              // some of it, and more may follow
	VoiceEnded                 // all of it, and it knows that no more follows
	VoiceOver                  // all of it, and none is left: played to its end, or dropped
)

// Hold says whether a reply is held back because a voice is heard: nothing of it
// may play, and none of its calls may run.
type Hold uint8

// The values of [Hold].
const (
	HoldNone Hold = iota
	HoldReply
	// HoldResults: the reply is held, and the results of its tools have not been given
	// to the model yet.
	HoldResults
)

// Held reports whether the reply is held back.
func (r *Reply) Held() bool { return r.Hold != HoldNone }

// Voiced reports whether the voice has something of the current part that has not
// been played to its end or dropped.
func (r *Reply) Voiced() bool { return r.Voice == VoiceSpeaking || r.Voice == VoiceEnded }

// Complete reports whether the current part has all of its text. Advice that the flows
// asked for does not count as text.
func (r *Reply) Complete() bool { return r.Progress == ProgressComplete && !r.consulting() }

// Advised reports whether the advice that the flows asked for has come, or will not.
func (r *Reply) Advised() bool { return r.Progress == ProgressComplete && r.consulting() }

// answered reports whether something came back for the request.
func (r *Reply) answered() bool { return r.Progress >= ProgressArriving }

// sounding reports whether there is audio of the turn that has not been played.
func (r *Reply) sounding() bool { return r.Voiced() || r.Earlier }

// stale reports a fact of another turn, or of a request that has been
// replaced.
func (r *Reply) stale(number, request int) bool {
	if number != 0 && number != r.Turn {
		return true
	}
	return request != 0 && request != r.Request
}

// consulting reports whether the request that is out is one for advice.
func (r *Reply) consulting() bool {
	return r.Request != 0 && (r.Why == RequestUnderstanding || r.Why == RequestWording)
}

// unreadWords reports whether the flows have not taken in what the user said: a model
// is asked what it means.
func (r *Reply) unreadWords() bool { return r.consulting() && r.Why == RequestUnderstanding }

// asks begins a request. The one before it, if its calls led to this one, is
// remembered.
func (r *Reply) asks(request int, why RequestReason, text string) {
	r.Request, r.Attempt, r.Why, r.Asked = request, 1, why, text
	r.Requested, r.Progress, r.Advice = false, ProgressAsking, ""
}

// asksAnew begins the next attempt of the same request.
func (r *Reply) asksAnew(request int) {
	r.Request, r.Attempt = request, r.Attempt+1
	r.Requested, r.Progress = false, ProgressAsking
}

// ask is the effect that asks for what the reply wants to know.
func (r *Reply) ask() RequestReply {
	return RequestReply{
		Turn: r.Turn, UserTurn: r.UserTurn, Request: r.Request, Attempt: r.Attempt, Text: r.Asked, Why: r.Why,
	}
}

// came notes that something came back.
func (r *Reply) came() {
	r.Requested = true
	r.Progress = max(r.Progress, ProgressArriving)
}

// retries gives up what came of a try that failed.
func (r *Reply) retries() {
	r.Text, r.Unsaid = r.Text[:r.Sealed], ""
	r.Progress = ProgressRetrying
}

// add takes text that is to be spoken.
func (r *Reply) add(text string) {
	r.Text += text
	r.Unsaid += text
}

// voiced notes that the voice has been given something of the current part, or has
// been heard with it.
func (r *Reply) voiced() {
	switch r.Voice {
	case VoiceUnused:
		r.Voice = VoiceSpeaking
	case VoiceOver:
		r.Voice = VoiceEnded
	case VoiceSpeaking, VoiceEnded:
	}
}

// unvoiced notes that what the voice had of the current part has been played to its
// end, or dropped.
func (r *Reply) unvoiced() {
	switch r.Voice {
	case VoiceSpeaking:
		r.Voice = VoiceUnused
	case VoiceEnded:
		r.Voice = VoiceOver
	case VoiceUnused, VoiceOver:
	}
}

// closes reports whether the voice is to be told, now and only now, that the part has
// no more text.
func (r *Reply) closes() bool {
	if !r.Complete() || r.Held() || r.Voice != VoiceSpeaking {
		return false
	}
	r.Voice = VoiceEnded
	return true
}

// nextPart begins the part of the turn after a tool.
func (r *Reply) nextPart() {
	r.Part++
	r.Earlier = r.Earlier || r.Voiced()
	r.Voice, r.Progress = VoiceUnused, ProgressArriving
}

// over reports whether nothing of the reply is left to be said or heard, apart from
// what plays now.
func (r *Reply) over() bool { return r.Complete() && !r.Held() && !r.sounding() }

// nextSentence takes the next whole sentence from what has not been said, or with all
// set the rest of it, and reports whether there was one.
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

// dropUnsaid takes back what the voice was never given: it was not said.
func (r *Reply) dropUnsaid() {
	r.Text = r.Text[:len(r.Text)-min(len(r.Unsaid), len(r.Text)-r.Sealed)]
	r.Unsaid = ""
}

// close tells the voice, once, that the part has no more text.
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

// speakSentences hands whole sentences to the voice, or with all set the rest
// too.
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
