package sdp

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	pion "github.com/pion/sdp/v3"
)

const offer = "v=0\r\no=alice 1 2 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\n" +
	"m=audio 49170 RTP/AVP 0 8 96\r\na=rtpmap:96 telephone-event/8000\r\na=fmtp:96 0-16\r\na=ptime:20\r\n"

// TestTelephonesThatAreNotStrict: descriptions as telephones send them are read, although they
// break the grammar.
func TestTelephonesThatAreNotStrict(t *testing.T) {
	for name, text := range map[string]string{
		"strict":               offer + "a=sendonly\r\n",
		"no last CRLF":         offer + "a=sendonly",
		"only CR at the end":   offer + "a=sendonly\r",
		"LF alone":             strings.ReplaceAll(offer, "\r", "") + "a=sendonly\n",
		"empty lines":          offer + "a=sendonly\r\n\r\n\r\n",
		"a name with spaces":   strings.Replace(offer, "o=alice", "o=My Phone", 1) + "a=sendonly\r\n",
		"another order":        strings.Replace(offer, "s=-\r\nc=IN IP4 192.0.2.1\r\n", "c=IN IP4 192.0.2.1\r\ns=\r\n", 1) + "a=sendonly\r\n",
		"upper case":           offer + "a=SENDONLY\r\n",
		"of the whole session": strings.Replace(offer, "t=0 0\r\n", "t=0 0\r\na=sendonly\r\n", 1),
		"spaces":               offer + "a=sendonly \r\n",
	} {
		s, err := Parse([]byte(text))
		if err != nil || len(s.Media) != 1 {
			t.Errorf("%s: %v, %+v", name, err, s)
			continue
		}
		want := Media{
			Kind: "audio", Port: 49170, Proto: "RTP/AVP", Addr: netip.MustParseAddr("192.0.2.1"), Direction: SendOnly, Ptime: 20,
			Formats: []Format{{Type: 0}, {Type: 8}, {Type: 96, Name: "telephone-event", Clock: 8000, Params: "0-16"}},
		}
		if !reflect.DeepEqual(s.Media[0], want) {
			t.Errorf("%s: %+v, expected %+v", name, s.Media[0], want)
		}
	}
}

// TestHeld: all spellings of hold are held, and nothing else is.
func TestHeld(t *testing.T) {
	for text, want := range map[string]bool{
		offer:                          false,
		offer + "a=sendrecv":           false,
		offer + "a=recvonly":           false,
		offer + "a=sendonly":           true,
		offer + "a=inactive":           true,
		offer + "c=IN IP4 0.0.0.0\r\n": true,
		strings.Replace(offer, "c=IN IP4 192.0.2.1", "c=IN IP4 0.0.0.0", 1): true,
		strings.Replace(offer, "c=IN IP4 192.0.2.1", "c=IN IP6 ::", 1):      true,
		strings.Replace(offer, "49170", "0", 1):                             true,
		offer + "a=inactive\r\na=sendrecv\r\n":                              false,
	} {
		s, err := Parse([]byte(text))
		if err != nil || len(s.Media) != 1 || s.Media[0].Held() != want {
			t.Errorf("%q: %v, %+v: expected held %v", text, err, s, want)
		}
	}
}

func TestInvalid(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "first line",
		"v=1\r\n":                         "first line",
		"v=0\r\nhello\r\n":                "line 2: expected a letter",
		"v=0\r\nm=audio 1\r\n":            "line 2: expected the kind",
		"v=0\r\nm=audio x RTP/AVP 0\r\n":  "line 2: the port",
		"v=0\r\nm=audio -1 RTP/AVP 0\r\n": "line 2: the port",
		"v=0\r\nm=audio 1 RTP/AVP x\r\n":  "line 2: a format",
		"v=0\r\nm=audio 1 RTP/AVP 96\r\na=rtpmap:96 opus\r\n":         "line 3: rtpmap",
		"v=0\r\nm=audio 1 RTP/AVP 96\r\na=rtpmap:96 opus/0\r\n":       "line 3: the clock",
		"v=0\r\nm=audio 1 RTP/AVP 96\r\na=rtpmap:96 opus/48000/x\r\n": "line 3: the channels",
		"v=0\r\nm=audio 1 RTP/AVP 0\r\na=ptime:NaN\r\n":               "line 3: ptime",
		"v=0\r\n" + strings.Repeat("m=audio 1 RTP/AVP 0\r\n", 20):     "at most 16 streams",
		"v=0\r\nm=audio 1 RTP/AVP" + strings.Repeat(" 0", 70):         "at most 64 formats",
		"v=0\r\n" + strings.Repeat("a=x\r\n", 8000):                   "bytes: expected at most",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, expected %q", text, err, want)
		}
	}
}

// TestAppend: what is written is what is read, by this package and by another one.
func TestAppend(t *testing.T) {
	s := Session{ID: 7, Version: 8, Addr: netip.MustParseAddr("2001:db8::1"), Media: []Media{
		{
			Kind: "audio", Port: 4000, Proto: "RTP/SAVP", Addr: netip.MustParseAddr("192.0.2.7"), Direction: RecvOnly, Ptime: 20,
			Formats: []Format{{Type: 0, Name: "PCMU", Clock: 8000}, {Type: 111, Name: "opus", Clock: 48000, Channels: 2, Params: "useinbandfec=1"}},
			Crypto:  []string{"1 AES_CM_128_HMAC_SHA1_80 inline:abc"},
		},
		{Kind: "video", Proto: "RTP/AVP", Formats: []Format{{Type: 31}}},
	}}
	text := s.Append(nil)
	var other pion.SessionDescription
	if err := other.Unmarshal(text); err != nil || len(other.MediaDescriptions) != 2 {
		t.Errorf("another reader: %v\n%s", err, text)
	}
	got, err := Parse(text)
	if err != nil || len(got.Media) != 2 || !reflect.DeepEqual(got.Media[0], s.Media[0]) || got.Media[1].Port != 0 || got.Media[1].Kind != "video" {
		t.Errorf("%v, %+v of\n%s", err, got, text)
	}
}

// FuzzParse checks that the reader never panics, and that what was read is written and read again
// as the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(offer))
	f.Add([]byte(offer + "a=inactive\r\nm=video 0 RTP/AVP 31\r\na=crypto:1 A inline:x\r\n"))
	f.Add([]byte("v=0\nc=IN IP6 ::\nm=audio 1/2 RTP/AVP 9\na=rtpmap:9 G722/8000/1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Parse(b)
		if err != nil {
			return
		}
		s.Addr = netip.MustParseAddr("192.0.2.1")
		var want []Media
		for _, m := range s.Media {
			if m.Port != 0 && m.Addr.IsValid() && len(m.Formats) > 0 && !strings.ContainsAny(m.Kind+m.Proto, "\r\n\v\f\u0085") {
				want = append(want, m)
			}
		}
		s.Media = want
		again, err := Parse(s.Append(nil))
		if err != nil || len(again.Media) != len(want) {
			t.Fatalf("%v: %d streams of %q, expected %d", err, len(again.Media), s.Append(nil), len(want))
		}
		for i, m := range again.Media {
			if m.Port != want[i].Port || m.Addr != want[i].Addr || m.Direction != want[i].Direction || len(m.Formats) != len(want[i].Formats) {
				t.Errorf("%+v, expected %+v", m, want[i])
			}
		}
	})
}
