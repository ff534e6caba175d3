package realtime

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// received are events as servers send them, some with mistakes.
var received = []string{
	`{"type":"session.created","event_id":"e","session":{"id":"s","expires_at":1756324625,"type":"realtime"}}`,
	`{"type":"session.created","session":{"id":"s","expires_at":null}}`,
	`{"type":"response.created","response":{"id":"r","status":"in_progress","status_details":null,"output":[],"metadata":{"k":"v"},"usage":null}}`,
	`{"type":"response.done","response":{"id":"r","status":"failed","status_details":{"type":"failed","error":{"type":"tokens","code":"rate_limit_exceeded","message":"slow down"}},"metadata":null}}`,
	`{"type":"response.done","response":{"id":"r","status":"cancelled","status_details":"turn_detected","output":[{"id":"i","type":"function_call","name":"f","arguments":"{}"}]}}`,
	`{"type":"response.output_audio.delta","response_id":"r","item_id":"i","delta":"AAECAw=="}`,
	`{"type":"response.audio.delta","response_id":"r","item_id":"i","delta":"%%"}`,
	`{"type":"error","error":{"type":"invalid_request_error","code":null,"message":"no","param":null,"event_id":"e"}}`,
	`{"type":"error","error":"no"}`, `{"type":"error","error":{"code":429}}`,
	`{"type":"conversation.item.created","item":{"id":"i","type":"message","role":"user","content":[{"type":"input_audio","transcript":null}]}}`,
	`{"type":"rate_limits.updated","rate_limits":[{"name":"tokens","limit":1,"remaining":0,"reset_seconds":0.5}]}`,
	`{"type":"input_audio_buffer.speech_started","audio_start_ms":12,"item_id":"u"}`,
	`{"type":"input_audio_buffer.dtmf_event_received","event":"9","received_at":1}`,
	`{}`, `[]`, `null`, `{"type":1}`, "\xff", `{"type":"response.done","response":[]}`, `{"type":"session.created","session":"x"}`,
}

// FuzzReceive checks that any input yields an event with a type, or an error.
func FuzzReceive(f *testing.F) {
	for _, s := range received {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Receive(b)
		if (err == nil) != (r.Type != "") && r.Type != (AudioDelta{}).EventType() {
			t.Errorf("%q: type %q, error %v", b, r.Type, err)
		}
		if r.ExpiresAt < 0 {
			t.Errorf("%q: the session ends at %d", b, r.ExpiresAt)
		}
	})
}

// TestReceive checks that a client reads what servers write, in both dialects.
func TestReceive(t *testing.T) {
	place := Place{ResponseID: "r", ItemID: "i"}
	failed := Response{ID: "r", ConversationID: "c", Status: "failed", Details: &StatusDetails{Type: "failed", Error: &ResponseError{Code: "c", Message: "m"}}, Metadata: json.RawMessage(`{"k":"v"}`)}
	for _, c := range []struct {
		event Event
		want  Received
	}{
		{SessionEvent{Name: "created", Session: Session{Type: TypeRealtime, ID: "s", ExpiresAt: 7}}, Received{Type: "session.created", SessionID: "s", ExpiresAt: 7}},
		{SpeechStarted{AudioStartMS: 3, ItemID: "u"}, Received{Type: "input_audio_buffer.speech_started", AudioStartMS: 3, ItemID: "u"}},
		{SpeechStopped{AudioEndMS: 4, ItemID: "u"}, Received{Type: "input_audio_buffer.speech_stopped", AudioEndMS: 4, ItemID: "u"}},
		{AudioDelta{Place: place, Delta: []byte{1, 2}}, Received{Type: "response.output_audio.delta", ResponseID: "r", ItemID: "i", Audio: []byte{1, 2}}},
		{WordsDelta{Audio: true, Place: place, Delta: "hi"}, Received{Type: "response.output_audio_transcript.delta", ResponseID: "r", ItemID: "i", Words: "hi"}},
		{WordsDone{Place: place, Words: "hi"}, Received{Type: "response.output_text.done", ResponseID: "r", ItemID: "i", Words: "hi"}},
		{TranscriptionCompleted{ItemID: "u", Transcript: "hi"}, Received{Type: "conversation.item.input_audio_transcription.completed", ItemID: "u", Words: "hi"}},
		{ArgumentsDone{ResponseID: "r", ItemID: "i", CallID: "c", Name: "f", Arguments: "{}"}, Received{Type: "response.function_call_arguments.done", ResponseID: "r", ItemID: "i", CallID: "c", Words: "{}"}},
		{
			OutputItem{Name: "done", ResponseID: "r", Item: Item{ID: "i", Type: FunctionCall, Status: Completed, CallID: "c", Name: "f", Arguments: "{}"}},
			Received{Type: "response.output_item.done", ResponseID: "r", Item: ReceivedItem{ID: "i", Type: FunctionCall, Status: Completed, CallID: "c", Name: "f", Arguments: "{}"}},
		},
		{
			ResponseEvent{Name: "done", Response: failed},
			Received{Type: "response.done", Response: ReceivedResponse{ID: "r", Status: "failed", Error: Error{Code: "c", Message: "m"}, Metadata: map[string]string{"k": "v"}}},
		},
		{ResponseEvent{Name: "created", Response: Response{ID: "r", Status: "in_progress"}}, Received{Type: "response.created", Response: ReceivedResponse{ID: "r", Status: "in_progress", Aside: true}}},
		{ErrorEvent{Error: Error{Type: "t", Code: "c", Message: "m", EventID: "x"}}, Received{Type: "error", Error: Error{Type: "t", Code: "c", Message: "m", EventID: "x"}}},
	} {
		c.want.EventID = "e"
		general, err1 := Marshal("e", c.event)
		beta, err2 := MarshalBeta("e", c.event)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		for _, b := range [][]byte{general, beta} {
			got, err := Receive(b)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s:\n got %+v, error %v\nwant %+v", b, got, err, c.want)
			}
		}
	}
}

