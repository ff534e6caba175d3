package explore

import (
	"slices"

	"github.com/hocketvoice/hocket/conv"
)

// same reports whether two states are equal, field by field, except for the fields that
// only flows change: Dialogue and Pending.Follow.
func same(a, b *conv.State) bool {
	return a.Phase == b.Phase && a.Previous == b.Previous && a.Entered == b.Entered && a.Before == b.Before && a.Now == b.Now &&
		a.LastTurn == b.LastTurn && a.LastRequest == b.LastRequest && a.LastCall == b.LastCall &&
		a.Timers == b.Timers && a.Floor == b.Floor && a.User == b.User && a.Over == b.Over &&
		a.Reply == b.Reply && a.Playout == b.Playout && a.ReadBack == b.ReadBack &&
		a.Barge == b.Barge && a.DeadAir == b.DeadAir && a.Session == b.Session && a.Rules == b.Rules && a.Going == b.Going && a.Conn == b.Conn &&
		a.Summary == b.Summary && a.Context.Equal(&b.Context) && a.Said == b.Said && a.SaidCut == b.SaidCut && a.Expecting == b.Expecting &&
		sameCalls(a.Calls, b.Calls) && samePending(a, b) && sameConsent(a, b) &&
		a.Faults.Code == b.Faults.Code && a.Faults.Recoveries == b.Faults.Recoveries &&
		slices.Equal(a.Faults.Expiries, b.Faults.Expiries) &&
		a.Suspended.Source == b.Suspended.Source && a.Suspended.At == b.Suspended.At && a.Suspended.Timers == b.Suspended.Timers &&
		slices.Equal(a.Suspended.Facts, b.Suspended.Facts) && slices.Equal(a.History, b.History) &&
		a.Expect.Equal(b.Expect) && slices.Equal(a.Expect.Phrases, b.Expect.Phrases)
}

func sameCalls(a, b []conv.Call) bool {
	return slices.EqualFunc(a, b, func(a, b conv.Call) bool {
		return slices.Equal(a.Secrets, b.Secrets) &&
			a.ID == b.ID && a.Key == b.Key && a.Name == b.Name && a.Arguments == b.Arguments && a.Turn == b.Turn &&
			a.Long == b.Long && a.State == b.State && a.Deadline == b.Deadline && a.Origin == b.Origin && a.Due == b.Due &&
			a.Confirm == b.Confirm && a.Started == b.Started
	})
}

func sameConsent(x, y *conv.State) bool {
	a, b := &x.Consent, &y.Consent
	return slices.Equal(a.Calls, b.Calls) && a.Turn == b.Turn && a.UserTurn == b.UserTurn && a.At == b.At &&
		a.Rest == b.Rest && a.Heard == b.Heard && a.Early == b.Early
}

func samePending(x, y *conv.State) bool {
	a, b := &x.Pending, &y.Pending
	return a.Greeted == b.Greeted && slices.Equal(a.Texts, b.Texts) && a.TypedAt == b.TypedAt &&
		slices.Equal(a.News, b.News) && a.Ending == b.Ending && a.Recover == b.Recover &&
		slices.Equal(a.Tell, b.Tell) && slices.Equal(a.Telling, b.Telling) &&
		slices.Equal(a.Announcing, b.Announcing) && a.Apology == b.Apology && a.Feedback == b.Feedback &&
		slices.Equal(a.Settle, b.Settle)
}
