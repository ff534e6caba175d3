package realtime_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// listening returns a client with a microphone and turn detection.
func listening(t testing.TB, r *rig, detection obj) (*client, *microphone) {
	t.Helper()
	c := r.dial(t, dialOptions{})
	in := obj{"transcription": obj{"model": "whisper-1"}}
	if detection != nil {
		in["turn_detection"] = detection
	}
	c.update(obj{"audio": obj{"input": in}})
	mic := c.microphone(nil)
	if detection["create_response"] != false {
		r.greeted(c)
	}
	return c, mic
}

// span returns where the speech in a sound begins and ends, in milliseconds: the first
// and the last 20 ms louder than a hundredth of full scale.
func span(pcm []int16) (from, to int) {
	from = -1
	for i := 0; i+480 <= len(pcm); i += 480 {
		if audio.RMS(pcm[i:i+480]) > 0.01 {
			if from < 0 {
				from = i / 24
			}
			to = (i + 480) / 24
		}
	}
	return from, to
}

// pass lets the microphone send silence for d. What happens in that time is tested.
func (m *microphone) pass(d time.Duration) {
	select {
	case <-m.quietc: // left over from earlier speech
	default:
	}
	m.say(make([]int16, audio.PosOf(d, 24000)))
	m.said()
}

// turnChecks are C54 to C62, and C65.
var turnChecks = []check{
	{id: "C54", what: "a server_vad turn: started, stopped, committed, added, done, response; one item id", speech: true, test: func(t testing.TB, r *rig) {
		c, mic := listening(t, r, nil)
		m := c.mark()
		mic.say(sound(t, "hi_how_are_you.wav"))
		done := c.of("response.done")
		var got []string
		for _, name := range types(c.since(m)) {
			if !strings.Contains(name, "transcription.") && !strings.HasSuffix(name, ".delta") && name != "rate_limits.updated" {
				got = append(got, name)
			}
		}
		want := []string{
			"input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped", "input_audio_buffer.committed",
			"conversation.item.added", "conversation.item.done", "response.created",
		}
		if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("came %v", got)
		}
		list := c.since(m)
		id := find(t, list, want[0]).str("item_id")
		if find(t, list, want[1]).str("item_id") != id || find(t, list, want[2]).str("item_id") != id || find(t, list, want[3]).str("item.id") != id {
			t.Errorf("the ids differ from %s", id)
		}
		if done.str("response.status") != "completed" {
			t.Errorf("%s", done.raw)
		}
	}},
	{id: "C55", what: "audio_start_ms and audio_end_ms are the speech's, in milliseconds of what was appended", speech: true, test: func(t testing.TB, r *rig) {
		c := r.dial(t, dialOptions{})
		c.update(obj{"audio": obj{"input": obj{"turn_detection": obj{"type": "server_vad", "prefix_padding_ms": 300, "silence_duration_ms": 500}}}})
		pcm := slices.Concat(make([]int16, 24000), sound(t, "I want to book a flight to Boston"), make([]int16, 48000))
		from, to := span(pcm)
		c.append(pcm) // faster than real time: the sound is the clock
		start := c.of("input_audio_buffer.speech_started").num("audio_start_ms")
		end := c.of("input_audio_buffer.speech_stopped").num("audio_end_ms")
		if want := float64(from - 300); start < want-300 || start > want+300 {
			t.Errorf("audio_start_ms %v, expected %v", start, want)
		}
		if want := float64(to + 500); end < want-400 || end > want+400 {
			t.Errorf("audio_end_ms %v, expected %v", end, want)
		}
	}},
	{id: "C56", what: "create_response false: detection and commit, but no response", speech: true, test: func(t testing.TB, r *rig) {
		c, mic := listening(t, r, obj{"type": "server_vad", "create_response": false})
		m := c.mark()
		mic.say(sound(t, "What is the weather in Paris"))
		c.of("input_audio_buffer.committed")
		c.of("conversation.item.input_audio_transcription.completed")
		mic.pass(time.Second)
		c.settle()
		for _, e := range c.since(m) {
			if strings.HasPrefix(e.Type, "response.") {
				t.Errorf("%.200s", e.raw)
			}
		}
		if done := find(t, c.respond(nil), "response.done"); done.str("response.status") != "completed" {
			t.Errorf("when asked: %s", done.raw)
		}
		if r.o.flows {
			return // flows have no model to be told
		}
		asked := r.llm.Requests()
		if text := lastOf(t, asked).Messages[0].Text(); !strings.Contains(text, "weather") {
			t.Errorf("the model was asked %q", text)
		}
	}},
	{id: "C57", what: "barge-in: the response is cancelled with turn_detected, nothing of it follows, and the new turn gets its own", speech: true, test: func(t testing.TB, r *rig) {
		c, mic := listening(t, r, nil)
		c.user("tell me a story")
		c.send(obj{"type": "response.create"})
		for range 60 {
			c.of("response.output_audio.delta")
		}
		m := c.mark()
		mic.say(sound(t, "What is the weather in Paris"))
		c.of("input_audio_buffer.speech_started")
		done := c.of("response.done")
		id := done.str("response.id")
		if done.str("response.status") != "cancelled" || done.str("response.status_details.reason") != "turn_detected" {
			t.Errorf("%s", done.raw)
		}
		t.Logf("cancelled %v after the voice", done.at.Sub(find(t, c.since(m), "input_audio_buffer.speech_started").at))
		m = c.mark()
		next := c.of("response.done")
		if next.str("response.status") != "completed" || next.str("response.id") == id {
			t.Errorf("%s", next.raw)
		}
		for _, e := range c.since(m) {
			if e.str("response_id") == id {
				t.Errorf("behind its end: %.200s", e.raw)
			}
		}
		if r.o.flows {
			return // flows have no model to be told
		}
		asked := r.llm.Requests()
		last := lastOf(t, asked).Messages
		cut := last[len(last)-2] // before the last words
		if said := cut.Text(); cut.Role != "assistant" || !strings.HasPrefix(longAnswer, said) || len(said) == len(longAnswer) {
			t.Errorf("the model was told that %q was heard", said)
		}
	}},
	{id: "C58", what: "interrupt_response false: speech_started, and the response still completes", speech: true, test: func(t testing.TB, r *rig) {
		c, mic := listening(t, r, obj{"type": "server_vad", "interrupt_response": false})
		c.user("hello")
		c.send(obj{"type": "response.create"})
		for range 10 {
			c.of("response.output_audio.delta")
		}
		mic.say(sound(t, "hello.wav"))
		c.of("input_audio_buffer.speech_started")
		if done := c.of("response.done"); done.str("response.status") != "completed" {
			t.Errorf("%s", done.raw)
		}
	}},
	{id: "C59", what: "idle_timeout_ms: timeout_triggered, committed with its item, then a response", speech: true, test: func(t testing.TB, r *rig) {
		c, _ := listening(t, r, obj{"type": "server_vad", "idle_timeout_ms": 5000})
		c.user("hello")
		c.respond(nil)
		e := c.of("input_audio_buffer.timeout_triggered")
		// The sound from the microphone is the clock.
		if d := e.num("audio_end_ms") - e.num("audio_start_ms"); d < 4000 || d > 7000 {
			t.Errorf("%s", e.raw)
		}
		if next := c.of("input_audio_buffer.committed"); next.str("item_id") != e.str("item_id") {
			t.Errorf("%s", next.raw)
		}
		if done := c.of("response.done"); done.str("response.status") != "completed" {
			t.Errorf("%s", done.raw)
		}
	}},
	{id: "C60", what: "?intent=transcription: detection, commit, transcription, never a response", speech: true, test: func(t testing.TB, r *rig) {
		c := r.dial(t, dialOptions{query: "intent=transcription"})
		created := c.of("session.created")
		if created.str("session.type") != "transcription" {
			t.Errorf("%s", created.raw)
		}
		c.update(obj{"type": "transcription", "audio": obj{"input": obj{"transcription": obj{"model": "whisper-1"}, "turn_detection": obj{"type": "server_vad"}}}})
		mic := c.microphone(nil)
		m := c.mark()
		mic.say(sound(t, "What is the weather in Paris"))
		c.of("input_audio_buffer.speech_started")
		c.of("input_audio_buffer.committed")
		if e := c.of("conversation.item.input_audio_transcription.completed"); !strings.Contains(e.str("transcript"), "weather") {
			t.Errorf("%s", e.raw)
		}
		c.expectError(obj{"type": "response.create"})
		old := r.dial(t, dialOptions{query: "intent=transcription", header: betaHeader})
		old.of("transcription_session.created")
		old.send(obj{"type": "transcription_session.update", "session": obj{"input_audio_format": "pcm16", "input_audio_transcription": obj{"model": "whisper-1"}}})
		if e := old.of("transcription_session.updated"); e.str("session.input_audio_transcription.model") != "whisper-1" {
			t.Errorf("%s", e.raw)
		}
		mic.pass(500 * ms)
		c.settle()
		for _, e := range c.since(m) {
			if strings.HasPrefix(e.Type, "response.") {
				t.Errorf("%.200s", e.raw)
			}
		}
	}},
	{id: "C61", what: "semantic_vad is accepted, echoed, and ends turns", speech: true, test: func(t testing.TB, r *rig) {
		c := r.dial(t, dialOptions{})
		e := c.update(obj{"audio": obj{"input": obj{"turn_detection": obj{"type": "semantic_vad", "eagerness": "high"}}}})
		if e.str("session.audio.input.turn_detection.eagerness") != "high" || e.get("session.audio.input.turn_detection.create_response") != true || e.get("session.audio.input.turn_detection.interrupt_response") != true {
			t.Errorf("%s", e.raw)
		}
		mic := c.microphone(nil)
		r.greeted(c)
		mic.say(sound(t, "I want to book a flight to Boston"))
		c.of("input_audio_buffer.speech_stopped")
		if done := c.of("response.done"); done.str("response.status") != "completed" {
			t.Errorf("%s", done.raw)
		}
	}},
	{id: "C62", what: "no speech_started or speech_stopped while detection is off", speech: true, test: func(t testing.TB, r *rig) {
		c := quiet(t, r)
		m := c.mark()
		mic := c.microphone(nil)
		mic.say(sound(t, "order_status.wav"))
		mic.pass(700 * ms)
		c.settle()
		for _, e := range c.since(m) {
			if strings.Contains(e.Type, "speech_") {
				t.Errorf("%s", e.raw)
			}
		}
		// Speech is detected again when turn detection is turned on.
		c.update(obj{"audio": obj{"input": obj{"turn_detection": obj{"type": "server_vad"}}}})
		mic.say(sound(t, "order_status.wav"))
		c.of("input_audio_buffer.speech_started")
	}},
	{id: "C65", what: "audio/pcmu both ways: detection on 8 kHz, one byte a sample, format echoed", speech: true, test: func(t testing.TB, r *rig) {
		g711(t, r, "audio/pcmu", audio.MuLaw)
	}},
}

