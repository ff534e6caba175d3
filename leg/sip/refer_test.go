package sip

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/port"
)

// TestTransfer hands a caller over to numbers whose calls end in each way. After a failure the call
// goes on; after a success it is over.
func TestTransfer(t *testing.T) {
	r := newRig(t, Options{})
	p := r.phone(t)
	p.call()
	c := r.next(t)
	for _, tt := range []struct {
		answer string
		want   error
	}{
		{"486 Busy Here", port.ErrLineBusy},
		{"600 Busy Everywhere", port.ErrLineBusy},
		{"480 Temporarily Unavailable", port.ErrNoAnswer},
		{"603 Decline", port.ErrRejected},
		{"404 Not Found", port.ErrUnreachable},
		{"200 OK", nil},
	} {
		result := make(chan error, 1)
		go func() {
			result <- c.leg.Transfer(waittest.Context(t), port.Transfer{To: "+15550100200", Ring: time.Hour})
		}()
		req := p.request(sip.REFER, 202)
		if to := req.GetHeader("Refer-To").Value(); to != "<sip:+15550100200@phone.test>" {
			t.Errorf("the target is %s", to)
		}
		p.send("NOTIFY", "SIP/2.0 180 Ringing\r\n", "Event: refer", "Content-Type: message/sipfrag")
		p.want(200)
		p.send("NOTIFY", "SIP/2.0 "+tt.answer+"\r\n", "Event: refer", "Content-Type: message/sipfrag")
		p.want(200)
		if err := <-result; !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.answer, err, tt.want)
		}
	}
	p.request(sip.BYE, 200)
	if got := r.hangups(t, 1); got[0].Cause != "transferred" {
		t.Errorf("it is over with %+v", got)
	}
}

// TestTransferRingsInVain gives up a target that rings for too long, and an invalid one at once.
func TestTransferRingsInVain(t *testing.T) {
	r := newRig(t, Options{})
	p := r.phone(t)
	p.call()
	c := r.next(t)
	result := make(chan error, 1)
	go func() {
		result <- c.leg.Transfer(waittest.Context(t), port.Transfer{To: "sip:desk@192.0.2.1", Ring: time.Second})
	}()
	p.request(sip.REFER, 202)
	if err := <-result; !errors.Is(err, port.ErrNoAnswer) {
		t.Errorf("a target that rings: %v", err)
	}
	if err := c.leg.Transfer(waittest.Context(t), port.Transfer{To: "nobody"}); err == nil || !strings.Contains(err.Error(), "invalid") {
		t.Errorf("a target that is no address: %v", err)
	}
	if r.Live() != 1 {
		t.Error("the call is over")
	}
}
