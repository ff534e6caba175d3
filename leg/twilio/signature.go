package twilio

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // Twilio's signatures are HMAC-SHA1
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// signature returns the signature of a request with the parameters of its body ("Security",
// "Validating requests" of Twilio's documentation).
func signature(secret, address string, form url.Values) string {
	mac := hmac.New(sha1.New, []byte(secret))
	mac.Write([]byte(address))
	names := make([]string, 0, len(form))
	for name := range form {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		values := slices.Clone(form[name])
		slices.Sort(values)
		for _, value := range slices.Compact(values) {
			mac.Write([]byte(name + value))
		}
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// signed reports whether a signature is that of a request. Twilio does not say whether the port
// and a slash at the end belong to the address, so each form of it is tried.
func signed(secret, given, address string, form url.Values) bool {
	ok := false
	for _, a := range spellings(address) {
		ok = hmac.Equal([]byte(given), []byte(signature(secret, a, form))) || ok
	}
	return ok && given != ""
}

// spellings returns the forms of an address: with and without the port that its scheme implies,
// and with and without a slash at the end of its path.
func spellings(address string) []string {
	u, err := url.Parse(address)
	if err != nil {
		return []string{address}
	}
	port := ":443"
	if u.Scheme == "http" || u.Scheme == "ws" {
		port = ":80"
	}
	bare := strings.TrimSuffix(u.Host, port)
	hosts := []string{bare}
	if u.Port() == "" || u.Host != bare {
		hosts = append(hosts, bare+port)
	}
	var all []string
	for _, host := range hosts {
		for _, path := range []string{strings.TrimSuffix(u.EscapedPath(), "/"), strings.TrimSuffix(u.EscapedPath(), "/") + "/"} {
			one := u.Scheme + "://" + host + path
			if u.RawQuery != "" {
				one += "?" + u.RawQuery
			}
			all = append(all, one)
		}
	}
	return all
}
