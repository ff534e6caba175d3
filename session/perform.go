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
		s.uplink.Listen()
	case conv.Expect:
		s.uplink.Expect(e.Expect)
	case conv.FinalizeTranscript:
		s.uplink.Finalize()
	case conv.RequestReply:
		s.Local(conv.ReplyFailed{
			Turn: e.Turn, Request: e.Request, Code: conv.ClassUnknown,
			Message: "no language model is configured",
		})
	case conv.Speak:
		s.voice.speak(job{turn: e.Turn, part: e.Part, text: e.Text})
		s.o.Leg.Notify(port.Notice{Type: "caption", Turn: e.Turn, Role: string(conv.RoleAgent), Text: e.Text})
	case conv.EndSpeech:
		s.voice.speak(job{turn: e.Turn, part: e.Part, end: true})
	case conv.CancelTurn:
		s.voice.cancel(e.Turn)
	case conv.FlushPlayout:
		s.flush(e.Turn)
	case conv.DuckPlayout:
		s.downlink.Duck(e.Turn)
	case conv.PausePlayout:
		s.downlink.Pause(e.Turn)
	case conv.ResumePlayout:
		s.downlink.Resume(e.Turn)
	case conv.RunTool:
		s.Local(conv.ToolFailed{ID: e.ID, Code: conv.ClassToolError, Message: fmt.Sprintf("there is no tool %q", e.Name)})
	case conv.StartTask:
		s.Local(conv.TaskFailed{ID: e.ID, Code: conv.ClassToolError, Message: fmt.Sprintf("there is no agent %q", e.Name)})
	case conv.CancelTool:
		// Nothing runs: see RunTool.
	case conv.Cue:
		s.o.Leg.Notify(port.Notice{Type: "cue", Code: e.Code, Text: e.Text})
	case conv.PauseAudio:
		s.uplink.Pause(true)
		s.downlink.Freeze(true)
	case conv.ResumeAudio:
		s.uplink.Pause(false)
		s.downlink.Freeze(false)
	case conv.Notify:
		s.o.Leg.Notify(port.Notice{Type: "notification", Level: string(e.Level), Code: e.Code, Text: s.words(e.Code)})
	case conv.Reject:
		s.o.Leg.Notify(port.Notice{Type: "notification", Level: string(conv.LevelWarning), Code: e.Code, Text: s.words(e.Code)})
	case conv.SaveContext, conv.RestoreContext, conv.CloseConnection:
		// The context is in this process, and so is the leg.
	case conv.Reconnect:
		// A leg that reads from this process cannot come back.
		s.Local(conv.ReconnectFailed{})
	case conv.Release:
		s.voice.cancelAll()
		s.Local(conv.SessionEnded{})
	default:
		panic(fmt.Sprintf("session: unexpected effect %T", e))
	}
}

// flush drops the turn's audio here and at the carrier, and reports what was
// heard of it.
func (s *Session) flush(turn int) {
	heard, text := s.downlink.Flush(turn)
	s.mu.Lock()
	s.clear = true
	s.mu.Unlock()
	s.Local(conv.PlayoutFlushed{Turn: turn, Heard: heard, Text: text})
}
