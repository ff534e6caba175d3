package cli

// benchCmd measures; each of its commands has a file of its own.
type benchCmd struct {
	WebRTC benchWebRTCCmd `cmd:"" name:"webrtc" help:"Hold many calls of browsers at once."`
}
