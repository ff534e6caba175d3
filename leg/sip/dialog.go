package sip

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	"github.com/emiago/sipgo/sip"
)

// dialog is the pair of ends of a call (RFC 3261, section 12): what a request within the call has.
// Its methods are safe for concurrent use.
type dialog struct {
	callID         string
	localTag       string
	remoteTag      string
	local, remote  sip.FromHeader // with tags
	contact        sip.ContactHeader
	via            via
	source         netip.AddrPort // where the first request came from, or was sent to
	transport      string         // UDP, TCP or TLS
	routes         []string       // in the order in which a request passes them
	mu             sync.Mutex     // guards the fields below
	target         sip.Uri        // where the other side is reached
	sent, received uint32         // highest numbers of requests
	receivedAny    bool
}

// via says from where requests are sent.
type via struct {
	host  string
	port  int
	local sip.Addr // of the UDP socket
}

// errCSeq says that a request has a number that is lower than that of an earlier one.
var errCSeq = errors.New("the CSeq is lower than that of an earlier request")

// newServed returns the dialog that a request of the other side begins. The request must have passed
// [checkRequest].
func newServed(req *sip.Request, contact sip.ContactHeader, v via) (*dialog, error) {
	source, err := netip.ParseAddrPort(req.Source())
	if err != nil {
		return nil, fmt.Errorf("the source of the request: %w", err)
	}
	tag := sip.GenerateTagN(16)
	local := req.To().AsFrom()
	local.Params = sip.NewParams()
	local.Params.Add("tag", tag)
	d := &dialog{
		callID: req.CallID().Value(), localTag: tag, local: local, remote: *fromOf(req.From()), contact: contact, via: v,
		source: netip.AddrPortFrom(source.Addr().Unmap(), source.Port()), transport: req.Transport(), target: *req.Contact().Address.Clone(),
		sent: 1, received: req.CSeq().SeqNo, receivedAny: true,
	}
	d.remoteTag, _ = d.remote.Params.Get("tag")
	for _, h := range req.GetHeaders("Record-Route") {
		d.routes = append(d.routes, h.Value())
	}
	return d, nil
}

func fromOf(h *sip.FromHeader) *sip.FromHeader {
	to := h.AsTo()
	from := to.AsFrom()
	return &from
}

// key is the name of the dialog among those of a server.
func (d *dialog) key() string { return dialogKey(d.callID, d.localTag, d.remoteTag) }

func dialogKey(callID, local, remote string) string {
	return callID + "\x00" + local + "\x00" + remote
}

// keyOf returns the key of the dialog to which a request of the other side belongs. ok is false for a
// request outside of a dialog.
func keyOf(req *sip.Request) (key string, ok bool) {
	local, ok := req.To().Params.Get("tag")
	if !ok || local == "" {
		return "", false
	}
	remote, _ := req.From().Params.Get("tag")
	return dialogKey(req.CallID().Value(), local, remote), true
}

// take notes the number of a request of the other side and where it wants to be reached from now on.
func (d *dialog) take(req *sip.Request) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := req.CSeq().SeqNo
	if d.receivedAny && n < d.received {
		return errCSeq
	}
	d.received, d.receivedAny = n, true
	if c := req.Contact(); c != nil && (req.Method == sip.INVITE || req.Method == sip.UPDATE) {
		d.target = *c.Address.Clone()
	}
	return nil
}

// refresh notes where the other side wants to be reached, as a response of it says.
func (d *dialog) refresh(res *sip.Response) {
	if c := res.Contact(); c != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.target = *c.Address.Clone()
	}
}

// request returns the next request within the dialog.
func (d *dialog) request(method sip.RequestMethod) *sip.Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent++
	return d.build(method, d.sent)
}

// ack returns the ACK for a successful answer to our INVITE of a number.
func (d *dialog) ack(number uint32) *sip.Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.build(sip.ACK, number)
}

