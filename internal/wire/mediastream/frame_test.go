package mediastream

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// TestDecode decodes frames as the carriers' documentation shows them.
func TestDecode(t *testing.T) {
	mulaw := Format{Encoding: MuLaw, Rate: 8000}
	for name, tc := range map[string]struct {
		dialect *Dialect
		text    string
		want    Frame
	}{
		"twilio connected": {Twilio, `{"event":"connected","protocol":"Call","version":"1.0.0"}`, Frame{Kind: Connected}},
		"twilio start": {
			Twilio, `{"event":"start","sequenceNumber":"1","start":{"accountSid":"AC1","streamSid":"MZ1","callSid":"CA1","tracks":["inbound"],
			"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000,"channels":1},"customParameters":{"FirstName":"Jane"}},"streamSid":"MZ1"}`,
			Frame{Kind: Begin, Start: Start{Stream: "MZ1", Call: "CA1", Account: "AC1", Format: mulaw, Parameters: map[string]string{"FirstName": "Jane"}}},
		},
		"twilio media": {
			Twilio, `{"event":"media","sequenceNumber":"3","media":{"track":"inbound","chunk":"1","timestamp":"5","payload":"/v8="},"streamSid":"MZ1"}`,
			Frame{Kind: Media, Chunk: 1, Payload: []byte{0xfe, 0xff}},
		},
		"an escaped slash": {Twilio, `{"event":"media","media":{"payload":"\/v8="}}`, Frame{Kind: Media, Payload: []byte{0xfe, 0xff}}},
		"the agent's own":  {Telnyx, `{"event":"media","media":{"track":"outbound","chunk":"7","payload":"/v8="}}`, Frame{Kind: Other, Chunk: 7}},
		"twilio dtmf":      {Twilio, `{"event":"dtmf","streamSid":"MZ1","sequenceNumber":"5","dtmf":{"track":"inbound_track","digit":"#"}}`, Frame{Kind: Key, Key: '#'}},
		"twilio mark":      {Twilio, `{"event":"mark","sequenceNumber":"4","streamSid":"MZ1","mark":{"name":"0-800"}}`, Frame{Kind: Mark, Mark: "0-800"}},
		"twilio stop":      {Twilio, `{"event":"stop","sequenceNumber":"5","streamSid":"MZ1","stop":{"accountSid":"AC1","callSid":"CA1"}}`, Frame{Kind: End}},
		"telnyx connected": {Telnyx, `{"event":"connected","version":"1.0.0","x-telnyx-streaming-auth-token":"t"}`, Frame{Kind: Connected, Text: "t"}},
		"telnyx start": {
			Telnyx, `{"event":"start","sequence_number":"1","start":{"user_id":"u","call_control_id":"v2:1","call_session_id":"s","from":"+13122010094","to":"+13122123456",
			"client_state":"aGF2ZQ==","custom_parameters":{"k":"v"},"media_format":{"encoding":"PCMA","sample_rate":8000,"channels":1}},"stream_id":"32DE"}`,
			Frame{Kind: Begin, Start: Start{Stream: "32DE", Call: "v2:1", Account: "u", From: "+13122010094", To: "+13122123456", Format: Format{Encoding: ALaw, Rate: 8000}, Parameters: map[string]string{"k": "v"}}},
		},
		"telnyx in HD": {
			Telnyx, `{"event":"start","stream_id":"1","start":{"media_format":{"encoding":"G722","sample_rate":8000}}}`,
			Frame{Kind: Begin, Start: Start{Stream: "1", Format: Format{Encoding: G722, Rate: 16000}}},
		},
		"telnyx linear": {
			Telnyx, `{"event":"start","stream_id":"1","start":{"media_format":{"encoding":"L16","sample_rate":16000}}}`,
			Frame{Kind: Begin, Start: Start{Stream: "1", Format: Format{Encoding: LinearBE, Rate: 16000}}},
		},
		"telnyx error": {
			Telnyx, `{"event":"error","stream_id":"1","payload":{"code":100003,"title":"malformed_frame","detail":"The frame is malformed."}}`,
			Frame{Kind: Failed, Text: "malformed_frame The frame is malformed."},
		},
		"exotel start": {
			Exotel, `{"event":"start","sequence_number":1,"stream_sid":"st1","start":{"stream_sid":"st1","call_sid":"c1","account_sid":"a1","from":"0123","to":"0456","custom_parameters":{},
			"media_format":{"encoding":"audio/x-raw","sample_rate":"8000","bit_rate":"16"}}}`,
			Frame{Kind: Begin, Start: Start{Stream: "st1", Call: "c1", Account: "a1", From: "0123", To: "0456", Format: Format{Encoding: LinearLE, Rate: 8000}, Parameters: map[string]string{}}},
		},
		"exotel media": {Exotel, `{"event":"media","stream_sid":"st1","media":{"chunk":2,"timestamp":"10","payload":"AAE="}}`, Frame{Kind: Media, Chunk: 2, Payload: []byte{0, 1}}},
		"plivo start": {
			Plivo, `{"sequenceNumber":0,"event":"start","start":{"callId":"c","streamId":"s","accountId":"a","tracks":["inbound"],"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000}},"extra_headers":"{}"}`,
			Frame{Kind: Begin, Start: Start{Stream: "s", Call: "c", Account: "a", Format: mulaw}},
		},
		"plivo played":     {Plivo, `{"event":"playedStream","streamId":"s","name":"0-800"}`, Frame{Kind: Mark, Mark: "0-800"}},
		"plivo cleared":    {Plivo, `{"event":"clearedAudio","streamId":"s"}`, Frame{Kind: Cleared}},
		"vonage connected": {Vonage, `{"event":"websocket:connected","content-type":"audio/l16;rate=8000","caller-id":"x"}`, Frame{Kind: Begin, Start: Start{Format: Format{Encoding: LinearLE, Rate: 8000}}}},
		"vonage dtmf":      {Vonage, `{"event":"websocket:dtmf","digit":"5","duration":260}`, Frame{Kind: Key, Key: '5'}},
		"vonage notify":    {Vonage, `{"event":"websocket:notify","payload":{"mark":"0-800"}}`, Frame{Kind: Mark, Mark: "0-800"}},
		"vonage cleared":   {Vonage, `{"event":"websocket:cleared"}`, Frame{Kind: Cleared}},
		"something new":    {Twilio, `{"event":"weather","temperature":12}`, Frame{}},
	} {
		got, err := NewDecoder(tc.dialect).Decode([]byte(tc.text))
		if err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: got %+v, %v, expected %+v", name, got, err, tc.want)
		}
	}
}

