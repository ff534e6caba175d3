package realtime_test

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// spoken returns a client without turn detection that receives spoken answers, with one
// message of the user.
func spoken(t testing.TB, r *rig, line string) *client {
	t.Helper()
	c := quiet(t, r)
	c.user(line)
	return c
}

// heard returns the decoded sound of a response.
func heard(t testing.TB, list []event) []byte {
	t.Helper()
	var all []byte
	for _, e := range list {
		if e.Type != "response.output_audio.delta" && e.Type != "response.audio.delta" {
			continue
		}
		b, err := base64.StdEncoding.DecodeString(e.str("delta"))
		if err != nil || len(b) == 0 {
			t.Errorf("%v: %s", err, e.raw)
		}
		all = append(all, b...)
	}
	return all
}

// audioChecks are C38 to C45.
var audioChecks = []check{
	{id: "C38", what: "the order of the events of a spoken response; its shapes", speech: true, test: func(t testing.TB, r *rig) {
		list := spoken(t, r, "hello").respond(nil)
		var got []string
		for _, name := range types(list) {
			if !strings.HasSuffix(name, ".delta") {
				got = append(got, name)
			}
		}
		want := []string{
			"response.created", "response.output_item.added", "conversation.item.added", "response.content_part.added",
			"response.output_audio.done", "response.output_audio_transcript.done", "response.content_part.done",
			"conversation.item.done", "response.output_item.done", "response.done",
		}
		if !slices.Equal(got, want) {
			t.Errorf("came %v\nexpected %v", got, want)
		}
		if e := find(t, list, "response.content_part.added"); e.str("part.type") != "audio" {
			t.Errorf("%s", e.raw)
		}
		done := find(t, list, "response.done")
		if _, ok := done.get("response.audio.output.voice").(string); !ok || done.str("response.output.0.content.0.type") != "output_audio" || done.num("response.usage.output_token_details.audio_tokens") < 10 {
			t.Errorf("%s", done.raw)
		}
	}},
	{id: "C39", what: "the transcript deltas are the transcript, everywhere; no audio in response.done", speech: true, test: func(t testing.TB, r *rig) {
		list := spoken(t, r, "hello").respond(nil)
		text := concat(list, "response.output_audio_transcript.delta")
		for name, path := range map[string]string{
			"response.output_audio_transcript.done": "transcript", "response.content_part.done": "part.transcript",
			"response.output_item.done": "item.content.0.transcript", "response.done": "response.output.0.content.0.transcript",
		} {
			if e := find(t, list, name); e.str(path) != text || !r.says(text, shortAnswer) {
				t.Errorf("%s: %q in %s", name, e.str(path), e.raw)
			}
		}
		if done := find(t, list, "response.done"); len(done.raw) > 4000 {
			t.Errorf("response.done has %d bytes", len(done.raw))
		}
	}},
	{id: "C40", what: "audio deltas are base64 PCM16 at 24 kHz, at the pace of the clock, with consistent ids", speech: true, test: func(t testing.TB, r *rig) {
		list := spoken(t, r, "hello").respond(nil)
		response, item := find(t, list, "response.created").str("response.id"), find(t, list, "response.output_item.added").str("item.id")
		var first, last time.Time
		for _, e := range list {
			if e.Type != "response.output_audio.delta" {
				continue
			}
			if first.IsZero() {
				first = e.at
			}
			last = e.at
			if e.str("response_id") != response || e.str("item_id") != item || e.num("output_index") != 0 || e.num("content_index") != 0 {
				t.Errorf("%.200s", e.raw)
			}
		}
		b := heard(t, list)
		long := time.Duration(len(b)/2) * time.Second / 24000
		if len(b)%2 != 0 || long < 500*ms || long > 10*time.Second || audio.RMS(samples(b)) < 0.01 {
			t.Errorf("%d bytes, %v of sound, level %.3f", len(b), long, audio.RMS(samples(b)))
		}
		t.Logf("%v of sound came in %v", long, last.Sub(first))
	}},
	{id: "C41", what: "conversation.item.truncate: truncated, and the unheard text is gone from the item and from what the model is told", speech: true, test: func(t testing.TB, r *rig) {
		c := spoken(t, r, "tell me a story")
		m := c.mark()
		c.send(obj{"type": "response.create"})
		for range 150 {
			c.of("response.output_audio.delta") // 3 s
		}
		c.send(obj{"type": "response.cancel"})
		c.of("response.done")
		id := find(t, c.since(m), "response.output_item.added").str("item.id")
		c.send(obj{"type": "conversation.item.truncate", "item_id": id, "content_index": 0, "audio_end_ms": 1800})
		if e := c.of("conversation.item.truncated"); e.str("item_id") != id || e.num("content_index") != 0 || e.num("audio_end_ms") != 1800 {
			t.Errorf("%s", e.raw)
		}
		c.send(obj{"type": "conversation.item.retrieve", "item_id": id})
		text := c.of("conversation.item.retrieved").str("item.content.0.transcript")
		if !strings.HasPrefix(longAnswer, text) || len(text) < 5 || len(text) > 50 {
			t.Errorf("what was heard in 1.8 s: %q", text)
		}
		c.update(obj{"output_modalities": []string{"text"}})
		c.user("hello")
		c.respond(nil)
		asked := r.llm.Requests()
		if last := lastOf(t, asked).Messages; len(last) != 3 || last[1].Text() != text {
			t.Errorf("the model was asked %+v", last)
		}
	}},
	{id: "C42", what: "audio_end_ms beyond the audio: an error, and the session goes on", speech: true, test: func(t testing.TB, r *rig) {
		c := spoken(t, r, "hello")
		id := find(t, c.respond(nil), "response.output_item.added").str("item.id")
		e := c.expectError(obj{"type": "conversation.item.truncate", "item_id": id, "content_index": 0, "audio_end_ms": 57340})
		if !strings.Contains(e.str("error.message"), "already shorter than 57340ms") {
			t.Errorf("%s", e.raw)
		}
		c.expectError(obj{"type": "output_audio_buffer.clear"}) // over a WebSocket the client plays the sound
		c.update(obj{"instructions": "alive"})
	}},
	{id: "C43", what: "truncate of an unknown item: item_truncate_invalid_item_id; of a user's item: an error", test: func(t testing.TB, r *rig) {
		c := quiet(t, r)
		id := c.create(message("user", "input_text", "x"), nil).str("item.id")
		if e := c.expectError(obj{"type": "conversation.item.truncate", "item_id": "nobody", "content_index": 0, "audio_end_ms": 0}); e.str("error.code") != "item_truncate_invalid_item_id" {
			t.Errorf("%s", e.raw)
		}
		c.expectError(obj{"type": "conversation.item.truncate", "item_id": id, "content_index": 0, "audio_end_ms": 0})
	}},
	{id: "C44", what: "a change of voice after the assistant's audio: cannot_update_voice", speech: true, test: func(t testing.TB, r *rig) {
		c := spoken(t, r, "hello")
		c.update(obj{"audio": obj{"output": obj{"voice": "marin"}}})
		c.respond(nil)
		e := c.expectError(obj{"type": "session.update", "session": obj{"type": "realtime", "audio": obj{"output": obj{"voice": "cedar"}}}})
		if e.str("error.code") != "cannot_update_voice" {
			t.Errorf("%s", e.raw)
		}
		c.update(obj{"audio": obj{"output": obj{"voice": "marin"}}})
	}},
	{id: "C45", what: "a speed outside 0.25 to 1.5: an error", test: func(t testing.TB, r *rig) {
		c := quiet(t, r)
		for _, speed := range []float64{0.2, 1.6, -1} {
			c.expectError(obj{"type": "session.update", "session": obj{"type": "realtime", "audio": obj{"output": obj{"speed": speed}}}})
		}
		if e := c.update(obj{"audio": obj{"output": obj{"speed": 1.25}}}); e.num("session.audio.output.speed") != 1.25 {
			t.Errorf("%s", e.raw)
		}
	}},
}

