package sip

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"

	"github.com/emiago/sipgo/sip"

	"github.com/hocketvoice/hocket/internal/wire/sdp"
)

// This file decides which calls are answered, and with what the others are refused.

// statusOf returns the answer to a call that is not admitted.
func statusOf(err error) int {
	switch {
	case errors.Is(err, ErrBusy), errors.Is(err, errPorts):
		return sip.StatusBusyHere
	case errors.Is(err, ErrUnknown):
		return sip.StatusNotFound
	case errors.Is(err, errMerged):
		return sip.StatusLoopDetected
	case errors.Is(err, ErrClosed):
		return sip.StatusServiceUnavailable
	default:
		return sip.StatusTemporarilyUnavailable
	}
}

// unsuited returns the answer to a new INVITE that requires what there is not, or nil.
func (s *Server) unsuited(req *sip.Request) *sip.Response {
	var missing []string
	for name := range strings.SplitSeq(headerOf(req, "Require", ""), ",") {
		if name = strings.TrimSpace(name); name != "" && !strings.EqualFold(name, "timer") {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		res := respond(req, sip.StatusBadExtension)
		res.AppendHeader(sip.NewHeader("Unsupported", strings.Join(missing, ", ")))
		return res
	}
	if e := headerOf(req, "Content-Encoding", "e"); e != "" && !strings.EqualFold(e, "identity") {
		return respond(req, sip.StatusUnsupportedMediaType)
	}
	if req.Contact() == nil || req.Contact().Address.Host == "" {
		return respond(req, sip.StatusBadRequest)
	}
	return nil
}

// read reads the offer of an INVITE or UPDATE. Without one offered is nil: the offer is then ours.
func (s *Server) read(req *sip.Request) (offered *sdp.Session, a agreement, err error) {
	if len(req.Body()) == 0 {
		return nil, agreement{}, nil
	}
	if offered, err = parseSDP(headerOf(req, "Content-Type", "c"), req.Body()); err != nil {
		return nil, agreement{}, err
	}
	a, err = agree(offered, s.codecs, s.o.Encrypt != EncryptNever)
	if err == nil && a.theirs == nil && s.o.Encrypt == EncryptAlways {
		err = errUnsuited
	}
	return offered, a, err
}

// refuse returns the answer to an offer that cannot be taken.
func refuse(req *sip.Request, err error) *sip.Response {
	kind, _, _ := strings.Cut(headerOf(req, "Content-Type", "c"), ";")
	switch {
	case errors.Is(err, errUnsuited):
		res := respond(req, sip.StatusNotAcceptableHere)
		res.AppendHeader(sip.NewHeader("Warning", `305 `+userAgent+` "`+err.Error()+`"`))
		return res
	case !strings.EqualFold(strings.TrimSpace(kind), typeSDP):
		res := respond(req, sip.StatusUnsupportedMediaType)
		res.AppendHeader(sip.NewHeader("Accept", typeSDP))
		return res
	default:
		return respond(req, sip.StatusBadRequest)
	}
}

// incoming describes a new call.
func incoming(req *sip.Request, user string) Incoming {
	from := userPart(&req.From().Address)
	if user == "" { // of a trunk, which vouches for the number
		if h := req.GetHeader("P-Asserted-Identity"); h != nil {
			first, _, _ := strings.Cut(h.Value(), ",")
			var uri sip.Uri
			if sip.ParseUri(inBrackets(first), &uri) == nil && userPart(&uri) != "" {
				from = userPart(&uri)
			}
		}
	}
	source, _ := netip.ParseAddrPort(req.Source())
	return Incoming{Call: req.CallID().Value(), From: from, To: userPart(&req.Recipient), User: user, Source: source}
}

// userPart returns the user part of an address without parameters, such as +15551234567.
func userPart(u *sip.Uri) string {
	user := u.User
	if u.Scheme == "tel" {
		user = u.Raw()
	}
	user, _, _ = strings.Cut(user, ";")
	if plain, err := url.PathUnescape(user); err == nil {
		user = plain
	}
	return user
}
