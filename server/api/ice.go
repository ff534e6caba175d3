package api

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/hocketvoice/hocket/leg/webrtc"
	"github.com/hocketvoice/hocket/server/hub"
)

// Answered is the response of POST /v1/conversations/{id}/sdp.
type Answered struct {
	SDP        string             `json:"sdp"`                   // answer to the offer
	ICEServers []webrtc.ICEServer `json:"ice_servers,omitempty"` // see [Created]
}

// iceServers returns the STUN and TURN servers for the client of a conversation, or
// nothing if answer, the SDP answer for the client, is empty. The user name in the
// credentials is derived from the conversation's id.
func (s *Server) iceServers(c *hub.Conversation, answer string) []webrtc.ICEServer {
	if answer == "" || len(s.o.ICEServices) == 0 {
		return nil
	}
	digest := sha256.Sum256([]byte(c.ID()))
	list := make([]webrtc.ICEServer, len(s.o.ICEServices))
	for i, service := range s.o.ICEServices {
		list[i] = service.For(hex.EncodeToString(digest[:8]), time.Now())
	}
	return list
}
