package conv

import "time"

// Floor says who is heard: the second region of the machine.
type Floor struct {
	Speaking  bool `json:"speaking"`          // the user's voice is heard now
	Utterance int  `json:"utterance"`         // the uplink's number of the last stretch of speech
	Worded    int  `json:"worded,omitempty"`  // the last stretch of which words came
	Closed    int  `json:"closed"`            // stretches up to this one are answered or given up
	BrokeIn   bool `json:"broke_in"`          // Interrupted: a voice broke in, not a command
	Barged    int  `json:"barged"`            // the agent's turn that was broken into, until audio plays again or there is nothing to answer
	Pushed    bool `json:"pushed"`            // push-to-talk is held
	Overlap   bool `json:"overlap,omitempty"` // the last stretch of speech began over the agent's audio
	// Tail is the turn of the user that was answered before its final transcript had
	// come, and TailUtterance its stretch of speech. When the transcript comes, it
	// replaces the last TailOpen bytes of the words of the turn. The words before them
	// were final.
	Tail          int `json:"tail,omitempty"`
	TailUtterance int `json:"tail_utterance,omitempty"`
	TailOpen      int `json:"tail_open,omitempty"`
	// Voice is when the last stretch of speech began whose turn is not over, VoiceOf
	// its number.
	Voice   time.Time `json:"voice,omitzero"`
	VoiceOf int       `json:"voice_of,omitempty"`
}

// began returns when the voice began whose words come now: when its stretch of speech
// was first heard, or now if nobody noticed it. If another stretch has begun since, it
// returns the zero time.
func (f *Floor) began(utterance int, now time.Time) time.Time {
	switch {
	case f.Voice.IsZero() || f.VoiceOf != 0 && utterance > f.VoiceOf:
		return now
	case utterance != 0 && utterance < f.VoiceOf:
		return time.Time{}
	default:
		return f.Voice
	}
}

func (f *Floor) noteUtterance(n int) {
	if n > f.Utterance {
		f.Utterance = n
	}
}

// noteWorded notes which stretch of speech the last words are from.
func (f *Floor) noteWorded(utterance int) {
	f.noteUtterance(utterance)
	f.Worded = max(f.Worded, utterance)
}

// isTail reports whether a final is the transcript of a turn that was answered
// without it: the service answered by itself, or the transcript came too late.
func (f *Floor) isTail(number, utterance int, final bool) bool {
	if f.Tail == 0 || !final {
		return false
	}
	if number != 0 {
		return number == f.Tail
	}
	return utterance == 0 && !f.Speaking || utterance != 0 && utterance == f.TailUtterance
}

// noteTail remembers that a turn is answered whose transcript may still come.
func (f *Floor) noteTail(u UserTurn, open bool) {
	f.Tail, f.TailUtterance, f.TailOpen = 0, 0, 0
	if open {
		f.Tail, f.TailUtterance, f.TailOpen = u.Turn, f.Worded, len(u.Partial)
	}
}

// withFinal is the words of the turn with a late final transcript in place of
// those that were not final.
func (f *Floor) withFinal(words, final string) string {
	return joinWords(squeeze(words[:max(0, len(words)-f.TailOpen)]), final)
}
