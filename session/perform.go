package session

import (
	"fmt"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
)

// perform carries out one effect, on the loop's goroutine. It starts work and
// never waits for it.
func (s *Session) perform(e conv.Effect) {
	switch e := e.(type) {
	case conv.OpenSession:
		// The services of a call are opened with it.
		s.Local(conv.SessionReady{ID: s.o.ID})
	case conv.PrimeAudio:
		s.Local(conv.AudioReady{})
	case conv.Listen:
		s.listen()
	case conv.Expect:
		s.uplink.Expect(e.Expect)
	case conv.FinalizeTranscript:
		s.uplink.Finalize()
	case conv.RequestReply:
		s.mind.request(e)
	case conv.Speak:
		s.voice.speak(job{turn: e.Turn, part: e.Part, text: e.Text})
		s.o.Leg.Notify(port.Notice{Type: "caption", Turn: e.Turn, Role: string(conv.RoleAgent), Text: e.Text})
	case conv.EndSpeech:
		s.voice.speak(job{turn: e.Turn, part: e.Part, end: true})
	case conv.CancelTurn:
		s.voice.cancel(e.Turn)
		s.mind.cancel(e.Turn)
	case conv.FlushPlayout:
		s.flush(e.Turn, e.Part)
	case conv.DuckPlayout:
		s.downlink.Duck(e.Turn)
	case conv.PausePlayout:
		s.downlink.Pause(e.Turn)
	case conv.ResumePlayout:
		s.downlink.Resume(e.Turn)
	case conv.Summarize:
		s.mind.summarize(e)
	case conv.RunTool:
		s.tools.start(e.ID, toolCall(e), false)
	case conv.StartTask:
		s.tools.start(e.ID, toolCall(conv.RunTool(e)), true)
	case conv.FollowTask:
		s.tools.follow(e.ID, e.Key)
	case conv.SettleTask:
		s.tools.settled(e)
	case conv.CancelTool:
		s.tools.cancel(e.ID)
	case conv.Cue:
		s.o.Leg.Notify(port.Notice{Type: "cue", Code: e.Code, Text: e.Text})
	case conv.PauseAudio:
		s.still(true)
	case conv.ResumeAudio:
		s.still(false)
	case conv.Notify:
		s.o.Leg.Notify(port.Notice{Type: "notification", Level: string(e.Level), Code: e.Code, Text: s.words(e.Code)})
	case conv.Reject:
		s.o.Leg.Notify(port.Notice{Type: "notification", Level: string(conv.LevelWarning), Code: e.Code, Text: s.words(e.Code)})
	case conv.SaveContext:
		// The context is in this process: a new session needs nothing of it. Where none is
		// to be had, the old one expires.
		if e.Reason == "session.expiring" {
			s.renew(renewal{done: conv.SessionRenewed{ID: s.o.ID}})
		}
	case conv.RestoreContext, conv.CloseConnection:
		// The context is in this process, and so is the leg.
	case conv.Reconnect:
		s.reconnect()
	case conv.Release:
		s.voice.cancelAll()
		s.tools.leave()
		s.Local(conv.SessionEnded{})
	default:
		panic(fmt.Sprintf("session: unexpected effect %T", e))
	}
}

// reconnect answers an attempt to get the line back. A leg that was lost comes
// back by itself or not at all, and who owns it tells: until then each attempt
// fails.
func (s *Session) reconnect() {
	switch {
	case s.legLost:
		s.Local(conv.ReconnectFailed{Retryable: true})
	case s.conv.State().Conn.Lost:
		s.Local(conv.ConnectionRestored{})
	default:
		s.renew(renewal{done: conv.SessionReady{ID: s.o.ID}, failed: conv.ReconnectFailed{Retryable: true}})
	}
}

// listen opens the microphone for the user's turn. A pause that nobody has ended
// (a suspension that was given up) ends here, and a recognizer that has failed
// is replaced.
func (s *Session) listen() {
	s.still(false)
	s.listenAgain()
	if s.conv.State().User.Turn != 0 {
		s.uplink.Continue() // the user was first: the words are of this turn
		return
	}
	s.uplink.Listen()
}

// still stops and starts capture and playout.
func (s *Session) still(on bool) {
	if s.stopped == on {
		return
	}
	s.stopped = on
	s.uplink.Pause(on)
	s.downlink.Freeze(on)
}

// flush drops the turn's audio here and at the carrier, or that of its parts up
// to one, and reports what was heard of it.
func (s *Session) flush(turn, part int) {
	heard, text := s.downlink.Flush(turn, part)
	s.voice.cut(turn, part)
	s.Local(conv.PlayoutFlushed{Turn: turn, Part: part, Heard: heard, Text: text})
}
