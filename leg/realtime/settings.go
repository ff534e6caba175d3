package realtime

import (
	"time"

	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/leg/realtime/projection"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/turn"
)

// turnOptions returns the uplink's options for a session: what counts as speech, and
// when a turn ends.
func turnOptions(s wire.Session, parts *session.Options) (turn.Options, turn.OnsetOptions) {
	t := s.Input.TurnDetection
	if t == nil {
		d := wire.DefaultTurnDetection(wire.ServerVAD)
		t = &d
	}
	o, onset := parts.Turn, parts.Onset
	if t.Type == wire.SemanticVAD {
		o.Policy = turn.PolicyEasyTurn
		o.EasyTurn.MinSilence, o.EasyTurn.MaxSilence = projection.Patience(t.Eagerness)
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

// threshold sets the probability above which a frame counts as speech. For 0.5, the
// protocol's default, it keeps the detector's own thresholds.
func threshold(t turn.Thresholds, p float64) turn.Thresholds {
	if p == 0.5 {
		return t
	}
	t.VADSpeaking = min(max(p, 0.05), 0.99)
	t.VADSilence = min(0.3, t.VADSpeaking)
	t.InterruptVAD = t.VADSpeaking
	return t
}
