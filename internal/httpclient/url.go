package httpclient

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// ParseURL parses the URL of a service. It returns the error invalid unless the URL has a host
// and one of the schemes, and another error if it has a user name. The errors are to follow the
// name of an option. They do not contain the text, since it may contain a password.
func ParseURL(text, invalid string, schemes ...string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || !slices.Contains(schemes, u.Scheme):
		return nil, errors.New(invalid)
	case u.User != nil:
		return nil, errors.New("must not contain a user name: the key comes from an environment variable")
	}
	return u, nil
}

// ParseBase is like [ParseURL], for a URL to which its user adds a path or a query: it returns
// an error if the URL has a query or a fragment, and omits slashes at its end.
func ParseBase(text, invalid string, schemes ...string) (*url.URL, error) {
	u, err := ParseURL(text, invalid, schemes...)
	switch {
	case err != nil:
		return nil, err
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("must not contain a query or a fragment")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = strings.TrimRight(u.RawPath, "/")
	return u, nil
}