func TestInvalidFrames(t *testing.T) {
	for text, want := range map[string]string{
		``:                             "expected a JSON object",
		`[]`:                           "expected a JSON object",
		`{"event":"media"}`:            "media: expected an object with a payload",
		`{"event":"media","media":[]}`: "media: expected an object with a payload",
		`{"event":"media","media":{}}`: "media: expected an object with a payload",
		`{"event":"media","media":{"payload":"a"}}`:                                                       "media.payload: expected base64",
		`{"event":"media","media":{"payload":"é"}}`:                                                       "media.payload: expected base64",
		`{"event":"dtmf","dtmf":{"digit":"12"}}`:                                                          `dtmf.digit is "12": expected one of 0-9, *, #, A-D`,
		`{"event":"dtmf"}`:                                                                                `dtmf.digit is ""`,
		`{"event":"start","streamSid":1}`:                                                                 "streamSid is a number: expected string",
		`{"event":"start","streamSid":"1","start":{"mediaFormat":{"encoding":"speex"}}}`:                  `the sound is "speex": expected PCMU, PCMA, G722 or L16`,
		`{"event":"start","streamSid":"1","start":{"mediaFormat":{"encoding":"L16","sampleRate":"1e9"}}}`: "linearle/0",
		`{"event":"mark","mark":{"name":1}}`:                                                              "expected string",
	} {
		_, err := NewDecoder(Twilio).Decode([]byte(text))
		if !errors.Is(err, ErrFrame) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, expected %q", text, err, want)
		}
	}
}

