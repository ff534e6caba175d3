package conv

import (
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/internal/timers"
	"github.com/hocketvoice/hocket/turn"
)

// This file contains the form of the state in a snapshot. Snapshots of version 1 have flags
// where the machine has one state per lifecycle, and flags that follow from others. The form
// must not change, so that older and newer versions of the program can read each other's
// snapshots.

// stateForm is the form of [State] in a snapshot. The order of its fields is that of the first
// snapshots.
type stateForm struct {
	Phase       Phase              `json:"phase"`
	Previous    Phase              `json:"previous"`
	Entered     time.Time          `json:"entered"`
	Before      Phase              `json:"before"`
	Now         time.Time          `json:"now"`
	LastTurn    int                `json:"last_turn"`
	LastRequest int                `json:"last_request"`
	LastCall    int                `json:"last_call,omitempty"`
	Floor       floor              `json:"floor"`
	User        userTurn           `json:"user"`
	Over        userTurn           `json:"over,omitzero"`
	Reply       replyForm          `json:"reply"`
	Playout     playoutForm        `json:"playout"`
	ReadBack    readBack           `json:"read_back,omitzero"`
	Consent     consent            `json:"consent,omitzero"`
	Barge       turn.BargeIn       `json:"barge"`
	DeadAir     turn.DeadAir       `json:"dead_air"`
	Calls       []callForm         `json:"calls,omitempty"`
	Session     sessionForm        `json:"session"`
	Rules       rules              `json:"rules,omitzero"`
	Going       going              `json:"going,omitzero"`
	Conn        connectionForm     `json:"connection"`
	Faults      faultsForm         `json:"faults"`
	Pending     pendingForm        `json:"pending"`
	Suspended   suspension         `json:"suspension"`
	Expect      dialog.Expectation `json:"expect,omitzero"`
	Expecting   bool               `json:"expecting,omitempty"`
	History     []Item             `json:"history,omitempty"`
	Summary     summary            `json:"summary,omitzero"`
	Context     Context            `json:"context,omitzero"`
	Said        string             `json:"said,omitempty"`
	SaidCut     bool               `json:"said_cut,omitempty"`
	Timers      timers.Deadlines   `json:"timers"`
}

// form returns the state as it is written. The dialogue is written separately, see [written].
func (s *State) form() stateForm {
	return stateForm{
		Phase: s.Phase, Previous: s.Previous, Entered: s.Entered, Before: s.Before, Now: s.Now,
		LastTurn: s.LastTurn, LastRequest: s.LastRequest, LastCall: s.LastCall,
		Floor: s.Floor, User: s.User, Over: s.Over, Reply: s.Reply.form(), Playout: s.Playout.form(),
		ReadBack: s.ReadBack, Consent: s.Consent, Barge: s.Barge, DeadAir: s.DeadAir,
		Calls: callForms(s.Calls), Session: s.Session.form(), Rules: s.Rules, Going: s.Going, Conn: s.connectionForm(), Faults: s.faultsForm(),
		Pending: s.pendingForm(), Suspended: s.Suspended, Expect: s.Expect, Expecting: s.Expecting,
		History: s.History, Summary: s.Summary, Context: s.Context, Said: s.Said, SaidCut: s.SaidCut, Timers: s.Timers,
	}
}

