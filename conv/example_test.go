package conv_test

import (
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/conv"
)

// A driver in a few lines: facts go in, work comes out.
func Example() {
	call, err := conv.New(conv.Options{Greeting: "Hello. How can I help you?"})
	if err != nil {
		panic(err)
	}
	start := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for _, fact := range []struct {
		after time.Duration
		event conv.Event
	}{
		{0, conv.UserStart{}},
		{0, conv.SessionReady{}},
		{0, conv.AudioReady{}},
		{100 * time.Millisecond, conv.PlayoutStarted{}},
		{900 * time.Millisecond, conv.SpeechStarted{}},
		{1200 * time.Millisecond, conv.STTPartial{Text: "stop that please", Confidence: 0.9}},
		{1250 * time.Millisecond, conv.DeadlinePassed{}},
		{1900 * time.Millisecond, conv.TurnEnded{Cause: "silence"}},
		{2000 * time.Millisecond, conv.STTFinal{Text: "stop that please", Confidence: 0.9}},
	} {
		for _, effect := range call.Step(start.Add(fact.after), fact.event) {
			work, err := conv.MarshalEffect(effect)
			if err != nil {
				panic(err)
			}
			fmt.Println(conv.EventType(fact.event), "->", string(work))
		}
	}
	fmt.Println("phase:", call.Phase())
	fmt.Println("heard:", call.History()[0].Text)

	// Output:
	// user.start -> {"type":"open_session"}
	// session.ready -> {"type":"prime_audio"}
	// audio.ready -> {"type":"listen"}
	// audio.ready -> {"type":"speak","turn":1,"part":1,"seq":1,"text":"Hello."}
	// audio.ready -> {"type":"speak","turn":1,"part":1,"seq":2,"text":"How can I help you?"}
	// audio.ready -> {"type":"end_speech","turn":1,"part":1}
	// speech.started -> {"type":"duck_playout","turn":1}
	// stt.partial -> {"type":"cancel_turn","turn":1}
	// stt.partial -> {"type":"flush_playout","turn":1,"heard_ms":1100}
	// turn.ended -> {"type":"finalize_transcript","turn":2}
	// stt.final -> {"type":"request_reply","turn":3,"user_turn":2,"request":1,"attempt":1,"text":"stop that please","why":"utterance"}
	// phase: processing.understanding
	// heard: Hello. How
}
