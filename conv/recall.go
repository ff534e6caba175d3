package conv

import (
	"encoding/json"
	"fmt"
	"time"
)

// Recall replaces the state by a snapshot and Last by out, without a step: a replay of a
// step with [Shown.After] does this. It changes nothing if it returns an error.
func (c *Conversation) Recall(snapshot []byte, out Output) error {
	then, err := Restore(c.opts, snapshot)
	if err != nil {
		return err
	}
	c.st, c.out = then.st, out
	return nil
}

// effects has a function for each type of effect that reads its fields.
var effects = map[string]func([]byte) (Effect, error){
	"open_session":        fieldsOf[OpenSession],
	"prime_audio":         fieldsOf[PrimeAudio],
	"listen":              fieldsOf[Listen],
	"expect":              fieldsOf[Expect],
	"finalize_transcript": fieldsOf[FinalizeTranscript],
	"request_reply":       fieldsOf[RequestReply],
	"summarize":           fieldsOf[Summarize],
	"speak":               fieldsOf[Speak],
	"end_speech":          fieldsOf[EndSpeech],
	"cancel_turn":         fieldsOf[CancelTurn],
	"duck_playout":        fieldsOf[DuckPlayout],
	"pause_playout":       fieldsOf[PausePlayout],
	"resume_playout":      fieldsOf[ResumePlayout],
	"run_tool":            fieldsOf[RunTool],
	"start_task":          fieldsOf[StartTask],
	"follow_task":         fieldsOf[FollowTask],
	"settle_task":         fieldsOf[SettleTask],
	"cancel_tool":         fieldsOf[CancelTool],
	"cue":                 fieldsOf[Cue],
	"pause_audio":         fieldsOf[PauseAudio],
	"resume_audio":        fieldsOf[ResumeAudio],
	"save_context":        fieldsOf[SaveContext],
	"restore_context":     fieldsOf[RestoreContext],
	"close_connection":    fieldsOf[CloseConnection],
	"reconnect":           fieldsOf[Reconnect],
	"release":             fieldsOf[Release],
	"notify":              fieldsOf[Notify],
	"reject":              fieldsOf[Reject],
	"flush_playout": func(b []byte) (Effect, error) {
		var f struct {
			FlushPlayout
			HeardMS float64 `json:"heard_ms"`
		}
		err := json.Unmarshal(b, &f)
		f.Heard = time.Duration(f.HeardMS * float64(time.Millisecond))
		return f.FlushPlayout, err
	},
}

func fieldsOf[E Effect](b []byte) (Effect, error) {
	var e E
	err := json.Unmarshal(b, &e)
	return e, err
}

// UnmarshalEffect reads what [MarshalEffect] wrote.
func UnmarshalEffect(b []byte) (Effect, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("effect: %w", err)
	}
	read, ok := effects[head.Type]
	if !ok {
		return nil, fmt.Errorf("effect: unknown type %q", head.Type)
	}
	e, err := read(b)
	if err != nil {
		return nil, fmt.Errorf("effect %s: %w", head.Type, err)
	}
	return e, nil
}