// state returns the state that a form describes, without the dialogue.
func (f *stateForm) state() State {
	if f.Going.Turn == 0 && f.Pending.Resume != "" { // written by an older version
		f.Going = going{Turn: f.LastTurn, Text: f.Pending.Resume}
	}
	return State{
		Phase: f.Phase, Previous: f.Previous, Entered: f.Entered, Before: f.Before, Now: f.Now,
		LastTurn: f.LastTurn, LastRequest: f.LastRequest, LastCall: f.LastCall,
		Floor: f.Floor, User: f.User, Over: f.Over, Reply: f.Reply.reply(), Playout: f.Playout.playout(),
		ReadBack: f.ReadBack, Consent: f.Consent, Barge: f.Barge, DeadAir: f.DeadAir,
		Calls: callsOf(f.Calls), Session: f.Session.session(), Rules: f.Rules, Going: f.Going, Conn: f.Conn.connection(), Faults: f.Faults.faults(),
		Pending: f.Pending.pending(), Suspended: f.Suspended, Expect: f.Expect, Expecting: f.Expecting,
		History: f.History, Summary: f.Summary, Context: f.Context.read(), Said: f.Said, SaidCut: f.SaidCut, Timers: f.Timers,
	}
}

// replyForm is the form of [reply] in a snapshot.
type replyForm struct {
	Turn      int           `json:"turn"`
	UserTurn  int           `json:"user_turn"`
	Kind      ReplyKind     `json:"kind,omitempty"`
	Started   time.Time     `json:"started"`
	Began     time.Time     `json:"began,omitzero"`
	Request   int           `json:"request"`
	Before    int           `json:"before,omitempty"`
	Attempt   int           `json:"attempt"`
	Why       RequestReason `json:"why,omitempty"`
	Asked     string        `json:"asked"`
	Requested bool          `json:"requested"`
	Retrying  bool          `json:"retrying"`
	Answered  bool          `json:"answered"`
	Part      int           `json:"part"`
	Seq       int           `json:"seq"`
	Text      string        `json:"text"`
	Unsaid    string        `json:"unsaid"`
	Sealed    int           `json:"sealed"`
	Voiced    bool          `json:"voiced"`
	Earlier   bool          `json:"earlier"`
	Done      bool          `json:"done"`
	Closed    bool          `json:"closed"`
	Silent    bool          `json:"silent"`
	Held      bool          `json:"held"`
	Owed      bool          `json:"owed"`
	Advised   bool          `json:"advised,omitempty"`
	Advice    string        `json:"advice,omitempty"`
}

func (r *reply) form() replyForm {
	return replyForm{
		Turn: r.Turn, UserTurn: r.UserTurn, Kind: r.Kind, Started: r.Started, Began: r.Began,
		Request: r.Request, Before: r.Before, Attempt: r.Attempt, Why: r.Why, Asked: r.Asked,
		Requested: r.Requested, Retrying: r.Retrying(), Answered: r.answered() && !r.Advised(),
		Part: r.Part, Seq: r.Seq, Text: r.Text, Unsaid: r.Unsaid, Sealed: r.Sealed,
		Voiced: r.Voiced(), Earlier: r.Earlier, Done: r.Complete(),
		Closed: r.Voice == voiceEnded || r.Voice == voiceOver, Silent: r.Silent,
		Held: r.Held(), Owed: r.Hold == holdResults, Advised: r.Advised(), Advice: r.Advice,
	}
}

func (f *replyForm) reply() reply {
	r := reply{
		Turn: f.Turn, UserTurn: f.UserTurn, Kind: f.Kind, Started: f.Started, Began: f.Began,
		Request: f.Request, Before: f.Before, Attempt: f.Attempt, Why: f.Why, Asked: f.Asked,
		Requested: f.Requested, Part: f.Part, Seq: f.Seq, Text: f.Text, Unsaid: f.Unsaid, Sealed: f.Sealed,
		Earlier: f.Earlier, Silent: f.Silent, Advice: f.Advice,
	}
	switch {
	case f.Done || f.Advised:
		r.Progress = progressComplete
	case f.Retrying:
		r.Progress = progressRetrying
	case f.Answered:
		r.Progress = progressArriving
	}
	switch {
	case f.Voiced && f.Closed:
		r.Voice = voiceEnded
	case f.Voiced:
		r.Voice = voiceSpeaking
	case f.Closed:
		r.Voice = voiceOver
	}
	switch {
	case f.Owed:
		r.Hold = holdResults
	case f.Held:
		r.Hold = holdReply
	}
	return r
}

