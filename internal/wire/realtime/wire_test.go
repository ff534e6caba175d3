package realtime

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// seeds are events from clients, some with mistakes.
var seeds = []string{
	`{"type":"session.update","event_id":"e","session":{"type":"realtime","instructions":"x","audio":{"input":{"turn_detection":null,"format":{"type":"audio/pcmu"}},"output":{"voice":{"id":"v"},"speed":1.2}},"tools":[{"type":"function","name":"f","parameters":{}}],"tool_choice":{"type":"function","name":"f"},"max_output_tokens":"inf"}}`,
	`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"turn_detection":{"type":"semantic_vad","eagerness":"low"},"transcription":{"model":"m"},"noise_reduction":{"type":"near_field"}}}}}`,
	`{"type":"session.update","session":{"modalities":["text","audio"],"voice":"alloy","turn_detection":{"type":"server_vad","threshold":0.4},"input_audio_format":"g711_alaw","temperature":0.8,"max_response_output_tokens":100}}`,
	`{"type":"conversation.item.create","previous_item_id":"root","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"},{"type":"input_audio","audio":"AAAA"}]}}`,
	`{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"c","output":"1"}}`,
	`{"type":"conversation.item.create","item":{"type":"message","role":"assistant","content":[{"type":"text","text":"hi"}]}}`,
	`{"type":"conversation.item.truncate","item_id":"i","content_index":0,"audio_end_ms":100}`,
	`{"type":"input_audio_buffer.append","audio":"AAECAw=="}`,
	`{"type":"response.create","response":{"conversation":"none","input":[{"type":"item_reference","id":"i"}],"metadata":{"a":"b"},"max_output_tokens":5,"tool_choice":"none","audio":{"output":{"voice":"v","format":{"type":"audio/pcma"}}}}}`,
	`{"type":"response.create","response":{"modalities":["text"],"input":[{"type":"message","role":"assistant","content":[{"type":"audio"}]}]}}`,
	`{"type":"response.cancel","response_id":"r"}`,
	`{}`, `[]`, `null`, `{"type":1}`, `{"type":"x","event_id":2}`, `{"type":"response.create","response":[]}`,
	`{"type":"session.update","session":{"type":"realtime","tools":[{"type":"mcp"}]}}`, "\xff", `{"type":"session.update","session":null}`,
}

// FuzzParse checks that any input yields an event or an error with a message, and that
// each resulting configuration can be encoded.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, b []byte, beta bool) {
		if beta {
			b = FromBeta(b)
		}
		e, bad := Parse(b)
		if bad != nil {
			if bad.Message == "" || bad.Type == "" {
				t.Errorf("an error without words: %#v", bad)
			}
			mustWrite(t, ErrorEvent{Error: *bad})
			return
		}
		if e.Type == "" {
			t.Error("an event without a type")
		}
		if e.Session != nil {
			for _, kind := range []string{TypeRealtime, TypeTranscription} {
				s, refused, bad := NewSession(kind).Update(e.Session, UpdateOptions{Opening: true})
				for _, r := range refused {
					mustWrite(t, ErrorEvent{Error: *r})
				}
				if len(refused) > maxRefusals {
					t.Errorf("%d members are refused by themselves", len(refused))
				}
				if bad == nil {
					mustWrite(t, SessionEvent{Name: "updated", Session: s})
				}
			}
		}
		if e.Type == ItemCreate {
			e.Item.ID = "i"
			mustWrite(t, ItemEvent{Name: "added", Item: e.Item})
		}
	})
}

// mustWrite encodes an event in both dialects and checks that the result is JSON.
func mustWrite(t *testing.T, e Event) {
	t.Helper()
	for _, write := range []func(string, Event) ([]byte, error){Marshal, MarshalBeta} {
		b, err := write("id", e)
		if err != nil || b != nil && !json.Valid(b) {
			t.Errorf("%T: %v: %s", e, err, b)
		}
	}
}

