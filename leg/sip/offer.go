package sip

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/internal/wire/sdp"
)

// This file decides what an offer and its answer agree on (RFC 3264).

// errUnsuited says that a description is valid and has nothing that this program can do.
var errUnsuited = errors.New("no stream of sound in a form that both sides have")

// agreement is what both sides of a stream have agreed on.
type agreement struct {
	stream  int            // its place among the streams of the description
	formats []agreed       // of sound; the first one is sent
	keys    []sdp.Format   // of keys
	remote  netip.AddrPort // where the other side receives; invalid if it does not say
	held    bool           // the other side does not want to hear
	deaf    bool           // the other side sends nothing
	mine    *srtpKey       // of what is sent; nil if it is not encrypted
	theirs  *srtpKey       // of what arrives; nil if it is not encrypted
	crypto  int            // tag of the key that was chosen
	proto   string
}

// agreed is a codec with its payload type.
type agreed struct {
	kind  uint8
	codec *codec
}

// agree finds the first stream of sound in a description that can be used.
func agree(s *sdp.Session, allowed []*codec, secure bool) (agreement, error) {
	for i, m := range s.Media {
		if m.Kind != "audio" || m.Proto != protoPlain && m.Proto != protoSecure {
			continue
		}
		a := agreement{stream: i, held: m.Held(), deaf: m.Direction == sdp.RecvOnly || m.Direction == sdp.Inactive, proto: m.Proto}
		for _, f := range m.Formats {
			if c := codecOf(allowed, f); c != nil {
				a.formats = append(a.formats, agreed{uint8(f.Type), c})
			} else if strings.EqualFold(f.Name, keyEvents) {
				a.keys = append(a.keys, f)
			}
		}
		if len(a.formats) == 0 {
			continue
		}
		if m.Addr.IsValid() && !m.Addr.IsUnspecified() && m.Port > 0 {
			a.remote = netip.AddrPortFrom(m.Addr, uint16(m.Port))
		}
		if m.Proto == protoSecure {
			if !secure {
				continue
			}
			tag, key, ok := chooseKey(m.Crypto)
			if !ok {
				continue
			}
			a.crypto, a.theirs = tag, key
		}
		return a, nil
	}
	return agreement{}, errUnsuited
}

// The protocols of streams.
const (
	protoPlain  = "RTP/AVP"
	protoSecure = "RTP/SAVP"
)

// direction returns the direction of an answer to a stream.
func (a *agreement) direction() sdp.Direction {
	switch {
	case a.held && a.deaf:
		return sdp.Inactive
	case a.held:
		return sdp.RecvOnly // also for the address 0.0.0.0: nothing is sent there
	case a.deaf:
		return sdp.SendOnly
	default:
		return sdp.SendRecv
	}
}

// keyFormat returns the format in which keys are sent beside a codec: that with the codec's clock, or
// the first. ok is false if the other side takes none.
func (a *agreement) keyFormat(c *codec) (f sdp.Format, ok bool) {
	if i := slices.IndexFunc(a.keys, func(f sdp.Format) bool { return f.Clock == c.clock }); i >= 0 {
		return a.keys[i], true
	}
	if len(a.keys) > 0 {
		return a.keys[0], true
	}
	return sdp.Format{}, false
}

// answer returns the description that answers an offer. All its other streams are refused.
func (a *agreement) answer(offer *sdp.Session, local netip.AddrPort) []sdp.Media {
	all := make([]sdp.Media, len(offer.Media))
	for i, m := range offer.Media {
		all[i] = sdp.Media{Kind: m.Kind, Proto: m.Proto}
		if len(m.Formats) > 0 {
			all[i].Formats = []sdp.Format{{Type: m.Formats[0].Type}}
		}
	}
	one := a.formats[0]
	f := one.codec.format()
	f.Type = int(one.kind)
	m := sdp.Media{
		Kind: "audio", Port: int(local.Port()), Proto: a.proto, Addr: local.Addr(), Direction: a.direction(), Ptime: 20, Formats: []sdp.Format{f},
	}
	if k, ok := a.keyFormat(one.codec); ok {
		k.Params = keyParams
		m.Formats = append(m.Formats, k)
	}
	if a.mine != nil {
		m.Crypto = []string{a.mine.line(a.crypto)}
	}
	all[a.stream] = m
	return all
}

// offer returns the stream of an offer.
func offer(allowed []*codec, local netip.AddrPort, d sdp.Direction, key *srtpKey) sdp.Media {
	m := sdp.Media{Kind: "audio", Port: int(local.Port()), Proto: protoPlain, Addr: local.Addr(), Direction: d, Ptime: 20}
	if key != nil {
		m.Proto, m.Crypto = protoSecure, []string{key.line(1)}
	}
	clocks := []int{}
	for _, c := range allowed {
		m.Formats = append(m.Formats, c.format())
		if !slices.Contains(clocks, c.clock) {
			clocks = append(clocks, c.clock)
		}
	}
	slices.Sort(clocks)
	for i, clock := range clocks {
		m.Formats = append(m.Formats, sdp.Format{Type: keyKind + i, Name: keyEvents, Clock: clock, Params: keyParams})
	}
	return m
}

// parseSDP reads the body of a message.
func parseSDP(contentType string, body []byte) (*sdp.Session, error) {
	if kind, _, _ := strings.Cut(contentType, ";"); !strings.EqualFold(strings.TrimSpace(kind), typeSDP) {
		return nil, fmt.Errorf("the body is %q: expected %s", contentType, typeSDP)
	}
	s, err := sdp.Parse(body)
	return &s, err
}

const typeSDP = "application/sdp"
