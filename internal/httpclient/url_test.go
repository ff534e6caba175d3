package httpclient

import (
	"strings"
	"testing"
)

func TestParseBase(t *testing.T) {
	for text, want := range map[string]string{
		"https://host/v1//":      "https://host/v1",
		"http://127.0.0.1:8080":  "http://127.0.0.1:8080",
		"https://host/a%2Fb/":    "https://host/a%2Fb",
		"":                       "invalid",
		"host:8080":              "invalid",
		"https://":               "invalid",
		"https://:8080":          "invalid",
		"ftp://sesame":           "invalid",
		"https://u:sesame@h p/":  "invalid",
		"https://u:sesame@host":  "must not contain a user name",
		"https://host?k=sesame":  "must not contain a query or a fragment",
		"https://host/a#sesame":  "must not contain a query or a fragment",
		"https://u@host/?sesame": "must not contain a user name",
	} {
		u, err := ParseBase(text, "invalid", "https", "http")
		switch {
		case err == nil && u.String() != want:
			t.Errorf("%q: %v, expected %q", text, u, want)
		case err != nil && (!strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "sesame")):
			t.Errorf("%q: error %v, expected %q", text, err, want)
		}
	}
}

func TestParseURL(t *testing.T) {
	if u, err := ParseURL("https://host/a/?v=1#b", "invalid", "https"); err != nil || u.String() != "https://host/a/?v=1#b" {
		t.Errorf("%v, error %v: expected the URL as it is", u, err)
	}
	if _, err := ParseURL("http://host", "invalid", "https"); err == nil || err.Error() != "invalid" {
		t.Errorf("another scheme: error %v", err)
	}
}