// samples decodes PCM16.
func samples(b []byte) []int16 {
	pcm := make([]int16, 0, len(b)/2)
	for ; len(b) > 1; b = b[2:] {
		pcm = append(pcm, int16(binary.LittleEndian.Uint16(b)))
	}
	return pcm
}

// dictating returns a client without turn detection that requests transcriptions.
func dictating(t testing.TB, r *rig) *client {
	t.Helper()
	c := quiet(t, r)
	c.update(obj{"output_modalities": []string{"text"}, "audio": obj{"input": obj{"transcription": obj{"model": "whisper-1"}}}})
	return c
}

// bufferChecks are C46 to C53.
var bufferChecks = []check{
	{id: "C46", what: "append is not acknowledged; nothing is detected", speech: true, test: func(t testing.TB, r *rig) {
		c := dictating(t, r)
		m := c.mark()
		c.append(sound(t, "order_status.wav"))
		c.settle()
		if list := c.since(m); len(list) != 1 {
			t.Errorf("came %v", types(list))
		}
	}},
	{id: "C47", what: "commit: committed, added, done of one user item; transcript null; no response", speech: true, test: func(t testing.TB, r *rig) {
		c := dictating(t, r)
		m := c.mark()
		c.append(sound(t, "hello.wav"))
		c.send(obj{"type": "input_audio_buffer.commit"})
		done := c.of("conversation.item.done")
		list := c.since(m)
		if got := types(list); !slices.Equal(got, []string{"input_audio_buffer.committed", "conversation.item.added", "conversation.item.done"}) {
			t.Errorf("came %v", got)
		}
		part, _ := done.get("item.content.0").(map[string]any)
		if v, ok := part["transcript"]; !ok || v != nil || part["type"] != "input_audio" || done.str("item.role") != "user" || done.str("item.id") != list[0].str("item_id") {
			t.Errorf("%s", done.raw)
		}
		c.of("conversation.item.input_audio_transcription.completed")
		c.settle()
		for _, e := range c.since(m) {
			if strings.HasPrefix(e.Type, "response.") {
				t.Errorf("%s", e.raw)
			}
		}
	}},
	{id: "C48", what: "commit of an empty buffer: input_audio_buffer_commit_empty", speech: true, test: func(t testing.TB, r *rig) {
		c := dictating(t, r)
		e := c.expectError(obj{"type": "input_audio_buffer.commit"})
		if e.str("error.code") != "input_audio_buffer_commit_empty" || !strings.Contains(e.str("error.message"), "buffer") {
			t.Errorf("%s", e.raw)
		}
		c.append(make([]int16, 1200))
		if e := c.expectError(obj{"type": "input_audio_buffer.commit"}); !strings.Contains(e.str("error.message"), "50.00ms") {
			t.Errorf("%s", e.raw)
		}
	}},
	{id: "C49", what: "clear: cleared; a commit after it fails", speech: true, test: func(t testing.TB, r *rig) {
		c := dictating(t, r)
		c.append(sound(t, "order_status.wav"))
		c.send(obj{"type": "input_audio_buffer.clear"})
		c.of("input_audio_buffer.cleared")
		c.expectError(obj{"type": "input_audio_buffer.commit"})
		c.append(sound(t, "What is the weather in Paris"))
		c.send(obj{"type": "input_audio_buffer.commit"})
		e := c.of("conversation.item.input_audio_transcription.completed")
		if text := e.str("transcript"); !strings.Contains(text, "weather") || strings.Contains(text, "order") {
			t.Errorf("%s", e.raw)
		}
	}},
	{id: "C50", what: "transcription.completed for the committed item, with usage", speech: true, test: func(t testing.TB, r *rig) {
		c := dictating(t, r)
		c.append(sound(t, "What is the weather in Paris"))
		c.send(obj{"type": "input_audio_buffer.commit"})
		id := c.of("input_audio_buffer.committed").str("item_id")
		e := c.of("conversation.item.input_audio_transcription.completed")
		if e.str("item_id") != id || e.num("content_index") != 0 || !strings.Contains(e.str("transcript"), "weather") ||
			e.str("usage.type") != "duration" || e.num("usage.seconds") < 1 || e.num("usage.seconds") > 5 {
			t.Errorf("%s", e.raw)
		}
		c.send(obj{"type": "conversation.item.retrieve", "item_id": id})
		if got := c.of("conversation.item.retrieved"); got.str("item.content.0.transcript") != e.str("transcript") {
			t.Errorf("%s", got.raw)
		}
	}},
	{id: "C51", what: "transcription deltas are the transcript", speech: true, test: func(t testing.TB, r *rig) {
		c := dictating(t, r)
		m := c.mark()
		c.append(sound(t, "What is the weather in Paris"))
		c.send(obj{"type": "input_audio_buffer.commit"})
		e := c.of("conversation.item.input_audio_transcription.completed")
		if text := concat(c.since(m), "conversation.item.input_audio_transcription.delta"); text != e.str("transcript") || text == "" {
			t.Errorf("deltas %q, %s", text, e.raw)
		}
	}},
	{id: "C75", what: "transcription.failed where nothing can be recognized; the item stays", test: func(t testing.TB, r *rig) {
		c := dictating(t, r)
		c.append(make([]int16, 24000))
		c.send(obj{"type": "input_audio_buffer.commit"})
		id := c.of("input_audio_buffer.committed").str("item_id")
		e := c.of("conversation.item.input_audio_transcription.failed")
		if e.str("item_id") != id || e.num("content_index") != 0 || e.str("error.code") == "" || !strings.Contains(e.str("error.message"), "recognizer") {
			t.Errorf("%s", e.raw)
		}
		c.send(obj{"type": "conversation.item.retrieve", "item_id": id})
		c.of("conversation.item.retrieved")
	}},
	{id: "C52", what: "append with invalid base64: an error", speech: true, test: func(t testing.TB, r *rig) {
		c := dictating(t, r)
		for _, s := range []string{"!!!", "ab\ncd*", "\u00e9"} {
			c.expectError(obj{"type": "input_audio_buffer.append", "audio": s})
		}
		c.expectError(obj{"type": "input_audio_buffer.append"})
		c.update(obj{"instructions": "alive"})
	}},
	{id: "C53", what: "response.create after a manual commit answers what was said", speech: true, test: func(t testing.TB, r *rig) {
		c := dictating(t, r)
		c.append(sound(t, "Please tell me a story"))
		c.send(obj{"type": "input_audio_buffer.commit"})
		done := find(t, c.respond(nil), "response.done")
		if !r.says(done.str("response.output.0.content.0.text"), longAnswer) {
			t.Errorf("%s", done.raw)
		}
	}},
}
