package conv

import "time"

// floor is the second region of the machine: whether the user speaks, and which stretches of
// speech have been handled. Stretches of speech are numbered by the audio input, see [Event].
type floor struct {
	Speaking  bool `json:"speaking"`          // the user's voice is heard now
	Utterance int  `json:"utterance"`         // number of the last stretch of speech
	Worded    int  `json:"worded,omitempty"`  // number of the last stretch of speech that brought words
	Closed    int  `json:"closed"`            // stretches of speech up to this number are answered or given up
	BrokeIn   bool `json:"broke_in"`          // in Interrupted: a voice interrupted, not a command
	Barged    int  `json:"barged"`            // number of the agent's turn that was interrupted, until audio plays again or nothing is left to answer
	Pushed    bool `json:"pushed"`            // the push-to-talk button is pressed
	Overlap   bool `json:"overlap,omitempty"` // the last stretch of speech began while the agent's audio, or its echo, was heard
	// Tail is the user's turn that was answered before its final transcript came, and
	// TailUtterance is its stretch of speech. When the transcript comes, it replaces the
	// last TailOpen bytes of the words of the turn. The words before them were final.
	Tail          int `json:"tail,omitempty"`
	TailUtterance int `json:"tail_utterance,omitempty"`
	TailOpen      int `json:"tail_open,omitempty"`
	// Voice is when the last stretch of speech began whose turn is not over, and VoiceOf is
	// its number. A zero Voice means that no voice was detected.
	Voice   time.Time `json:"voice,omitzero"`
	VoiceOf int       `json:"voice_of,omitempty"`
}

// began returns when the voice began whose words come now: the beginning of their stretch
// of speech, or now if the stretch was not detected. It returns the zero time if another
// stretch has begun since.
func (f *floor) began(utterance int, now time.Time) time.Time {
	switch {
	case f.Voice.IsZero() || f.VoiceOf != 0 && utterance > f.VoiceOf:
		return now
	case utterance != 0 && utterance < f.VoiceOf:
		return time.Time{}
	default:
		return f.Voice
	}
}

func (f *floor) noteUtterance(n int) {
	if n > f.Utterance {
		f.Utterance = n
	}
}

// noteWorded notes that a stretch of speech brought words.
func (f *floor) noteWorded(utterance int) {
	f.noteUtterance(utterance)
	f.Worded = max(f.Worded, utterance)
}

// isTail reports whether a transcript is the final transcript of the turn Tail, which was
// answered without it: the service answered by itself, or the transcript came too late.
func (f *floor) isTail(number, utterance int, final bool) bool {
	if f.Tail == 0 || !final {
		return false
	}
	if number != 0 {
		return number == f.Tail
	}
	return utterance == 0 && !f.Speaking || utterance != 0 && utterance == f.TailUtterance
}

// noteTail notes that a turn is answered. If open is set, its final transcript may still come.
func (f *floor) noteTail(u userTurn, open bool) {
	f.Tail, f.TailUtterance, f.TailOpen = 0, 0, 0
	if open {
		f.Tail, f.TailUtterance, f.TailOpen = u.Turn, f.Worded, len(u.Partial)
	}
}

// withFinal returns the words of the turn Tail with the final transcript in place of those
// that were not final.
func (f *floor) withFinal(words, final string) string {
	return joinWords(squeeze(words[:max(0, len(words)-f.TailOpen)]), final)
}