// g711 tests a turn with a telephone codec.
func g711(t testing.TB, r *rig, name string, law audio.G711) {
	t.Helper()
	c := r.dial(t, dialOptions{})
	format := obj{"type": name}
	e := c.update(obj{"audio": obj{"input": obj{"format": format, "transcription": obj{"model": "whisper-1"}}, "output": obj{"format": format}}})
	if e.str("session.audio.input.format.type") != name || e.str("session.audio.output.format.type") != name {
		t.Errorf("%s", e.raw)
	}
	down, err := audio.NewResampler(audio.ResamplerOptions{From: 24000, To: 8000})
	if err != nil {
		t.Fatal(err)
	}
	mic := c.microphone(func(pcm []int16) []byte { return law.AppendEncode(nil, down.Append(nil, pcm)) })
	r.greeted(c)
	m := c.mark()
	mic.say(sound(t, "I want to book a flight"))
	c.of("input_audio_buffer.speech_started")
	if e := c.of("conversation.item.input_audio_transcription.completed"); !strings.HasPrefix(e.str("transcript"), "i want") { // at 8 kHz the remaining words are not always recognized
		t.Errorf("%s", e.raw)
	}
	done := c.of("response.done")
	list := c.since(m)
	long := float64(len(heard(t, list))) / 8000
	tokens := done.num("response.usage.output_token_details.audio_tokens") / 20 // one token per 50 ms
	if done.str("response.audio.output.format.type") != name || long < 1 || long > tokens+0.1 || long < tokens-0.1 {
		t.Errorf("%.2f s of sound, %.2f s said; %s", long, tokens, done.raw)
	}
	pcm := law.AppendDecode(nil, heard(t, list))
	if level := audio.RMS(pcm); level < 0.01 {
		t.Errorf("level %.4f", level)
	}
}
