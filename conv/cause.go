package conv

import "strings"

// Cause says why the phase has changed: the name of the event, of the limit that has
// passed, or of what had its moment.
type Cause string

// TimedOut reports whether a limit has passed.
func (c Cause) TimedOut() bool {
	switch c {
	case causeMaxDuration, causeNoEndpoint, causeNoTranscript:
		return true
	default:
		return strings.HasSuffix(string(c), ".timeout")
	}
}

// The causes that are events.
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
	causeUserRecover        Cause = "user.recover"
	causeUserStart          Cause = "user.start"
	causeUserStop           Cause = "user.stop"
	causeUserText           Cause = "user.text"
)

// The causes that are limits.
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
)

// What has its moment, or follows from something else.
const (
	causeBreakerOpen      Cause = "breaker.open"      // too many faults in a short time
	causeDeadAir          Cause = "dead_air"          // nobody has spoken
	causeGreeting         Cause = "greeting"          // the conversation has begun
	causeInterruptCleared Cause = "interrupt.cleared" // the pause after a barge-in is over
	causeQueued           Cause = "queued"            // what came while nobody listened
	causeReplyStalled     Cause = "reply.stalled"     // a reply that had begun broke off
	causeResume           Cause = "resume"            // the rest of a reply that was cut off
	causeResumed          Cause = "resumed"           // the answer that a lost connection cut off
	causeSpeechSustained  Cause = "speech.sustained"  // a voice went on over the agent
	causeTold             Cause = "told"              // the agent had something to tell
)