// build requires mu.
func (d *dialog) build(method sip.RequestMethod, number uint32) *sip.Request {
	target, routes := *d.target.Clone(), d.routes
	if len(routes) > 0 && !strings.Contains(routes[0], ";lr") {
		// A strict router takes the place of the target (RFC 3261, section 12.2.1.1).
		routes = append(append([]string(nil), routes[1:]...), "<"+target.String()+">")
		var first sip.Uri
		if sip.ParseUri(inBrackets(d.routes[0]), &first) == nil {
			target = first
		}
	}
	req := sip.NewRequest(method, target)
	d.via.onto(req, d.transport)
	for _, r := range routes {
		req.AppendHeader(sip.NewHeader("Route", r))
	}
	from, to := d.local, d.remote.AsTo()
	callID, most := sip.CallIDHeader(d.callID), sip.MaxForwardsHeader(70)
	req.AppendHeader(&from)
	req.AppendHeader(&to)
	req.AppendHeader(&callID)
	req.AppendHeader(&sip.CSeqHeader{SeqNo: number, MethodName: method})
	req.AppendHeader(&most)
	contact := d.contact
	req.AppendHeader(&contact)
	req.AppendHeader(sip.NewHeader("User-Agent", userAgent))
	req.SetBody(nil)
	req.SetDestination(d.destination())
	return req
}

// destination returns where a request is sent. It requires mu.
//
//	over a connection                   the connection
//	the route begins somewhere          there
//	the target is a host behind a NAT   where the first request came from
//	otherwise                           the target
func (d *dialog) destination() string {
	if d.transport != "UDP" {
		return d.source.String()
	}
	next := d.target
	if len(d.routes) > 0 {
		var u sip.Uri
		if sip.ParseUri(inBrackets(d.routes[0]), &u) == nil {
			next = u
		}
	}
	port := next.Port
	if port == 0 {
		port = 5060
	}
	host := strings.Trim(next.Host, "[]")
	if a, err := netip.ParseAddr(host); err == nil {
		a = a.Unmap()
		if len(d.routes) == 0 && a != d.source.Addr() && (a.IsPrivate() || a.IsLoopback() || a.IsUnspecified() || a.IsLinkLocalUnicast()) {
			return d.source.String()
		}
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

// onto makes a request be sent from here.
func (v via) onto(req *sip.Request, transport string) {
	h := &sip.ViaHeader{ProtocolName: "SIP", ProtocolVersion: "2.0", Transport: transport, Host: v.host, Port: v.port}
	h.Params.Add("branch", sip.GenerateBranchN(16))
	h.Params.Add("rport", "")
	req.PrependHeader(h)
	req.SetTransport(transport)
	if transport == "UDP" {
		req.Laddr = v.local
	}
}

// inBrackets returns the URI of the value of a header such as Route.
func inBrackets(value string) string {
	if _, rest, ok := strings.Cut(value, "<"); ok {
		value, _, _ = strings.Cut(rest, ">")
	}
	return strings.TrimSpace(value)
}

// checkRequest returns an error if a request lacks what all requests have (RFC 3261, section 8.1.1), or
// what it has does not fit together.
func checkRequest(req *sip.Request) error {
	cseq := req.CSeq()
	switch {
	case req.SipVersion != "SIP/2.0":
		return errVersion
	case req.Via() == nil:
		return errors.New("the header Via is missing")
	case req.CallID() == nil || req.CallID().Value() == "":
		return errors.New("the header Call-ID is missing")
	case req.From() == nil:
		return errors.New("the header From is missing")
	case req.To() == nil:
		return errors.New("the header To is missing")
	case cseq == nil:
		return errors.New("the header CSeq is missing")
	case cseq.MethodName != req.Method:
		return errors.New("the header CSeq has another method")
	case len(req.GetHeaders("CSeq")) > 1 || len(req.GetHeaders("Call-ID")) > 1 || len(req.GetHeaders("From")) > 1 || len(req.GetHeaders("To")) > 1:
		return errors.New("a header that must be unique is repeated")
	case req.Recipient.Scheme != "sip" && req.Recipient.Scheme != "sips" && req.Recipient.Scheme != "tel":
		return errScheme
	}
	if tag, ok := req.From().Params.Get("tag"); !ok || tag == "" {
		return errors.New("the header From has no tag")
	}
	return nil
}

var (
	errVersion = errors.New("the version is not SIP/2.0")
	errScheme  = errors.New("the scheme of the request's address is not sip")
)

// userAgent names the program to others.
const userAgent = "hocket"