// TestMarshalClient checks that a server reads what the client writes, in both dialects.
func TestMarshalClient(t *testing.T) {
	text, say := "words", "say it"
	previous := "p"
	call := Item{ID: "c1", Type: FunctionCallOutput, Status: Completed, CallID: "c", Output: "1"}
	said := Item{ID: "m1", Type: Message, Status: Completed, Role: "assistant", Content: []Content{{Type: OutputText, Text: text}}}
	asked := Item{ID: "m2", Type: Message, Status: Completed, Role: "user", Content: []Content{{Type: InputText, Text: text}}}
	for _, e := range []ClientEvent{
		{Type: AudioAppend, Audio: []byte{1, 2, 3, 4}},
		{Type: AudioCommit},
		{Type: AudioClear},
		{Type: ItemCreate, Item: call},
		{Type: ItemCreate, Item: said, PreviousItemID: &previous},
		{Type: ItemCreate, Item: asked},
		{Type: ItemDelete, ItemID: "m1"},
		{Type: ItemTruncate, ItemID: "m1", AudioEndMS: 40},
		{Type: ResponseCancel, ResponseID: "r"},
		{Type: ResponseCancel},
		{Type: ResponseCreate},
		{Type: ResponseCreate, Response: CreateParams{
			OutOfBand: true, OutputModalities: []string{"audio"}, Instructions: &say, Metadata: json.RawMessage(`{"k":"v"}`),
			ToolChoice: &ToolChoice{Mode: "none"}, Input: []Item{asked}, InputSet: true,
		}},
	} {
		e.EventID = "e"
		for _, beta := range []bool{false, true} {
			b, err := MarshalClient(e, beta)
			if err != nil {
				t.Fatal(err)
			}
			if beta {
				b = FromBeta(b)
			}
			got, bad := Parse(b)
			if bad != nil || !reflect.DeepEqual(got, e) {
				t.Errorf("%s (beta %v):\n got %+v, error %v\nwant %+v", b, beta, got, bad, e)
			}
		}
	}
	if _, err := MarshalClient(ClientEvent{Type: "other"}, false); err == nil {
		t.Error("an unknown type is encoded")
	}
}

// TestMarshalUpdate checks that a server applies the configuration that a client sends, in
// both dialects.
func TestMarshalUpdate(t *testing.T) {
	p := SessionParams{
		Instructions: "be kind", Voice: "marin", Format: Format{Type: PCMU}, NoiseReduction: "far_field",
		Tools:         []Tool{{Type: "function", Name: "f", Parameters: json.RawMessage(`{"type":"object"}`)}},
		TurnDetection: &TurnDetection{Type: ServerVAD, Threshold: 0.4, PrefixPaddingMS: 200, SilenceDurationMS: 300},
		Transcription: &Transcription{Model: "whisper-1", Language: "en"}, MaxTokens: 50,
	}
	for _, beta := range []bool{false, true} {
		b := MarshalUpdate("e", p, beta)
		if beta {
			if bytes.Contains(b, []byte(`"audio":{`)) {
				t.Errorf("the beta dialect is flat: %s", b)
			}
			b = FromBeta(b)
		}
		e, bad := Parse(b)
		if bad != nil {
			t.Fatal(bad)
		}
		s, refused, bad := NewSession(TypeRealtime).Update(e.Session, UpdateOptions{Opening: true})
		if bad != nil || len(refused) > 0 {
			t.Fatalf("beta %v: %v %v", beta, refused, bad)
		}
		if s.Instructions != p.Instructions || s.Output.Voice != p.Voice || s.Input.Format != p.Format || s.Output.Format != p.Format ||
			len(s.Tools) != 1 || s.MaxOutputTokens != 50 || s.Input.Transcription.Model != "whisper-1" || s.Input.NoiseReduction.Type != "far_field" {
			t.Errorf("beta %v: %s", beta, must(s))
		}
		if d := s.Input.TurnDetection; d == nil || *d != *p.TurnDetection {
			t.Errorf("beta %v: turn detection %+v", beta, d)
		}
		p := p
		p.TurnDetection = nil
		if b = MarshalUpdate("e", p, beta); beta {
			b = FromBeta(b)
		}
		if e, bad = Parse(b); bad != nil {
			t.Fatal(bad)
		}
		if s, _, bad = s.Update(e.Session, UpdateOptions{}); bad != nil || s.Input.TurnDetection != nil {
			t.Errorf("beta %v: without turn detection: %+v, error %v", beta, s.Input.TurnDetection, bad)
		}
	}
}
