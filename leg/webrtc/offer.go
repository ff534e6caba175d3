package webrtc

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pion/sdp/v3"
)

// What an offer may hold.
const (
	maxOffer      = 64 << 10 // bytes
	maxLines      = 2000
	maxCandidates = 64 // each is an address that this server will send to
)

// ErrOffer is among the causes of an error about an offer: the client's fault.
var ErrOffer = errors.New("offer")

func badOffer(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrOffer, fmt.Sprintf(format, args...))
}

// checkOffer says why an offer cannot be answered.
func checkOffer(offer string) error {
	switch {
	case offer == "":
		return badOffer("it is empty, expected a session description")
	case len(offer) > maxOffer:
		return badOffer("it has %d bytes, expected at most %d", len(offer), maxOffer)
	case strings.Count(offer, "\n") > maxLines:
		return badOffer("it has more than %d lines", maxLines)
	}
	var d sdp.SessionDescription
	if err := d.UnmarshalString(offer); err != nil {
		return badOffer("malformed session description: %v", err)
	}
	audio, messages, candidates := 0, 0, 0
	for i, m := range d.MediaDescriptions {
		kind := m.MediaName.Media
		switch kind {
		case "audio":
			audio++
			if err := checkAudio(&d, m); err != nil {
				return err
			}
		case "application":
			messages++
		default:
			return badOffer("media line %d is %q, expected audio and at most one data channel", i+1, kind)
		}
		for _, a := range m.Attributes {
			if a.Key == "candidate" {
				candidates++
			}
		}
	}
	switch {
	case audio == 0:
		return badOffer("it has no audio, expected one audio line")
	case audio > 1:
		return badOffer("it has %d audio lines, expected one", audio)
	case messages > 1:
		return badOffer("it has %d lines for data channels, expected at most one", messages)
	case candidates > maxCandidates:
		return badOffer("it has %d candidates, expected at most %d", candidates, maxCandidates)
	}
	return nil
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
