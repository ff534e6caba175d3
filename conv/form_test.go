package conv

import (
	"encoding/json"
	"testing"
	"time"
)

// TestOldSnapshot: the flags of the first snapshots are read as the lifecycles that
// took their place.
func TestOldSnapshot(t *testing.T) {
	const old = `{"version":1,"state":{"phase":"listening.capturing","before":"idle","now":"2026-01-01T09:00:00Z",
		"reply":{"turn":4,"kind":"answer","request":2,"requested":true,"retrying":true,"part":1,"voiced":true,"closed":true,"held":true,"owed":true},
		"playout":{"turn":4,"part":1,"playing":true,"ducked":true,"paused":true},
		"calls":[{"id":"a","turn":4,"long":true,"state":"running","background":true,"announce":true,"adopted":true},
			{"id":"b","turn":4,"state":"running","background":true,"action":true},{"id":"c","turn":4,"state":"held"}],
		"session":{"id":"s","alive":true,"ever":true,"expiring":true,"audio":true},
		"connection":{"shaky":true,"unanswered":3,"unanswered_text":"to Boston","taken":true},
		"faults":{"recoveries":1,"breaker_open":true},
		"pending":{"start":false,"greeted":true,"texts":["hello"],"news":["a"],"resume":"the rest"},
		"timers":{"grace":"2026-01-01T09:00:02Z","breaker":"2026-01-01T09:00:30Z"}}}`
	c, err := Restore(Options{}, []byte(old))
	if err != nil {
		t.Fatal(err)
	}
	st := c.State()
	if r := &st.Reply; !r.Retrying() || r.Voice != voiceEnded || r.Hold != holdResults || !r.Requested {
		t.Errorf("the reply is %+v", *r)
	}
	if p := &st.Playout; !p.Playing || p.Sound != soundPaused {
		t.Errorf("the playout is %+v", *p)
	}
	for i, want := range []struct {
		origin origin
		due    due
	}{{originEarlier, dueNews}, {originFlow, dueHistory}, {originModel, dueReply}} {
		if got := st.Calls[i]; got.Origin != want.origin || got.Due != want.due {
			t.Errorf("call %s has origin %d and is due to %d, expected %+v", got.ID, got.Origin, got.Due, want)
		}
	}
	if st.Session.Life != sessionExpires || !st.Shaky() || !st.BreakerOpen() || st.Starting() {
		t.Errorf("session %d, shaky %v, breaker open %v, starting %v", st.Session.Life, st.Shaky(), st.BreakerOpen(), st.Starting())
	}
	if u := st.Conn.Unanswered; u.Turn != 3 || u.Text != "to Boston" || u.Fate != fateTaken {
		t.Errorf("unanswered: %+v", u)
	}
	if st.next(&c.opts) != waitingText {
		t.Errorf("next is %d, expected the typed line", st.next(&c.opts))
	}
}

// TestFormsAndBack: each state of a lifecycle is written and read as itself.
func TestFormsAndBack(t *testing.T) {
	again := func(s State) State {
		t.Helper()
		b, err := json.Marshal(s.form())
		if err != nil {
			t.Fatal(err)
		}
		var f stateForm
		if err := json.Unmarshal(b, &f); err != nil {
			t.Fatal(err)
		}
		return f.state()
	}
	for progress := progressAsking; progress <= progressComplete; progress++ {
		for voice := voiceUnused; voice <= voiceOver; voice++ {
			for hold := holdNone; hold <= holdResults; hold++ {
				for _, why := range []RequestReason{RequestUtterance, RequestWording} {
					r := reply{Turn: 2, Request: 1, Why: why, Progress: progress, Voice: voice, Hold: hold, Started: time.Time{}}
					if got := again(State{Reply: r}).Reply; got != r {
						t.Errorf("%+v came back as %+v", r, got)
					}
				}
			}
		}
	}
	for sound := soundFull; sound <= soundPaused; sound++ {
		if got := again(State{Playout: playout{Sound: sound}}).Playout.Sound; got != sound {
			t.Errorf("sound %d came back as %d", sound, got)
		}
	}
	for life := sessionNone; life <= sessionOver; life++ {
		if got := again(State{Session: session{Life: life}}).Session.Life; got != life {
			t.Errorf("session %d came back as %d", life, got)
		}
	}
	for _, fate := range []fate{fateUnread, fateTaken, fateCutWords, fateCutVoice} {
		if got := again(State{Conn: connection{Unanswered: unanswered{Turn: 1, Fate: fate}}}).Conn.Unanswered.Fate; got != fate {
			t.Errorf("fate %q came back as %q", fate, got)
		}
	}
	for origin := originModel; origin <= originEarlier; origin++ {
		for due := dueReply; due <= dueNews; due++ {
			got := again(State{Calls: calls{{ID: "a", Origin: origin, Due: due}}}).Calls[0]
			if got.Origin != origin || got.Due != due {
				t.Errorf("a call of origin %d, due to %d, came back as %d, %d", origin, due, got.Origin, got.Due)
			}
		}
	}
}