// playoutForm is the form of [playout] in a snapshot.
type playoutForm struct {
	Turn    int           `json:"turn"`
	Part    int           `json:"part"`
	Playing bool          `json:"playing"`
	Ducked  bool          `json:"ducked"`
	Paused  bool          `json:"paused"`
	Heard   time.Duration `json:"heard"`
	At      time.Time     `json:"at"`
	Text    string        `json:"text"`
}

func (p *playout) form() playoutForm {
	return playoutForm{
		Turn: p.Turn, Part: p.Part, Playing: p.Playing, Ducked: p.Sound == soundDucked,
		Paused: p.Paused(), Heard: p.Heard, At: p.At, Text: p.Text,
	}
}

func (f *playoutForm) playout() playout {
	p := playout{Turn: f.Turn, Part: f.Part, Playing: f.Playing, Heard: f.Heard, At: f.At, Text: f.Text}
	switch {
	case f.Paused:
		p.Sound = soundPaused
	case f.Ducked:
		p.Sound = soundDucked
	}
	return p
}

// connectionForm is the form of [connection] in a snapshot.
type connectionForm struct {
	Shaky          bool      `json:"shaky"`
	Lost           bool      `json:"lost"`
	Attempts       int       `json:"attempts"`
	Unanswered     int       `json:"unanswered"`
	UnansweredText string    `json:"unanswered_text"`
	Taken          bool      `json:"taken"`
	Began          time.Time `json:"began,omitzero"`
	Cut            fate      `json:"cut,omitempty"`
}

func (s *State) connectionForm() connectionForm {
	n, u := &s.Conn, &s.Conn.Unanswered
	f := connectionForm{
		Shaky: s.Shaky(), Lost: n.Lost, Attempts: n.Attempts,
		Unanswered: u.Turn, UnansweredText: u.Text, Taken: u.Fate == fateTaken, Began: u.Began,
	}
	if u.cut() {
		f.Cut = u.Fate
	}
	return f
}

func (f *connectionForm) connection() connection {
	u := unanswered{Turn: f.Unanswered, Text: f.UnansweredText, Began: f.Began, Fate: f.Cut}
	if f.Taken {
		u.Fate = fateTaken
	}
	return connection{Lost: f.Lost, Attempts: f.Attempts, Unanswered: u}
}

// faultsForm is the form of [faults] in a snapshot.
type faultsForm struct {
	Code        string      `json:"code,omitempty"`
	Recoveries  int         `json:"recoveries"`
	Expiries    []time.Time `json:"expiries,omitempty"`
	BreakerOpen bool        `json:"breaker_open"`
}

func (s *State) faultsForm() faultsForm {
	f := &s.Faults
	return faultsForm{Code: f.Code, Recoveries: f.Recoveries, Expiries: f.Expiries, BreakerOpen: s.BreakerOpen()}
}

func (f *faultsForm) faults() faults {
	return faults{Code: f.Code, Recoveries: f.Recoveries, Expiries: f.Expiries}
}

// pendingForm is the form of [pending] in a snapshot.
type pendingForm struct {
	Start      bool            `json:"start"`
	Greeted    bool            `json:"greeted"`
	Texts      []string        `json:"texts,omitempty"`
	TypedAt    time.Time       `json:"typed_at,omitzero"`
	News       []string        `json:"news,omitempty"`
	Ending     bool            `json:"ending"`
	Recover    bool            `json:"recover,omitempty"`
	Resume     string          `json:"resume"`
	Tell       []string        `json:"tell,omitempty"`
	Telling    []string        `json:"telling,omitempty"`
	Follow     []dialog.Output `json:"follow,omitempty"`
	Announcing []string        `json:"announcing,omitempty"`
	Apology    string          `json:"apology,omitempty"`
	Feedback   int             `json:"feedback"`
	Settle     []settled       `json:"settle,omitempty"`
}

