package sip

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/emiago/sipgo/sip"

	"github.com/hocketvoice/hocket/port"
)

// This file hands callers over to others (RFC 3515).

// transfer is a REFER that we have sent. The other side tells how it goes by NOTIFY.
type transfer struct {
	told chan int // final status of the call to the target; has room for one
}

var errNotTold = errors.New("sip: the call is over, and nobody has told how the transfer went")

// transfer sends a REFER and waits for the outcome.
func (c *call) transfer(ctx context.Context, target string) error {
	if strings.HasPrefix(target, "+") {
		target = "sip:" + target + "@" + hostOf(&c.dialog.remote.Address)
	}
	var uri sip.Uri
	if err := sip.ParseUri(target, &uri); err != nil || uri.Scheme != "sip" && uri.Scheme != "sips" && uri.Scheme != "tel" || strings.ContainsAny(target, "<>\"\r\n ") {
		return errors.New("sip: the target of a transfer is invalid: expected an address such as sip:desk@192.0.2.1")
	}
	t := &transfer{told: make(chan int, 1)}
	c.mu.Lock()
	busy := c.passing != nil
	if !busy {
		c.passing = t
	}
	c.mu.Unlock()
	if busy {
		return errors.New("sip: the caller is being handed over already")
	}
	err := c.refer(ctx, t, target)
	c.mu.Lock()
	c.passing = nil
	c.mu.Unlock()
	if err != nil {
		return err
	}
	c.end("transferred", "agent")
	c.leg.closed.happen() // the caller talks to somebody else
	return nil
}

func (c *call) refer(ctx context.Context, t *transfer, target string) error {
	req := c.dialog.request(sip.REFER)
	req.AppendHeader(sip.NewHeader("Refer-To", "<"+target+">"))
	req.AppendHeader(sip.NewHeader("Referred-By", "<"+c.dialog.contact.Address.String()+">"))
	res, err := c.s.do(ctx, req)
	switch {
	case err != nil:
		return fmt.Errorf("sip: %w", err)
	case !res.IsSuccess():
		return fmt.Errorf("sip: %w", errStatus{sip.REFER, res.StatusCode})
	}
	select {
	case code := <-t.told:
		return outcome(code)
	case <-ctx.Done():
		return ctx.Err()
	case <-c.leg.line.Ended():
		select {
		case code := <-t.told:
			return outcome(code)
		default:
			return errNotTold
		}
	}
}

// hostOf returns the host of an address, with its port if it names one.
func hostOf(u *sip.Uri) string {
	if u.Port == 0 {
		return u.Host
	}
	return u.HostPort()
}

// outcome returns the error of the status with which the call to the target was answered.
func outcome(code int) error {
	if code/100 == 2 {
		return nil
	}
	err := errStatus{sip.INVITE, code}
	switch code {
	case sip.StatusBusyHere, sip.StatusGlobalBusyEverywhere:
		return fmt.Errorf("sip: %w: %w", port.ErrLineBusy, err)
	case sip.StatusRequestTimeout, sip.StatusTemporarilyUnavailable, sip.StatusRequestTerminated:
		return fmt.Errorf("sip: %w: %w", port.ErrNoAnswer, err)
	case sip.StatusForbidden, sip.StatusGlobalDecline:
		return fmt.Errorf("sip: %w: %w", port.ErrRejected, err)
	case sip.StatusNotFound, sip.StatusGone, sip.StatusAddressIncomplete, sip.StatusGlobalDoesNotExistAnywhere:
		return fmt.Errorf("sip: %w: %w", port.ErrUnreachable, err)
	}
	return fmt.Errorf("sip: the transfer has failed: %w", err)
}

// onNotify takes how a transfer goes: the first line of an answer, as a body of the type
// message/sipfrag (RFC 3420).
func (c *call) onNotify(req *sip.Request, tx sip.ServerTransaction) {
	event, _, _ := strings.Cut(headerOf(req, "Event", "o"), ";")
	c.mu.Lock()
	t := c.passing
	c.mu.Unlock()
	if t == nil || !strings.EqualFold(strings.TrimSpace(event), "refer") {
		c.s.answer(tx, respond(req, 489))
		return
	}
	c.s.answer(tx, respond(req, sip.StatusOK))
	if code := fragment(req.Body()); code >= 200 {
		select {
		case t.told <- code:
		default:
		}
	}
}

// fragment returns the status of the first line of an answer; 0 if it is none.
func fragment(body []byte) int {
	line, _, _ := strings.Cut(string(body), "\n")
	f := strings.Fields(line)
	if len(f) < 2 || !strings.EqualFold(f[0], "SIP/2.0") {
		return 0
	}
	code, err := strconv.Atoi(f[1])
	if err != nil || code < 100 || code > 699 {
		return 0
	}
	return code
}