// FuzzDecodeAudio checks that any text yields bytes or an error.
func FuzzDecodeAudio(f *testing.F) {
	for _, s := range []string{"", "AAAA", "AAA", "AAA=", "!!", "A", "====", "AA\nAA"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, bad := DecodeAudio("audio", s)
		if bad == nil && len(b) > len(s) {
			t.Errorf("%d bytes of %d letters", len(b), len(s))
		}
	})
}

// TestUpdate checks that absent members are unchanged, that null clears a member, and
// that an error names the invalid member.
func TestUpdate(t *testing.T) {
	base := NewSession(TypeRealtime)
	base.Instructions, base.Model = "x", "m"
	for _, c := range []struct {
		in, wrong string // the member named in the error
		ok        func(Session) bool
	}{
		{`{"type":"realtime"}`, "", func(s Session) bool { return s.Instructions == "x" && s.Input.TurnDetection != nil }},
		{`{"type":"realtime","instructions":null}`, "", func(s Session) bool { return s.Instructions == "" }},
		{`{"type":"realtime","audio":{"input":{"turn_detection":null}}}`, "", func(s Session) bool { return s.Input.TurnDetection == nil }},
		{`{"type":"realtime","audio":{"input":{"turn_detection":{"threshold":0.9}}}}`, "", func(s Session) bool {
			return s.Input.TurnDetection.Threshold == 0.9 && s.Input.TurnDetection.SilenceDurationMS == 500
		}},
		{`{"type":"realtime","audio":{"input":{"turn_detection":{"type":"semantic_vad"}}}}`, "", func(s Session) bool { return s.Input.TurnDetection.Eagerness == "auto" }},
		{`{"type":"realtime","audio":{"input":{"turn_detection":{"type":"semantic_vad","threshold":1}}}}`, "session.audio.input.turn_detection.threshold", nil},
		{`{"type":"realtime","audio":{"input":{"format":{"type":"audio/pcmu"}}}}`, "", func(s Session) bool { return s.Input.Format == Format{Type: PCMU} && s.Output.Format.Rate == 24000 }},
		{`{"type":"realtime","audio":{"input":{"format":{"type":"mp3"}}}}`, "session.audio.input.format.type", nil},
		{`{"type":"realtime","max_output_tokens":12}`, "", func(s Session) bool { return s.MaxOutputTokens == 12 }},
		{`{"type":"realtime","max_output_tokens":0}`, "session.max_output_tokens", nil},
		{`{"type":"realtime","modalities":["text"]}`, "session.modalities", nil},
		{`{"type":"realtime","tools":[{"type":"function","name":"a b"}]}`, "session.tools.name", nil},
		{`{"type":"transcription"}`, "session.type", nil},
		{`{"instructions":"y"}`, "session.type", nil},
		{`{"type":"realtime","model":"n"}`, "", func(s Session) bool { return s.Model == "n" }}, // the projection may refuse it
		{`[]`, "session", nil},
	} {
		got, refused, bad := base.Update(json.RawMessage(c.in), UpdateOptions{})
		if bad == nil && len(refused) > 0 {
			bad = refused[0]
		}
		switch {
		case c.wrong == "" && bad != nil:
			t.Errorf("%s: %v", c.in, bad)
		case c.wrong != "" && (bad == nil || bad.Param != c.wrong):
			t.Errorf("%s: %v, expected an error about %s", c.in, bad, c.wrong)
		case c.ok != nil && !c.ok(got):
			t.Errorf("%s: %+v", c.in, got)
		}
	}
	if base.Input.TurnDetection == nil || base.Input.TurnDetection.Threshold != 0.5 {
		t.Error("an update has changed what it was made from")
	}
}

