package httptool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// request returns the HTTP request of an action.
func (t *Tool) request(ctx context.Context, a *agent.Action, id string, inputs map[string]any) (*http.Request, error) {
	h := a.HTTP
	u, err := t.target(h.URL, inputs)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	// Escaping does not prevent these segments from leading to another resource.
	if segments := strings.Split(u.EscapedPath(), "/"); slices.Contains(segments, ".") || slices.Contains(segments, "..") {
		return nil, errors.New("url: . and .. must not be path segments")
	}
	if len(h.Query) > 0 {
		q := u.Query()
		for _, name := range sorted(h.Query) {
			v, err := t.fill(h.Query[name], inputs, asIs)
			if err != nil {
				return nil, fmt.Errorf("query %s: %w", name, err)
			}
			q.Set(name, v)
		}
		u.RawQuery = q.Encode()
	}
	body, err := t.body(h, inputs)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, h.Method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("url: invalid")
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Idempotency-Key", id)
	for _, name := range sorted(h.Headers) {
		v, err := t.header(h.Headers[name], inputs)
		if err != nil {
			return nil, fmt.Errorf("header %s: %w", name, err)
		}
		req.Header.Set(name, v)
	}
	return req, nil
}

// body returns the JSON to send: the file's body with its values filled in, or the
// inputs. A GET has none.
func (t *Tool) body(h *agent.HTTPCall, inputs map[string]any) ([]byte, error) {
	if h.Body == nil {
		if h.Method == http.MethodGet || h.Method == http.MethodHead {
			return nil, nil
		}
		return json.Marshal(inputs)
	}
	v, err := t.fillValue(h.Body, inputs)
	if err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	return json.Marshal(v)
}

// fillValue fills in the texts of a JSON value. A text that consists of one slot
// becomes the slot's value, with its type.
func (t *Tool) fillValue(v any, inputs map[string]any) (any, error) {
	switch v := v.(type) {
	case string:
		if name, ok := only(v); ok {
			value, there := inputs[name]
			if !there {
				return nil, nil // an optional slot without a value
			}
			return value, nil
		}
		return t.fill(v, inputs, asIs)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = t.fillValue(v[i], inputs); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			var err error
			if out[name], err = t.fillValue(item, inputs); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		return out, nil
	default:
		return v, nil
	}
}

// target returns the URL of an action. Values are escaped for the part of the URL
// in which they stand: they cannot end a path segment or a parameter, and cannot
// change the server.
func (t *Tool) target(text string, inputs map[string]any) (*url.URL, error) {
	target, err := t.fill(text, inputs, func(before, value string) (string, error) {
		switch {
		case strings.ContainsAny(before, "?#"):
			return url.QueryEscape(value), nil
		case agent.InAuthority(before):
			return "", errors.New("a slot must not be part of the server's name: expected it after the host")
		default:
			return url.PathEscape(value), nil
		}
	})
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("expected http://HOST/PATH or https://HOST/PATH after the values of %s are filled in", text)
	}
	return u, nil
}

// header returns the text of a header. A value that is only a part of it is
// escaped, so that it cannot add parameters.
func (t *Tool) header(text string, inputs map[string]any) (string, error) {
	escape := escapeHeader
	if name, ok := only(text); ok {
		text, escape = "{"+name+"}", asIs
	}
	v, err := t.fill(text, inputs, escape)
	if err == nil && strings.ContainsFunc(v, unicode.IsControl) {
		err = errors.New("the value must not contain control characters")
	}
	return v, err
}

// escapeHeader percent-encodes separators in headers (spaces, quotes, commas,
// semicolons and others) and all characters outside ASCII.
func escapeHeader(_, value string) (string, error) {
	var b strings.Builder
	for _, c := range []byte(value) {
		if c > ' ' && c < 0x7f && !strings.ContainsRune("\"%&(),;<>?[\\]{}", rune(c)) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String(), nil
}

// asIs returns the value unchanged, for places where any text is allowed.
func asIs(_, value string) (string, error) { return value, nil }

// only returns the slot of a text that consists of {slot}.
func only(text string) (name string, ok bool) {
	text = strings.TrimSpace(text)
	name, ok = strings.CutPrefix(text, "{")
	if !ok || !strings.HasSuffix(name, "}") || strings.ContainsAny(name[:len(name)-1], "{}$") {
		return "", false
	}
	return name[:len(name)-1], true
}

// fill replaces {slot} by the input and ${NAME} by the environment variable. Inputs
// are escaped depending on the text before them; environment variables are not.
func (t *Tool) fill(text string, inputs map[string]any, escape func(before, value string) (string, error)) (string, error) {
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '{')
		if i < 0 {
			b.WriteString(text)
			return b.String(), nil
		}
		end := strings.IndexByte(text[i:], '}')
		if end < 0 {
			return "", fmt.Errorf("%q has no closing brace", text[i:])
		}
		name := text[i+1 : i+end]
		if i > 0 && text[i-1] == '$' {
			v, ok := t.o.Getenv(name)
			if !ok {
				return "", fmt.Errorf("the environment variable %s is not set", name)
			}
			b.WriteString(text[:i-1])
			b.WriteString(v)
		} else {
			b.WriteString(text[:i])
			v := ""
			if value, ok := inputs[name]; ok && value != nil {
				v = fmt.Sprint(value)
			}
			v, err := escape(b.String(), v)
			if err != nil {
				return "", fmt.Errorf("{%s}: %w", name, err)
			}
			b.WriteString(v)
		}
		text = text[i+end+1:]
	}
}

// checkEnvironment returns an error if a variable is not set.
func (t *Tool) checkEnvironment(a *agent.Action) error {
	if _, err := t.target(a.HTTP.URL, nil); err != nil {
		return err
	}
	var texts []string
	for _, m := range []map[string]string{a.HTTP.Headers, a.HTTP.Query} {
		for _, name := range sorted(m) {
			texts = append(texts, m[name])
		}
	}
	for _, text := range texts {
		if _, err := t.fill(text, nil, asIs); err != nil {
			return err
		}
	}
	_, err := t.fillValue(a.HTTP.Body, nil)
	return err
}

func sorted(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
