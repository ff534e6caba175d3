package sdp

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

const (
	maxLength  = 16 << 10 // bytes of a description
	maxMedia   = 16       // streams of a description
	maxFormats = 64       // formats of a stream
)

// Direction says who sends in a stream, from the view of who describes it.
type Direction string

// The directions (RFC 8866, section 6.7). A stream without one has [SendRecv].
const (
	SendRecv Direction = "sendrecv"
	SendOnly Direction = "sendonly"
	RecvOnly Direction = "recvonly"
	Inactive Direction = "inactive"
)

// Session is the description of a session.
type Session struct {
	ID, Version uint64 // of the session; only written
	// Addr is the address that the line o= has; only written.
	Addr  netip.Addr
	Media []Media
}

// Media describes a stream.
type Media struct {
	Kind  string // such as audio
	Port  int    // 0: the stream is refused or ended
	Proto string // such as RTP/AVP
	// Addr is where the stream is received: the stream's own address, or that of the session. It
	// is invalid if it is not the address of an IP host, as a name is not.
	Addr      netip.Addr
	Direction Direction // of the stream, or of the session
	Formats   []Format  // in order of preference
	Ptime     int       // milliseconds of a packet; 0 if not said
	Crypto    []string  // values of the attributes crypto (RFC 4568)
}

// Format is a payload type of a stream.
type Format struct {
	Type     int    // payload type of RTP, 0 to 127
	Name     string // such as PCMU; empty if not said, as for the types of RFC 3551
	Clock    int    // in hertz; 0 if not said
	Channels int    // 0 if not said
	Params   string // the attribute fmtp
}

// Parse reads a description.
func Parse(b []byte) (Session, error) {
	var s Session
	if len(b) > maxLength {
		return s, fmt.Errorf("sdp: %d bytes: expected at most %d", len(b), maxLength)
	}
	if !bytes.HasPrefix(b, []byte("v=0")) {
		return s, errors.New("sdp: the first line is not v=0")
	}
	r := reader{direction: SendRecv}
	for n := 1; len(b) > 0; n++ {
		var line []byte
		line, b, _ = bytes.Cut(b, []byte("\n"))
		text := strings.TrimSpace(string(line))
		if text == "" {
			continue
		}
		if len(text) < 2 || text[1] != '=' {
			return s, fmt.Errorf("sdp: line %d: expected a letter and =", n)
		}
		if err := r.line(text[0], strings.TrimSpace(text[2:])); err != nil {
			return s, fmt.Errorf("sdp: line %d: %w", n, err)
		}
	}
	for i := range r.media {
		m := &r.media[i]
		if !r.placed[i] {
			m.Addr = r.addr
		}
		if m.Direction == "" {
			m.Direction = r.direction
		}
	}
	s.Media = r.media
	return s, nil
}

// reader is what the lines so far have said.
type reader struct {
	addr      netip.Addr // of the session
	direction Direction  // of the session
	media     []Media
	placed    []bool // the stream has a line c= of its own
}

func (r *reader) line(kind byte, value string) error {
	switch kind {
	case 'c':
		if len(r.media) == 0 {
			r.addr = address(value)
			return nil
		}
		r.media[len(r.media)-1].Addr = address(value)
		r.placed[len(r.media)-1] = true
		return nil
	case 'm':
		return r.stream(value)
	case 'a':
		return r.attribute(value)
	default:
		return nil
	}
}

// address reads the value of a line c=, such as IN IP4 192.0.2.1/127.
func address(value string) netip.Addr {
	f := strings.Fields(value)
	if len(f) != 3 {
		return netip.Addr{}
	}
	host, _, _ := strings.Cut(f[2], "/")
	a, err := netip.ParseAddr(host)
	if err != nil || a.Zone() != "" {
		return netip.Addr{}
	}
	return a.Unmap()
}

// stream reads the value of a line m=, such as audio 49170/2 RTP/AVP 0 8.
func (r *reader) stream(value string) error {
	f := strings.Fields(value)
	if len(f) < 3 {
		return errors.New("expected the kind, the port and the protocol of a stream")
	}
	if len(r.media) >= maxMedia {
		return fmt.Errorf("expected at most %d streams", maxMedia)
	}
	number, _, _ := strings.Cut(f[1], "/")
	port, err := strconv.Atoi(number)
	if err != nil || port < 0 || port > 65535 {
		return errors.New("the port is invalid: expected 0 to 65535")
	}
	if len(f)-3 > maxFormats {
		return fmt.Errorf("expected at most %d formats", maxFormats)
	}
	m := Media{Kind: strings.ToLower(f[0]), Port: port, Proto: strings.ToUpper(f[2])}
	if strings.Contains(m.Proto, "RTP/") { // other streams have formats of other kinds
		for _, name := range f[3:] {
			n, err := strconv.Atoi(name)
			if err != nil || n < 0 || n > 127 {
				return errors.New("a format is invalid: expected 0 to 127")
			}
			m.Formats = append(m.Formats, Format{Type: n})
		}
	}
	r.media = append(r.media, m)
	r.placed = append(r.placed, false)
	return nil
}

