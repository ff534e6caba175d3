package webrtc

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pion/sdp/v3"
)

// What an offer may hold.
const (
	maxOffer = 64 << 10 // bytes
	maxLines = 2000
)

// ErrOffer is among the causes of an error about an offer: the client's fault.
var ErrOffer = errors.New("offer")

func badOffer(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrOffer, fmt.Sprintf(format, args...))
}

// readOffer returns an offer as it is answered, or says why it cannot be.
//
// Its candidates are left out: each is an address of the client's choosing, to which
// the server would send whatever lives there, inside the server's own network too. A
// browser that can reach the server shows its address by its own checks, from which it
// is learned as a peer reflexive candidate (RFC 8445, section 7.3.1.3), and which prove
// that whoever is there knows the answer.
func readOffer(offer string) (string, error) {
	switch {
	case offer == "":
		return "", badOffer("it is empty, expected a session description")
	case len(offer) > maxOffer:
		return "", badOffer("it has %d bytes, expected at most %d", len(offer), maxOffer)
	case strings.Count(offer, "\n") > maxLines:
		return "", badOffer("it has more than %d lines", maxLines)
	}
	var d sdp.SessionDescription
	if err := d.UnmarshalString(offer); err != nil {
		return "", badOffer("malformed session description: %v", err)
	}
	audio, messages := 0, 0
	for i, m := range d.MediaDescriptions {
		kind := m.MediaName.Media
		switch kind {
		case "audio":
			audio++
			if err := checkAudio(&d, m); err != nil {
				return "", err
			}
		case "application":
			messages++
		default:
			return "", badOffer("media line %d is %q, expected audio and at most one data channel", i+1, kind)
		}
		m.Attributes = slices.DeleteFunc(m.Attributes, sdp.Attribute.IsICECandidate)
	}
	switch {
	case audio == 0:
		return "", badOffer("it has no audio, expected one audio line")
	case audio > 1:
		return "", badOffer("it has %d audio lines, expected one", audio)
	case messages > 1:
		return "", badOffer("it has %d lines for data channels, expected at most one", messages)
	}
	d.Attributes = slices.DeleteFunc(d.Attributes, sdp.Attribute.IsICECandidate)
	text, err := d.Marshal()
	if err != nil {
		return "", badOffer("malformed session description: %v", err)
	}
	return string(text), nil
}

// fingerprint is that of an offer's certificate, as it is written there.
func fingerprint(offer string) string {
	_, rest, _ := strings.Cut(offer, "a=fingerprint:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.ToLower(strings.TrimSpace(line))
}

// checkAudio says why there can be no conversation over an audio line.
func checkAudio(d *sdp.SessionDescription, m *sdp.MediaDescription) error {
	if m.MediaName.Port.Value == 0 {
		return badOffer("its audio line is switched off (port 0)")
	}
	direction, codec := "sendrecv", false
	for _, attributes := range [][]sdp.Attribute{d.Attributes, m.Attributes} {
		for _, a := range attributes {
			switch a.Key {
			case "sendrecv", "sendonly", "recvonly", "inactive":
				direction = a.Key
			case "rtpmap":
				codec = codec || strings.Contains(strings.ToLower(a.Value), " opus/48000/2")
			}
		}
	}
	if direction == "inactive" {
		return badOffer("its audio is inactive, expected sendrecv")
	}
	if !codec {
		return badOffer("its audio has no opus/48000/2")
	}
	return nil
}
