package cli

// benchCmd groups the measurements. Each has its own file.
type benchCmd struct {
	Latency benchLatencyCmd `cmd:"" name:"latency" help:"Measure how fast a server that runs answers."`
	WS      benchWSCmd      `cmd:"" name:"ws" help:"Hold many conversations over the OpenAI Realtime protocol at once."`
	WebRTC  benchWebRTCCmd  `cmd:"" name:"webrtc" help:"Hold many calls of browsers at once."`
}
