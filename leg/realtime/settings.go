package realtime

import (
	"time"

	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/turn"
)

// machineOptions are a conversation's options for this protocol: the client has
// the clocks that the machine has for a caller, and hears of failures by events.
func machineOptions(o conv.Options) conv.Options {
	o.Endpoint = turn.PolicySilence
	o.DeadAir = turn.DeadAirOptions{Off: true}
	o.SpeakNotices, o.ResumeAfterFalseInterruption = false, false
	o.SummaryTurns = -1 // what the model is given is the client's
	l := &o.Limits
	l.Session, l.SessionWarning = 24*time.Hour, time.Minute // the connection's lifetime is shorter
	l.Inactivity = 24 * time.Hour
	l.Listening = 10 * time.Minute
	l.NoTranscript, l.NoEndpoint = longestSilence, longestSilence
	l.Waiting, l.Processing = time.Minute, time.Minute
	l.Error, l.BreakerFaults = 100*time.Millisecond, 1<<20
	o.Retry.Max, o.Retry.Recover = -1, 1<<20
	for _, p := range []*turn.BargeInOptions{&o.BargeIn.Greeting, &o.BargeIn.Reply, &o.BargeIn.ReadBack} {
		p.Policy = "" // the rules' one
	}
	return o
}

// longestSilence ends the user's turn when nothing else does, a client that has
// stopped sending included. It is the eight seconds of eagerness "low".
const longestSilence = 8 * time.Second

// turnOptions are the uplink's part: what speech is, and when a turn has ended.
func turnOptions(s wire.Session, parts *session.Options) (turn.Options, turn.OnsetOptions) {
	t := s.Input.TurnDetection
	if t == nil {
		d := wire.DefaultTurnDetection(wire.ServerVAD)
		t = &d
	}
	o, onset := parts.Turn, parts.Onset
	if t.Type == wire.SemanticVAD {
		o.Policy = turn.PolicyEasyTurn
		o.EasyTurn.MinSilence, o.EasyTurn.MaxSilence = 400*time.Millisecond, 4*time.Second
		switch t.Eagerness {
		case "low":
			o.EasyTurn.MinSilence, o.EasyTurn.MaxSilence = 800*time.Millisecond, longestSilence
		case "high":
			o.EasyTurn.MinSilence, o.EasyTurn.MaxSilence = 300*time.Millisecond, 2*time.Second
		}
		o.EasyTurn.MinSilenceShort = o.EasyTurn.MinSilence + 100*time.Millisecond
		o.EasyTurn.ShortAnswerAfter = 0
		return o, onset
	}
	o.Policy = turn.PolicySilence
	o.Silence.After = max(time.Duration(t.SilenceDurationMS)*time.Millisecond, 20*time.Millisecond)
	onset.Thresholds = threshold(onset.Thresholds, t.Threshold)
	o.Silence.Thresholds = onset.Thresholds
	return o, onset
}

// threshold sets the probability above which a frame is speech. 0.5, the
// protocol's default, is the detector's own.
func threshold(t turn.Thresholds, p float64) turn.Thresholds {
	if p == 0.5 {
		return t
	}
	t.VADSpeaking = min(max(p, 0.05), 0.99)
	t.VADSilence = min(0.3, t.VADSpeaking)
	t.InterruptVAD = t.VADSpeaking
	return t
}