func (s *State) pendingForm() pendingForm {
	p := &s.Pending
	return pendingForm{
		Start: s.Starting(), Greeted: p.Greeted, Texts: p.Texts, TypedAt: p.TypedAt, News: p.News,
		Ending: p.Ending, Recover: p.Recover, Resume: s.Going.rest(), Tell: p.Tell, Telling: p.Telling, Follow: p.Follow,
		Announcing: p.Announcing, Apology: p.Apology, Feedback: p.Feedback, Settle: p.Settle,
	}
}

func (f *pendingForm) pending() pending {
	return pending{
		Greeted: f.Greeted, Texts: f.Texts, TypedAt: f.TypedAt, News: f.News,
		Ending: f.Ending, Recover: f.Recover, Tell: f.Tell, Telling: f.Telling, Follow: f.Follow,
		Announcing: f.Announcing, Apology: f.Apology, Feedback: f.Feedback, Settle: f.Settle,
	}
}

// sessionForm is the form of [session] in a snapshot.
type sessionForm struct {
	ID       string    `json:"id"`
	Alive    bool      `json:"alive"`
	Ever     bool      `json:"ever"`
	Expiring bool      `json:"expiring"`
	Audio    bool      `json:"audio"`
	Started  time.Time `json:"started"`
}

func (s *session) form() sessionForm {
	return sessionForm{
		ID: s.ID, Alive: s.Alive(), Ever: s.Life != sessionNone, Expiring: s.Life == sessionExpires,
		Audio: s.Audio, Started: s.Started,
	}
}

func (f *sessionForm) session() session {
	s := session{ID: f.ID, Audio: f.Audio, Started: f.Started}
	switch {
	case f.Expiring:
		s.Life = sessionExpires
	case f.Alive:
		s.Life = sessionLives
	case f.Ever:
		s.Life = sessionOver
	}
	return s
}

// callForm is the form of [Call] in a snapshot.
type callForm struct {
	ID         string    `json:"id"`
	Key        string    `json:"key,omitempty"`
	Name       string    `json:"name"`
	Arguments  string    `json:"arguments"`
	Secrets    []string  `json:"secrets,omitempty"`
	Turn       int       `json:"turn"`
	Long       bool      `json:"long"`
	State      callState `json:"state"`
	Deadline   time.Time `json:"deadline"`
	Background bool      `json:"background"`
	Announce   bool      `json:"announce"`
	Action     bool      `json:"action"`
	Confirm    bool      `json:"confirm,omitempty"`
	Adopted    bool      `json:"adopted,omitempty"`
	Started    time.Time `json:"started"`
}

func callForms(calls []Call) []callForm {
	var forms []callForm
	for i := range calls {
		c := &calls[i]
		forms = append(forms, callForm{
			ID: c.ID, Key: c.Key, Name: c.Name, Arguments: c.Arguments, Secrets: c.Secrets, Turn: c.Turn,
			Long: c.Long, State: c.State, Deadline: c.Deadline, Background: c.Background(),
			Announce: c.Announced(), Action: c.Action(), Confirm: c.Confirm, Adopted: c.Adopted(), Started: c.Started,
		})
	}
	return forms
}

func callsOf(forms []callForm) []Call {
	var calls []Call
	for i := range forms {
		f := &forms[i]
		c := Call{
			ID: f.ID, Key: f.Key, Name: f.Name, Arguments: f.Arguments, Secrets: f.Secrets, Turn: f.Turn,
			Long: f.Long, State: f.State, Deadline: f.Deadline, Confirm: f.Confirm, Started: f.Started,
		}
		switch {
		case f.Announce:
			c.Due = dueNews
		case f.Background:
			c.Due = dueHistory
		}
		switch {
		case f.Adopted:
			c.Origin = originEarlier
		case f.Action:
			c.Origin = originFlow
		}
		calls = append(calls, c)
	}
	return calls
}
