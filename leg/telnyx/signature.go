package telnyx

import (
	"crypto/ed25519"
	"encoding/base64"
	"net/http"
	"strconv"
	"time"
)

// tolerance is the maximum age of a webhook, and how far its time may be ahead.
const tolerance = 5 * time.Minute

// signed reports whether a webhook has a valid signature that is not too old ("Webhook signature
// verification" of Telnyx's documentation): one of the timestamp, a vertical bar and the body.
func signed(key ed25519.PublicKey, h http.Header, body []byte, now time.Time) bool {
	timestamp := h.Get("Telnyx-Timestamp")
	seconds, err := strconv.ParseUint(timestamp, 10, 40)
	if err != nil {
		return false
	}
	signature, err := base64.StdEncoding.Strict().DecodeString(h.Get("Telnyx-Signature-Ed25519"))
	if err != nil || len(signature) != ed25519.SignatureSize {
		return false
	}
	age := now.Sub(time.Unix(int64(seconds), 0))
	return age <= tolerance && age >= -tolerance && ed25519.Verify(key, append([]byte(timestamp+"|"), body...), signature)
}
