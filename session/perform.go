package session

import (
	"fmt"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
)

// perform carries out one effect, on the loop's goroutine. It starts work and does not wait for
// it.
func (s *Session) perform(_ *Loop, e conv.Effect) {
	switch e := e.(type) {
	case conv.OpenSession:
		s.ready()
	case conv.PrimeAudio:
		s.loop.Post(conv.AudioReady{})
	case conv.RequestReply:
		s.request(e)
	case conv.Speak:
		s.medium.perform(e)
		s.o.Leg.Notify(port.Notice{Type: "caption", Turn: e.Turn, Role: string(conv.RoleAgent), Text: e.Text})
	case conv.Listen, conv.Expect, conv.NoteAnswer, conv.FinalizeTranscript, conv.EndSpeech, conv.FlushPlayout, conv.DuckPlayout,
		conv.PausePlayout, conv.ResumePlayout, conv.PauseAudio, conv.ResumeAudio:
		s.medium.perform(e)
	case conv.CancelTurn:
		s.medium.perform(e)
		s.mind.cancel(e.Turn)
	case conv.Summarize:
		s.mind.summarize(e)
	case conv.RunTool, conv.StartTask, conv.FollowTask, conv.SettleTask, conv.CancelTool:
		s.tools.perform(e)
	case conv.Cue, conv.Notify, conv.Reject:
		s.tell(e)
	case conv.SaveContext:
		s.saveContext(e)
	case conv.RestoreContext, conv.CloseConnection:
		// The context and the leg are still in this process.
	case conv.Reconnect:
		s.reconnect()
	case conv.Release:
		s.medium.perform(e)
		s.tools.leave()
		s.loop.Post(conv.SessionEnded{})
	default:
		panic(fmt.Sprintf("session: unexpected effect %T", e))
	}
}

// ready reports that the session is ready: a call has opened its services already, and a
// speech-to-speech service says so itself.
func (s *Session) ready() {
	if u := s.upstream(); u != nil {
		u.begin()
		return
	}
	s.loop.Post(conv.SessionReady{ID: s.o.ID})
}

// request asks for a reply: the speech-to-speech service if that answers, or the model.
func (s *Session) request(e conv.RequestReply) {
	if u := s.upstream(); u != nil && s.asksUpstream(e) {
		u.request(e)
		return
	}
	s.mind.request(e)
}

// tell carries out an effect that tells the person something besides the agent's speech, and
// ignores others.
func (s *Session) tell(e conv.Effect) {
	switch e := e.(type) {
	case conv.Cue:
		s.o.Leg.Notify(port.Notice{Type: "cue", Code: e.Code, Text: e.Text})
	case conv.Notify:
		s.o.Leg.Notify(port.Notice{Type: "notification", Level: string(e.Level), Code: e.Code, Text: s.words(e.Code)})
	case conv.Reject:
		s.o.Leg.Notify(port.Notice{Type: "notification", Level: string(conv.LevelWarning), Code: e.Code, Text: s.words(e.Code)})
	default:
		// Other effects tell the person nothing.
	}
}

// saveContext renews the services before the session expires; if that fails, it expires. The
// context is in the memory of this process, so there is nothing to store.
func (s *Session) saveContext(e conv.SaveContext) {
	if e.Reason == "session.expiring" {
		s.medium.renew(renewal{done: conv.SessionRenewed{ID: s.o.ID}})
	}
}

// reconnect answers an attempt to reconnect. A lost leg comes back by itself or not at all, and
// its watcher reports that, so each attempt before fails. If only the session was lost, it
// renews the services.
func (s *Session) reconnect() {
	switch {
	case s.legLost:
		s.loop.Post(conv.ReconnectFailed{Retryable: true})
	case s.conv.State().Conn.Lost:
		if u := s.upstream(); u != nil && !u.connected() {
			u.renew(renewal{done: conv.ConnectionRestored{}, failed: conv.ReconnectFailed{Retryable: true}})
			return
		}
		s.loop.Post(conv.ConnectionRestored{})
	default:
		s.medium.renew(renewal{done: conv.SessionReady{ID: s.o.ID}, failed: conv.ReconnectFailed{Retryable: true}})
	}
}

// upstream returns the speech-to-speech service of the call, or nil.
func (s *Session) upstream() *upstream {
	if s.sound == nil {
		return nil
	}
	return s.sound.upstream
}

// asksUpstream reports whether a request is for the speech-to-speech service. Where flows decide, a
// language model answers what they do not cover, if there is one.
func (s *Session) asksUpstream(e conv.RequestReply) bool {
	if e.Why == conv.RequestUnderstanding || e.Why == conv.RequestWording {
		return false
	}
	return s.o.Model == nil || s.conv.Options().Agent == nil
}
