package sip

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"
)

// This file implements session timers (RFC 4028): a call whose other side has vanished ends.

// minInterval is the shortest interval that is accepted (RFC 4028, section 4).
const minInterval = 90

const retryRefresh = 10 * time.Second

// sessionTimer is when a call must be refreshed. The zero value never expires.
type sessionTimer struct {
	interval time.Duration // 0: the other side has not asked for it
	ours     bool          // we refresh
	at       time.Time     // of the last refresh
	retry    time.Time     // when a refresh that failed is tried again
}

// newTimer returns the timer that a request asks for, or an answer that refuses it.
func newTimer(req *sip.Request) (sessionTimer, *sip.Response) {
	value := headerOf(req, "Session-Expires", "x")
	if value == "" {
		return sessionTimer{}, nil
	}
	seconds, params, _ := strings.Cut(value, ";")
	n, err := strconv.ParseUint(strings.TrimSpace(seconds), 10, 31)
	supports := lists(headerOf(req, "Supported", "k"), "timer")
	switch {
	case err != nil:
		return sessionTimer{}, respond(req, sip.StatusBadRequest)
	case n < minInterval && supports:
		res := respond(req, 422)
		res.AppendHeader(sip.NewHeader("Min-SE", strconv.Itoa(minInterval)))
		return sessionTimer{}, res
	}
	n = max(n, minInterval)
	ours := !supports || strings.Contains(strings.ReplaceAll(strings.ToLower(params), " ", ""), "refresher=uas")
	return sessionTimer{interval: time.Duration(n) * time.Second, ours: ours, at: time.Now()}, nil
}

// tell adds the timer to the answer to a request.
func (t *sessionTimer) tell(req *sip.Request, res *sip.Response) {
	res.AppendHeader(sip.NewHeader("Supported", "timer"))
	if t.interval == 0 {
		return
	}
	refresher := "uac"
	if t.ours {
		refresher = "uas"
	}
	res.AppendHeader(sip.NewHeader("Session-Expires", strconv.Itoa(int(t.interval/time.Second))+";refresher="+refresher))
	if !t.ours && lists(headerOf(req, "Supported", "k"), "timer") {
		res.AppendHeader(sip.NewHeader("Require", "timer"))
	}
}

// next returns when something is due; the zero time if nothing ever is.
func (t *sessionTimer) next() time.Time {
	switch {
	case t.interval == 0:
		return time.Time{}
	case t.ours && t.retry.IsZero():
		return t.at.Add(t.interval / 2)
	case t.ours:
		return earlier(t.end(), t.retry)
	default:
		return t.end()
	}
}

// end returns when the call ends without a refresh (RFC 4028, section 10).
func (t *sessionTimer) end() time.Time {
	return t.at.Add(t.interval - min(32*time.Second, t.interval/3))
}

func (t *sessionTimer) expired(now time.Time) bool {
	return t.interval > 0 && !now.Before(t.end())
}

func (t *sessionTimer) due(now time.Time) bool {
	return t.interval > 0 && t.ours && !now.Before(t.next())
}

// refresh refreshes the call, and reports whether it goes on. An attempt that fails is made again until
// the timer expires.
func (c *call) refresh(now time.Time) (goesOn bool) {
	c.mu.Lock()
	interval, updates := c.timer.interval, c.updates
	c.mu.Unlock()
	var res *sip.Response
	var err error
	if updates {
		req := c.dialog.request(sip.UPDATE)
		refreshes(req, interval)
		res, err = c.ask(req)
	} else {
		res, err = c.reinvite(context.Background(), interval)
	}
	switch {
	case err == nil && lost(res):
		return false
	case err == nil && res.IsSuccess():
		c.mu.Lock()
		c.timer.at, c.timer.retry = now, time.Time{}
		c.mu.Unlock()
	default:
		c.mu.Lock()
		c.timer.retry = time.Now().Add(retryRefresh)
		c.mu.Unlock()
	}
	return true
}

// refreshes makes a request of ours refresh the call.
func refreshes(req *sip.Request, interval time.Duration) {
	req.AppendHeader(sip.NewHeader("Supported", "timer"))
	if interval > 0 {
		req.AppendHeader(sip.NewHeader("Session-Expires", strconv.Itoa(int(interval/time.Second))+";refresher=uac"))
	}
}
