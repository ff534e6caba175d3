package sip

import (
	"strings"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"
)

// invite returns an INVITE with lines.
func invite(t *testing.T, lines ...string) *sip.Request {
	t.Helper()
	text := "INVITE sip:a@192.0.2.1 SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.2;branch=z9hG4bK1\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:a@b>\r\nCall-ID: 1\r\nCSeq: 1 INVITE\r\n" +
		strings.Join(lines, "\r\n") + "\r\n\r\n"
	m, err := sip.ParseMessage([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m.(*sip.Request)
}

// TestSessionTimer holds the timers that an INVITE asks for against RFC 4028, section 9.
func TestSessionTimer(t *testing.T) {
	for name, c := range map[string]struct {
		lines    []string
		status   int
		interval time.Duration
		ours     bool
		answer   string
		required bool
	}{
		"none":                       {[]string{"Supported: timer"}, 0, 0, false, "", false},
		"the caller refreshes":       {[]string{"Supported: timer", "Session-Expires: 1800;refresher=uac"}, 0, 1800 * time.Second, false, "1800;refresher=uac", true},
		"nobody is named":            {[]string{"k: timer, replaces", "x: 1800"}, 0, 1800 * time.Second, false, "1800;refresher=uac", true},
		"we refresh":                 {[]string{"Supported: timer", "Session-Expires: 600 ; Refresher = UAS"}, 0, 600 * time.Second, true, "600;refresher=uas", false},
		"the caller knows no timers": {[]string{"Session-Expires: 600"}, 0, 600 * time.Second, true, "600;refresher=uas", false},
		"too short":                  {[]string{"Supported: timer", "Session-Expires: 89"}, 422, 0, false, "", false},
		"too short, of a proxy":      {[]string{"Session-Expires: 60"}, 0, 90 * time.Second, true, "90;refresher=uas", false},
		"no number":                  {[]string{"Supported: timer", "Session-Expires: x"}, 400, 0, false, "", false},
		"too long":                   {[]string{"Session-Expires: 99999999999"}, 400, 0, false, "", false},
	} {
		req := invite(t, c.lines...)
		timer, res := newTimer(req)
		if c.status != 0 {
			if res == nil || res.StatusCode != c.status {
				t.Errorf("%s: %v", name, res)
			}
			continue
		}
		if res != nil || timer.interval != c.interval || timer.ours != c.ours {
			t.Errorf("%s: %+v, %v", name, timer, res)
			continue
		}
		answer := respond(req, 200)
		timer.tell(req, answer)
		if got := headerOf(answer, "Session-Expires", ""); got != c.answer || (headerOf(answer, "Require", "") == "timer") != c.required {
			t.Errorf("%s: the answer is\n%s", name, answer)
		}
	}
}

// TestExpiry: who refreshes does so after half of the time, and the call ends before all of it has passed.
func TestExpiry(t *testing.T) {
	at := time.Unix(1000, 0)
	theirs := sessionTimer{interval: 90 * time.Second, at: at}
	if got := theirs.next(); !got.Equal(at.Add(60*time.Second)) || theirs.due(got) || theirs.expired(got.Add(-1)) || !theirs.expired(got) {
		t.Errorf("a call of 90 s ends after %v", got.Sub(at))
	}
	ours := sessionTimer{interval: 1800 * time.Second, ours: true, at: at}
	if got := ours.next(); !got.Equal(at.Add(900*time.Second)) || !ours.due(got) || ours.expired(got) {
		t.Errorf("a call of half an hour is refreshed after %v", got.Sub(at))
	}
	ours.retry = at.Add(910 * time.Second)
	if got := ours.next(); !got.Equal(ours.retry) || ours.due(at.Add(905*time.Second)) {
		t.Errorf("a refresh that has failed is tried again after %v", got.Sub(at))
	}
	if end := ours.end(); !end.Equal(at.Add(1768 * time.Second)) {
		t.Errorf("a call of half an hour ends after %v", end.Sub(at))
	}
	var none sessionTimer
	if !none.next().IsZero() || none.due(at) || none.expired(at) {
		t.Error("a call without a timer ends")
	}
}

// TestRefresh: a call is refreshed by UPDATE if the other side takes it, and by INVITE otherwise; a call
// that does not exist there is over.
func TestRefresh(t *testing.T) {
	r := newRig(t, Options{})
	p := r.phone(t)
	p.send("INVITE", p.offer(), "Allow: INVITE, ACK, UPDATE", "Supported: timer", "Session-Expires: 120;refresher=uas")
	res := p.accept()
	if got := headerOf(res, "Session-Expires", ""); got != "120;refresher=uas" {
		t.Errorf("the answer has %q", got)
	}
	p.send("ACK", "")
	r.next(t)
	c := r.only(t)
	goesOn := make(chan bool)
	go func() { goesOn <- c.refresh(time.Now()) }()
	if req := p.request("UPDATE", 200); headerOf(req, "Session-Expires", "") != "120;refresher=uac" || len(req.Body()) != 0 {
		t.Errorf("the refresh is\n%s", req)
	}
	if !<-goesOn {
		t.Error("the call is over")
	}
	c.mu.Lock()
	c.updates = false
	c.mu.Unlock()
	go func() { goesOn <- c.refresh(time.Now()) }()
	req := p.request("INVITE", 0)
	answer := sip.NewSDPResponseFromRequest(req, []byte(p.offer()))
	contact := sip.ContactHeader{Address: sip.Uri{Scheme: "sip", Host: "127.0.0.1", Port: int(p.at(p.conn).Port())}}
	answer.AppendHeader(&contact)
	p.raw(answer.String())
	p.request("ACK", 0)
	p.raw(answer.String()) // the ACK was lost
	p.request("ACK", 0)
	if !<-goesOn {
		t.Error("the call is over")
	}
	go func() { goesOn <- c.refresh(time.Now()) }()
	p.request("INVITE", 481)
	if <-goesOn {
		t.Error("the call goes on")
	}
}

// only returns the only call of a server.
func (r *rig) only(t *testing.T) *call {
	t.Helper()
	r.Server.mu.Lock()
	defer r.Server.mu.Unlock()
	if len(r.Server.calls) != 1 {
		t.Fatalf("there are %d calls", len(r.Server.calls))
	}
	for _, c := range r.Server.calls {
		return c
	}
	return nil
}