// TestUpdateRefusesAlone checks that an unknown or unsupported member is refused by
// name while the rest of the update applies, and that an invalid value refuses the
// whole update, as on OpenAI's server.
func TestUpdateRefusesAlone(t *testing.T) {
	base := NewSession(TypeRealtime)
	got, refused, bad := base.Update(json.RawMessage(`{"type":"realtime","instructions":"y","temperature":0.8,"zoom":1,
		"tools":[{"type":"mcp","server_label":"s"},{"type":"function","name":"f"}],
		"audio":{"video":{},"input":{"format":{"type":"audio/pcmu","bits":8},"turn_detection":{"type":"semantic_vad","threshold":1,"eagerness":"low"}},"output":{"pitch":1,"speed":1.2}}}`), UpdateOptions{})
	var params []string
	for _, r := range refused {
		params = append(params, r.Param)
	}
	want := []string{
		"session.audio.input.format.bits", "session.audio.input.turn_detection.threshold", "session.audio.output.pitch", "session.audio.video",
		"session.temperature", "session.tools", "session.zoom",
	}
	if bad != nil || !slices.Equal(params, want) {
		t.Errorf("%v, refused %v, expected %v", bad, params, want)
	}
	if got.Instructions != "y" || len(got.Tools) != 1 || got.Tools[0].Name != "f" || got.Input.Format.Type != PCMU || got.Input.TurnDetection.Eagerness != "low" || got.Output.Speed != 1.2 {
		t.Errorf("%+v", got)
	}
	if _, _, bad := base.Update(json.RawMessage(`{"type":"realtime","instructions":"y","temperature":0.8,"tool_choice":"perhaps"}`), UpdateOptions{}); bad == nil || bad.Param != "session.tool_choice" {
		t.Errorf("an invalid value: %v", bad)
	}
	many := map[string]any{"type": "realtime"}
	for i := range maxRefusals + 1 {
		many[fmt.Sprint("x", i)] = i
	}
	if _, _, bad := base.Update(must(many), UpdateOptions{}); bad == nil || bad.Code != CodeUnknown {
		t.Errorf("nothing but unknown members: %v", bad)
	}
}

// TestImage checks that an image is refused with the name of its part.
func TestImage(t *testing.T) {
	_, bad := Parse([]byte(`{"type":"conversation.item.create","event_id":"e","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,AA=="}]}}`))
	if bad == nil || bad.Param != "item.content[1].type" || bad.Code != CodeUnsupported || bad.EventID != "e" || !strings.Contains(bad.Message, "mages are not supported") {
		t.Errorf("%+v", bad)
	}
}

// TestBetaSession checks that a flat session is converted to the same session in the
// general form.
func TestBetaSession(t *testing.T) {
	b := FromBeta([]byte(seeds[2]))
	e, bad := Parse(b)
	if bad != nil {
		t.Fatal(bad)
	}
	s, refused, bad := NewSession(TypeRealtime).Update(e.Session, UpdateOptions{})
	if bad != nil || len(refused) > 0 {
		t.Fatal(bad, refused)
	}
	if s.Output.Voice != "alloy" || s.Input.Format.Type != PCMA || s.MaxOutputTokens != 100 || s.Input.TurnDetection.Threshold != 0.4 || !s.Audio() {
		t.Errorf("%+v", s)
	}
	out, err := MarshalBeta("id", SessionEvent{Name: "updated", Session: s})
	if err != nil || !strings.Contains(string(out), `"input_audio_format":"g711_alaw"`) || strings.Contains(string(out), `"audio":{`) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestAudioDelta checks that sound, which is encoded without package json, has the same
// encoding.
func TestAudioDelta(t *testing.T) {
	d := AudioDelta{Place: Place{ResponseID: "r", ItemID: "i", OutputIndex: 1}, Delta: []byte{1, 2, 3, 4, 5}}
	fast, err := Marshal("id", d)
	if err != nil {
		t.Fatal(err)
	}
	slow, err := marshal("id", d.EventType(), d)
	if err != nil || !bytes.Equal(fast, slow) {
		t.Errorf("%v:\n%s\n%s", err, fast, slow)
	}
}

// BenchmarkAudioDelta measures the encoding of 20 ms of sound. Goal: 5 us.
func BenchmarkAudioDelta(b *testing.B) {
	d := AudioDelta{Place: Place{ResponseID: "resp_ABCDEFGHIJKLMNOPQRST", ItemID: "item_ABCDEFGHIJKLMNOPQRST"}, Delta: make([]byte, 960)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Marshal("event_ABCDEFGHIJKLMNOPQRST_1", d); err != nil {
			b.Fatal(err)
		}
	}
}
