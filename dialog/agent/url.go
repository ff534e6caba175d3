package agent

import "strings"

// InAuthority reports whether text that follows the given beginning of a URL could change
// the server: whether it belongs to the scheme or the authority (RFC 3986, section 3),
// which ends at the first slash of the path, ? or #.
func InAuthority(before string) bool {
	if i := strings.IndexAny(before, "/?#"); i >= 0 && !strings.HasPrefix(before[i:], "//") {
		return false
	} else if i >= 0 {
		return !strings.ContainsAny(before[i+len("//"):], "/?#")
	}
	return true
}

// slotInAuthority returns the first {slot} in a URL whose value could change the server.
// ${NAME} is allowed, since the operator sets it.
func slotInAuthority(url string) (slot string, found bool) {
	for i := 0; i < len(url); i++ {
		if url[i] != '{' || i > 0 && url[i-1] == '$' {
			continue
		}
		if !InAuthority(url[:i]) {
			return "", false
		}
		name, _, _ := strings.Cut(url[i+1:], "}")
		return name, true
	}
	return "", false
}