// TestEncode checks the frames for each carrier against its documentation.
func TestEncode(t *testing.T) {
	sound := []byte{0xfe, 0xff}
	for name, tc := range map[string]struct {
		dialect            *Dialect
		media, mark, clear string
	}{
		"twilio": {Twilio, `{"event":"media","streamSid":"a\"b","media":{"payload":"/v8="}}`, `{"event":"mark","streamSid":"a\"b","mark":{"name":"0-1"}}`, `{"event":"clear","streamSid":"a\"b"}`},
		"telnyx": {Telnyx, `{"event":"media","media":{"payload":"/v8="}}`, `{"event":"mark","mark":{"name":"0-1"}}`, `{"event":"clear"}`},
		"exotel": {Exotel, `{"event":"media","stream_sid":"a\"b","media":{"payload":"/v8="}}`, `{"event":"mark","stream_sid":"a\"b","mark":{"name":"0-1"}}`, `{"event":"clear","stream_sid":"a\"b"}`},
		"plivo": {
			Plivo, `{"event":"playAudio","streamId":"a\"b","media":{"contentType":"audio/x-mulaw","sampleRate":8000,"payload":"/v8="}}`,
			`{"event":"checkpoint","streamId":"a\"b","name":"0-1"}`, `{"event":"clearAudio","streamId":"a\"b"}`,
		},
		"vonage": {Vonage, "\xfe\xff", `{"action":"notify","payload":{"mark":"0-1"}}`, `{"action":"clear"}`},
	} {
		e := NewEncoder(tc.dialect, `a"b`, Format{Encoding: MuLaw, Rate: 8000})
		for _, pair := range [][2]string{
			{string(e.AppendMedia(nil, sound)), tc.media}, {string(e.AppendMark(nil, []byte("0-1"))), tc.mark}, {string(e.AppendClear(nil)), tc.clear},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%s: got %s, expected %s", name, pair[0], pair[1])
			}
			if name != "vonage" && !json.Valid([]byte(pair[0])) {
				t.Errorf("%s: %s is not JSON", name, pair[0])
			}
		}
	}
}

func TestNoAllocations(t *testing.T) {
	payload := make([]byte, 160)
	text := []byte(`{"event":"media","sequenceNumber":"3","media":{"track":"inbound","chunk":"1","timestamp":"5","payload":"` +
		base64.StdEncoding.EncodeToString(payload) + `"},"streamSid":"MZ1"}`)
	d, e := NewDecoder(Twilio), NewEncoder(Twilio, "MZ1", Format{Encoding: MuLaw, Rate: 8000})
	out := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() {
		f, err := d.Decode(text)
		if err != nil || len(f.Payload) != 160 {
			t.Fatal(err)
		}
		out = e.AppendMedia(out[:0], f.Payload)
	}); n != 0 {
		t.Errorf("%g allocations in a frame, expected none", n)
	}
}

// FuzzDecode checks that decoding never panics, and that of sound it says the same as
// encoding/json.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		`{"event":"connected"}`, `{"event":"start","streamSid":"1","start":{"mediaFormat":{"encoding":"L16","sampleRate":"16000"},"customParameters":{"a":"b"}}}`,
		`{"event":"media","media":{"track":"inbound","chunk":"2","payload":"\/v8="}}`, `{"event":"dtmf","dtmf":{"digit":"1"}}`,
		`{"event":"websocket:connected","content-type":"audio/l16;rate=16000"}`, `{"a":[{"b":"}\""}],"event":"stop"}`, `{`, `{"event":"media","media":{"payload":"`,
	} {
		f.Add([]byte(text), uint8(0))
	}
	dialects := []*Dialect{Twilio, Telnyx, Exotel, Plivo, Vonage}
	f.Fuzz(func(t *testing.T, data []byte, which uint8) {
		got, err := NewDecoder(dialects[int(which)%len(dialects)]).Decode(data)
		var want struct {
			Event string
			Media struct{ Payload string }
		}
		if err != nil || got.Kind != Media || json.Unmarshal(data, &want) != nil || strings.Count(string(data), "edia") != 2 || strings.Count(string(data), "ayload") != 1 {
			return
		}
		if payload, wrong := base64.StdEncoding.DecodeString(want.Media.Payload); wrong == nil && !bytes.Equal(payload, got.Payload) {
			t.Errorf("%q is %x, expected %x", data, got.Payload, payload)
		}
	})
}