// attribute reads the value of a line a=.
func (r *reader) attribute(value string) error {
	name, value, _ := strings.Cut(value, ":")
	switch d := Direction(strings.ToLower(name)); d {
	case SendRecv, SendOnly, RecvOnly, Inactive:
		if len(r.media) == 0 {
			r.direction = d
		} else {
			r.media[len(r.media)-1].Direction = d
		}
		return nil
	}
	if len(r.media) == 0 {
		return nil
	}
	m := &r.media[len(r.media)-1]
	switch strings.ToLower(name) {
	case "rtpmap":
		return m.rtpmap(value)
	case "fmtp":
		kind, params, _ := strings.Cut(strings.TrimSpace(value), " ")
		if f := m.format(kind); f != nil {
			f.Params = strings.TrimSpace(params)
		}
	case "ptime":
		ms, err := strconv.ParseFloat(value, 64)
		if err != nil || !(ms > 0 && ms <= 1000) {
			return errors.New("ptime is invalid: expected milliseconds above 0 and up to 1000")
		}
		m.Ptime = int(ms)
	case "crypto":
		m.Crypto = append(m.Crypto, strings.TrimSpace(value))
	}
	return nil
}

// rtpmap reads the value of the attribute rtpmap, such as 101 telephone-event/8000.
func (m *Media) rtpmap(value string) error {
	kind, encoding, _ := strings.Cut(strings.TrimSpace(value), " ")
	f := m.format(kind)
	if f == nil {
		return nil // of a format that the stream does not have
	}
	parts := strings.Split(strings.TrimSpace(encoding), "/")
	if len(parts) < 2 || parts[0] == "" {
		return errors.New("rtpmap is invalid: expected TYPE NAME/CLOCK")
	}
	clock, err := strconv.Atoi(parts[1])
	if err != nil || clock <= 0 || clock > 1<<20 {
		return errors.New("the clock of an rtpmap is invalid")
	}
	f.Name, f.Clock = parts[0], clock
	if len(parts) > 2 {
		if f.Channels, err = strconv.Atoi(parts[2]); err != nil || f.Channels < 1 || f.Channels > 255 {
			return errors.New("the channels of an rtpmap are invalid")
		}
	}
	return nil
}

// format returns the format of a payload type, or nil.
func (m *Media) format(kind string) *Format {
	n, err := strconv.Atoi(kind)
	if err != nil {
		return nil
	}
	if i := slices.IndexFunc(m.Formats, func(f Format) bool { return f.Type == n }); i >= 0 {
		return &m.Formats[i]
	}
	return nil
}

// Held reports whether who has sent the description does not want to hear, in one of the two
// spellings: by the direction, or by the address 0.0.0.0 (RFC 3264, section 8.4).
func (m *Media) Held() bool {
	return m.Direction == SendOnly || m.Direction == Inactive || m.Addr.IsValid() && m.Addr.IsUnspecified() || m.Port == 0
}

// Append appends the description to dst, with CRLF at the end of each line. The session and each
// stream that is not refused must have a valid address.
func (s *Session) Append(dst []byte) []byte {
	dst = fmt.Appendf(dst, "v=0\r\no=- %d %d IN %s\r\ns=-\r\nc=IN %s\r\nt=0 0\r\n", s.ID, s.Version, host(s.Addr), host(s.Addr))
	for _, m := range s.Media {
		dst = m.append(dst, s.Addr)
	}
	return dst
}

func (m *Media) append(dst []byte, session netip.Addr) []byte {
	dst = fmt.Appendf(dst, "m=%s %d %s", m.Kind, m.Port, m.Proto)
	for _, f := range m.Formats {
		dst = fmt.Appendf(dst, " %d", f.Type)
	}
	if len(m.Formats) == 0 {
		dst = append(dst, " 0"...) // the grammar requires a format
	}
	dst = append(dst, "\r\n"...)
	if m.Port == 0 {
		return dst
	}
	if m.Addr.IsValid() && m.Addr != session {
		dst = fmt.Appendf(dst, "c=IN %s\r\n", host(m.Addr))
	}
	for _, f := range m.Formats {
		if f.Name != "" {
			dst = fmt.Appendf(dst, "a=rtpmap:%d %s/%d", f.Type, f.Name, f.Clock)
			if f.Channels > 1 {
				dst = fmt.Appendf(dst, "/%d", f.Channels)
			}
			dst = append(dst, "\r\n"...)
		}
		if f.Params != "" {
			dst = fmt.Appendf(dst, "a=fmtp:%d %s\r\n", f.Type, f.Params)
		}
	}
	for _, c := range m.Crypto {
		dst = fmt.Appendf(dst, "a=crypto:%s\r\n", c)
	}
	if m.Ptime > 0 {
		dst = fmt.Appendf(dst, "a=ptime:%d\r\n", m.Ptime)
	}
	return fmt.Appendf(dst, "a=%s\r\n", m.Direction)
}

// host returns the kind of an address and the address.
func host(a netip.Addr) string {
	if a.Is6() {
		return "IP6 " + a.String()
	}
	return "IP4 " + a.String()
}
