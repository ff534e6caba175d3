package cli

// benchCmd measures; each of its commands has a file of its own.
type benchCmd struct {
	Latency benchLatencyCmd `cmd:"" name:"latency" help:"Measure how fast a server that runs answers."`
	WebRTC  benchWebRTCCmd  `cmd:"" name:"webrtc" help:"Hold many calls of browsers at once."`
}
