package conv

import "testing"

// TestVoiceIsToldTheEndOnce: a part that is complete is ended once, also if audio of it
// is reported again after it was played to its end.
func TestVoiceIsToldTheEndOnce(t *testing.T) {
	var out Output
	r := reply{Turn: 2, Part: 1, Text: "Well. And", Unsaid: "Well. And"}
	r.speakSentences(&out, false)
	if r.close(&out); r.Voice != voiceSpeaking {
		t.Fatalf("the voice is %d while text is to come, expected speaking", r.Voice)
	}
	r.Progress = progressComplete
	r.speakSentences(&out, true)
	r.close(&out)
	r.close(&out)
	if r.unvoiced(); r.Voice != voiceOver || !r.over() {
		t.Fatalf("the voice is %d and the reply over: %v, expected over", r.Voice, r.over())
	}
	r.voiced()
	r.close(&out)
	ends := 0
	for _, e := range out.Effects {
		if _, ok := e.(EndSpeech); ok {
			ends++
		}
	}
	if ends != 1 || r.Voice != voiceEnded || r.Unsaid != "" {
		t.Errorf("%d ends, the voice is %d, %q is unsaid; expected one end, all said", ends, r.Voice, r.Unsaid)
	}
}

// TestPartsOfAReply: behind a tool the turn goes on with a part of its own, and audio
// of the one before may still be heard.
func TestPartsOfAReply(t *testing.T) {
	r := reply{Turn: 2, Part: 1, Progress: progressComplete, Voice: voiceEnded}
	r.nextPart()
	if r.Part != 2 || !r.Earlier || r.Voiced() || r.Complete() {
		t.Errorf("the next part is %+v", r)
	}
	r.asks(3, RequestWording, "Which city?")
	if r.Progress = progressComplete; r.Complete() || !r.Advised() {
		t.Error("advice counts as text")
	}
	r.asks(4, RequestToolResult, "")
	r.Came()
	if r.Before != 0 || !r.answered() || !r.Requested {
		t.Errorf("a request that was answered is %+v", r)
	}
	r.add("half")
	if r.retries(); r.Text != "" || r.Unsaid != "" || r.answered() {
		t.Errorf("a try that failed left %+v", r)
	}
}
