package cli

// benchCmd groups the measurements. Each has its own file.
type benchCmd struct {
	Latency benchLatencyCmd `cmd:"" name:"latency" help:"Measure how fast a running server answers."`
	WS      benchWSCmd      `cmd:"" name:"ws" help:"Measure many simultaneous conversations over the OpenAI Realtime protocol."`
	Phone   benchPhoneCmd   `cmd:"" name:"phone" help:"Measure many simultaneous calls of telephones."`
	WebRTC  benchWebRTCCmd  `cmd:"" name:"webrtc" help:"Measure many simultaneous calls from browsers."`
}
