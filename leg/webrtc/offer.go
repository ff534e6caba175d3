package webrtc

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pion/sdp/v3"
)

// Limits of an offer.
const (
	maxOffer = 64 << 10 // bytes
	maxLines = 2000
)

// ErrOffer is wrapped by errors about invalid offers.
var ErrOffer = errors.New("offer")

func badOffer(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrOffer, fmt.Sprintf(format, args...))
}

// readOffer returns an offer in the form in which it is answered, or an error if it
// is invalid.
//
// It removes the candidates: the client chooses their addresses, and the server
// would send packets to them, even within its own network. A browser that can reach
// the server reveals its address by its own connectivity checks, from which the
// server learns it as a peer reflexive candidate (RFC 8445, section 7.3.1.3). The
// checks also prove that the browser knows the answer.
func readOffer(offer string) (string, error) {
	switch {
	case offer == "":
		return "", badOffer("empty: expected a session description")
	case len(offer) > maxOffer:
		return "", badOffer("%d bytes: expected at most %d", len(offer), maxOffer)
	case strings.Count(offer, "\n") > maxLines:
		return "", badOffer("more than %d lines", maxLines)
	case strings.Contains(strings.ReplaceAll(offer, "\r\n", "\n"), "\r"):
		return "", badOffer("it has a carriage return within a line") // the library would read it as one thing and write another
	}
	var d sdp.SessionDescription
	if err := d.UnmarshalString(offer); err != nil {
		return "", badOffer("invalid session description: %v", err)
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
			return "", badOffer("media section %d is %q: expected audio and at most one data channel", i+1, kind)
		}
		m.Attributes = slices.DeleteFunc(m.Attributes, sdp.Attribute.IsICECandidate)
	}
	switch {
	case audio == 0:
		return "", badOffer("audio section is missing: expected one")
	case audio > 1:
		return "", badOffer("%d audio sections: expected one", audio)
	case messages > 1:
		return "", badOffer("%d data channel sections: expected at most one", messages)
	}
	d.Attributes = slices.DeleteFunc(d.Attributes, sdp.Attribute.IsICECandidate)
	text, err := d.Marshal()
	if err != nil {
		return "", badOffer("invalid session description: %v", err)
	}
	return string(text), nil
}

// fingerprint returns the fingerprint of an offer's certificate as written in the
// offer.
func fingerprint(offer string) string {
	_, rest, _ := strings.Cut(offer, "a=fingerprint:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.ToLower(strings.TrimSpace(line))
}

// checkAudio returns an error if an audio section cannot be used for a
// conversation.
func checkAudio(d *sdp.SessionDescription, m *sdp.MediaDescription) error {
	if m.MediaName.Port.Value == 0 {
		return badOffer("audio is disabled (port 0)")
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
		return badOffer("audio is inactive: expected sendrecv")
	}
	if !codec {
		return badOffer("audio does not offer opus/48000/2")
	}
	return nil
}
