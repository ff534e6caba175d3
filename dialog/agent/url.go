package agent

import "strings"

// InAuthority reports whether what comes behind the beginning of a URL could still say
// which server is asked: whether it is part of the scheme or of the authority (RFC 3986,
// section 3), which ends with the first slash of the path, ? or #.
func InAuthority(before string) bool {
	if i := strings.IndexAny(before, "/?#"); i >= 0 && !strings.HasPrefix(before[i:], "//") {
		return false
	} else if i >= 0 {
		return !strings.ContainsAny(before[i+len("//"):], "/?#")
	}
	return true
}

// slotInAuthority is the first {slot} of a URL that a file has which would say which
// server is asked. ${NAME} may: whoever runs the agent sets it.
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
