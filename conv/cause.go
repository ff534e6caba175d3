package conv

import "strings"

// Cause says why the phase changed. It is the type of an event ("speech.started"), the name
// of a time limit that has passed, or a reason of the machine itself ("greeting").
type Cause string

// TimedOut reports whether the cause is a time limit that passed.
func (c Cause) TimedOut() bool {
	switch c {
	case causeMaxDuration, causeNoEndpoint, causeNoTranscript:
		return true
	default:
		return strings.HasSuffix(string(c), ".timeout")
	}
}

// The causes that are types of events.
const (
	causeAudioReady         Cause = "audio.ready"
	causeConnectionLost     Cause = "connection.lost"
	causeConnectionRestored Cause = "connection.restored"
	causeFault              Cause = "fault"
	causePlayoutFailed      Cause = "playout.failed"
	causePlayoutFinished    Cause = "playout.finished"
	causeReconnectFailed    Cause = "reconnect.failed"
	causeReplyFailed        Cause = "reply.failed"
	causeReplyRequested     Cause = "reply.requested"
	causeSessionEnded       Cause = "session.ended"
	causeSessionReady       Cause = "session.ready"
	causeSpeechStarted      Cause = "speech.started"
	causeSpeechStopped      Cause = "speech.stopped"
	causeSttFinal           Cause = "stt.final"
	causeTaskDone           Cause = "task.done"
	causeTaskFailed         Cause = "task.failed"
	causeToolDone           Cause = "tool.done"
	causeToolFailed         Cause = "tool.failed"
	causeTurnEnded          Cause = "turn.ended"
	causeUserCancel         Cause = "user.cancel"
	causeUserInterrupt      Cause = "user.interrupt"
	causeUserKey            Cause = "user.key"
	causeUserRecover        Cause = "user.recover"
	causeUserStart          Cause = "user.start"
	causeUserStop           Cause = "user.stop"
	causeUserText           Cause = "user.text"
)

// The causes that are time limits.
const (
	causeAdviceTimeout     Cause = "advice.timeout"
	causeFaultTimeout      Cause = "fault.timeout"
	causeMaxDuration       Cause = "max_duration"
	causeNoEndpoint        Cause = "no_endpoint"
	causeNoTranscript      Cause = "no_transcript"
	causePlayoutTimeout    Cause = "playout.timeout"
	causeReconnectTimeout  Cause = "reconnect.timeout"
	causeReleaseTimeout    Cause = "release.timeout"
	causeReplyTimeout      Cause = "reply.timeout"
	causeSessionTimeout    Cause = "session.timeout"
	causeStartTimeout      Cause = "start.timeout"
	causeSuspendedTimeout  Cause = "suspended.timeout"
	causeTaskTimeout       Cause = "task.timeout"
	causeToolTimeout       Cause = "tool.timeout"
	causeTranscriptTimeout Cause = "transcript.timeout"
	causeYesStands         Cause = "yes.stands" // the user has added nothing to a yes
)

// The machine's own reasons.
const (
	causeBreakerOpen      Cause = "breaker.open"      // too many faults came in a short time
	causeDeadAir          Cause = "dead_air"          // nobody has spoken
	causeGreeting         Cause = "greeting"          // the conversation has begun
	causeInterruptCleared Cause = "interrupt.cleared" // the pause after a barge-in is over
	causeQueued           Cause = "queued"            // words came while the microphone was not free
	causeReplyStalled     Cause = "reply.stalled"     // a reply stopped in the middle
	causeResume           Cause = "resume"            // the agent says the rest of a reply that was cut off
	causeResumed          Cause = "resumed"           // the agent answers a turn whose answer was lost
	causeSpeechSustained  Cause = "speech.sustained"  // a voice continued over the agent's audio
	causeTold             Cause = "told"              // the agent had something to tell
)
