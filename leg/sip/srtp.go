package sip

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/pion/srtp/v3"
)

// This file exchanges the keys of encrypted sound in SDP (RFC 4568).

// profiles are the ways to encrypt, by their names in SDP.
var profiles = map[string]srtp.ProtectionProfile{
	"AES_CM_128_HMAC_SHA1_80": srtp.ProtectionProfileAes128CmHmacSha1_80,
	"AES_CM_128_HMAC_SHA1_32": srtp.ProtectionProfileAes128CmHmacSha1_32,
}

const (
	keyLength  = 16
	saltLength = 14
)

// srtpKey is a key with its salt.
type srtpKey struct {
	profile string
	secret  [keyLength + saltLength]byte
}

func newKey(profile string) *srtpKey {
	k := &srtpKey{profile: profile}
	rand.Read(k.secret[:]) // never fails
	return k
}

// line returns the value of the attribute crypto.
func (k *srtpKey) line(tag int) string {
	return fmt.Sprintf("%d %s inline:%s", tag, k.profile, base64.StdEncoding.EncodeToString(k.secret[:]))
}

// context returns what encrypts or decrypts with the key.
func (k *srtpKey) context(o ...srtp.ContextOption) (*srtp.Context, error) {
	return srtp.CreateContext(k.secret[:keyLength], k.secret[keyLength:], profiles[k.profile], o...)
}

// chooseKey returns the first of the attributes crypto that can be used, with its tag. Keys with session
// parameters and several keys are not used (RFC 4568, section 6.3).
func chooseKey(lines []string) (tag int, key *srtpKey, ok bool) {
	for _, l := range lines {
		f := strings.Fields(l)
		if len(f) != 3 || strings.Contains(f[2], ";") {
			continue
		}
		tag, err := strconv.Atoi(f[0])
		if _, known := profiles[f[1]]; err != nil || !known || tag < 0 || tag > 999_999_999 {
			continue
		}
		text, found := strings.CutPrefix(f[2], "inline:")
		text, limits, _ := strings.Cut(text, "|")
		if !found || strings.Contains(limits, ":") { // a master key index
			continue
		}
		secret, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(secret) != keyLength+saltLength {
			continue
		}
		return tag, &srtpKey{profile: f[1], secret: [keyLength + saltLength]byte(secret)}, true
	}
	return 0, nil, false
}
